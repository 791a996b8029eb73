// Right side of a contact's normal row, and its friction (docs/mathematics.md §1).
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

namespace stickslip {

/// How contacts of the velocity-level laws close, bounce, recover from penetration and slip.
struct ContactModel {
  double restitution = 0.0;  ///< e in [0, 1], Newton's law of impact
  double v_rest = 1e-2;      ///< m/s; slower approaches do not bounce
  double v_max = 1.0;        ///< m/s; fastest recovery from penetration
  double compliance = 0.0;   ///< R >= 0 of the normal row, 1/kg; 0: rigid
  /// Of a contact that is a spring and a damper, N/m: then it has no restitution, and neither
  /// compliance nor v_max. Infinite: it is none.
  double stiffness = std::numeric_limits<double>::infinity();
  double damping = 0.0;  ///< of such a contact, N s/m
  /// The coefficient of friction of what does not slip, along axes where that of sliding is less.
  double static_friction = 0.0;
  double v_stribeck = 1e-2;  ///< m/s > 0; what slips as fast has the coefficient of sliding
};

inline bool is_spring(const ContactModel& model) { return std::isfinite(model.stiffness); }

/// Whether the gap is part of the law: overlap presses, and is not recovered.
inline bool is_soft(const ContactModel& model) {
  return is_spring(model) || model.compliance > 0.0;
}

/// The coefficient of friction of a contact that slips at `slip` (m/s): mu where that is v_stribeck
/// or more, static_friction at 0, and between them a smooth fall (Stribeck's).
inline double friction_at(const ContactModel& model, double mu, double slip) {
  if (!(model.static_friction > mu && slip < model.v_stribeck)) return mu;
  const double s = slip / model.v_stribeck, rest = 1.0 - s * s;
  return mu + (model.static_friction - mu) * rest * rest;
}

/// The model of a contact between two surfaces: the larger restitution, rest speed and static
/// friction, with the latter's v_stribeck; springs in series,
///     1/k = 1/k_a + 1/k_b,   c/k^2 = c_a/k_a^2 + c_b/k_b^2,
/// with the damping that they have together where forces change slowly. `compliance` and v_max are
/// those of a.
inline ContactModel mixed(const ContactModel& a, const ContactModel& b) {
  ContactModel both = a;
  if (b.static_friction > a.static_friction) both.v_stribeck = b.v_stribeck;
  if (b.static_friction == a.static_friction)
    both.v_stribeck = std::max(a.v_stribeck, b.v_stribeck);
  both.restitution = std::max(a.restitution, b.restitution);
  both.v_rest = std::max(a.v_rest, b.v_rest);
  both.static_friction = std::max(a.static_friction, b.static_friction);
  both.stiffness = 1.0 / (1.0 / a.stiffness + 1.0 / b.stiffness);
  const double share_a = is_spring(a) ? both.stiffness / a.stiffness : 0.0,
               share_b = is_spring(b) ? both.stiffness / b.stiffness : 0.0;
  both.damping = share_a * share_a * a.damping + share_b * share_b * b.damping;
  return both;
}

/// R of the normal row, 1/kg. A spring's impulse of a step of h (s) is that of the force at its end
/// (backward Euler), r = -h k (gap + h u) - h c u: in a step that begins with an overlap,
///     u + r / (h (h k + c)) + gap / (h + c/k) = 0.
inline double normal_compliance(const ContactModel& model, double h) {
  return is_spring(model) ? 1.0 / (h * (h * model.stiffness + model.damping)) : model.compliance;
}

/// The term of the gap (m) in a spring's right side, m/s. The damper acts from the moment of touch
/// on.
inline double spring_bias(const ContactModel& model, double gap, double h) {
  return gap > 0.0 ? gap / h : gap / (h + model.damping / model.stiffness);
}

/// The change of velocity (m/s, <= 0 as part of the right side) that an impact requires: Newton's
/// law for contacts that are closed and approach faster than v_rest.
inline double bounce(const ContactModel& model, double gap, double v_before) {
  const bool impact = gap <= 0.0 && v_before < -model.v_rest;
  return impact ? model.restitution * v_before : 0.0;
}

/// The terms of gap and impact that are added to J_n v_free, m/s. `gap` (m) is negative in
/// penetration, `v_before` (m/s) is the normal velocity before the step, `h` (s) the time step. A
/// contact that bounces leaves a penetration at least as fast as one that does not bounce.
/// Otherwise a contact that approaches in every step (a spinning coin that falls) would sink
/// further in every step.
inline double contact_bias(const ContactModel& model, double gap, double v_before, double h) {
  if (is_spring(model)) return spring_bias(model, gap, h);
  const double recovery = std::max(gap / h, -model.v_max);
  return gap <= 0.0 ? std::min(recovery, bounce(model, gap, v_before)) : recovery;
}

/// The smallest gap (m) that a contact may have at the end of the step. A contact that is deeper
/// than h v_max recovers at v_max.
inline double least_end_gap(const ContactModel& model, double gap, double h) {
  return std::min(0.0, gap + h * model.v_max);
}

/// m; a contact as near as this is closed. At rest the gaps of a face differ by rounding; over h,
/// it would decide which of its contacts carry the load.
inline constexpr double kClosed = 1e-9;
/// m/s, less than the tolerance of a solve: how fast a closed contact goes to gap 0.
inline constexpr double kCreep = 2.5e-10;

/// The distance (m) that a contact may go until it is closed.
inline double open_gap(double gap) { return gap > kClosed ? gap : 0.0; }

/// The velocity (m/s) at which a contact may approach; below 0, at which it must part. Contacts
/// that overlap by more than rounding are not pushed apart.
inline double closing_speed(double gap, double h) {
  if (std::abs(gap) > kClosed) return open_gap(gap) / h;
  return std::clamp(gap / h, -kCreep, kCreep);
}

/// Whether a contact bounces in a step that recovers penetration in the positions only
/// (docs/mathematics.md §12): it bounces in the step in which it would close, with the velocity
/// before the step or with the velocity without impulses, `v_free` (m/s).
inline bool bounces(const ContactModel& model, double gap, double v_before, double v_free,
                    double h) {
  return model.restitution > 0.0 && v_before < -model.v_rest &&
         open_gap(gap) + h * std::min(v_free, v_before) < 0.0;
}

/// The terms of gap and impact in such a step, with `share` of the restitution.
inline double closing_bias(const ContactModel& model, double gap, double v_before, double v_free,
                           double h, double share = 1.0) {
  if (bounces(model, gap, v_before, v_free, h)) return share * model.restitution * v_before;
  return closing_speed(gap, h);
}

/// The gap at which a contact that bounces ends, m. At e = 1 it reverses where it is, at the height
/// from which it came with that speed, so that it neither gains nor loses energy; at e = 0 it ends
/// closed.
inline double bounced_end_gap(const ContactModel& model, double gap, double v_before, double h,
                              double share) {
  return share * model.restitution * (std::max(gap, 0.0) - h * v_before);
}

/// The bias with which a linear gap, `end_gap` (m) after a step at the normal velocity `v_after`
/// (m/s), would have ended at `wanted` (m): its error, nu, is compensated.
inline double corrected_closing(double wanted, double h, double end_gap, double v_after) {
  const double nu = h * v_after - end_gap;
  return -(nu + wanted) / h;
}

/// contact_bias corrected so that the gap is kept at the *end* of the step (Hotz et al.,
/// Calculation of Contact Forces, eq. 6). Contacts that bounce also keep their gap.
inline double corrected_bias(const ContactModel& model, double gap, double v_before, double h,
                             double end_gap, double v_after) {
  const double closing = corrected_closing(least_end_gap(model, gap, h), h, end_gap, v_after);
  const double bounced = bounce(model, gap, v_before);
  return bounced < 0.0 ? std::min(bounced, closing) : closing;
}

}  // namespace stickslip
