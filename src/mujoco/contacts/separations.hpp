// Planes between convex geoms, remembered from step to step. MuJoCo searches the distance of two
// meshes by GJK, about 2 µs. Most pairs near each other do not touch: a plane that separated them
// in an earlier step usually still does, and need not be looked at again until they may have come
// nearer along its normal by their distance. Where it does not, another one is searched by
// Gilbert's algorithm (1966). No result depends on what is remembered: it only leaves out pairs
// that have no contact in the poses as they are, however these came about.
#pragma once
#include <mujoco/mujoco.h>

#include <vector>

#include "src/mujoco/contacts/broadphase.hpp"

namespace stickslip::mujoco {

/// Of one environment.
class Separations {
 public:
  /// Removes from `pairs` those that are farther apart than they are searched for contacts in the
  /// state of d, whose positions are computed.
  void leave_out_distant(const mjModel* m, const mjData* d, std::vector<NearPair>& pairs);

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
    int vertex[2];       // of meshes: the farthest of the last search, or -1
    double normal[3];    // of the plane, in the frame of the first geom, towards the second
    double distance;     // lower bound in the pose, m
    Pose pose;
  };

  static Pose relative_pose(const mjData* d, const int* geom);
  static double approached(const mjModel* m, const Known& known, const Pose& now);
  static void shortest_way(const mjModel* m, const Pose& pose, Known& known, double* way);
  static bool find_plane(const mjModel* m, const Pose& pose, double least, Known& known);
  Known recall(const NearPair& pair, const Pose& pose);
  bool is_distant(const mjModel* m, const mjData* d, const NearPair& pair);

  std::vector<Known> known_, next_;  // in the order of pairs
  std::size_t at_ = 0;               // in known_
};

}  // namespace stickslip::mujoco
