// The problem of one environment, as the bodies read it, and its checks.
#pragma once
#include "kernels/group/arena.hpp"
#include "kernels/group/math.hpp"
#include "stickslip/batch.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// A problem u = W r + b. Rows: free | nonneg | box | contact blocks (n, t1, t2, ...).
template <class Scalar>
struct EnvProblem {
  using Number = Wide<Scalar>;
  int n, n_free, n_nonneg, n_box, n_contacts;
  bool symmetric;       ///< W equals its transpose, bit for bit (set by `check_values`)
  bool start_selected;  ///< the warm start is the selected solution of nearly this problem
  int start_kept;       ///< not 0: or of one of which some islands have not changed
  int ld_W;
  int directions;  ///< of law `pyramid` in the sliding plane
  const Scalar *W, *b, *mu, *R, *lo, *hi, *warm_start;
  const std::int32_t* dims;
  const int* block;  ///< [n_contacts + 1] first row of each contact block
  /// Circular coordinates (docs/mathematics.md §1), set by `enter_circular_coordinates`.
  const Wide<Scalar>* slope;  ///< [n_contacts] first non-zero coefficient mu_1; 0: frictionless
  const Wide<Scalar>*
      circular;  ///< [n] mu_j / mu_1; 1 on normals and scalar rows, 0 where mu_j = 0
  const Wide<Scalar>* circular_inverse;  ///< [n] mu_1 / mu_j; 1 where mu_j = 0
  const Wide<Scalar>*
      inverse_rho;  ///< [scalar rows + n_contacts] 1 / rho of the residual, per row or block
  /// Of an island (islands.hpp), so that it is judged as the environment would be: the number of
  /// the other islands' rows, and max|b| of all. 0 where the problem is the environment.
  int rows_elsewhere;
  Number b_elsewhere;

  /// Whether the polygon of the pyramid has more corners than a diamond in contact k.
  SS_HD bool has_polygon([[maybe_unused]] int k) const {
#if !defined(__CUDA_ARCH__) || defined(SS_POLYGONS)  // they would cost other kernels registers
    if constexpr (kIsPlain<Scalar>) {
      return directions > 4 && circular[block[k] + 1] > 0.0 && circular[block[k] + 2] > 0.0;
    }
#endif
    return false;
  }
  SS_HD int first_contact_row() const { return n_free + n_nonneg + n_box; }
  SS_HD Number w(int i, int j) const { return Number(W[std::int64_t(i) * ld_W + j]); }
  SS_HD Number compliance(int i) const { return R == nullptr ? Number(0.0) : Number(R[i]); }
  SS_HD Number diagonal(int i) const { return w(i, i) + compliance(i); }
  /// Friction coefficient of tangential row block[k] + j, j >= 1.
  SS_HD Number friction(int k, int j) const {
    return Number(mu[block[k] - first_contact_row() - k + j - 1]);
  }
  /// Bounds of the scalar row i < first_contact_row().
  SS_HD Number lower(int i) const {
    if (i < n_free) return -Limits<double>::infinity;
    return i < n_free + n_nonneg ? Number(0.0) : Number(lo[i - n_free - n_nonneg]);
  }
  SS_HD Number upper(int i) const {
    return i < n_free + n_nonneg ? Number(Limits<double>::infinity)
                                 : Number(hi[i - n_free - n_nonneg]);
  }
};

/// A dimension known to the compiler, so that loops over a block unroll.
template <int D>
struct Dim {
  SS_HD constexpr int operator()() const { return D; }
};

/// Calls f(Dim<dim>) for the dimension of a block. Code for 4 and 6 lies apart.
template <class F>
SS_HD void with_dim(int dim, F&& f) {
  if (SS_LIKELY(dim == 3)) {
    f(Dim<3>{});
  } else if (dim == 4) {
    f(Dim<4>{});
  } else if (dim == 6) {
    f(Dim<6>{});
  }
}

template <class T>
SS_HD T* slot(const EnvArray<T>& array, std::int64_t env) {
  return array.data == nullptr ? nullptr : array.data + env * array.stride;
}

/// Whether the counts can be read at all: none negative, dimensions 3, 4 or 6.
template <class Scalar>
SS_HD bool counts_are_valid(const RowCounts& s, const std::int32_t* dims) {
  if (s.n_free < 0 || s.n_nonneg < 0 || s.n_box < 0 || s.n_contacts < 0) return false;
  if (dims == nullptr) return true;
  SS_ROLLED
  for (int k = 0; k < s.n_contacts; ++k) {
    if (dims[k] != 3 && dims[k] != 4 && dims[k] != 6) return false;
  }
  return true;
}

