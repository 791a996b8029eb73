// Keeps a thread that measures times on one core.
#pragma once
#include <sched.h>

namespace stickslip::compare {

/// Pins the calling thread to the last core that it may use.
class Pinned {
 public:
  Pinned() {
    CPU_ZERO(&allowed_);
    sched_getaffinity(0, sizeof allowed_, &allowed_);
    for (int core = CPU_SETSIZE - 1; core >= 0; --core) {
      if (!CPU_ISSET(core, &allowed_)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(core, &one);
      sched_setaffinity(0, sizeof one, &one);
      return;
    }
  }
  ~Pinned() { sched_setaffinity(0, sizeof allowed_, &allowed_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  cpu_set_t allowed_;
};

}  // namespace stickslip::compare
