#include "src/mujoco/model/ignored_fields.hpp"

#include <algorithm>
#include <utility>

namespace stickslip::mujoco {
namespace {

std::string name_of(const mjModel& m, mjtObj kind, int i) {
  const char* name = mj_id2name(&m, kind, i);
  return name != nullptr ? std::string("'").append(name).append("'") : std::to_string(i);
}

class List {
 public:
  explicit List(const mjModel& m) : m_(m) { mj_defaultSolRefImp(solref_, solimp_); }

  /// One field of the `count` elements of a kind; `sets(i)`: whether element i sets it.
  template <class F>
  void add(mjtObj kind, mjtSize count, const std::string& field, F&& sets) {
    int found = 0, first = -1;
    for (int i = 0; i < count; ++i) {
      if (!sets(i)) continue;
      if (found++ == 0) first = i;
    }
    if (found == 0) return;
    names_.push_back(std::string(mju_type2Str(kind)) + " " + field + " (" + std::to_string(found) +
                     " of " + std::to_string(count) + ", first " + name_of(m_, kind, first) + ")");
  }

  /// The same fields of geoms, pairs and flexes; `collides(i)`: whether contacts have them.
  template <class F>
  void add_softness(mjtObj kind, mjtSize count, const mjtNum* solref, const mjtNum* solimp,
                    F&& collides) {
    add(kind, count, "solref",
        [&](int i) { return collides(i) && sets_solref(solref + mjNREF * i); });
    add(kind, count, "solimp",
        [&](int i) { return collides(i) && sets_solimp(solimp + mjNIMP * i); });
  }

  bool sets_solref(const mjtNum* values) const {
    return !std::equal(values, values + mjNREF, solref_);
  }
  bool sets_solimp(const mjtNum* values) const {
    return !std::equal(values, values + mjNIMP, solimp_);
  }

  void add(const char* field) { names_.emplace_back(field); }
  std::vector<std::string> take() { return std::move(names_); }

 private:
  const mjModel& m_;
  mjtNum solref_[mjNREF], solimp_[mjNIMP];
  std::vector<std::string> names_;
};

}  // namespace

std::vector<std::string> ignored_contact_fields(const mjModel& m) {
  List list(m);
  if (m.opt.disableflags & (mjDSBL_CONSTRAINT | mjDSBL_CONTACT)) return {};
  if (m.opt.enableflags & mjENBL_OVERRIDE) {  // in place of the geoms' and pairs' own
    if (list.sets_solref(m.opt.o_solref)) list.add("option o_solref");
    if (list.sets_solimp(m.opt.o_solimp)) list.add("option o_solimp");
    return list.take();
  }
  list.add_softness(mjOBJ_GEOM, m.ngeom, m.geom_solref, m.geom_solimp,
                    [&](int i) { return (m.geom_contype[i] | m.geom_conaffinity[i]) != 0; });
  list.add_softness(mjOBJ_PAIR, m.npair, m.pair_solref, m.pair_solimp, [](int) { return true; });
  list.add(mjOBJ_PAIR, m.npair, "solreffriction", [&](int i) {
    const mjtNum* values = m.pair_solreffriction + mjNREF * i;
    return std::any_of(values, values + mjNREF, [](mjtNum x) { return x != 0; });
  });
  list.add_softness(mjOBJ_FLEX, m.nflex, m.flex_solref, m.flex_solimp,
                    [&](int i) { return (m.flex_contype[i] | m.flex_conaffinity[i]) != 0; });
  return list.take();
}

}  // namespace stickslip::mujoco
