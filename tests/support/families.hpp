// Six families of random contact problems of boxes, from easy to difficult.
#pragma once
#include <array>
#include <vector>

#include "tests/support/scene.hpp"

namespace stickslip::support {

enum class Family {
  box,        ///< a tumbling box whose underside meets the floor at random points
  boxrest,    ///< the same at rest: many equivalent impulses
  cage,       ///< a tumbling box squeezed at random points of all its faces
  stack,      ///< a shaken tower of boxes, four contacts per storey
  stackrest,  ///< a tower of equal boxes at rest
  stackheavy  ///< a tower at rest whose masses grow 10 to 1000 times towards the top
};
inline constexpr std::array kFamilies = {Family::box,   Family::boxrest,   Family::cage,
                                         Family::stack, Family::stackrest, Family::stackheavy};
const char* name(Family family);

/// Whether the family has problems with this many contacts (towers: multiples of four).
bool exists(Family family, int contacts);

/// Problem number `index` of a family. The same numbers on every machine.
Scene make_scene(Family family, int contacts, int index);

/// Problems 0 ... count - 1.
std::vector<Problem> make_problems(Family family, int contacts, int count);

}  // namespace stickslip::support