/// Rows by the counts, at most INT32_MAX, for any numbers: neither they nor `dims` are checked yet.
/// Only the `max_contacts` entries of `dims` are read; further contacts, and dimensions below 3,
/// count as 3 rows.
SS_HD std::int32_t rows_of(const RowCounts& s, const std::int32_t* dims,
                           std::int32_t max_contacts) {
  std::int64_t rows =
      std::int64_t(s.n_free) + s.n_nonneg + s.n_box + 3 * std::int64_t(s.n_contacts);
  if (dims != nullptr) {
    SS_ROLLED
    for (int k = 0; k < min(s.n_contacts, max_contacts); ++k) rows += max(dims[k], 3) - 3;
  }
  constexpr std::int64_t most = 0x7fffffff;
  return std::int32_t(clamp(rows, std::int64_t(0), most));
}

/// Rows of environment `env`; 0 where its counts are not valid, or do not fit the batch.
template <class Scalar>
SS_HD int usable_rows(const ProblemBatch<Scalar>& p, std::int64_t env) {
  const RowCounts s = *slot(p.counts, env);
  if (min(min(s.n_free, s.n_nonneg), min(s.n_box, s.n_contacts)) < 0) return 0;
  if (s.n_contacts > p.max_contacts) return 0;
  const int rows = rows_of(s, slot(p.dims, env), p.max_contacts);
  return rows > p.max_rows ? 0 : rows;
}

/// Scratch of the view of one environment.
template <class Scalar>
struct ViewScratch {
  int* block;
  Wide<Scalar>*slope, *circular, *circular_inverse, *inverse_rho;

  SS_HD ViewScratch(Arena& arena, int max_rows, int max_contacts)
      : block(arena.take<int>(max_contacts + 1)),
        slope(arena.take<Wide<Scalar>>(max_contacts)),
        circular(arena.take<Wide<Scalar>>(max_rows)),
        circular_inverse(arena.take<Wide<Scalar>>(max_rows)),
        inverse_rho(arena.take<Wide<Scalar>>(max_rows)) {}

  /// Points the arrays of the view to this scratch.
  SS_HD void place(EnvProblem<Scalar>& p) const {
    p.block = block;
    p.slope = slope;
    p.circular = circular;
    p.circular_inverse = circular_inverse;
    p.inverse_rho = inverse_rho;
  }
};

/// Fills the view of environment `env`; the vectors and W of a batch in another type stay null.
/// Returns solved if the counts are usable, else bad_input or over_capacity.
template <class G, class Data, class Scalar>
SS_HD EnvStatus open_problem(const G& g, const ProblemBatch<Data>& batch, std::int64_t env,
                             const ViewScratch<Scalar>& scratch, EnvProblem<Scalar>& p,
                             int& rows_needed) {
  const RowCounts s = *slot(batch.counts, env);
  p.dims = slot(batch.dims, env);
  rows_needed = 0;
  if (s.n_free < 0 || s.n_nonneg < 0 || s.n_box < 0 || s.n_contacts < 0) {
    return EnvStatus::bad_input;
  }
  rows_needed = rows_of(s, p.dims, batch.max_contacts);
  if (s.n_contacts > batch.max_contacts || rows_needed > batch.max_rows) {
    return EnvStatus::over_capacity;
  }
  if (!counts_are_valid<Scalar>(s, p.dims)) return EnvStatus::bad_input;
  if (s.n_box > 0 && (batch.lo.data == nullptr || batch.hi.data == nullptr)) {
    return EnvStatus::bad_input;  // the host cannot check shapes in device memory
  }
  p.n = rows_needed;
  p.n_free = s.n_free;
  p.n_nonneg = s.n_nonneg;
  p.n_box = s.n_box;
  p.n_contacts = s.n_contacts;
  p.directions = 4;
  const std::int32_t* selected = slot(batch.start_selected, env);
  const std::int32_t known = selected != nullptr ? *selected : 0;
  p.start_kept = known;
  p.start_selected = known != 0 && known != kSelectedWhereUnchanged;
  if constexpr (sizeof(Data) == sizeof(Scalar)) {
    p.ld_W = batch.ld_W > 0 ? batch.ld_W : batch.max_rows;
    p.W = slot(batch.W, env);
    p.b = slot(batch.b, env);
    p.mu = slot(batch.mu, env);
    p.R = slot(batch.R, env);
    p.lo = slot(batch.lo, env);
    p.hi = slot(batch.hi, env);
    p.warm_start = slot(batch.warm_start, env);
  }
  scratch.place(p);
  int* block = scratch.block;
  const std::int32_t* dims = p.dims;
  g.once([&] {
    int row = s.n_free + s.n_nonneg + s.n_box;
    SS_ROLLED
    for (int k = 0; k < s.n_contacts; ++k) {
      block[k] = row;
      row += dims == nullptr ? 3 : dims[k];
    }
    block[s.n_contacts] = row;
  });
  return EnvStatus::solved;
}

