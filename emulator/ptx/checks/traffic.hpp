// What accesses of a warp cost: bank conflicts and sectors.
#pragma once
#include "ptx/program/types.hpp"
#include "ptx/ptx.hpp"

namespace gpu_emulator::ptx {

/// Addresses of lanes m, `bytes` each: 32 banks of words.
void count_shared(Report& report, u32 m, const u64* addresses, unsigned bytes);
/// Sectors of 32 bytes.
void count_global(Report& report, u32 m, const u64* addresses);

}  // namespace gpu_emulator::ptx
