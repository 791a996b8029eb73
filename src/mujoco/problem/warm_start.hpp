// Impulses of one step as a start for the solve of the next step. A contact is identified by its
// pair of geoms and its position: of the contacts of a pair, two of different steps are the same if
// each is the nearest to the other (what carried nothing, or is new, takes no other's impulse). Any
// other row is identified by MuJoCo's type and id.
//
// They are stored in mjData's userdata, after the model's own data, and so are part of MuJoCo's
// state: a restart from a saved state has the same bits, and a reset clears them.
#pragma once
#include "src/mujoco/problem/problem_print.hpp"

namespace stickslip::mujoco {

/// Offset of the storage; without room nothing is kept.
class ImpulseStore {
 public:
  ImpulseStore() = default;
  /// Makes room in the model, before it has any mjData: for all of its rows that are not contacts,
  /// for 20 contacts, and for 20 of each tree of bodies (a robot, or a body of a pile), or as many
  /// as there are if it lies on many of its geoms; for fewer if all is one tree of few geoms on a
  /// plane.
  explicit ImpulseStore(mjModel& m);

  /// Writes a start r [rows] for the problem in `slot`, 0 where nothing is known. Returns whether
  /// anything is known.
  bool recall(const mjModel* m, const mjData* d, const EnvSlot& slot, int rows, double* r) const;

  /// ProblemBatch::start_selected: whether the problem is nearly that for which the kept impulses
  /// were selected among many solutions (docs/mathematics.md §9), or parts of it may be. Compared
  /// with the problem of the selection, not with that of the last step: nothing adds up.
  std::int32_t recall_selected(const mjModel* m, const mjData* d, const EnvSlot& slot,
                               int rows) const;

  /// Whether the choice that `recall_selected` tells of is another solution, which serves because
  /// the search for the selected one failed.
  bool keeps_another(const mjData* d) const {
    return contact_size_ > 0 && kept_print(d).serves < 0;
  }

  enum class Solution { none, any, selected };
  /// Keeps the impulses r [rows]: what they are, and the solve's `start_selected`: they were chosen
  /// in this step, at least in parts, or `moved` by this share from those of `recall_selected`. A
  /// choice serves until it has moved far; where the search for the selected solution fails,
  /// another serves for some steps, because the next search would hardly end otherwise.
  void keep(const mjModel* m, mjData* d, const EnvSlot& slot, int rows, const double* r,
            Solution solution, std::int32_t start_selected, mjtNum moved) const;

  /// Whether recovery from overlap (step/position.hpp) is not tried in this step: it failed in one
  /// of the last ones, when contacts overlapped about as much. `depth`: the deepest overlap, m.
  bool skips_recovery(mjData* d, mjtNum depth) const;
  void note_recovery(mjData* d, mjtNum depth, bool failed) const;

  /// Whether another solve will hardly succeed: those of the last steps failed. Every step of which
  /// the number is a power of two is an exception, in case the problem has changed.
  bool is_hopeless(const mjData* d) const;
  void note_solve(mjData* d, bool failed) const;

 private:
  bool recall_rows(const mjModel* m, const mjData* d, const EnvSlot& slot, double* r) const;
  bool recall_contacts(const mjModel* m, const mjData* d, const EnvSlot& slot, int rows,
                       double* r) const;
  /// Recovery that failed: at which depth, and in how many steps it is still not tried, of how
  /// many.
  struct Wait {
    mjtNum depth, steps, length;
  };
  static constexpr int kHead = 3 + (sizeof(ProblemPrint) + sizeof(Wait)) / sizeof(mjtNum);
  ProblemPrint& kept_print(const mjData* d) const {
    return *reinterpret_cast<ProblemPrint*>(d->userdata + begin_ + 2);
  }
  Wait& kept_wait(const mjData* d) const {
    return *reinterpret_cast<Wait*>(d->userdata + begin_ + 2 +
                                    sizeof(ProblemPrint) / sizeof(mjtNum));
  }
  /// How many steps in a row have failed.
  mjtNum& kept_failures(const mjData* d) const { return d->userdata[begin_ + kHead - 1]; }
  mjtNum* kept_rows(const mjData* d) const { return d->userdata + begin_ + kHead; }
  mjtNum* kept_contacts(const mjData* d) const { return kept_rows(d) + 2 * max_rows_; }

  int begin_ = 0, max_rows_ = 0, max_contacts_ = 0, contact_size_ = 0;
};

}  // namespace stickslip::mujoco
