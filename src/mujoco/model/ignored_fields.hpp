// Fields of a model's contacts that rigid contacts do not use.
#pragma once
#include <mujoco/mujoco.h>

#include <string>
#include <vector>

namespace stickslip::mujoco {

/// The fields with values other than MuJoCo's defaults, as MJCF names them, each with the elements
/// that set it: "geom solref (2 of 14, first 'foot')". Geoms that cannot collide do not count.
std::vector<std::string> ignored_contact_fields(const mjModel& m);

}  // namespace stickslip::mujoco
