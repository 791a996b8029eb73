// Planes between convex geoms, remembered from step to step. MuJoCo searches the distance of two
// meshes by GJK, about 2 µs. Most pairs near each other do not touch: a plane that separated them
// in an earlier step usually still does, which takes a tenth of the time to see, and need not be
// seen again until they have moved by their distance. No result depends on what is remembered: it
// only leaves out pairs that have no contact in the poses as they are, however these came about.
#pragma once
#include <mujoco/mujoco.h>

#include <vector>

#include "src/mujoco/broadphase.hpp"

namespace stickslip::mujoco {

/// Of one environment.
class Separations {
 public:
  /// Removes from `pairs` those that are farther apart than they are searched for contacts in the
  /// state of d, whose positions are computed.
  void leave_out_distant(const mjModel* m, mjData* d, std::vector<NearPair>& pairs);

  /// For other shapes.
  void forget() { known_.clear(); }

 private:
  // Pose of the second geom in the frame of the first.
  struct Pose {
    double place[3], axes[9];
  };
  struct Known {
    int parts, geom[2];  // as in NearPair
    int wait;            // steps until a plane is searched again
    double normal[3];    // of the plane, in the frame of the first geom, towards the second
    double distance;     // lower bound in the pose, m
    Pose pose;
  };

  static Pose relative_pose(const mjData* d, const int* geom);
  static double moved(const mjModel* m, const Pose& from, const Pose& to, int geom);
  static double distance_along(const mjModel* m, const Known& known);
  static bool find_normal(const mjModel* m, mjData* d, Known& known);
  Known recall(const NearPair& pair);
  bool is_distant(const mjModel* m, mjData* d, const NearPair& pair);

  std::vector<Known> known_, next_;  // in the order of pairs
  std::size_t at_ = 0;               // in known_
};

}  // namespace stickslip::mujoco
