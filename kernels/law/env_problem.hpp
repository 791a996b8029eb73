// One environment's problem, as the bodies see it, and its checks.
#pragma once
#include "stickslip/batch.hpp"
#include "kernels/group/arena.hpp"
#include "kernels/linalg/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// A problem u = W r + b. Rows: free | nonneg | box | contact blocks (n, t1, t2, ...).
template <class In>
struct EnvProblem {
  int n, n_free, n_nonneg, n_box, n_contacts;
  int ld_W;
  const In *W, *b, *mu, *R, *lo, *hi, *warm_start;
  const std::int32_t* dims;
  const int* block;  ///< [n_contacts + 1] first row of each contact block

  SS_HD int first_contact_row() const { return n_free + n_nonneg + n_box; }
  SS_HD double w(int i, int j) const { return double(W[std::int64_t(i) * ld_W + j]); }
  SS_HD double compliance(int i) const { return R == nullptr ? 0.0 : double(R[i]); }
  SS_HD double diagonal(int i) const { return w(i, i) + compliance(i); }
  /// Friction coefficient of tangential row block[k] + j, j >= 1.
  SS_HD double friction(int k, int j) const {
    return double(mu[block[k] - first_contact_row() - k + j - 1]);
  }
  /// First non-zero coefficient of block k: the slope of its circular cone (0: frictionless).
  SS_HD double slope(int k) const {
    for (int j = 1; j < block[k + 1] - block[k]; ++j) {
      if (friction(k, j) > 0.0) return friction(k, j);
    }
    return 0.0;
  }
  /// Bounds of the scalar row i < first_contact_row().
  SS_HD double lower(int i) const {
    if (i < n_free) return -Limits<double>::infinity;
    return i < n_free + n_nonneg ? 0.0 : double(lo[i - n_free - n_nonneg]);
  }
  SS_HD double upper(int i) const {
    return i < n_free + n_nonneg ? Limits<double>::infinity : double(hi[i - n_free - n_nonneg]);
  }
};

template <class T>
SS_HD T* slot(const EnvArray<T>& array, std::int64_t env) {
  return array.data == nullptr ? nullptr : array.data + env * array.stride;
}

/// Whether the shape can be read at all: no negative counts, dimensions 3, 4 or 6.
template <class In>
SS_HD bool shape_is_valid(const EnvShape& s, const std::int32_t* dims) {
  if (s.n_free < 0 || s.n_nonneg < 0 || s.n_box < 0 || s.n_contacts < 0) return false;
  if (dims == nullptr) return true;
  for (int k = 0; k < s.n_contacts; ++k) {
    if (dims[k] != 3 && dims[k] != 4 && dims[k] != 6) return false;
  }
  return true;
}

/// Rows of a shape. `dims` is read only as far as `max_contacts` entries reach.
SS_HD int rows_of(const EnvShape& s, const std::int32_t* dims, int max_contacts) {
  int rows = s.n_free + s.n_nonneg + s.n_box;
  for (int k = 0; k < s.n_contacts; ++k) rows += dims != nullptr && k < max_contacts ? dims[k] : 3;
  return rows;
}

/// Fills the view of environment `env`; `block` is scratch of max_contacts + 1.
/// Returns solved where the shape is usable, else bad_input or over_capacity.
template <class G, class In>
SS_HD EnvStatus open_problem(const G& g, const ProblemBatch<In>& batch, std::int64_t env, int* block,
                             EnvProblem<In>& p, int& rows_needed) {
  const EnvShape s = *slot(batch.shape, env);
  p.dims = slot(batch.dims, env);
  rows_needed = 0;
  if (s.n_free < 0 || s.n_nonneg < 0 || s.n_box < 0 || s.n_contacts < 0) {
    return EnvStatus::bad_input;
  }
  rows_needed = rows_of(s, p.dims, batch.max_contacts);
  if (s.n_contacts > batch.max_contacts || rows_needed > batch.max_rows) {
    return EnvStatus::over_capacity;
  }
  if (!shape_is_valid<In>(s, p.dims)) return EnvStatus::bad_input;
  p.n = rows_needed;
  p.n_free = s.n_free;
  p.n_nonneg = s.n_nonneg;
  p.n_box = s.n_box;
  p.n_contacts = s.n_contacts;
  p.ld_W = batch.ld_W > 0 ? batch.ld_W : batch.max_rows;
  p.W = slot(batch.W, env);
  p.b = slot(batch.b, env);
  p.mu = slot(batch.mu, env);
  p.R = slot(batch.R, env);
  p.lo = slot(batch.lo, env);
  p.hi = slot(batch.hi, env);
  p.warm_start = slot(batch.warm_start, env);
  p.block = block;
  const std::int32_t* dims = p.dims;
  g.once([&] {
    int row = s.n_free + s.n_nonneg + s.n_box;
    for (int k = 0; k < s.n_contacts; ++k) {
      block[k] = row;
      row += dims == nullptr ? 3 : dims[k];
    }
    block[s.n_contacts] = row;
  });
  return EnvStatus::solved;
}

/// Whether every number is usable (docs/mathematics.md §5, bad_input). For `convex` also symmetry
/// up to rounding: the other laws take W as given.
template <class G, class In>
SS_HD bool values_are_valid(const G& g, const EnvProblem<In>& p, Law law) {
  const auto bad = [](In x) { return !is_finite(x); };
  const double slack = sizeof(In) == 8 ? 1e-9 : 1e-4;
  const double scale = g.max(p.n, [&](int i) { return abs(p.w(i, i)); });
  return !g.any(p.n, [&](int i) {
    bool wrong = bad(p.b[i]) || p.w(i, i) < 0.0;
    if (p.R != nullptr) wrong = wrong || bad(p.R[i]) || p.R[i] < In(0);
    if (p.warm_start != nullptr) wrong = wrong || bad(p.warm_start[i]);
    const int box = i - p.n_free - p.n_nonneg;
    if (box >= 0 && box < p.n_box) wrong = wrong || !(p.lo[box] <= p.hi[box]);
    if (i >= p.first_contact_row() + p.n_contacts) {
      const In mu = p.mu[i - p.first_contact_row() - p.n_contacts];
      wrong = wrong || bad(mu) || mu < In(0);
    }
    const In* row = p.W + std::int64_t(i) * p.ld_W;
    for (int j = 0; j < p.n; ++j) wrong = wrong || bad(row[j]);
    if (law == Law::convex) {
      for (int j = 0; j < i; ++j) wrong = wrong || abs(p.w(i, j) - p.w(j, i)) > slack * scale;
    }
    return wrong;
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
