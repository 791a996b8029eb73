// Ctrl-C and other signals of Python during long calls of the library.
#pragma once

namespace stickslip::bindings {

/// Lets Python handle its signals; false if a handler has raised. The exception is then Python's
/// current one. For `watch` of the library's workspaces, whose calls then throw Interrupted.
bool handle_signals();

/// Interrupted becomes Python's current exception; once in each module.
void translate_interrupted();

}  // namespace stickslip::bindings
