// Search for contacts before they close. MuJoCo receives the pairs of geoms that may meet within
// the step, each with its margin (broadphase.hpp). Otherwise each geom has a margin, and MuJoCo
// adds the two: with flexes, with too many pairs to check one by one, with a filter or a margin
// that applies to all pairs, and if the caller requests the same margin everywhere.
#pragma once
#include <mujoco/mujoco.h>

#include <vector>

#include "src/mujoco/contacts/broadphase.hpp"
#include "src/mujoco/contacts/faces.hpp"
#include "src/mujoco/contacts/pair_list.hpp"
#include "src/mujoco/contacts/separations.hpp"

namespace stickslip::mujoco {

/// Search distances for the contacts of one environment in this step. Reused from step to step.
struct Margins {
  bool by_pairs = false;
  NearPairs near;
  PairList list;
  ShallowModel only, wide;                     ///< as MuJoCo collides it: by_pairs, or not
  std::vector<mjContact> contacts;             ///< with whole faces
  std::vector<Tilted> tilted;                  ///< while MuJoCo collides
  std::vector<double> geom, body, pair, flex;  ///< those of the model, widened; m
  std::vector<double> ahead, flex_ahead;       ///< the increase, geom by geom
  double override_ahead = 0;                   ///< the increase if the model overrides all margins
};

class LookAhead {
 public:
  LookAhead() = default;
  /// `margin`: the same for all pairs, m; negative: computed from the speeds.
  LookAhead(const mjModel* m, double margin);

  /// mj_collision, and whole faces (faces.hpp), with the margins for the state of d, whose
  /// positions and `cvel` are computed.
  void collide(const mjModel* m, mjData* d, Separations& separations, Margins& margins) const;

 private:
  void widen_by_speed(const mjModel* m, const mjData* d, Margins& margins) const;
  const mjModel& widen_geoms(const mjModel* m, const mjData* d, Margins& margins) const;
  double flex_reach(const mjModel* m, const mjData* d, int flex) const;

  double constant_ = -1;
  Broadphase broadphase_;
};

}  // namespace stickslip::mujoco
