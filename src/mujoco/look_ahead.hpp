// How far ahead contacts are looked for. MuJoCo finds the contacts of two geoms whose distance is
// less than the sum of their margins. A rigid contact must be known before it closes within the
// step: so a pair's margin has to cover what its bodies can approach each other in a step,
//
//     h (|v_rel| + |ω_rel| r) + h 0.25 m/s + 4 h² |gravity| + 1 µm
//
// with the relative velocity at the centre of the smaller body and its radius r (a sphere's surface
// does not move along its contact's normal when it turns). Only pairs that are that near count.
// So links of a robot that move together need little, however fast the robot is. Bodies of
// different mechanisms count with the sum of their speeds: one that falls behind another may catch
// it up in the step in which that one is stopped. And what such a body may hit can be pushed on to
// a third.
#pragma once
#include <mujoco/mujoco.h>

#include <cstdint>
#include <vector>

#include "src/mujoco/part.hpp"

namespace stickslip::mujoco {

struct Margins;

class LookAhead {
 public:
  LookAhead() = default;
  /// `margin`: the same for all pairs, m; negative: following the speeds.
  LookAhead(const mjModel* m, double margin);

  /// The model with the margins for the state of d, whose positions and `cvel` are computed: a
  /// shallow copy, valid while `margins` is.
  mjModel widen(const mjModel* m, const mjData* d, Margins& margins) const;

 private:
  struct Pair {
    int a, b;
    bool apart;  // of different mechanisms, both of which move
  };

  void list_parts(const mjModel* m);
  void list_pairs(const mjModel* m);
  void widen_geoms(const mjModel* m, const mjData* d, Margins& margins, const Pair& pair, int from,
                   int to, double move, double spare) const;
  bool meet(const mjModel* m, const mjData* d, Margins& margins, const Pair& pair,
            double spare) const;
  void find_margins(const mjModel* m, const mjData* d, Margins& margins) const;
  void exclude_far_bodies(const mjModel* m, Margins& margins) const;
  double flex_reach(const mjModel* m, const mjData* d, int flex) const;

  double constant_ = -1;
  std::vector<Part> parts_;
  std::vector<Pair> pairs_;
  std::vector<int> of_bodies_;  // pairs of all geoms of two bodies, which MuJoCo can leave out
  std::vector<int> part_of_;    // of each geom
  bool too_many_pairs_ = false;
};

/// The margins of one environment in this step. Reused from step to step.
struct Margins {
  std::vector<double> geom, body, pair, flex;  ///< those of the model, widened; m
  std::vector<double> ahead, flex_ahead;       ///< by how much, geom by geom
  double override_ahead = 0;                   ///< and where the model overrides all margins
  std::vector<Motion> motion;
  std::vector<std::uint8_t> near;  ///< of each pair
  std::vector<int> exclude;  ///< the model's pairs of bodies, and those that are too far apart
  std::vector<double> jolt;  ///< m, by what a body near it may move a part in the step
  const std::vector<int>* part_of = nullptr;  ///< of each geom
};

}  // namespace stickslip::mujoco
