#include "src/mujoco/problem/problem_print.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace stickslip::mujoco {
namespace {

constexpr int kDirections = ProblemPrint::kDirections;

// Wellons 2018, lowbias32.
std::uint32_t hashed(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x7FEB352DU;
  x = (x ^ (x >> 15)) * 0x846CA68BU;
  return x ^ (x >> 16);
}

std::uint32_t hashed(mjtNum id) { return hashed(std::uint32_t(std::int64_t(id))); }

// A weight of a row in each direction, in [-1, 1].
struct Weights {
  mjtNum of[kDirections];
};

Weights weights_of(std::uint32_t hash) {
  Weights w;
  for (mjtNum& weight : w.of) weight = std::int32_t(hash = hashed(hash + 1)) / 2147483648.0;
  return w;
}

// Those of a contact depend on its place, not on its number: colliders list the points of a face in
// an order that rounding decides. They are continuous, because points move as much as b changes.
Weights weights_of(std::uint32_t pair, const mjtNum* position) {
  constexpr mjtNum kAcross[kDirections][3] = {
      {17.0, 29.0, 23.0}, {-61.0, 47.0, 53.0}, {151.0, -113.0, 127.0}};  // 1/m
  Weights w = weights_of(pair);
  for (int k = 0; k < kDirections; ++k) {
    const mjtNum phase = w.of[k] + mju_dot3(kAcross[k], position);
    w.of[k] = 4 * std::abs(phase - std::floor(phase) - 0.5) - 1;  // a triangular wave
  }
  return w;
}

void add_row(const EnvSlot& slot, int row, int axis, const Weights& w, std::uint32_t hash,
             ProblemPrint& print) {
  constexpr mjtNum kAxis[] = {1.0, -0.83, 0.71, 0.59, -0.47, 0.37};
  const mjtNum b = slot.b[row] * kAxis[axis];
  for (int k = 0; k < kDirections; ++k) print.along_b[k] += b * w.of[k];
  print.size = std::max(print.size, std::abs(slot.b[row]));
  print.law += slot.R[row] * kAxis[axis] * hash;
}

// Continuous, between log2(x) + 1.91 and log2(x) + 2.
mjtNum logarithm(mjtNum x) {
  int exponent = 0;
  const mjtNum mantissa = std::frexp(x, &exponent);
  return exponent + 2 * mantissa;
}

// M tells of bodies and of their configuration.
mjtNum print_of_mass(const mjModel* m, const double* M) {
  mjtNum sum = 0;
  for (int k = 0; k < m->nv; ++k)
    sum += logarithm(M[m->M_rowadr[k] + m->M_rownnz[k] - 1]) * weights_of(std::uint32_t(k)).of[0];
  return sum;
}

}  // namespace

mjtNum pair_of(const mjModel* m, const mjContact& c) {
  const auto side = [&](int s) { return c.geom[s] >= 0 ? c.geom[s] : m->ngeom + c.flex[s]; };
  return mjtNum(side(0)) * mjtNum(m->ngeom + m->nflex) + mjtNum(side(1));
}

mjtNum id_of(const mjModel* m, const mjData* d, int i) {
  const int type = d->efc_type[i], id = d->efc_id[i];
  return 16 * (type == mjCNSTR_CONTACT_FRICTIONLESS ? pair_of(m, d->contact[id]) : id) + type;
}

mjtNum hash_of_rows(const mjModel* m, const mjData* d, const EnvSlot& slot) {
  const RowCounts& s = *slot.counts;
  mjtNum sum = 1;  // of integers: exact in any order
  for (int row = 0; row < scalar_rows(s); ++row) sum += hashed(id_of(m, d, slot.efc_of[row]));
  for (int k = 0, row = scalar_rows(s); k < s.n_contacts; row += slot.dims[k++])
    sum += hashed(pair_of(m, contact_at(d, slot, row)));
  return sum;
}

ProblemPrint print_of(const mjModel* m, const mjData* d, const EnvSlot& slot, int rows) {
  ProblemPrint print{};
  print.rows = hash_of_rows(m, d, slot);
  const RowCounts& s = *slot.counts;
  for (int row = 0; row < scalar_rows(s); ++row) {
    const std::uint32_t id = hashed(id_of(m, d, slot.efc_of[row]));
    add_row(slot, row, 0, weights_of(id), id, print);
  }
  print.mass = print_of_mass(m, slot.M);
  const mjtNum* mu = slot.mu;
  for (int k = 0, row = scalar_rows(s); row < rows; row += slot.dims[k++]) {
    const mjContact& contact = contact_at(d, slot, row);
    const std::uint32_t pair = hashed(pair_of(m, contact));
    const Weights w = weights_of(pair, contact.pos);
    for (int axis = 0; axis < slot.dims[k]; ++axis) {
      add_row(slot, row + axis, axis, w, pair, print);
      if (axis > 0) print.law += *mu++ * pair;
    }
  }
  return print;
}

bool is_same(const ProblemPrint& a, const ProblemPrint& b, mjtNum share) {
  if (a.rows != b.rows || !(std::abs(a.law - b.law) <= 1e-6 * std::abs(b.law))) return false;
  if (!(std::abs(a.mass - b.mass) <= share)) return false;
  for (int k = 0; k < kDirections; ++k)
    if (!(std::abs(a.along_b[k] - b.along_b[k]) <= share * b.size)) return false;
  return true;
}

}  // namespace stickslip::mujoco
