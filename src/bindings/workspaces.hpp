// Workspaces that calls from Python take and return: making one takes longer than a small solve.
// All functions require the GIL, which protects the idle workspaces, so they are consistent after a
// fork.
#pragma once
#include <memory>

#include "stickslip/lcp.hpp"
#include "stickslip/solve.hpp"

namespace stickslip::bindings {

/// A workspace of at least these sizes, returned when its last owner is destroyed; `threads`: 0
/// means all cores. Long calls that use it end with Interrupted if a signal handler has raised.
std::shared_ptr<Workspace> take_workspace(std::int32_t max_rows, std::int32_t max_contacts,
                                          int threads);
std::shared_ptr<LcpWorkspace> take_lcp_workspace(std::int32_t max_rows, bool boxed, int threads);

}  // namespace stickslip::bindings
