// Workspaces that calls from Python and from XLA take and return: making one takes longer than a
// small solve. Any thread may call the functions, with or without the GIL.
#pragma once
#include <memory>

#include "stickslip/lcp.hpp"
#include "stickslip/solve.hpp"

namespace stickslip::bindings {

/// Who calls. Long calls from Python end with Interrupted if a signal handler has raised; those
/// from XLA, which may run on any thread and without Python, are not interrupted.
enum class Caller { python, xla };

/// A workspace of at least these sizes, returned when its last owner is destroyed; `threads`: 0
/// means all cores.
std::shared_ptr<Workspace> take_workspace(std::int32_t max_rows, std::int32_t max_contacts,
                                          int threads, Caller caller = Caller::python);
std::shared_ptr<LcpWorkspace> take_lcp_workspace(std::int32_t max_rows, bool boxed, int threads);

}  // namespace stickslip::bindings
