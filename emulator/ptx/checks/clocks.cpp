#include "ptx/checks/clocks.hpp"

namespace gpu_emulator::ptx {
namespace {

/// The later of both, for each of n threads.
void join(u32* __restrict known, const u32* __restrict others, u32 n) {
  for (u32 k = 0; k < n; ++k) known[k] = std::max(known[k], others[k]);
}

}  // namespace

void Clocks::order(u32 warp, u32 mask) {
  const u32 from = crossed_ ? 0 : warp * 32;
  const u32 to = crossed_ ? threads_ : std::min(threads_, warp * 32 + 32);
  alignas(64) u32 joined[1024];
  std::fill(joined + from, joined + to, 0);
  for (u32 m = mask; m; m &= m - 1) {
    join(joined + from, row(warp * 32 + u32(std::countr_zero(m))) + from, to - from);
  }
  for (u32 m = mask; m; m &= m - 1) {
    const u32 t = warp * 32 + u32(std::countr_zero(m));
    u32* r = row(t);
    std::copy(joined + from, joined + to, r + from);
    ++r[t];
  }
}

void Clocks::arrive(std::vector<u32>& joined, u32 t, bool goes_on) {
  if (joined.empty()) joined.assign(threads_, 0);
  u32* r = row(t);
  join(joined.data(), r, threads_);
  if (goes_on) ++r[t];
}

void Clocks::leave(const std::vector<u32>& joined, u32 t) {
  u32* r = row(t);
  join(r, joined.data(), threads_);
  ++r[t];
}

}  // namespace gpu_emulator::ptx
