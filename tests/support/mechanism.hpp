// Articulated rigid bodies in one configuration, and the rows that constrain them.
#pragma once
#include <vector>

#include "tests/reference/reference.hpp"

namespace stickslip::support {

using Eigen::Vector3d;
using reference::Matrix;
using reference::Problem;
using reference::Vector;

/// A constrained mechanism: M, J, v_free and the gap terms c lead to the problem
/// W = J M^-1 J^T, b = J v_free + c.
struct MechanismScene {
  Matrix M, J;
  Vector v_free, gap;
  Problem problem;
};

/// Bodies are added parents first, each with its joints; then the rows.
class Mechanism {
 public:
  /// A body of this mass, centre and principal inertia along `axes` (columns), on body `parent`
  /// (-1: the world). It moves with its parent until it gets its own joints.
  int add_body(int parent, double mass, const Vector3d& centre, const Vector3d& inertia,
               const Eigen::Matrix3d& axes = Eigen::Matrix3d::Identity());
  /// One more degree of freedom between a body and its parent; `armature` is the rotor's inertia.
  /// Returns its index.
  int add_hinge(int body, const Vector3d& axis, const Vector3d& through, double armature = 0.0);
  int add_slider(int body, const Vector3d& axis);
  /// Six degrees of freedom: along x, y, z, about x, y, z through the centre.
  void set_free(int body);

  /// Row of J: velocity along `direction` of the point of a body.
  Vector row(int body, const Vector3d& point, const Vector3d& direction) const;
  int dofs() const { return int(dofs_.size()); }
  const Vector3d& centre(int body) const { return bodies_[std::size_t(body)].centre; }

  void constrain_free(const Vector& row, double gap) { free_.push_back({row, gap}); }
  void constrain_nonneg(const Vector& row, double gap) { nonneg_.push_back({row, gap}); }
  void constrain_box(const Vector& row, double limit);
  /// Pushes body_1 along `normal` at `point` and body_2 (-1: the world) back.
  void add_contact(int body_1, int body_2, const Vector3d& point, const Vector3d& normal, double mu,
                   double gap);

  /// The problem; `v_free` has dofs() entries.
  MechanismScene scene(const Vector& v_free) const;

 private:
  struct Dof {
    bool turns;
    Vector3d axis, through;
    double armature;
  };
  struct Body {
    double mass;
    Vector3d centre, inertia;
    Eigen::Matrix3d axes;
    std::vector<int> dofs;  ///< that move it, including those of its ancestors
  };
  struct Row {
    Vector entries;
    double gap;
  };
  int add_dof(int body, const Dof& dof);
  Matrix mass_matrix() const;

  std::vector<Dof> dofs_;
  std::vector<Body> bodies_;
  std::vector<Row> free_, nonneg_, box_, contact_;
  std::vector<double> limits_, mu_;
};

/// Whether J v + gap lies strictly inside every row's set: u = 0 on free rows, u > 0 on nonneg
/// rows, u_n > mu |u_t| on contacts. One such velocity is enough for a solution of Coulomb's law to
/// exist, and of every law inside its cone (Acary, Cadoux, Lemarechal, Malick 2011).
bool proves_solvable(const MechanismScene& scene, const Vector& v);

/// Whether weights of the normal rows prove that no velocity satisfies their gap terms (Farkas):
/// weights >= 0, J_n^T weights = 0, gap . weights < 0. `weights` has one number per row.
bool proves_unsolvable(const MechanismScene& scene, const Vector& weights);

}  // namespace stickslip::support
