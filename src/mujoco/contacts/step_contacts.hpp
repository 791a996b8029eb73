// Which of MuJoCo's contacts are part of a step's problem, at velocity level.
#pragma once
#include <mujoco/mujoco.h>

#include <cstdint>
#include <vector>

#include "stickslip/contact_model.hpp"

namespace stickslip::mujoco {

enum class Use : std::uint8_t {
  included,  ///< in the problem
  culled,    ///< cannot close in this step: its impulse is zero
  ghost      ///< would act, but its geoms would not touch without it (ghosts.hpp)
};

/// Contacts as near as this touch, m: a resting one has gap 0 + rounding and what positions keep.
inline constexpr double kTouching = 1e-6;

/// Speeds that no simulation means, m/s: everything may meet everything within the step. Where they
/// make more contacts or rows than kManyAtAbsurdSpeed, an environment could keep the others
/// waiting.
inline constexpr double kAbsurdSpeed = 50.0;
inline constexpr int kManyAtAbsurdSpeed = 64;

struct OwnContact {
  ContactModel model;
  double friction[2];  ///< MuJoCo's coefficients of sliding
};

struct StepContacts {
  std::vector<double> gap;     ///< m, negative in penetration
  std::vector<double> linear;  ///< m, the gap with which gap + h u is right at the end of the step:
                               ///< larger, where the normal turns on the way (ghosts.hpp)
  std::vector<double> band;    ///< the model's `gap`, in which contacts adhere only, m
  std::vector<Use> use;
  std::vector<char> moved;      ///< whether its rows are those of its surfaces (touching.hpp)
  std::vector<char> lands;      ///< whether its face is not closed yet, in part
  std::vector<int> face;        ///< scratch of act_on_surfaces
  std::vector<double> place;    ///< [3] m, where each acts (touching.hpp)
  std::vector<double> middle;   ///< [3] m, scratch of show_to_sensors
  ContactModel common;          ///< of all contacts, where they have none of their own
  std::vector<OwnContact> own;  ///< empty: they have none
  bool friction_falls = false;  ///< with the speed of some contact

  int count(Use which) const;
  const ContactModel& model(int contact) const { return own.empty() ? common : own[contact].model; }
};

/// Velocity of MuJoCo's constraint row i when the generalised velocity is v.
double row_velocity(const mjData* d, int i, const double* v);

/// The same of the normal of a contact, with what mocap bodies add.
double normal_velocity(const mjModel* m, const mjData* d, int i, const double* v);

/// Culls contacts that stay open both at the present velocity and at the one without impulses, v +
/// h a_free, with a reserve of 0.25 m/s, and those of a face that lie on a line between others. The
/// rest is solved.
void cull(const mjModel* m, const mjData* d, const double* a_free, StepContacts& contacts);

/// Adds culled contacts that are closed by more than 1 nm at the end of the step, after the
/// velocity v; so the solution is that of the whole problem. Returns their number.
int take_in_closed(const mjModel* m, const mjData* d, const double* v, StepContacts& contacts);

}  // namespace stickslip::mujoco
