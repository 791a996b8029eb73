// Altered problems near the problem as given, whose solutions lead to its solution: softer
// contacts, or proximal points.
#pragma once
#include "kernels/scaling/scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The compliance `soften` W_nn of contact k, scaled.
template <class Real, class Scalar>
SS_HD Real contact_compliance(const EnvProblem<Scalar>& p, const Scaled<Real>& s, int k,
                              Real soften) {
  const int a = s.block[k];
  return soften * Real(normal_diagonal(p, k) * s.d[a] * s.d[a]);
}

/// b of row i as given, scaled.
template <class Real, class Scalar>
SS_HD Real given_bias(const EnvProblem<Scalar>& p, const Scaled<Real>& s, int i) {
  return Real(double(p.b[i]) * s.d[i] * s.q);
}

/// Adds the compliance `soften` W_nn to all rows of contacts: on the normals, so that there is a
/// solution; on the tangents, so that the distribution of the load over sticking contacts is
/// unique.
template <class S, class Real, class G, class Scalar>
SS_HD void soften_contacts(const G& g, const EnvProblem<Scalar>& p, S& s, Real soften) {
  g.for_each(s.n_contacts, [&](int k) {
    const int a = s.block[k];
    const Real compliance = contact_compliance(p, s, k, soften);
    for (int j = 0; j < s.dim(k); ++j) {
      if (s.d[a + j] > 0.0) add_compliance(s, a + j, compliance);
    }
  });
}

/// Subtracts `soften` W_nn z from b in all rows of contacts: with softened contacts, the proximal
/// point of z (Rockafellar 1976). Its residual in the problem as given is soften W_nn times its
/// distance from z.
template <class Real, class G, class Scalar>
SS_HD void attract_to(const G& g, const EnvProblem<Scalar>& p, Scaled<Real>& s, Real soften,
                      const Real* z) {
  g.for_each(s.n_contacts, [&](int k) {
    const Real compliance = contact_compliance(p, s, k, soften);
    for (int i = s.block[k]; i < s.block[k + 1]; ++i) {
      s.b[i] = fma(-compliance, z[i], given_bias(p, s, i));
    }
  });
}

/// Restores s to its state before any of the above.
template <class S, class G, class Scalar>
SS_HD void restore_problem(const G& g, const EnvProblem<Scalar>& p, S& s) {
  set_compliance(g, s, true);
  g.for_each(s.n, [&](int i) { s.b[i] = given_bias(p, s, i); });
}

}  // namespace stickslip::kernels::inline SS_ISA
