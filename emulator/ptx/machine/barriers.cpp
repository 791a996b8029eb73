// Barriers of a block.
#include <bit>

#include "ptx/machine/lane_exchange.hpp"
#include "ptx/machine/machine.hpp"
#include "ptx/program/modes.hpp"

namespace gpu_emulator::ptx {

bool Machine::barrier(Turn& t, u32 m) {
  const Instruction& ins = *t.ip;
  ++report.barriers;
  t.part_from(m, t.ip + 1);
  const u32 id = at<u32>(*this, ins.o[ins.ndst])[std::countr_zero(m)];
  if (id >= block->barriers.size()) {
    messages.stop(messages.context() + ": barrier " + std::to_string(id) + " at " +
                  messages.where(*function, ins));
  }
  arrive(t.warp, ins, m, id);
  const bool goes_on = ins.mode == kBarrierArrive;
  t.save(goes_on ? t.ip + 1 : t.ip);
  t.part.state = goes_on ? Part::ready : Part::bar;
  t.part.bar_id = id;
  release_barrier(id);
  return false;
}

void Machine::arrive(Warp& w, const Instruction& ins, u32 m, u32 id) {
  Barrier& b = block->barriers[id];
  const u32 expected = at<u32>(*this, ins.o[ins.ndst + 1])[std::countr_zero(m)];
  if (b.used && b.expected != expected) {
    complain(ins, m,
             "barrier " + std::to_string(id) + " with " + std::to_string(expected) +
                 " threads, others wait at it with " + std::to_string(b.expected));
  }
  b.used = true;
  b.expected = expected;
  if (ins.mode == kBarrierReduce) {
    const u32 p = *at<u32>(*this, ins.o[3]) ^ (ins.imm != 0 ? kAll : 0);
    b.all = b.all && (p & m) == m;
    b.any = b.any || (p & m) != 0;
    b.popc += u32(std::popcount(p & m));
  }
  const bool goes_on = ins.mode == kBarrierArrive;
  for (u32 k = block->races ? m : 0; k; k &= k - 1) {
    block->races->clocks.arrive(b.clocks, w.index * 32 + u32(std::countr_zero(k)), goes_on);
  }
  if (goes_on) b.arrived_only[w.index] |= m;
}

/// Whether all have come. whole: and wait, the block as a whole.
bool Machine::is_complete(const Barrier& b, u32 id, bool& whole) const {
  // A barrier for so many threads counts whole warps: with the lanes that have exited.
  u32 waiting = 0, here = 0, counted = 0;
  bool arrived_only = false;
  for (const auto& w : block->warps) {
    const u32 m = w->waiting_at(id), both = m | b.arrived_only[w->index];
    waiting += u32(std::popcount(m));
    here += u32(std::popcount(both & w->alive));
    counted += both != 0 && (w->alive & ~both) == 0 ? 32 : u32(std::popcount(both));
    arrived_only = arrived_only || b.arrived_only[w->index] != 0;
  }
  whole = waiting == block->alive && !arrived_only;
  return b.expected == 0 ? here >= block->alive : counted >= b.expected;
}

bool Machine::release_barrier(u32 id) {
  Barrier& b = block->barriers[id];
  bool whole = false;
  if (!b.used || !is_complete(b, id, whole)) return false;
  if (block->races && whole) block->races->clocks.new_epoch();
  const Running before(*this);
  for (auto& w : block->warps) release_warp(*w, id, b, whole);
  if (block->races && !whole) block->races->clocks.cross();
  b = Barrier();
  return true;
}

void Machine::release_warp(Warp& w, u32 id, const Barrier& b, bool whole) {
  warp = &w;
  u32 pc = kNone;
  bool different = false, aligned = false;
  const Instruction* last = nullptr;
  for (u32 i = 0; i < w.count; ++i) {
    Part& p = w.parts[i];
    if (p.state != Part::bar || p.bar_id != id) continue;
    frame = p.frame->registers;
    function = p.frame->function;
    const Instruction& ins = function->code[p.pc];
    last = &ins;
    aligned = aligned || ins.uniform;
    different = different || (pc != kNone && pc != p.pc);
    pc = p.pc;
    if (ins.mode == kBarrierReduce && ins.mode2 == kReducePopc) {
      u32* d = at<u32>(*this, ins.o[0]);
      for (u32 k = p.mask; k; k &= k - 1) d[std::countr_zero(k)] = b.popc;
    } else if (ins.mode == kBarrierReduce) {
      u32& d = *at<u32>(*this, ins.o[0]);
      d = (ins.mode2 == kReduceAnd ? b.all : b.any) ? d | p.mask : d & ~p.mask;
    }
    for (u32 k = block->races && !whole ? p.mask : 0; k; k &= k - 1) {
      block->races->clocks.leave(b.clocks, w.index * 32 + u32(std::countr_zero(k)));
    }
    ++p.pc;
    p.state = Part::ready;
  }
  if (different && aligned) {
    complain(*last, w.alive,
             "bar.sync reached at different instructions by the lanes of a warp (it must be the "
             "same one)");
  }
  w.merge_ready();
}

bool Machine::release_barriers() {
  bool any = false;
  for (u32 id = 0; id < block->barriers.size(); ++id) any = release_barrier(id) || any;
  return any;
}

}  // namespace gpu_emulator::ptx
