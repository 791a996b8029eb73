// Instructions of a part of a warp, until it waits or its turn ends.
#include <algorithm>
#include <bit>

#include "ptx/machine/machine.hpp"

namespace gpu_emulator::ptx {
namespace {

/// Counts what was done, also if the launch ends there.
struct Count {
  Machine& c;
  const u64 &instructions, &lanes;
  ~Count() {
    c.report.warp_instructions += instructions;
    c.report.lane_instructions += lanes;
    c.now += instructions;
    c.left_of_turn -= std::min(c.left_of_turn, instructions);
  }
};

}  // namespace

void Machine::go(Warp& w, u32 index) {
  Frame& f = *w.parts[index].frame;
  function = f.function;
  frame = f.registers;
  const Instruction* const code = function->code.data();
  const Instruction* ip = code + w.parts[index].pc;
  u32 mask = w.parts[index].mask;
  u64 instructions = 0, lanes = 0;
  const Count count{*this, instructions, lanes};
  for (;;) {
    const Instruction& ins = *ip;
    u32 m = mask;
    if (ins.guard != kNone) m &= *at<u32>(*this, ins.guard) ^ ins.flip;
    if (ins.kind == Kind::plain) [[likely]] {
      ++instructions;
      const u64 k = u64(std::popcount(m));
      lanes += k;
      categories[std::size_t(ins.category)] += k;
      if (m != 0) ins.handler(*this, ins, m);
      ++ip;
      continue;
    }
    if (ins.kind == Kind::reconv) {
      if (w.count == 1) [[likely]] {
        ++ip;
        continue;
      }
    } else {
      ++instructions;
      lanes += u64(std::popcount(m));
    }
    Turn t{w, index, w.parts[index], f, code, ip, mask, instructions};
    if (!step(t, m)) return;
    ip = t.ip;
    mask = t.mask;
  }
}

/// What is not done by a handler. Returns whether the part goes on.
bool Machine::step(Turn& t, u32 m) {
  const Instruction& ins = *t.ip;
  if (ins.kind == Kind::reconv) return meet(t, u64(ins.imm));
  bool goes_on = true;
  if (m == 0 && ins.kind != Kind::branch && ins.kind != Kind::brx) {
    ++t.ip;
  } else {
    switch (ins.kind) {
      case Kind::branch:
        goes_on = branch(t, m);
        break;
      case Kind::brx:
        goes_on = branch_by_index(t, m);
        break;
      case Kind::exit:
        return exit(t, m);
      case Kind::ret:
        goes_on = leave_function(t, m);
        break;
      case Kind::call:
        goes_on = call(t, m);
        break;
      case Kind::bar:
        return barrier(t, m);
      case Kind::trap:
        messages.stop(messages.context() + ", thread " +
                      messages.thread(t.warp.index * 32 + u32(std::countr_zero(m))) + ": trap at " +
                      messages.where(*function, ins));
      default:
        goes_on = exchange(t, m);
    }
  }
  if (!goes_on) return false;
  // Sometimes, in shuffled schedules: some of the lanes go first.
  const bool tears = shuffled && random.below(12) == 0;
  if (!tears || ins.kind != Kind::branch) return true;
  if (t.warp.count >= kMostTorn || std::popcount(t.mask) <= 1) return true;
  t.save(t.ip);
  tear_apart(t.warp, t.index);
  return false;
}

/// Waits for lanes that come the other way, if the schedule does not leave them behind.
bool Machine::meet(Turn& t, u64 depth) {
  if (shuffled && random.below(4) == 0) {
    ++t.ip;
    return true;
  }
  t.save(t.ip + 1);
  t.part.state = Part::reconv;
  t.part.depth = depth + (u64(t.frame.depth) << 32);
  for (u32 j = 0; j < t.warp.count; ++j) {
    Part& o = t.warp.parts[j];
    const bool same = o.state == Part::reconv && o.pc == t.part.pc && o.frame == &t.frame;
    if (j == t.index || !same) continue;
    o.mask |= t.mask;
    --t.frame.refs;
    t.warp.parts[t.index] = t.warp.parts[--t.warp.count];
    break;
  }
  return false;
}

bool Machine::ends_turn(Turn& t) {
  if (t.instructions < left_of_turn) return false;
  t.save(t.ip);
  return true;
}

bool Machine::branch(Turn& t, u32 m) {
  const Instruction *const target = t.code + t.ip->imm, *const next = t.ip + 1;
  if (m == t.mask || m == 0) {
    t.ip = m != 0 ? target : next;
    return !ends_turn(t);
  }
  ++report.divergent_branches;
  const bool taken_first = shuffled && (random.next() & 1) != 0;
  const u32 others = taken_first ? t.mask & ~m : m;
  t.warp.add(t.part, others, t.pc(taken_first ? next : target));
  t.mask &= ~others;
  t.ip = taken_first ? target : next;
  return true;
}

bool Machine::branch_by_index(Turn& t, u32 m) {
  const Instruction& ins = *t.ip;
  const auto& table = function->tables[std::size_t(ins.imm)];
  if (m == 0) {
    ++t.ip;
    return true;
  }
  t.part_from(m, t.ip + 1);
  const u32* x = at<u32>(*this, ins.o[0]);
  u32 rest = t.mask;
  while (rest != 0) {
    const u32 value = x[std::countr_zero(rest)];
    u32 same = 0;
    for (u32 k = rest; k; k &= k - 1) {
      if (x[std::countr_zero(k)] == value) same |= k & (0 - k);
    }
    if (value >= table.size()) {
      messages.stop(messages.context() + ": brx.idx outside its table at " +
                    messages.where(*function, ins));
    }
    if (rest == t.mask) {
      t.mask = same;
      t.ip = t.code + table[value];
    } else {
      t.warp.add(t.part, same, table[value]);
      ++report.divergent_branches;
    }
    rest &= ~same;
  }
  return !ends_turn(t);
}

/// Lanes m leave the kernel.
bool Machine::exit(Turn& t, u32 m) {
  Warp& w = t.warp;
  w.alive &= ~m;
  block->alive -= u32(std::popcount(m));
  t.mask &= ~m;
  if (t.mask != 0) {
    t.save(t.ip + 1);
  } else {
    frames.drop(t.part.frame);
    w.parts[t.index] = w.parts[--w.count];
  }
  release_sync(w);
  release_barriers();
  return false;
}

}  // namespace gpu_emulator::ptx
