// Gaps of the contacts of a step where the step ends. Contacts are found where it begins, at q; at
// q' = q ⊕ h v' the same pairs of geoms are given to MuJoCo's collision functions again.
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

/// One contact of the step. Lives on MuJoCo's stack: trivially destructible.
struct StepContact {
  const mjContact* contact;
  double gap;            ///< at q, m: the distance less the model's margin
  int row;               ///< of its normal, in the problem
  double local[2][3];    ///< its position at q in the frames of its geoms, m
  double carried[2][3];  ///< where these points are at q', m
  bool found;            ///< whether it has an `end_gap`; else the geoms are far apart there
  double end_gap;        ///< at q', m, negative in penetration
  double v_after;        ///< velocity of its normal on the way, m/s
  double wanted;         ///< least gap at q', m
  bool bounces;          ///< off at once: it must not end any wider either
};

/// Remembers where the contact is, with the geoms of d at q.
void attach(const mjData* d, StepContact& c);

/// Measures the `end_gap`s of contacts [count], in MuJoCo's order, with the geoms of d at q'. A
/// contact is recognised among those of its pair by its position, carried along by either geom.
/// Returns the least gap of all their pairs, recognised or not (infinite: no contact).
double measure_end_gaps(const mjModel* m, mjData* d, StepContact* contacts, int count);

}  // namespace stickslip::mujoco
