// Gaps of the contacts of a step at the end of the step. Contacts are found at its beginning, at q;
// at q' = q ⊕ h v' the same pairs of geoms are passed to MuJoCo's collision functions again.
#pragma once
#include <mujoco/mujoco.h>

namespace stickslip::mujoco {

/// One contact of the step. Allocated on MuJoCo's stack, so trivially destructible.
struct StepContact {
  const mjContact* contact;
  double gap;            ///< at q, m: the distance minus the model's margin
  int row;               ///< of its normal, in the problem
  double mobility;       ///< 1/kg, of parting.hpp
  double local[2][3];    ///< its position at q in the frames of its geoms, m
  double carried[2][3];  ///< positions of these points at q', m
  bool found;            ///< whether it has an `end_gap`; else the geoms are far apart
  double end_gap;        ///< at q', m, negative in penetration
  double v_after;        ///< velocity of its normal during the step, m/s
  double target_gap;     ///< minimum gap at q', m
  bool bounces;          ///< moves off at once: its end gap must not be larger either
};

/// Stores the position of the contact, with the geoms of d at q.
void store_position(const mjData* d, StepContact& c);

/// Measures the `end_gap`s of contacts [count], in MuJoCo's order, with the geoms of d at q'. A
/// contact is matched to those of its pair by its position, which moves with either geom. Returns
/// the smallest gap of all their pairs, matched or not (infinite: no contact).
double measure_end_gaps(const mjModel* m, mjData* d, StepContact* contacts, int count);

}  // namespace stickslip::mujoco
