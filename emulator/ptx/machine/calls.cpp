// Calls of functions.
#include <bit>
#include <cstring>

#include "ptx/machine/machine.hpp"

namespace gpu_emulator::ptx {

bool Machine::call(Turn& t, u32 m) {
  const Instruction* const ip = t.ip;
  const Call& c = function->calls[std::size_t(ip->imm)];
  u32 going = m;
  const Function& callee = callee_of(t, c, m, going);
  // Those that call another function do so later; those whose guard is false go past.
  if ((m & ~going) != 0) t.warp.add(t.part, m & ~going, t.pc(ip));
  if ((t.mask & ~m) != 0) t.warp.add(t.part, t.mask & ~m, t.pc(ip + 1));
  t.mask = going;
  return callee.defined ? enter(t, c, callee) : call_runtime(t, c, callee);
}

/// The function that the first of lanes m calls, and which of them call it.
const Function& Machine::callee_of(Turn& t, const Call& c, u32 m, u32& going) {
  if (!c.callee.empty()) return *module.functions.find(c.callee)->second;
  const u64* x = at<u64>(*this, t.ip->o[0]);
  const u64 value = x[std::countr_zero(m)];
  going = 0;
  for (u32 k = m; k; k &= k - 1) {
    if (x[std::countr_zero(k)] == value) going |= k & (0 - k);
  }
  for (const auto& [name, f] : module.functions) {
    if (u64(f.get()) == value) return *f;
  }
  messages.stop(messages.context() + ": call of no function, at " +
                messages.where(*function, *t.ip));
}

bool Machine::enter(Turn& t, const Call& c, const Function& callee) {
  constexpr u64 kAlign = 16;
  Warp& w = t.warp;
  const u64 caller = t.frame.local_base, base = align_up(caller + function->local_bytes, kAlign);
  if (base + callee.local_bytes > local_stride) {
    messages.stop(messages.context() + ": stack overflow in a call at " +
                  messages.where(*function, *t.ip));
  }
  Frame& f = frames.take(callee);
  f.parent = &t.frame;  // the part's reference to it becomes the callee's
  f.refs = 1;
  f.return_pc = t.pc(t.ip + 1);
  f.depth = t.frame.depth + 1;
  f.call = u32(t.ip->imm);
  f.local_base = base;
  fill_specials(f, w);
  if (checks.uninitialised) {
    for (u32 k = t.mask; k; k &= k - 1) {
      char* const marks = &w.local_written[local_stride * u64(std::countr_zero(k)) + base];
      std::memset(marks, 0, callee.local_bytes);
    }
  }
  for (std::size_t k = 0; k < c.arguments.size() && k < callee.parameters.size(); ++k) {
    copy_local(w, t.mask, base + callee.parameters[k].offset, caller + c.arguments[k].offset,
               c.arguments[k].bytes);
  }
  t.part.mask = t.mask;
  t.part.frame = &f;
  t.part.pc = 0;
  return false;
}

bool Machine::leave_function(Turn& t, u32 m) {
  Warp& w = t.warp;
  Frame* const parent = t.frame.parent;
  const Call& c = parent->function->calls[t.frame.call];
  for (std::size_t k = 0; k < c.results.size(); ++k) {
    copy_local(w, m, parent->local_base + c.results[k].offset,
               t.frame.local_base + function->results[k].offset, c.results[k].bytes);
  }
  if (m != t.mask) {
    Part other;
    other.frame = parent;
    other.pc = t.frame.return_pc;
    other.mask = m;
    w.add(other);
    t.mask &= ~m;
    ++t.ip;
    return true;
  }
  t.part.mask = t.mask;
  t.part.pc = t.frame.return_pc;
  ++parent->refs;
  t.part.frame = parent;
  frames.drop(&t.frame);
  if (w.count > 1) w.merge_ready();
  return false;
}

void Machine::copy_local(Warp& w, u32 m, u64 to, u64 from, u32 bytes) {
  for (u32 k = m; k; k &= k - 1) {
    const u32 l = u32(std::countr_zero(k));
    std::memcpy(local_of(w, l, to), local_of(w, l, from), bytes);
    if (!checks.uninitialised) continue;
    char* const marks = &w.local_written[local_stride * l];
    std::memcpy(marks + to, marks + from, bytes);
  }
}

/// Functions that the driver would add.
bool Machine::call_runtime(Turn& t, const Call& c, const Function& callee) {
  const u64 base = t.frame.local_base;
  if (callee.name == "vprintf") {
    print(t.warp, t.mask, base, c);
    ++t.ip;
    return true;
  }
  if (callee.name == "__assertfail") {
    assertion_failed(t.warp, u32(std::countr_zero(t.mask)), base, c);
  }
  messages.stop(messages.context() + ": call of the undefined function " + callee.name + " at " +
                messages.where(*function, *t.ip));
}

void Machine::assertion_failed(Warp& w, u32 lane, u64 base, const Call& c) {
  const char *text = nullptr, *file = nullptr;
  u32 line = 0;
  std::memcpy(&text, local_of(w, lane, base + c.arguments.at(0).offset), sizeof text);
  std::memcpy(&file, local_of(w, lane, base + c.arguments.at(1).offset), sizeof file);
  std::memcpy(&line, local_of(w, lane, base + c.arguments.at(2).offset), sizeof line);
  messages.stop(messages.context() + ", thread " + messages.thread(w.index * 32 + lane) +
                ": assertion failed: " + text + ", " + file + ":" + std::to_string(line));
}

}  // namespace gpu_emulator::ptx
