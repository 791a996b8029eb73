#include "src/mujoco/contacts/height_field.hpp"

namespace stickslip::mujoco {
namespace {

constexpr double kFlat = 1e-6;  // of the elevation, which is in float
constexpr double kOn = 1e-4;    // of a cell; as near lie points on an edge

}  // namespace

double Triangle::outside(const double* x) const {
  double most = -mjMAXVAL;
  for (int i = 0; i < 3; ++i) {
    const double *p = at[i], *q = at[(i + 1) % 3];
    const double along[2] = {q[0] - p[0], q[1] - p[1]};
    const double side = (x[0] - p[0]) * along[1] - (x[1] - p[1]) * along[0];
    most = std::max(most, side / std::hypot(along[0], along[1]));
  }
  return most;
}

HeightField::HeightField(const mjModel* m, const mjData* d, int geom) {
  const int id = m->geom_dataid[geom];
  nrow_ = m->hfield_nrow[id];
  ncol_ = m->hfield_ncol[id];
  data_ = m->hfield_data + m->hfield_adr[id];
  size_ = m->hfield_size + 4 * id;
  mju_copy3(pos_, d->geom_xpos + 3 * geom);
  mju_copy(mat_, d->geom_xmat + 9 * geom, 9);
  dx_ = 2 * size_[0] / (ncol_ - 1);
  dy_ = 2 * size_[1] / (nrow_ - 1);
  on_ = kOn * std::min(dx_, dy_);
}

void HeightField::to_local(const double* x, double* local) const {
  double offset[3];
  mju_sub3(offset, x, pos_);
  mju_mulMatTVec3(local, mat_, offset);
}

void HeightField::to_local(mjPreContact& contact) const {
  double normal[3];
  mju_copy3(normal, contact.normal);
  mju_mulMatTVec3(contact.normal, mat_, normal);
  to_local(contact.pos, contact.pos);
}

void HeightField::to_world(const double* local, double* x) const {
  double turned[3];
  mju_mulMatVec3(turned, mat_, local);
  mju_add3(x, turned, pos_);
}

void HeightField::to_world(mjPreContact& contact) const {
  double normal[3];
  mju_copy3(normal, contact.normal);
  mju_mulMatVec3(contact.normal, mat_, normal);
  to_world(contact.pos, contact.pos);
}

HeightField::Cells HeightField::cells(const double* low, const double* high, double reach) const {
  const auto index = [](double x, double size, double step, int count) {
    return int(std::clamp(std::floor((x + size) / step), -1.0, double(count)));
  };
  const double more = reach + on_;
  return {{std::max(0, index(low[1] - more, size_[1], dy_, nrow_)),
           std::min(nrow_ - 1, index(high[1] + more, size_[1], dy_, nrow_) + 1)},
          {std::max(0, index(low[0] - more, size_[0], dx_, ncol_)),
           std::min(ncol_ - 1, index(high[0] + more, size_[0], dx_, ncol_) + 1)}};
}

void HeightField::vertex(int row, int column, double* x) const {
  x[0] = dx_ * column - size_[0];
  x[1] = dy_ * row - size_[1];
  x[2] = data_[row * ncol_ + column] * size_[2];
}

Triangle HeightField::triangle(int row, int column, int which) const {
  Triangle t;
  vertex(row, column, t.at[0]);
  vertex(row + which, column + 1, t.at[1]);
  vertex(row + 1, column + 1 - which, t.at[2]);
  double first[3], second[3];
  mju_sub3(first, t.at[1], t.at[0]);
  mju_sub3(second, t.at[2], t.at[0]);
  mju_cross(t.normal, first, second);
  mju_normalize3(t.normal);
  return t;
}

Triangle HeightField::triangle_at(const double* x) const {
  const double u = (x[0] + size_[0]) / dx_, v = (x[1] + size_[1]) / dy_;
  const int c = int(std::clamp(std::floor(u), 0.0, double(ncol_ - 2)));
  const int r = int(std::clamp(std::floor(v), 0.0, double(nrow_ - 2)));
  return triangle(r, c, v - r > u - c ? 1 : 0);
}

bool HeightField::lies_below(const double* x, const double* normal) const {
  bool below = true;
  for_triangles(cells(x, x, 0), [&](const Triangle& t) {
    if (t.outside(x) > on_) return;
    for (const double* corner : t.at) {
      double offset[3];
      mju_sub3(offset, corner, x);
      below = below && mju_dot3(offset, normal) <= kTilt * mju_norm3(offset);
    }
  });
  return below;
}

// Whether two triangles lie in one plane, but for rounding of heights.
bool HeightField::are_level(const Triangle& a, const Triangle& b) const {
  return std::all_of(std::begin(b.at), std::end(b.at), [&](const double* corner) {
    return std::abs(a.height(corner)) <= kFlat * size_[2];
  });
}

bool HeightField::is_flat(const double* x) const {
  if (std::abs(x[0]) > size_[0] - on_ || std::abs(x[1]) > size_[1] - on_) return false;
  const Triangle here = triangle_at(x);
  bool flat = true;
  for_triangles(cells(x, x, 0), [&](const Triangle& t) {
    if (t.outside(x) <= on_) flat = flat && are_level(here, t);
  });
  return flat;
}

bool HeightField::carries(const Triangle& triangle, const double* x, double reach) const {
  if (std::abs(x[0]) > size_[0] || std::abs(x[1]) > size_[1]) return false;
  const Triangle here = triangle_at(x);
  if (are_level(triangle, here)) return true;
  bool beside = false;
  for_triangles(cells(x, x, reach), [&](const Triangle& t) {
    beside = beside || (t.outside(x) <= reach && are_level(triangle, t));
  });
  return beside && here.height(x) < 0;
}

}  // namespace stickslip::mujoco
