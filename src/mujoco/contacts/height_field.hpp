// The surface of a height field, as MuJoCo divides it into triangles, in the frame of its geom.
#pragma once
#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>

namespace stickslip::mujoco {

inline constexpr double kTilt = 2e-3;  ///< rad; what is nearly parallel may carry

/// One of the two triangles of a cell, counter-clockwise from above.
struct Triangle {
  double at[3][3];
  double normal[3];  ///< upwards

  /// Of a point above the plane of the triangle.
  double height(const double* x) const {
    double offset[3];
    mju_sub3(offset, x, at[0]);
    return mju_dot3(offset, normal);
  }
  double top() const { return std::max({at[0][2], at[1][2], at[2][2]}); }
  /// How far the point lies outside, seen from above; negative: inside.
  double outside(const double* x) const;
};

class HeightField {
 public:
  HeightField(const mjModel* m, const mjData* d, int geom);

  const double* pos() const { return pos_; }
  const double* mat() const { return mat_; }
  void to_local(const double* x, double* local) const;
  void to_local(mjPreContact& contact) const;
  void to_world(const double* local, double* x) const;
  void to_world(mjPreContact& contact) const;

  struct Cells {
    int rows[2], columns[2];  ///< from and to, of vertices; to excluded, of cells
  };
  /// Those that, seen from above, lie within `reach` of a box.
  Cells cells(const double* low, const double* high, double reach) const;
  bool has(int row, int column) const {
    return row >= 0 && row < nrow_ && column >= 0 && column < ncol_;
  }
  void vertex(int row, int column, double* x) const;

  /// Calls f with each triangle of the cells.
  template <class F>
  void for_triangles(const Cells& cells, const F& f) const {
    for (int r = cells.rows[0]; r < cells.rows[1]; ++r)
      for (int c = cells.columns[0]; c < cells.columns[1]; ++c)
        for (int which = 0; which < 2; ++which) f(triangle(r, c, which));
  }
  /// Calls f with one triangle of each plane that the cells have above a height, but for planes
  /// that come after many others: with each of theirs.
  template <class F>
  void for_planes(const Cells& cells, double height, const F& f) const;

  /// Whether the triangles that meet at a point of the surface lie below the plane through it with
  /// this normal, to 2 mrad: then it may carry along the normal.
  bool lies_below(const double* x, const double* normal) const;
  /// Whether the surface is a plane at a point of it.
  bool is_flat(const double* x) const;
  /// Whether the plane of the triangle carries at its point x: it is the surface there, or at most
  /// `reach` beside where the surface is higher. In a valley both sides carry.
  bool carries(const Triangle& triangle, const double* x, double reach) const;

 private:
  Triangle triangle(int row, int column, int which) const;
  Triangle triangle_at(const double* x) const;
  bool are_level(const Triangle& a, const Triangle& b) const;

  int nrow_, ncol_;
  const float* data_;
  const double* size_;
  double pos_[3], mat_[9], dx_, dy_, on_;
};

template <class F>
void HeightField::for_planes(const Cells& cells, double height, const F& f) const {
  Triangle done[64], *end = done;
  for_triangles(cells, [&](const Triangle& t) {
    if (t.top() < height) return;
    if (std::any_of(done, end, [&](const Triangle& other) { return are_level(other, t); })) return;
    if (end < std::end(done)) *end++ = t;
    f(t);
  });
}

}  // namespace stickslip::mujoco
