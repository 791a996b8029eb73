// The one residual (docs/mathematics.md §4): the natural map in circular coordinates, evaluated in
// double from (W, b, mu, R, r) as given, plus a bound of its rounding error. No solver uses another
// measure.
#pragma once
#include "kernels/law/dispatch.hpp"
#include "kernels/linalg/matvec.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// |F_i| / rho_i of the scalar row i, and its rounding: r_i - clamp(r_i - rho u_i, lo, hi) is u_i
/// clamped to (r_i - hi, r_i - lo) / rho, a difference of given numbers.
template <class In>
SS_HD Wide<In> scalar_residual(const EnvProblem<In>& p, const In* r, const Wide<In>* u, int i) {
  using Number = Wide<In>;
  if (i < p.n_free) return abs(u[i]);
  const Number inverse_rho = p.inverse_rho[i];
  const auto distance = [&](Number bound) { return (Number(r[i]) - bound) * inverse_rho; };
  return widened(Number(abs(clamp(u[i], distance(p.upper(i)), distance(p.lower(i))))));
}

/// The residual of one scalar row or block with its own rounding, for finite u.
template <class In>
SS_HD Wide<In> item_residual(const EnvProblem<In>& p, Law law, const In* r, const Wide<In>* u,
                             int item) {
  const int scalars = p.first_contact_row();
  if (item < scalars) return scalar_residual(p, r, u, item);
  const auto v = block_view(p, r, u, item - scalars);
  return with_law(law, [&](auto its) { return its.residual(v); });
}

/// u_R = (W + diag R) r + b by the matrix W.
template <class In>
struct MatrixVelocity {
  using Number = Wide<In>;
  const EnvProblem<In>& p;
  template <class G>
  SS_HD void operator()(const G& g, const In* r, Number* u) const {
    matvec_given(g, p.n, p.W, p.ld_W, p.symmetric, r, rest(r), u);
  }
  /// The same, and a bound of the rounding error of u: n + 2 roundings of a sum of these
  /// magnitudes, and the second-order terms (Higham 2002, Accuracy and Stability, section 3.1).
  template <class G>
  SS_HD void operator()(const G& g, const In* r, Number* u, Number* e) const {
    const auto sizes = [&](int i) {
      return fma(p.compliance(i), abs(Number(r[i])), abs(Number(p.b[i])));
    };
    matvec_given(g, p.n, p.W, p.ld_W, p.symmetric, r, rest(r), u, sizes, e);
    const double roundings = kRoundoff * double(p.n + 4);
    g.for_each(p.n, [&](int i) { e[i] *= roundings; });
  }

 private:
  SS_HD auto rest(const In* r) const {
    return [this, r](int i) { return fma(p.compliance(i), Number(r[i]), Number(p.b[i])); };
  }
};

/// First row of a scalar row or block.
template <class In>
SS_HD int first_row(const EnvProblem<In>& p, int item) {
  const int scalars = p.first_contact_row();
  return item < scalars ? item : p.block[item - scalars];
}

/// Residual of impulses r (m/s) and their velocities u_R. If `e` bounds the errors of u, it is
/// never less than the natural map of the exact velocities; if `e` is null, never less than that of
/// u. Infinite for NaN, and where squares of velocities or impulses overflow. Leaves the residual
/// without the errors in the first row of e of every row or block, for plain_map.
template <class G, class In>
SS_HD Wide<In> natural_map(const G& g, const EnvProblem<In>& p, Law law, const In* r,
                           const Wide<In>* u, Wide<In>* e = nullptr) {
  using Number = Wide<In>;
  const int scalars = p.first_contact_row();
  return g.max(scalars + p.n_contacts, [&](int item) {
    const int begin = first_row(p, item);
    const int end = item < scalars ? item + 1 : p.block[item - scalars + 1];
    Mask<Number> finite = true;
    for (int i = begin; i < end; ++i) finite = finite & is_finite(u[i]);
    const auto or_infinite = [&](Number value) {
      return select(finite & is_finite(value), value, Number(Limits<double>::infinity));
    };
    Number value(Limits<double>::infinity);
    if (any(finite)) value = or_infinite(item_residual(p, law, r, u, item));
    if (e == nullptr) return value;
    const Number bound = or_infinite(value + velocity_error(p, e, item));
    e[begin] = value;
    return bound;
  });
}

/// The residual without the errors `e`, after natural_map.
template <class G, class In>
SS_HD Wide<In> plain_map(const G& g, const EnvProblem<In>& p, const Wide<In>* e) {
  return g.max(p.first_contact_row() + p.n_contacts, [&](int i) { return e[first_row(p, i)]; });
}

/// Residual of impulses r (m/s), an upper bound; u, e: scratch of n doubles each, which receive u_R
/// and the bound of its errors. Infinite for NaN.
template <class G, class In>
SS_HD Wide<In> residual(const G& g, const EnvProblem<In>& p, Law law, const In* r, Wide<In>* u,
                        Wide<In>* e) {
  const MatrixVelocity<In> velocity{p};
  velocity(g, r, u, e);
  return natural_map(g, p, law, r, u, e);
}

}  // namespace stickslip::kernels::inline SS_ISA
