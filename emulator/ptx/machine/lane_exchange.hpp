// What lanes of a warp tell each other by one instruction.
#pragma once
#include "ptx/machine/machine.hpp"

namespace gpu_emulator::ptx {

/// The lanes that run, which are others for a while.
class Running {
 public:
  explicit Running(Machine& m) : m_(m), frame_(m.frame), function_(m.function), warp_(m.warp) {}
  ~Running() {
    m_.frame = frame_;
    m_.function = function_;
    m_.warp = warp_;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Machine& m_;
  char* frame_;
  const Function* function_;
  Warp* warp_;
};

/// Values of all lanes that take part are gathered before any gets its result, because they may
/// have come to the instruction as several parts.
class Exchange {
 public:
  Exchange(Machine& machine, Warp& w) : machine_(machine), w_(w) {}
  void gather(const Instruction& ins, u32 m);
  void perform(const Instruction& ins, u32 m);

 private:
  u32 shuffled_from(const Instruction& ins, u32 lane, bool& inside) const;
  void shuffle(const Instruction& ins, u32 m);
  void check_shuffle(const Instruction& ins, u32 lane, u32 from, u32 mask);
  void vote(const Instruction& ins, u32 m);
  void match(const Instruction& ins, u32 m);
  void redux(const Instruction& ins, u32 m);
  void elect(const Instruction& ins, u32 m);
  template <class T>
  T* reg(const Instruction& ins, unsigned operand) const {
    return at<T>(machine_, ins.o[operand]);
  }
  const u32* masks(const Instruction& ins) const { return reg<u32>(ins, ins.nops - 1U); }
  u32 group(const Instruction& ins, u32 lane) const { return masks(ins)[lane] & w_.alive; }
  void put(const Instruction& ins, u32 m, const u32* result);
  void put_predicate(const Instruction& ins, unsigned operand, u32 m, u32 bits);

  Machine& machine_;
  Warp& w_;
  u64 values_[32] = {};
  u32 votes_ = 0;
};

}  // namespace gpu_emulator::ptx
