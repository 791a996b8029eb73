// Places of registers in a frame: those that are never needed at once share one.
#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <queue>

#include "ptx/flow/liveness.hpp"

namespace gpu_emulator::ptx {
namespace {

constexpr u32 kAlign = 64;

/// Slots of registers of one size, given to intervals in the order of their beginnings.
class Slots {
 public:
  u32 take(const Interval& i) {
    while (!taken_.empty() && taken_.top().first < i.from) {
      free_.push_back(taken_.top().second);
      taken_.pop();
    }
    u32 s = count;
    if (free_.empty()) {
      ++count;
    } else {
      s = free_.back();
      free_.pop_back();
    }
    taken_.emplace(i.to, s);
    return s;
  }
  u32 count = 0;

 private:
  using Taken = std::pair<u32, u32>;  // end, slot
  std::priority_queue<Taken, std::vector<Taken>, std::greater<>> taken_;
  std::vector<u32> free_;
};

/// Offsets of all registers. `end` is the size of what they need.
std::vector<u32> place_registers(const std::vector<Value>& values, std::vector<Interval> intervals,
                                 u32& end) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.from < b.from; });
  std::array<Slots, 4> slots;
  std::vector<u32> slot(values.size(), kNone), offset(values.size(), 0);
  for (u32 v = 0; v < values.size(); ++v) {
    if (values[v].pinned) slot[v] = slots[std::size_t(values[v].size)].count++;
  }
  for (const Interval& i : intervals) {
    slot[i.value] = slots[std::size_t(values[i.value].size)].take(i);
  }
  std::array<u32, 4> base{};
  for (const Register r : {Register::wide, Register::word, Register::half, Register::pred}) {
    base[std::size_t(r)] = end;
    end = u32(align_up(end + slots[std::size_t(r)].count * slot_bytes(r), kAlign));
  }
  for (u32 v = 0; v < values.size(); ++v) {
    if (slot[v] == kNone) continue;
    offset[v] = base[std::size_t(values[v].size)] + slot[v] * slot_bytes(values[v].size);
  }
  return offset;
}

void fill_constant(char* to, const Value& v) {
  const unsigned lanes = v.size == Register::pred ? 1 : 32;
  const unsigned bytes = v.size == Register::pred ? 4 : lane_bytes(v.size);
  for (unsigned l = 0; l < lanes; ++l) std::memcpy(to + l * bytes, &v.bits, bytes);
}

}  // namespace

void Function::allocate() const {
  code = parsed;
  mark_copies(code, values.size());
  u32 end = 0;
  std::vector<u32> offset =
      place_registers(values, live_intervals(code, values, graph_of(code, tables)), end);
  for (u32 v = 0; v < values.size(); ++v) {
    if (values[v].kind == Value::reg) continue;
    offset[v] = u32(align_up(end, kAlign));
    end = offset[v] + slot_bytes(values[v].size);
    if (values[v].kind == Value::special) specials.emplace_back(v, offset[v]);
  }
  frame_bytes = u32(align_up(end, kAlign));
  frame_template.assign(frame_bytes, 0);
  for (u32 v = 0; v < values.size(); ++v) {
    if (values[v].kind == Value::constant) fill_constant(&frame_template[offset[v]], values[v]);
  }
  for (Instruction& i : code) {
    for (unsigned k = 0; k < i.nops; ++k) i.o[k] = offset[i.o[k]];
    if (i.guard != kNone) i.guard = offset[i.guard];
  }
}

}  // namespace gpu_emulator::ptx
