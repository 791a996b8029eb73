// Instructions that lanes of a warp do together: .sync ones, for the lanes of a mask each.
#include "ptx/machine/lane_exchange.hpp"

#include <bit>

#include "ptx/machine/machine.hpp"

namespace gpu_emulator::ptx {
namespace {

u32 key_of(const Instruction& ins) { return u32(ins.kind) << 8 | ins.mode; }
u32 mask_operand(const Instruction& ins) { return ins.o[ins.nops - 1]; }

/// Lanes of m whose value is that of the first of them.
u32 like_first(u32 m, const u32* values) {
  const u32 first = values[std::countr_zero(m)];
  u32 same = 0;
  for (u32 l = 0; l < 32; ++l) same |= u32(values[l] == first) << l;
  return same & m;
}

bool waits_for(const Part& p, u32 mask, u32 key) {
  return p.state == Part::sync && p.sync_mask == mask && p.sync_key == key;
}

}  // namespace

bool Machine::exchange(Turn& t, u32 m) {
  const Instruction& ins = *t.ip;
  const bool barrier = ins.kind == Kind::warpbar;
  if (barrier) ++report.barriers;
  if (complete_lanes(t.warp, ins, m) == t.mask) {
    if (barrier) return pass_warp_barrier(t);
    Exchange e(*this, t.warp);
    e.gather(ins, t.mask);
    e.perform(ins, t.mask);
    ++t.ip;
    return true;
  }
  t.part_from(m, t.ip + 1);
  wait_in_groups(t);
  release_sync(t.warp);
  return false;
}

/// All whom it is for are here.
bool Machine::pass_warp_barrier(Turn& t) {
  if (block->races) {
    const u32* masks = at<u32>(*this, t.ip->o[0]);
    for (u32 rest = t.mask; rest;) {
      const u32 g = masks[std::countr_zero(rest)] & t.warp.alive;
      order(t.warp, g);
      rest &= ~g;
    }
  }
  ++t.ip;
  if (t.warp.count == 1 && !(shuffled && random.below(3) == 0)) return true;
  t.save(t.ip);  // others may wait for their turn
  if (shuffled) tear_apart(t.warp, t.index);
  return false;
}

/// A barrier among these lanes of a warp orders memory.
void Machine::order(Warp& w, u32 mask) {
  if (!block->races) return;
  Clocks& clocks = block->races->clocks;
  if (std::popcount(mask) == int(block->alive)) return clocks.new_epoch();
  clocks.order(w.index, mask);
}

/// The lanes wait for others, those with the same mask as a part.
void Machine::wait_in_groups(Turn& t) {
  const Instruction& ins = *t.ip;
  const u32* masks = at<u32>(*this, mask_operand(ins));
  for (u32 rest = t.mask; rest;) {
    const u32 same = like_first(rest, masks);
    Part p;
    p.frame = &t.frame;
    p.mask = same;
    p.pc = t.pc(t.ip);
    p.state = Part::sync;
    p.sync_mask = masks[std::countr_zero(rest)];
    p.sync_key = key_of(ins);
    if (rest == t.mask)
      t.part = p;
    else
      t.warp.add(p);
    rest &= ~same;
  }
}

/// Lanes of m whose whole group is in m.
u32 Machine::complete_lanes(Warp& w, const Instruction& ins, u32 m) {
  const u32* masks = at<u32>(*this, mask_operand(ins));
  u32 done = 0;
  for (u32 rest = m; rest;) {
    const u32 g = masks[std::countr_zero(rest)], same = like_first(rest, masks);
    if ((same & ~g) != 0) {
      const u32 l = u32(std::countr_zero(same & ~g));
      messages.stop(messages.context() + ", thread " + messages.thread(w.index * 32 + l) +
                    ": its lane " + std::to_string(l) + " is not in the mask " + hex(g) +
                    " of the .sync instruction at " + messages.where(*function, ins));
    }
    if ((g & w.alive) == same) done |= same;
    rest &= ~same;
  }
  return done;
}

/// Waiting parts of a warp whose group has come together go on. Returns whether any did.
bool Machine::release_sync(Warp& w) {
  const Running before(*this);
  warp = &w;
  bool any = false;
  for (u32 i = 0; i < w.count; ++i) {
    if (w.parts[i].state != Part::sync) continue;
    const u32 mask = w.parts[i].sync_mask, key = w.parts[i].sync_key;
    const auto each = [&](auto action) {
      for (u32 j = i; j < w.count; ++j) {
        Part& p = w.parts[j];
        if (!waits_for(p, mask, key)) continue;
        frame = p.frame->registers;
        function = p.frame->function;
        action(p, function->code[p.pc]);
      }
    };
    u32 have = 0;
    each([&](const Part& p, const Instruction&) { have |= p.mask; });
    if (have != (mask & w.alive)) continue;
    any = true;
    Exchange e(*this, w);
    each([&](const Part& p, const Instruction& ins) { e.gather(ins, p.mask); });
    each([&](Part& p, const Instruction& ins) {
      e.perform(ins, p.mask);
      ++p.pc;
      p.state = Part::ready;
    });
    if (Kind(key >> 8) == Kind::warpbar) order(w, have);
  }
  if (any) w.merge_ready();
  return any;
}

}  // namespace gpu_emulator::ptx
