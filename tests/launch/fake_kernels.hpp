// What tests see of the kernels that run without a GPU.
#pragma once
#include <vector>

namespace stickslip::fake {

/// Environments that each launch of a solve kernel found on its list, in order.
std::vector<int>& solved_by_launch();

}  // namespace stickslip::fake
