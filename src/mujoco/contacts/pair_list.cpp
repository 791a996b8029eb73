#include "src/mujoco/contacts/pair_list.hpp"

#include <algorithm>

namespace stickslip::mujoco {
namespace {

constexpr int kFriction = 5;

}  // namespace

void PairList::resize(std::size_t count) {
  for (std::vector<int>* one : {&dim_, &geom1_, &geom2_}) one->resize(count);
  for (std::vector<mjtNum>* one : {&margin_, &gap_, &adhesion_}) one->resize(count);
  friction_.resize(kFriction * count);
  if (solref_.size() >= mjNREF * count) return;
  zero_.assign(mjNREF * count, 0.0);
  solref_.resize(mjNREF * count);
  solimp_.resize(mjNIMP * count);
  for (std::size_t k = 0; k < count; ++k)
    mj_defaultSolRefImp(&solref_[mjNREF * k], &solimp_[mjNIMP * k]);
}

void PairList::copy_listed(const mjModel* m, int k, int listed) {
  dim_[k] = m->pair_dim[listed];
  adhesion_[k] = m->pair_adhesion[listed];
  std::copy_n(m->pair_friction + kFriction * listed, kFriction, &friction_[kFriction * k]);
}

// MuJoCo's rule (its manual, "Contact parameters"): the values of the geom with the higher
// priority; if both have the same, the larger values, and the sum of adhesions.
void PairList::combine(const mjModel* m, int k, int a, int b) {
  adhesion_[k] = m->geom_adhesion[a] + m->geom_adhesion[b];
  if (m->geom_priority[a] != m->geom_priority[b]) {
    a = b = m->geom_priority[a] > m->geom_priority[b] ? a : b;
    adhesion_[k] = m->geom_adhesion[a];
  }
  dim_[k] = std::max(m->geom_condim[a], m->geom_condim[b]);
  constexpr int kKind[kFriction] = {0, 0, 1, 2, 2};  // sliding, torsional, rolling
  for (int i = 0; i < kFriction; ++i)
    friction_[kFriction * k + i] =
        std::max(m->geom_friction[3 * a + kKind[i]], m->geom_friction[3 * b + kKind[i]]);
}

const mjModel& PairList::only_these(const mjModel* m, const std::vector<NearPair>& pairs,
                                    ShallowModel& model) {
  resize(pairs.size());
  for (int k = 0; k < int(pairs.size()); ++k) {
    const NearPair& pair = pairs[k];
    geom1_[k] = pair.geom[0];
    geom2_[k] = pair.geom[1];
    pair.listed >= 0 ? copy_listed(m, k, pair.listed) : combine(m, k, geom1_[k], geom2_[k]);
    margin_[k] = margin_of(m, geom1_[k], geom2_[k], pair.listed) + pair.ahead;
    gap_[k] = gap_of(m, geom1_[k], geom2_[k], pair.listed);
  }
  mjModel& only = model.of(m);
  only.npair = int(pairs.size());
  only.pair_dim = dim_.data();
  only.pair_geom1 = geom1_.data();
  only.pair_geom2 = geom2_.data();
  only.pair_margin = margin_.data();
  only.pair_gap = gap_.data();
  only.pair_friction = friction_.data();
  only.pair_solref = solref_.data();
  only.pair_solimp = solimp_.data();
  only.pair_adhesion = adhesion_.data();
  only.pair_solreffriction = zero_.data();
  // MuJoCo's own search for pairs gets no candidates: no body collides by itself, and the frame in
  // which the search sorts them, from the positions of all geoms, is not needed.
  no_bits_.assign(m->nbody, 0);
  only.body_contype = only.body_conaffinity = no_bits_.data();
  only.ngeom = 0;
  return only;
}

}  // namespace stickslip::mujoco
