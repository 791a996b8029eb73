#include "src/bindings/signals.hpp"

#include <nanobind/nanobind.h>
#include <unistd.h>

#include "stickslip/solve.hpp"

namespace stickslip::bindings {

bool handle_signals() {
  if (gettid() != getpid()) return true;  // Python handles them only on its first thread
  const nanobind::gil_scoped_acquire hold;
  return PyErr_CheckSignals() == 0;
}

void translate_interrupted() {
  nanobind::register_exception_translator([](const std::exception_ptr& exception, void*) {
    try {
      std::rethrow_exception(exception);
    } catch (const Interrupted&) {
      // Python's exception is set, but on other threads than its first.
      if (!PyErr_Occurred()) PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
  });
}

}  // namespace stickslip::bindings
