// The one residual (docs/mathematics.md §4): the natural map in circular coordinates, evaluated in
// double from (W, b, mu, R, r) as given, plus a bound of its rounding error. No solver uses another
// measure.
#pragma once
#include "kernels/law/dispatch.hpp"
#include "kernels/linalg/matvec.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// |F_i| / rho_i of the scalar row i, and its rounding: r_i - clamp(r_i - rho u_i, lo, hi) is u_i
/// clamped to (r_i - hi, r_i - lo) / rho, a difference of given numbers.
template <class Scalar>
SS_HD Wide<Scalar> scalar_residual(const EnvProblem<Scalar>& p, const Scalar* r,
                                   const Wide<Scalar>* u, int i) {
  using Number = Wide<Scalar>;
  if (i < p.n_free) return abs(u[i]);
  const Number inverse_rho = p.inverse_rho[i];
  const auto distance = [&](Number bound) { return (Number(r[i]) - bound) * inverse_rho; };
  return widened(Number(abs(clamp(u[i], distance(p.upper(i)), distance(p.lower(i))))));
}

/// The residual of one scalar row or block with its own rounding, for finite u.
template <class Scalar>
SS_HD Wide<Scalar> item_residual(const EnvProblem<Scalar>& p, Law law, const Scalar* r,
                                 const Wide<Scalar>* u, int item) {
  const int scalars = p.first_contact_row();
  if (item < scalars) return scalar_residual(p, r, u, item);
  const auto v = block_view(p, r, u, item - scalars);
  return with_law(law, [&](auto its) { return its.residual(v); });
}

/// u_R = (W + diag R) r + b by the matrix W.
template <class Scalar>
struct MatrixVelocity {
  using Number = Wide<Scalar>;
  const EnvProblem<Scalar>& p;
  template <class G>
  SS_HD void operator()(const G& g, const Scalar* r, Number* u) const {
    matvec_given(g, p.n, p.W, p.ld_W, p.symmetric, r, terms(r, u), NoSum{});
  }
  template <class G>
  SS_HD void operator()(const G& g, const Scalar* r, Number* u, Number* e) const {
    matvec_given(g, p.n, p.W, p.ld_W, p.symmetric, r, terms(r, u), sizes(r, e));
    round_sizes(g, e);
  }
  template <class G>
  SS_HD void error(const G& g, const Scalar* r, Number* e) const {
    matvec_given(g, p.n, p.W, p.ld_W, p.symmetric, r, NoSum{}, sizes(r, e));
    round_sizes(g, e);
  }

 private:
  SS_HD auto terms(const Scalar* r, Number* u) const {
    return sum_into(
        u, [this, r](int i) { return fma(p.compliance(i), Number(r[i]), Number(p.b[i])); });
  }
  SS_HD auto sizes(const Scalar* r, Number* e) const {
    return sum_into(e, [this, r](int i) {
      return fma(p.compliance(i), abs(Number(r[i])), abs(Number(p.b[i])));
    });
  }
  /// Bound of the rounding error of u: n + 2 roundings of a sum of these magnitudes, and the
  /// second-order terms (Higham 2002, Accuracy and Stability, section 3.1).
  template <class G>
  SS_HD void round_sizes(const G& g, Number* e) const {
    const double roundings = kRoundoff * double(p.n + p.rows_elsewhere + 4);
    g.for_each(p.n, [&](int i) { e[i] *= roundings; });
  }
};

/// First row of a scalar row or block.
template <class Scalar>
SS_HD int first_row(const EnvProblem<Scalar>& p, int item) {
  const int scalars = p.first_contact_row();
  return item < scalars ? item : p.block[item - scalars];
}

template <class Number>
SS_HD Number or_infinite(Mask<Number> valid, Number value) {
  return select(valid & is_finite(value), value, Number(Limits<double>::infinity));
}

/// Residual of impulses r (m/s) and their velocities u_R: never less than the natural map of u.
/// Infinite for NaN, and where squares of velocities or impulses overflow. Replaces u in the first
/// row of every scalar row and block by its share, for bound_of_map.
template <class G, class Scalar>
SS_SHARED_CODE Wide<Scalar> natural_map(G g, const EnvProblem<Scalar>& p, Law law, const Scalar* r,
                                        Wide<Scalar>* u) {
  using Number = Wide<Scalar>;
  const int scalars = p.first_contact_row();
  return g.max(scalars + p.n_contacts, [&](int item) {
    const int begin = first_row(p, item);
    const int end = item < scalars ? item + 1 : p.block[item - scalars + 1];
    Mask<Number> finite = true;
    for (int i = begin; i < end; ++i) finite = finite & is_finite(u[i]);
    Number value(Limits<double>::infinity);
    if (any(finite)) value = or_infinite(finite, item_residual(p, law, r, u, item));
    u[begin] = value;
    return value;
  });
}

/// After natural_map: a residual that is never less than the natural map of the exact velocities,
/// if `e` bounds the errors of u.
template <class G, class Scalar>
SS_HD Wide<Scalar> bound_of_map(const G& g, const EnvProblem<Scalar>& p, const Wide<Scalar>* map,
                                const Wide<Scalar>* e) {
  return g.max(p.first_contact_row() + p.n_contacts, [&](int item) {
    const Wide<Scalar> share = map[first_row(p, item)];
    return or_infinite(Mask<Wide<Scalar>>(true), Wide<Scalar>(share + velocity_error(p, e, item)));
  });
}

/// Residual of impulses r (m/s), an upper bound; u, e: scratch of n doubles each. Infinite for NaN.
template <class G, class Scalar, class Velocity>
SS_HD Wide<Scalar> residual(const G& g, const EnvProblem<Scalar>& p, Law law,
                            const Velocity& velocity, const Scalar* r, Wide<Scalar>* u,
                            Wide<Scalar>* e) {
  velocity(g, r, u, e);
  natural_map(g, p, law, r, u);
  return bound_of_map(g, p, u, e);
}

}  // namespace stickslip::kernels::inline SS_ISA
