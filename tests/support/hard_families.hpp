// Four families of contact problems from real kinematics, harder than the six of families.hpp. Each
// problem contains a proof, made without any solver, that it has a solution or that it has none.
#pragma once
#include <array>

#include "tests/support/mechanism.hpp"
#include "tests/support/random.hpp"

namespace stickslip::support {

enum class HardFamily {
  grasp,     ///< 4 to 8 jointed fingers squeeze an object: more impulses than equations
  rods,      ///< steep rods with heavy centres that lean on each other, |W_nt| > W_nn; some jam
  towers,    ///< boxes whose masses differ by up to 10^4: heavy on light, light on heavy, mixed
  humanoid,  ///< 30 degrees of freedom, limits, dry friction, closed loops, contacts at four limbs
};
inline constexpr std::array kHardFamilies = {HardFamily::grasp, HardFamily::rods,
                                             HardFamily::towers, HardFamily::humanoid};
inline constexpr std::array kHardSizes = {4, 8, 12, 16, 24};
const char* name(HardFamily family);

struct HardScene : MechanismScene {
  Vector opening;  ///< velocity for `proves_solvable`, empty if there is no solution
  Vector jam;      ///< weights for `proves_unsolvable`, empty if there is a solution
};

/// Problem number `index` of a family with 4, 8, 12, 16 or 24 contacts (towers: from 8). The same
/// numbers on every machine.
HardScene make_hard_scene(HardFamily family, int contacts, int index);
inline bool exists(HardFamily family, int contacts) {
  return family != HardFamily::towers || contacts >= 8;
}

/// The families one by one.
HardScene make_grasp(int contacts, Random& random);
HardScene make_rods(int contacts, Random& random);
HardScene make_heavy_tower(int contacts, Random& random);
HardScene make_humanoid(int contacts, Random& random);

Vector3d random_direction(Random& random);
/// Inertia of a solid box.
Vector3d box_inertia(double mass, const Vector3d& half);
/// Adds an `opening`: a velocity that opens the contacts and unilateral rows, by least squares.
/// Returns whether it is a proof.
bool find_opening(HardScene& scene);

}  // namespace stickslip::support