/// Whether the vectors' entries of row i are valid.
template <class Scalar>
SS_HD Mask<Scalar> row_is_valid(const EnvProblem<Scalar>& p, int i) {
  const Scalar zero(0);
  Mask<Scalar> valid = is_finite(p.b[i]) & (p.W[std::int64_t(i) * p.ld_W + i] >= zero);
  if (p.R != nullptr) valid = valid & is_finite(p.R[i]) & (p.R[i] >= zero);
  if (p.warm_start != nullptr) valid = valid & is_finite(p.warm_start[i]);
  const int box = i - p.n_free - p.n_nonneg;
  if (box >= 0 && box < p.n_box) {
    const Scalar lo = p.lo[box], hi = p.hi[box];
    const Scalar infinity = Limits<Scalar>::infinity;
    valid = valid & (lo <= hi) & (lo < infinity) & (hi > -infinity);
  }
  const int tangential = i - p.first_contact_row() - p.n_contacts;  // mu has one entry per such row
  if (tangential >= 0) valid = valid & is_finite(p.mu[tangential]) & (p.mu[tangential] >= zero);
  return valid;
}

/// Puts the diagonal of W in place of W: a matrix whose rows all begin at the same place, so that
/// only its diagonal may be read. Whether that and all vectors are valid.
template <class G>
SS_HD bool take_diagonal(const G& g, const double* diagonal, EnvProblem<double>& p) {
  p.W = diagonal;
  p.ld_W = 0;
  p.symmetric = true;
  return !g.any(p.n, [&](int i) { return !is_finite(p.W[i]) || !row_is_valid(p, i); });
}

/// Whether every number is valid (docs/mathematics.md §5, bad_input); also finds whether W is
/// symmetric. Some laws need symmetry up to rounding, which is that of float if W was `from_float`;
/// the others accept any W.
template <class G, class Scalar>
SS_HD Mask<Scalar> check_values(const G& g, EnvProblem<Scalar>& p, bool needs_symmetry,
                                bool from_float = sizeof(Scalar) == 4) {
  // A difference of 0 means both equal and finite, on the diagonal too; a sum, because masks would
  // take longer.
  const auto differs = g.any(p.n, [&](int i) {
    const Scalar* row = p.W + std::int64_t(i) * p.ld_W;
    Scalar distance(0);
    SS_BY_FOUR
    for (int j = 0; j <= i; ++j) distance += abs(row[j] - p.W[std::int64_t(j) * p.ld_W + i]);
    return !(distance == Scalar(0));
  });
  p.symmetric = !any(differs);
  const auto broken = g.any(p.n, [&](int i) {
    const Scalar* row = p.W + std::int64_t(i) * p.ld_W;
    Mask<Scalar> finite = true;
    SS_ROLLED
    for (int j = 0; j < (p.symmetric ? 0 : p.n); ++j) finite = finite & is_finite(row[j]);
    return !(finite & row_is_valid(p, i));
  });
  if (all(broken) || p.symmetric || !needs_symmetry) return !broken;
  using Number = Wide<Scalar>;
  const Number largest = g.max(p.n, [&](int i) { return p.w(i, i); });
  const Number slack = (from_float ? 1e-4 : 1e-9) * largest;
  const auto skew = g.any(p.n, [&](int i) {
    Mask<Number> far = false;
    SS_ROLLED
    for (int j = 0; j < i; ++j) far = far | (abs(p.w(i, j) - p.w(j, i)) > slack);
    return far;
  });
  return !(broken | Mask<Scalar>(skew));
}

/// W_nn of contact k, or the block's inverse_rho if W_nn is zero: the softening of contacts is
/// proportional to this.
template <class Scalar>
SS_HD Wide<Scalar> normal_diagonal(const EnvProblem<Scalar>& p, int k) {
  const Wide<Scalar> own = p.w(p.block[k], p.block[k]);
  return select(own > 0.0, own, p.inverse_rho[p.first_contact_row() + k]);
}

/// Whether the start is not zero impulses.
template <class G, class Scalar>
SS_HD bool starts_warm(const G& g, const EnvProblem<Scalar>& p) {
  const Scalar* start = p.warm_start;
  return start != nullptr && g.any(p.n, [&](int i) { return start[i] != Scalar(0); });
}

}  // namespace stickslip::kernels::inline SS_ISA
