#include "ptx/machine/memory_operations.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/machine/machine.hpp"

namespace gpu_emulator::ptx {
namespace {

Machine& machine_of(Lanes& lanes) { return static_cast<Machine&>(lanes); }

template <class Memory, class Reg>
inline void load_lane(Reg* d, char* const* p, int l, unsigned k) {
  Memory v;
  std::memcpy(&v, p[l] + k * sizeof v, sizeof v);
  d[l] = Reg(v);
}
template <class Memory, class Reg>
void load(Lanes& lanes, const Instruction& ins, u32 m) {
  Machine& c = machine_of(lanes);
  char* p[32];
  const unsigned bytes = unsigned(sizeof(Memory)) * ins.vec;
  const u32 ok = c.resolve(ins, m, ins.o[ins.vec], bytes, Access::read, p);
  for (unsigned k = 0; k < ins.vec; ++k) {
    Reg* d = at<Reg>(c, ins.o[k]);
    if (ok == kAll) {
      for (int l = 0; l < 32; ++l) load_lane<Memory>(d, p, l, k);
      continue;
    }
    for (u32 j = ok; j; j &= j - 1) load_lane<Memory>(d, p, std::countr_zero(j), k);
    for (u32 j = m & ~ok; j; j &= j - 1) d[std::countr_zero(j)] = Reg(0);
  }
}

/// Notes what it saw, so that a block that waits for another one can be told from one that works.
template <class Memory, class Reg>
void strong_load(Lanes& lanes, const Instruction& ins, u32 m) {
  load<Memory, Reg>(lanes, ins, m);
  Machine& c = machine_of(lanes);
  u64 seen = m;
  for (unsigned k = 0; k < ins.vec; ++k) {
    const Reg* d = at<Reg>(c, ins.o[k]);
    for (u32 j = m; j; j &= j - 1) {
      seen = (std::rotl(seen, 5) ^ u64(d[std::countr_zero(j)])) * 0x9e3779b97f4a7c15ULL;
    }
  }
  c.poll(ins, seen);
}

template <class Memory>
void store(Lanes& lanes, const Instruction& ins, u32 m) {
  Machine& c = machine_of(lanes);
  char* p[32];
  const unsigned bytes = unsigned(sizeof(Memory)) * ins.vec;
  const u32 ok = c.resolve(ins, m, ins.o[0], bytes, Access::write, p, c.frame + ins.o[1]);
  ++c.changes;
  const bool down = c.shuffled && (c.random.next() & 1) != 0;  // which of several writers wins
  for (unsigned k = 0; k < ins.vec; ++k) {
    const char* s = c.frame + ins.o[1 + k];
    const auto put = [&](int l) {
      std::memcpy(p[l] + k * sizeof(Memory), s + l * ins.reg_size, sizeof(Memory));
    };
    if (down) {
      for (u32 j = ok; j; j &= ~(1U << (31 - std::countl_zero(j)))) put(31 - std::countl_zero(j));
    } else if (ok == kAll) {
      for (int l = 0; l < 32; ++l) put(l);
    } else {
      for (u32 j = ok; j; j &= j - 1) put(std::countr_zero(j));
    }
  }
}

void copy_async(Lanes& lanes, const Instruction& ins, u32 m) {
  Machine& c = machine_of(lanes);
  char *to[32], *from[32];
  Instruction source = ins;
  source.space = Space::global;
  source.imm = 0;
  source.reg_size2 = 8;
  u32 ok = c.resolve(source, m, ins.o[1], ins.size, Access::read, from, nullptr, &ins);
  ok &= c.resolve(ins, ok, ins.o[0], ins.size, Access::write, to);
  for (u32 j = ok; j; j &= j - 1) {
    const int l = std::countr_zero(j);
    const u32 n = std::min<u32>(ins.size, at<u32>(c, ins.o[2])[l]);
    std::memcpy(to[l], from[l], n);
    std::memset(to[l] + n, 0, ins.size - n);
  }
}

void active_mask(Lanes& c, const Instruction& ins, u32 m) {
  for (u32 j = m; j; j &= j - 1) at<u32>(c, ins.o[0])[std::countr_zero(j)] = m;
}

/// Parameters and variables have the same address in their space and in the generic one.
void convert_address(Lanes& c, const Instruction& ins, u32 m) {
  const u64 window = ins.space == Space::shared  ? kSharedWindow
                     : ins.space == Space::local ? kLocalWindow
                                                 : 0;
  const u64 added = ins.mode != 0 ? 0 - window : window;
  u64* d = at<u64>(c, ins.o[0]);
  const u64* a = at<u64>(c, ins.o[1]);
  for (u32 j = m; j; j &= j - 1) d[std::countr_zero(j)] = a[std::countr_zero(j)] + added;
}

void is_space(Lanes& lanes, const Instruction& ins, u32 m) {
  const Machine& c = machine_of(lanes);
  u32& d = *at<u32>(lanes, ins.o[0]);
  for (u32 j = m; j; j &= j - 1) {
    const int l = std::countr_zero(j);
    const u64 a = at<u64>(lanes, ins.o[1])[l];
    const bool shared = a - kSharedWindow < kWindowSize, local = a - kLocalWindow < kWindowSize;
    const bool r = ins.space == Space::shared   ? shared
                   : ins.space == Space::local  ? local
                   : ins.space == Space::global ? !shared && !local  // parameters too
                   : ins.space == Space::param  ? c.is_parameter(a, 1)
                                                : false;
    d = (d & ~(1U << l)) | u32(r) << l;
  }
}

void clock(Lanes& lanes, const Instruction& ins, u32 m) {
  constexpr u64 kCycles = 4;  // per instruction
  Machine& c = machine_of(lanes);
  c.now += 1;
  for (u32 j = m; j; j &= j - 1) {
    const int l = std::countr_zero(j);
    if (ins.size == 8)
      at<u64>(c, ins.o[0])[l] = c.now * kCycles;
    else
      at<u32>(c, ins.o[0])[l] = ins.mode != 0 ? 0 : u32(c.now * kCycles);
  }
}

void sleep(Lanes& lanes, const Instruction& ins, u32 m) { machine_of(lanes).poll(ins, m); }
void nothing(Lanes&, const Instruction&, u32) {}

template <class Memory, class Reg>
Handler load_of(bool strong) {
  if constexpr (sizeof(Memory) > sizeof(Reg))
    return nullptr;
  else
    return strong ? &strong_load<Memory, Reg> : &load<Memory, Reg>;
}
template <class Memory>
Handler load_to(Register r, bool strong) {
  switch (r) {
    case Register::half:
      return load_of<Memory, u16>(strong);
    case Register::word:
      return load_of<Memory, u32>(strong);
    case Register::wide:
      return load_of<Memory, u64>(strong);
    default:
      return nullptr;
  }
}

}  // namespace

constinit const Handler kCopyAsync = &copy_async;
constinit const Handler kActiveMask = &active_mask;
constinit const Handler kConvertAddress = &convert_address;
constinit const Handler kIsSpace = &is_space;
constinit const Handler kClock = &clock;
constinit const Handler kPoll = &sleep;
constinit const Handler kNothing = &nothing;

Handler pick_load(Type t, Register r, bool strong) {
  if (t == Type::s8) return load_to<i8>(r, strong);
  if (t == Type::s16) return load_to<i16>(r, strong);
  if (t == Type::s32) return load_to<i32>(r, strong);
  switch (width(t)) {
    case 1:
      return load_to<u8>(r, strong);
    case 2:
      return load_to<u16>(r, strong);
    case 4:
      return load_to<u32>(r, strong);
    case 8:
      return load_to<u64>(r, strong);
    default:
      return nullptr;
  }
}

Handler pick_store(unsigned bytes) {
  switch (bytes) {
    case 1:
      return &store<u8>;
    case 2:
      return &store<u16>;
    case 4:
      return &store<u32>;
    case 8:
      return &store<u64>;
    default:
      return nullptr;
  }
}

}  // namespace gpu_emulator::ptx
