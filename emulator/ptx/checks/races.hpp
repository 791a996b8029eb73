// Finds accesses of two threads of a block to one place that no barrier orders.
#pragma once
#include "ptx/checks/clocks.hpp"
#include "ptx/checks/messages.hpp"
#include "ptx/checks/shadow.hpp"

namespace gpu_emulator::ptx {

enum class Access : u8 { read, write, atomic };

/// What a thread does with memory.
struct Touch {
  const Function& function;
  const Instruction& ins;
  u32 thread;
  Access kind;
  bool shared;         // memory of the block
  const char* values;  // of a store: the register, all lanes; else nullptr
};

class Races {
 public:
  Races(Messages& messages, u32 threads, u32 shared_bytes)
      : clocks(threads), messages_(messages), shared_(shared_bytes + 4), global_(0) {}
  void restart();
  void touch(const Touch& t, u64 address, unsigned bytes);

  Clocks clocks;

 private:
  struct Last {
    const char* what;
    const Function& function;
    const Instruction& ins;
    u32 thread;
  };
  inline void touch_cell(Shadow& s, Cell& c, const Touch& t, u64 address);
  inline void check_write(const Cell& c, const Touch& t, u64 address);
  inline void check_reads(Shadow& s, const Cell& c, const Touch& t, u64 address);
  inline void note_write(Cell& c, const Touch& t);
  inline void note_read(Shadow& s, Cell& c, const Touch& t);
  void report(const Last& last, const Touch& t, u64 address, const char* more);

  Messages& messages_;
  Shadow shared_, global_;
};

}  // namespace gpu_emulator::ptx
