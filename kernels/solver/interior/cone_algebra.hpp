// The second-order cone {x_0 >= |x_t|}: its Jordan algebra and the scaling of interior points
// (Alizadeh & Goldfarb 2003). A vector is its head x_0 and its tail x_t, which is in memory.
#pragma once
#include "kernels/group/math.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Real>
struct ConeVector {
  Real head;
  const Real* tail;
  int size;  ///< entries of the tail
};

template <class Real>
SS_HD Real dot_tails(const ConeVector<Real>& x, const ConeVector<Real>& y) {
  Real sum = Real(0);
  SS_ROLLED
  for (int j = 0; j < x.size; ++j) sum = fma(x.tail[j], y.tail[j], sum);
  return sum;
}

template <class Real>
SS_HD Real tail_length(const ConeVector<Real>& x) {
  return sqrt(dot_tails(x, x));
}

/// x_0^2 - |x_t|^2 of a vector inside the cone, kept > 0 if rounding gives less. x^-1 = J x / det
/// x.
template <class Real>
SS_HD Real determinant(const ConeVector<Real>& x) {
  const Real length = tail_length(x);
  return max((x.head - length) * (x.head + length), Real(1e-100));
}

/// The largest alpha <= `most` with x + alpha dx in the cone, for x inside: the first root of det(x
/// + alpha dx) = a alpha^2 + 2 b alpha + c, computed without cancellation.
template <class Real>
SS_HD Real step_to_boundary(const ConeVector<Real>& x, const ConeVector<Real>& dx, Real most) {
  const Real a = fma(dx.head, dx.head, -dot_tails(dx, dx)), c = determinant(x);
  const Real b = fma(x.head, dx.head, -dot_tails(x, dx)), square = fma(b, b, -(a * c));
  const Real root = sqrt(max(square, Real(0)));
  if (b < Real(0) && square >= Real(0)) return min(most, c / (root - b));
  return a < Real(0) ? min(most, -(b + root) / a) : most;
}

/// The scaling of Nesterov & Todd (1997): the symmetric Q with Q x = y and Q y^-1 = x^-1, and its
/// root H. With det q = 1 and J = diag(1, -1, ..., -1)
///   Q = (2 q q^T - J) / theta,   H^-1 = theta J H J,
///   H = [q_0, q_t^T; q_t, I + q_t q_t^T / (1 + q_0)] / sqrt(theta).
template <class Real>
struct ConeScaling {
  Real head, theta;  ///< q_0; the owner of this object stores q_t

  /// Writes q_t to `tail`.
  SS_HD ConeScaling(const ConeVector<Real>& x, const ConeVector<Real>& y, Real* tail) {
    const Real root_x = sqrt(determinant(x)), root_y = sqrt(determinant(y));
    const Real cosine = fma(x.head, y.head, dot_tails(x, y)) / (root_x * root_y);
    const Real scale = Real(1) / sqrt(fma(Real(2), cosine, Real(2)));
    theta = root_x / root_y;
    head = (x.head / root_x + y.head / root_y) * scale;
    for (int j = 0; j < x.size; ++j) tail[j] = (y.tail[j] / root_y - x.tail[j] / root_x) * scale;
  }
};

/// H x as head and tail(j), or with `sign` -1 H^-1 x.
template <class Real>
struct ScaledVector {
  ConeVector<Real> q, x;
  Real sign, factor, share, head;

  SS_HD ScaledVector(const ConeVector<Real>& q_in, Real theta, const ConeVector<Real>& x_in,
                     Real sign_in)
      : q(q_in), x(x_in), sign(sign_in) {
    const Real root = sqrt(theta), along = sign * dot_tails(q, x);
    factor = sign > Real(0) ? Real(1) / root : root;
    share = sign * (x.head + along / (Real(1) + q.head));
    head = fma(q.head, x.head, along) * factor;
  }
  SS_HD Real tail(int j) const { return fma(q.tail[j], share, x.tail[j]) * factor; }
};

/// H L(H x)^-1 (H dx o H^-1 dy), o the Jordan product and L(v) w = v o w: the second-order term of
/// x o y beyond its linearisation, in units of y (Mehrotra 1992). Writes the tail to `tail` and
/// returns the head.
template <class Real>
SS_HD Real second_order(const ConeVector<Real>& q, Real theta, const ConeVector<Real>& x,
                        const ConeVector<Real>& dx, const ConeVector<Real>& dy, Real* tail) {
  const ScaledVector<Real> v(q, theta, x, Real(1)), e(q, theta, dx, Real(1)),
      f(q, theta, dy, Real(-1));
  const auto product = [&](int j) { return fma(e.head, f.tail(j), f.head * e.tail(j)); };
  Real inner = e.head * f.head, along = Real(0), square = Real(0);
  for (int j = 0; j < q.size; ++j) {
    inner = fma(e.tail(j), f.tail(j), inner);
    along = fma(v.tail(j), product(j), along);
    square = fma(v.tail(j), v.tail(j), square);
  }
  const Real length = sqrt(square);
  const Real det = max((v.head - length) * (v.head + length), Real(1e-100));
  const Real head = fma(v.head, inner, -along) / det;
  for (int j = 0; j < q.size; ++j) tail[j] = (product(j) - v.tail(j) * head) / v.head;
  const ScaledVector<Real> result(q, theta, {head, tail, q.size}, Real(1));
  for (int j = 0; j < q.size; ++j) tail[j] = result.tail(j);
  return result.head;
}

}  // namespace stickslip::kernels::inline SS_ISA
