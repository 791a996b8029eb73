// The rows of a joint.
#pragma once
#include <vector>

#include "gallery/rigid/rows.hpp"

namespace stickslip::gallery::rigid {

/// Rows C = 0 of the joint, its drive included.
int bilateral_rows(const Joint& joint);

/// Appends these rows, at this time, to `rows`.
void append_bilateral(const Joint& joint, const std::vector<Body>& bodies, double time,
                      std::vector<Row>& rows);

/// The joint's coordinate as a row (hinge, prismatic; of `distance` the distance).
Row coordinate_row(const Joint& joint, const std::vector<Body>& bodies, double time);

}  // namespace stickslip::gallery::rigid
