#include "ptx/machine/block.hpp"

namespace gpu_emulator::ptx {

void Warp::merge_ready() {
  for (u32 i = 0; i < count; ++i) {
    if (parts[i].state != Part::ready) continue;
    for (u32 j = i + 1; j < count;) {
      Part &a = parts[i], &b = parts[j];
      if (b.state == Part::ready && a.pc == b.pc && a.frame == b.frame) {
        a.mask |= b.mask;
        --b.frame->refs;
        parts[j] = parts[--count];
      } else {
        ++j;
      }
    }
  }
}

Part& Warp::add(const Part& p) {
  ++p.frame->refs;
  parts[count] = p;
  return parts[count++];
}

Part& Warp::add(const Part& like, u32 mask, u32 pc) {
  Part p;
  p.frame = like.frame;
  p.mask = mask;
  p.pc = pc;
  return add(p);
}

u32 Warp::waiting_at(u32 barrier) const {
  u32 m = 0;
  for (u32 i = 0; i < count; ++i) {
    if (parts[i].state == Part::bar && parts[i].bar_id == barrier) m |= parts[i].mask;
  }
  return m;
}

}  // namespace gpu_emulator::ptx
