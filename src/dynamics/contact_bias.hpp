// Right side of a contact's normal row (docs/mathematics.md §1).
#pragma once
#include <algorithm>

namespace stickslip::dynamics {

/// How contacts of the velocity-level laws close, bounce and recover from penetration.
struct ContactModel {
  double restitution = 0.0;  ///< e in [0, 1], Newton's law of impact
  double v_rest = 1e-2;      ///< m/s; slower approaches do not bounce
  double v_max = 1.0;        ///< m/s; fastest recovery from penetration
  double compliance = 0.0;   ///< R >= 0 of the normal row, 1/kg; 0: rigid
};

/// What the gap and the impact add to J_n v_free, m/s. `gap` (m) is negative in penetration,
/// `v_before` (m/s) is the normal velocity before the step, `h` (s) the time step.
inline double contact_bias(const ContactModel& model, double gap, double v_before, double h) {
  const double approach = std::min(0.0, v_before);
  if (gap <= 0.0 && approach < -model.v_rest) return model.restitution * approach;
  return std::max(gap / h, -model.v_max);
}

}  // namespace stickslip::dynamics
