// A part moves as one and has a bounding box: it is one geom, or all geoms of a moving body of
// which more than one may meet others. Also, how a part may move within a step.
#pragma once
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace stickslip::mujoco {

/// Velocities may change by this much within a step, m/s.
inline constexpr double kSpareSpeed = 0.25;

struct Part {
  int body, first_geom, num_geoms;
  bool plane, sphere;
};
struct GeomMotion {
  double half[3], radius;        ///< of the box, m; of a sphere around it
  double centre[3], bound[3];    ///< the part stays within centre ± bound in the step, m;
                                 ///< velocities may change by kSpareSpeed between two of them
  double angular[3], linear[3];  ///< linear: of the centre
  const double* axes;            ///< of the box, the columns of a matrix in mjData
  double reach;                  ///< m, the largest distance that a point of it moves in the step
  double margin, gap;            ///< m, the largest in the model
};

/// How far a point of a part may move in the step, with the change of velocities, m.
inline double most_reach(const mjModel* m, const GeomMotion& motion) {
  return motion.reach + m->opt.timestep * kSpareSpeed / 2;
}

/// The smallest margin of two geoms, m: a resting contact with gap 0 + rounding must be found, and
/// gravity may close one.
double least_margin(const mjModel* m);

Part part_of_geom(const mjModel* m, int geom);
Part part_of_body(const mjModel* m, int body);

/// Of each geom, whether it may meet others: by contype and conaffinity, or by a listed pair.
std::vector<bool> meeting_geoms(const mjModel* m);

/// Whether the body has degrees of freedom, its own or those of its parents.
bool can_move(const mjModel* m, int body);

/// Whether the body is a mocap body or attached to one.
bool is_carried(const mjModel* m, int body);

/// Whether both bodies move, in different mechanisms: a third may stop one within the step.
bool may_be_stopped(const mjModel* m, int a, int b);

/// Velocity v [3] of the point of a body that is at `point` now. Needs `cvel`.
void point_velocity(const mjModel* m, const mjData* d, int body, const double* point, double* v);

/// GeomMotion of the part in the state of d.
void motion_of(const mjModel* m, const mjData* d, const Part& part, GeomMotion& motion);

/// The largest distance by which two parts can approach each other in a step, m, from their
/// velocities at the centre of the smaller one; for parts of one mechanism, or if one is at rest.
/// The rotation of a sphere does not bring it closer.
double approach(const Part& a, const GeomMotion& of_a, const Part& b, const GeomMotion& of_b,
                double h);

// The loop over pairs costs as much as MuJoCo's own broadphase; with calls into another library for
// every sum of three numbers, it would cost three times as much.
inline double dot(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline double norm(const double* a) { return std::sqrt(dot(a, a)); }
inline void difference(double* to, const double* a, const double* b) {
  for (int i = 0; i < 3; ++i) to[i] = a[i] - b[i];
}
inline void cross(double* to, const double* a, const double* b) {
  to[0] = a[1] * b[2] - a[2] * b[1];
  to[1] = a[2] * b[0] - a[0] * b[2];
  to[2] = a[0] * b[1] - a[1] * b[0];
}

/// Squared distance of a point from the box. `offset`: the point relative to the centre of the box;
/// the axes of the box are the columns of R.
inline double square_to_box(const double* offset, const double* R, const double* half) {
  double square = 0;
  for (int i = 0; i < 3; ++i) {
    const double along = R[i] * offset[0] + R[3 + i] * offset[1] + R[6 + i] * offset[2];
    const double out = std::max(0.0, std::abs(along) - half[i]);
    square += out * out;
  }
  return square;
}

/// Whether the parts stay farther apart than `margin`, m, however they move; cheap, for most do.
inline bool far_apart(const GeomMotion& a, const GeomMotion& b, double margin) {
  double out[3];  // no early exit: which axis separates them cannot be predicted
  for (int i = 0; i < 3; ++i)
    out[i] = std::abs(a.centre[i] - b.centre[i]) - (a.bound[i] + b.bound[i] + margin);
  return std::max(std::max(out[0], out[1]), out[2]) > 0;
}

/// Distance from a's box to b's bounding sphere, m; if b is a plane, no bound is known.
inline double one_way(const Part& a, const GeomMotion& of_a, const Part& b,
                      const GeomMotion& of_b) {
  double offset[3];
  difference(offset, of_b.centre, of_a.centre);
  if (a.plane) {
    const double normal[3] = {of_a.axes[2], of_a.axes[5], of_a.axes[8]};
    return dot(offset, normal) - of_b.radius;
  }
  return b.plane ? -mjMAXVAL : std::sqrt(square_to_box(offset, of_a.axes, of_a.half)) - of_b.radius;
}

/// Largest distance of the boxes of two parts along any of their six axes, m: a lower bound on
/// their distance. Negative: no bound is known.
inline double distance_along_axes(const GeomMotion& of_a, const GeomMotion& of_b) {
  double offset[3], most = -mjMAXVAL;
  difference(offset, of_b.centre, of_a.centre);
  double along_a[3], along_b[3], out_a[3], out_b[3];
  for (int i = 0; i < 3; ++i) {
    along_a[i] = along_b[i] = 0;
    out_a[i] = of_a.half[i];
    out_b[i] = of_b.half[i];
    for (int k = 0; k < 3; ++k) {
      along_a[i] += of_a.axes[3 * k + i] * offset[k];
      along_b[i] += of_b.axes[3 * k + i] * offset[k];
    }
  }
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double cosine = 0;
      for (int k = 0; k < 3; ++k) cosine += of_a.axes[3 * k + i] * of_b.axes[3 * k + j];
      out_a[i] += std::abs(cosine) * of_b.half[j];
      out_b[j] += std::abs(cosine) * of_a.half[i];
    }
  for (int i = 0; i < 3; ++i)
    most = std::max({most, std::abs(along_a[i]) - out_a[i], std::abs(along_b[i]) - out_b[i]});
  return most;
}

}  // namespace stickslip::mujoco
