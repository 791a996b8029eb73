// The interface of the kernels without a GPU for tests.
#pragma once
#include <vector>

namespace stickslip::fake {

/// Environments in the list of each launch of a solve kernel, in order.
std::vector<int>& solved_by_launch();

}  // namespace stickslip::fake
