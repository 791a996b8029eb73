// Registers that the machine sets.
#include "ptx/machine/machine.hpp"

namespace gpu_emulator::ptx {
namespace {

void put(char* at, Register r, u32 lane, u64 value) {
  if (r == Register::wide)
    reinterpret_cast<u64*>(at)[lane] = value;
  else if (r == Register::word)
    reinterpret_cast<u32*>(at)[lane] = u32(value);
  else
    reinterpret_cast<u16*>(at)[lane] = u16(value);
}

}  // namespace

void Machine::fill_specials(Frame& f, const Warp& w) {
  for (const auto& [v, at] : f.function->specials) {
    const Value& x = f.function->values[v];
    const u64 of_all = special_of_block(x, f, w);
    for (u32 l = 0; l < 32; ++l) {
      put(f.registers + at, x.size, l, of_all + special_of_lane(x.special_id, l, w.index * 32 + l));
    }
  }
}

u64 Machine::special_of_block(const Value& v, const Frame& f, const Warp& w) const {
  switch (v.special_id) {
    case Special::ntid_x:
      return launch.block.x;
    case Special::ntid_y:
      return launch.block.y;
    case Special::ntid_z:
      return launch.block.z;
    case Special::ctaid_x:
      return block->index.x;
    case Special::ctaid_y:
      return block->index.y;
    case Special::ctaid_z:
      return block->index.z;
    case Special::nctaid_x:
      return launch.grid.x;
    case Special::nctaid_y:
      return launch.grid.y;
    case Special::nctaid_z:
      return launch.grid.z;
    case Special::warpid:
      return w.index;
    case Special::nwarpid:
      return warp_count;
    case Special::nsmid:
    case Special::cluster_one:
      return 1;
    case Special::dynamic_smem_size:
      return launch.dynamic_shared_bytes;
    case Special::total_smem_size:
      return shared_bytes;
    case Special::dynamic_shared:
      return dynamic_at + v.bits;
    case Special::local_base:
      return f.local_base + v.bits;
    case Special::param_base:
      return u64(parameters) + v.bits;
    default:
      return 0;
  }
}

u64 Machine::special_of_lane(Special s, u32 l, u32 thread) const {
  const u32 nx = launch.block.x, ny = launch.block.y;
  switch (s) {
    case Special::tid_x:
      return thread % nx;
    case Special::tid_y:
      return thread / nx % ny;
    case Special::tid_z:
      return thread / (nx * ny);
    case Special::laneid:
      return l;
    case Special::lanemask_eq:
      return 1U << l;
    case Special::lanemask_le:
      return (2U << l) - 1;
    case Special::lanemask_lt:
      return (1U << l) - 1;
    case Special::lanemask_ge:
      return ~((1U << l) - 1);
    case Special::lanemask_gt:
      return ~((2U << l) - 1);
    default:
      return 0;
  }
}

}  // namespace gpu_emulator::ptx
