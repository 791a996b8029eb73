// Contacts before they close. MuJoCo is given the pairs of geoms that may meet within the step,
// each with its margin (broadphase.hpp). Where that does not go, margins are those of geoms, which
// MuJoCo adds up: with flexes, with more pairs than can be looked at one by one, with a filter or a
// margin that hold for all pairs, and where the caller asks for the same margin everywhere.
#pragma once
#include <mujoco/mujoco.h>

#include <vector>

#include "src/mujoco/broadphase.hpp"
#include "src/mujoco/pair_list.hpp"

namespace stickslip::mujoco {

/// How far ahead the contacts of one environment are looked for in this step. Reused from step to
/// step.
struct Margins {
  bool by_pairs = false;
  NearPairs near;
  PairList list;
  std::vector<double> geom, body, pair, flex;  ///< those of the model, widened; m
  std::vector<double> ahead, flex_ahead;       ///< by how much, geom by geom
  double override_ahead = 0;                   ///< and where the model overrides all margins
};

class LookAhead {
 public:
  LookAhead() = default;
  /// `margin`: the same for all pairs, m; negative: following the speeds.
  LookAhead(const mjModel* m, double margin);

  /// mj_collision with the margins for the state of d, whose positions and `cvel` are computed.
  void collide(const mjModel* m, mjData* d, Margins& margins) const;

 private:
  void widen_by_speed(const mjModel* m, const mjData* d, Margins& margins) const;
  mjModel widen_geoms(const mjModel* m, const mjData* d, Margins& margins) const;
  double flex_reach(const mjModel* m, const mjData* d, int flex) const;

  double constant_ = -1;
  Broadphase broadphase_;
};

}  // namespace stickslip::mujoco
