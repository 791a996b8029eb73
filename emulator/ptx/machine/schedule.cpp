// Whose turn it is: warps of a block, and parts of a warp.
#include <algorithm>
#include <numeric>

#include "ptx/machine/machine.hpp"

namespace gpu_emulator::ptx {
namespace {

constexpr u32 kBlockPolls =
    10000;                      // of a block, whatever else it does: then others have their turn
constexpr int kIdleRounds = 4;  // in which all warps of a block only waited
constexpr u64 kTurn = 50000;    // instructions
constexpr int kMostShown = 12;  // parts in a message

}  // namespace

/// Returns whether the block has ended. If it has not, it waits for other blocks.
bool Machine::run_block(bool alone) {
  std::vector<u32> order_of(warp_count);
  std::iota(order_of.begin(), order_of.end(), 0);
  int idle = 0;
  block_polls = 0;
  while (block->alive != 0) {
    if (shuffled) random.shuffle(order_of);
    bool ran = false, spinning = true;
    for (const u32 i : order_of) {
      Warp& w = *block->warps[i];
      if (!run_warp(w)) continue;
      ran = true;
      spinning = spinning && w.polls >= kSpinning && w.count != 0;
    }
    if (block->alive == 0) break;
    if (!ran) deadlock();
    idle = spinning ? idle + 1 : 0;
    if (!alone && (idle == kIdleRounds || block_polls > kBlockPolls)) return false;
  }
  return true;
}

/// Returns whether anything ran.
bool Machine::run_warp(Warp& w) {
  warp = &w;
  bool ran = false;
  left_of_turn = shuffled ? 200 + random.below(20000) : kTurn;
  while (w.count != 0) {
    const int k = pick(w);
    if (k < 0) return ran;
    ran = true;
    go(w, u32(k));
    if (report.warp_instructions > checks.most_warp_instructions) hang(w);
    if (left_of_turn == 0) {
      end_turn(w);
      return true;
    }
  }
  return ran;
}

/// Nobody starves: the next turn begins with another part, and nobody waits for meetings.
void Machine::end_turn(Warp& w) {
  for (u32 i = 0; i < w.count; ++i) {
    if (w.parts[i].state == Part::reconv) w.parts[i].state = Part::ready;
  }
  if (w.count > 1) std::rotate(w.parts.begin(), w.parts.begin() + 1, w.parts.begin() + w.count);
}

/// A part that may run, -1: none. If all that are ready wait to meet others, the deepest goes on.
int Machine::pick(Warp& w) {
  u32 ready = 0;
  u32 list[64];
  for (u32 i = 0; i < w.count; ++i) {
    if (w.parts[i].state == Part::ready) list[ready++] = i;
  }
  if (ready != 0) return int(list[shuffled ? random.below(ready) : 0]);
  int best = -1;
  for (u32 i = 0; i < w.count; ++i) {
    const Part& p = w.parts[i];
    if (p.state == Part::reconv && (best < 0 || p.depth > w.parts[u32(best)].depth)) best = int(i);
  }
  if (best >= 0) w.parts[u32(best)].state = Part::ready;
  return best;
}

void Machine::tear_apart(Warp& w, u32 index) {
  Part& p = w.parts[index];
  const u32 some = p.mask & u32(random.next());
  if (some == 0 || some == p.mask || w.count >= kMostTorn) return;
  Part other = p;
  other.state = Part::ready;
  other.mask = some;
  p.mask &= ~some;
  w.add(other);
}

void Machine::poll(const Instruction& ins, u64 seen) {
  ++block_polls;
  Warp& w = *warp;
  auto last = std::find_if(w.polled.begin(), w.polled.end(),
                           [&](const auto& p) { return p.first == &ins; });
  if (last == w.polled.end()) last = w.polled.begin() + w.next_polled++ % w.polled.size();
  const std::pair<const Instruction*, u64> now_seen{&ins, seen};
  if (*last != now_seen || w.changes != changes) {
    *last = now_seen;
    w.changes = changes;
    w.polls = 0;
  } else if (++w.polls >= kSpinning) {
    left_of_turn = 0;
  }
}

void Machine::hang(const Warp& w) {
  std::string s = messages.context() + ": still running after " +
                  std::to_string(report.warp_instructions) +
                  " warp instructions, taken for a hang; warp " + std::to_string(w.index);
  if (w.count != 0) {
    const Function& f = *w.first().frame->function;
    s += " at " + messages.where(f, f.code[w.first().pc]);
  }
  messages.stop(s);
}

void Machine::deadlock() {
  std::string s = "deadlock: " + messages.context() + ":";
  int shown = 0;
  for (const auto& w : block->warps) {
    for (u32 i = 0; i < w->count && shown < kMostShown; ++i, ++shown) {
      const Part& p = w->parts[i];
      const Function& f = *p.frame->function;
      s += "\n  warp " + std::to_string(w->index) + ", lanes " + lane_ranges(p.mask) + " wait at ";
      if (p.state == Part::sync) {
        s +=
            "a .sync instruction with mask " + hex(p.sync_mask) + " (alive: " + hex(w->alive) + ")";
      } else {
        s += "barrier " + std::to_string(p.bar_id) + " of the block";
      }
      s += ", " + messages.where(f, f.code[p.pc]);
    }
  }
  messages.stop(s);
}

}  // namespace gpu_emulator::ptx
