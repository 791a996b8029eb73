#include "ptx/checks/traffic.hpp"

#include <algorithm>
#include <bit>

namespace gpu_emulator::ptx {
namespace {

/// How many different words the busiest bank has.
u32 most_in_a_bank(u32 m, const u64* a, unsigned bytes) {
  u32 words[32][32];
  u32 n[32] = {};
  u32 most = 1;
  for (u32 k = m; k; k &= k - 1) {
    const u64 first = a[std::countr_zero(k)];
    for (u64 w = first / 4; w <= (first + bytes - 1) / 4; ++w) {
      const u32 bank = u32(w) & 31;
      bool known = false;
      for (u32 i = 0; i < n[bank]; ++i) known = known || words[bank][i] == u32(w);
      if (known || n[bank] == 32) continue;
      words[bank][n[bank]++] = u32(w);
      most = std::max(most, n[bank]);
    }
  }
  return most;
}

/// All the same, or every bank at most once: the usual case.
bool is_simple(u32 m, const u64* a, unsigned bytes) {
  const u64 first = a[std::countr_zero(m)];
  bool same = true, once = true;
  u32 banks = 0;
  for (u32 k = m; k; k &= k - 1) {
    const u64 x = a[std::countr_zero(k)];
    same = same && x == first;
    for (u64 w = x / 4; w <= (x + bytes - 1) / 4; ++w) {
      const u32 bank = 1U << (w & 31);
      once = once && (banks & bank) == 0;
      banks |= bank;
    }
  }
  return same || once;
}

}  // namespace

void count_shared(Report& report, u32 m, const u64* addresses, unsigned bytes) {
  ++report.shared_accesses;
  // Wide ones are done for half or a quarter of the lanes at a time.
  const unsigned groups = std::clamp(bytes / 4, 1U, 4U), per = 32 / groups;
  for (unsigned g = 0; g < groups; ++g) {
    const u32 part = groups == 1 ? m : (m >> (g * per)) & ((1U << per) - 1);
    if (part == 0) continue;
    const u64* a = addresses + g * per;
    report.shared_transactions += is_simple(part, a, bytes) ? 1 : most_in_a_bank(part, a, bytes);
  }
}

void count_global(Report& report, u32 m, const u64* addresses) {
  ++report.global_accesses;
  u64 low = ~u64(0), high = 0;
  for (u32 k = m; k; k &= k - 1) {
    const u64 s = addresses[std::countr_zero(k)] >> 5;
    low = std::min(low, s);
    high = std::max(high, s);
  }
  if (high - low < 64) {
    u64 bits = 0;
    for (u32 k = m; k; k &= k - 1) {
      bits |= u64(1) << ((addresses[std::countr_zero(k)] >> 5) - low);
    }
    report.global_sectors += u64(std::popcount(bits));
    return;
  }
  u64 list[32];
  u32 n = 0;
  for (u32 k = m; k; k &= k - 1) list[n++] = addresses[std::countr_zero(k)] >> 5;
  std::sort(list, list + n);
  report.global_sectors += u64(std::unique(list, list + n) - list);
}

}  // namespace gpu_emulator::ptx
