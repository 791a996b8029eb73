// Early end of long work: a callback that the work calls between its steps. On CPUs only.
#pragma once
#include "kernels/group/defs.hpp"

namespace stickslip::kernels {

struct Stop {
  bool (*ask)(void* whom);  ///< whether to end; called with the member `whom`
  void* whom;
};

inline namespace SS_ISA {

/// The callback for the environments of this thread; null: none. Set by KernelTable::set_stop.
inline constinit thread_local const Stop* current_stop = nullptr;

/// Whether the environment must end now, with its best impulse so far.
template <class G>
SS_INNER bool stopped(const G& g) {
  if constexpr (requires { g.stopped(); }) {
    return g.stopped();
  } else {
    return false;
  }
}

}  // namespace SS_ISA
}  // namespace stickslip::kernels
