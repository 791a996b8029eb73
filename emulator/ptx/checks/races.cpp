#include "ptx/checks/races.hpp"

#include <cstring>

namespace gpu_emulator::ptx {
namespace {

const char* name_of(Access kind) {
  return kind == Access::read ? "read" : kind == Access::write ? "write" : "atomic";
}

}  // namespace

void Races::restart() {
  shared_.clear();
  global_.clear();
  clocks.restart();
}

void Races::touch(const Touch& t, u64 address, unsigned bytes) {
  Shadow& s = t.shared ? shared_ : global_;
  for (u64 a = address; a < address + bytes;) {
    const u64 w = a / 4, end = std::min(address + bytes, (w + 1) * 4);
    Cell& c = s.word(w);
    if (!c.split && a % 4 == 0 && end == (w + 1) * 4) {
      touch_cell(s, c, t, a);
    } else {
      auto& four = s.bytes(w, c, clocks.epoch());
      for (u64 k = a; k < end; ++k) touch_cell(s, four[k % 4], t, k);
    }
    a = end;
  }
}

void Races::touch_cell(Shadow& s, Cell& c, const Touch& t, u64 address) {
  check_write(c, t, address);
  if (t.kind == Access::read) return note_read(s, c, t);
  check_reads(s, c, t, address);
  note_write(c, t);
}

/// Against who wrote last.
void Races::check_write(const Cell& c, const Touch& t, u64 address) {
  if (c.w_epoch != clocks.epoch()) return;
  if (clocks.before(c.w_epoch, c.w_thread, c.w_clock, t.thread)) return;
  if (c.w_atomic && t.kind == Access::atomic) return;
  const char* more = "";
  if (t.kind == Access::write && t.values != nullptr && c.w_ins == &t.ins &&
      c.w_thread / 32 == t.thread / 32) {
    const unsigned n = t.ins.reg_size;
    const bool same =
        std::memcmp(t.values + t.thread % 32 * n, t.values + c.w_thread % 32 * n, n) == 0;
    if (same) more = " (the same value, by one instruction)";
  }
  report({c.w_atomic ? "atomic" : "write", *c.w_function, *c.w_ins, c.w_thread}, t, address, more);
}

/// Against who read since.
void Races::check_reads(Shadow& s, const Cell& c, const Touch& t, u64 address) {
  if (c.r_epoch != clocks.epoch()) return;
  u32 reader = c.r_thread;
  if (!c.r_many) {
    if (clocks.before(c.r_epoch, c.r_thread, c.r_clock, t.thread)) return;
  } else {
    const auto& read = s.readers(c);
    const auto unordered = [&](u32 k) {
      return read[k] != 0 && k != t.thread && clocks.known(t.thread, k) < read[k];
    };
    reader = 0;
    while (reader < clocks.threads() && !unordered(reader)) ++reader;
    if (reader == clocks.threads()) return;
  }
  report({"read", *c.r_function, *c.r_ins, reader}, t, address, "");
}

void Races::note_write(Cell& c, const Touch& t) {
  c.w_epoch = clocks.epoch();
  c.w_thread = u16(t.thread);
  c.w_clock = clocks.now(t.thread);
  c.w_ins = &t.ins;
  c.w_function = &t.function;
  c.w_atomic = t.kind == Access::atomic;
  c.r_epoch = 0;
  c.r_many = false;
}

void Races::note_read(Shadow& s, Cell& c, const Touch& t) {
  const u32 now = clocks.now(t.thread);
  const bool of_epoch = c.r_epoch == clocks.epoch();
  if (of_epoch && c.r_many) {
    s.readers(c)[t.thread] = now;
  } else if (of_epoch && !clocks.before(c.r_epoch, c.r_thread, c.r_clock, t.thread)) {
    s.add_reader(c, clocks.threads(), t.thread, now);
  } else {
    c.r_epoch = clocks.epoch();
    c.r_many = false;
    c.r_thread = u16(t.thread);
    c.r_clock = now;
  }
  c.r_ins = &t.ins;
  c.r_function = &t.function;
}

void Races::report(const Last& last, const Touch& t, u64 address, const char* more) {
  const char* now = name_of(t.kind);
  if (!messages_.first_time(&last.ins, &t.ins, last.what[0] * 256 + now[0])) return;
  messages_.say("race: " + messages_.context() + ", " + (t.shared ? "shared+" : "global ") +
                hex(address) + ": " + last.what + " by thread " + messages_.thread(last.thread) +
                " at " + messages_.where(last.function, last.ins) + "; " + now + " by thread " +
                messages_.thread(t.thread) + " at " + messages_.where(t.function, t.ins) +
                "; no barrier between" + more);
}

}  // namespace gpu_emulator::ptx
