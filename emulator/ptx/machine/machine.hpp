// The machine that runs a launch.
#pragma once
#include <array>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "ptx/checks/messages.hpp"
#include "ptx/machine/block.hpp"
#include "ptx/machine/frames.hpp"
#include "ptx/machine/random.hpp"
#include "ptx/program/lanes.hpp"

namespace gpu_emulator::ptx {

/// A part of a warp while it runs.
struct Turn {
  Warp& warp;
  u32 index;  // of the part
  Part& part;
  Frame& frame;
  const Instruction* code;
  const Instruction* ip;
  u32 mask;
  u64 instructions = 0, lanes = 0;

  u32 pc(const Instruction* at) const { return u32(at - code); }
  void save(const Instruction* at) {
    part.pc = pc(at);
    part.mask = mask;
  }
  /// Lanes of m go on here, the others are another part from `at` on.
  void part_from(u32 m, const Instruction* at) {
    if (m == mask) return;
    warp.add(part, mask & ~m, pc(at));
    mask = m;
  }
};

struct Machine final : Lanes {
  Machine(const ModuleImpl& module, const Function& entry, const Launch& launch,
          const Checks& checks, u64 seed);
  Report run();

  const ModuleImpl& module;
  const Function& entry;
  const Launch& launch;
  const Checks& checks;
  Report report;
  Messages messages;
  Random random;
  const bool shuffled;

  // Of the launch.
  u32 threads = 0, warp_count = 0;
  u32 shared_bytes = 0, dynamic_at = 0;
  u64 local_stride = 0;
  char* parameters = nullptr;

  // What runs.
  std::unique_ptr<Block> block;
  Warp* warp = nullptr;
  const Function* function = nullptr;
  u64 now = 0;           // for clocks
  u64 left_of_turn = 0;  // instructions
  u64 changes = 0;       // instructions that wrote something
  u32 block_polls = 0;
  u64 faults = 0;
  u64 categories[std::size_t(Category::count)] = {};
  Frames frames;

  // run.cpp: blocks one after the other
  void start_launch();
  void start_block(u64 index);
  void start_warp(Warp& w);
  void make_room(Block& b);
  void activate(std::unique_ptr<Block> b);

  // specials.cpp
  void fill_specials(Frame& f, const Warp& w);
  u64 special_of_block(const Value& v, const Frame& f, const Warp& w) const;
  u64 special_of_lane(Special s, u32 lane, u32 thread) const;

  // schedule.cpp: warps of a block in turns, parts of a warp
  bool run_block(bool alone);
  bool run_warp(Warp& w);
  int pick(Warp& w);
  void end_turn(Warp& w);
  void tear_apart(Warp& w, u32 index);
  /// A warp read what another block may write, and saw this. A turn ends where only that is done.
  void poll(const Instruction& ins, u64 seen);
  [[noreturn]] void deadlock();
  [[noreturn]] void hang(const Warp& w);

  // step.cpp: instructions of a part, until it waits or its turn ends
  void go(Warp& w, u32 index);
  bool meet(Turn& t, u64 depth);
  bool step(Turn& t, u32 m);
  bool branch(Turn& t, u32 m);
  bool branch_by_index(Turn& t, u32 m);
  bool exit(Turn& t, u32 m);
  bool ends_turn(Turn& t);

  // calls.cpp
  bool call(Turn& t, u32 m);
  bool enter(Turn& t, const Call& c, const Function& callee);
  bool call_runtime(Turn& t, const Call& c, const Function& callee);
  bool leave_function(Turn& t, u32 m);
  const Function& callee_of(Turn& t, const Call& c, u32 m, u32& going);
  char* local_of(Warp& w, u32 lane, u64 offset) {
    return w.local.data() + local_stride * lane + offset;
  }
  void copy_local(Warp& w, u32 m, u64 to, u64 from, u32 bytes);
  [[noreturn]] void assertion_failed(Warp& w, u32 lane, u64 base, const Call& c);

  // printing.cpp
  void print(Warp& w, u32 m, u64 base, const Call& c);

  // lane_exchange.cpp: instructions that lanes of a warp do together
  bool exchange(Turn& t, u32 m);
  bool pass_warp_barrier(Turn& t);
  void wait_in_groups(Turn& t);
  u32 complete_lanes(Warp& w, const Instruction& ins, u32 m);
  bool release_sync(Warp& w);
  void order(Warp& w, u32 mask);

  // barriers.cpp
  bool barrier(Turn& t, u32 m);
  void arrive(Warp& w, const Instruction& ins, u32 m, u32 id);
  bool is_complete(const Barrier& b, u32 id, bool& whole) const;
  bool release_barrier(u32 id);
  void release_warp(Warp& w, u32 id, const Barrier& b, bool whole);
  bool release_barriers();

  // addresses.cpp: host addresses of a memory instruction's lanes; returns those that may go on.
  // Inline ones are used there alone.
  u32 resolve(const Instruction& ins, u32 m, u32 operand, unsigned bytes, Access kind, char** p,
              const char* values = nullptr, const Instruction* whole = nullptr);
  struct Request {
    const Instruction& ins;
    unsigned bytes;
    Access kind;
    const char* values;
    char** p;
  };
  inline u32 resolve_shared(const Request& r, u32 m, const u64* a);
  inline u32 resolve_local(const Request& r, u32 m, const u64* a);
  inline u32 resolve_global(const Request& r, u32 m, const u64* a);
  inline u32 resolve_parameters(const Request& r, u32 m, const u64* a);
  inline u32 resolve_generic(const Request& r, u32 m, const u64* a);
  inline u32 inside_shared(const Request& r, u32 m, const u64* a);
  inline u32 allowed(const Request& r, u32 m, const u64* a);
  bool may_touch(u64 address, unsigned bytes, bool write, u64& known);
  bool is_parameter(u64 address, unsigned bytes) const {
    return address >= u64(parameters) && address + bytes <= u64(parameters) + entry.parameter_bytes;
  }
  void check_races(const Request& r, u32 m, const u64* a, bool shared);
  void check_written(const Request& r, u32 lane, char* marks, const char* space, u64 address);

  void complain(const Instruction& ins, u32 lanes, const std::string& text) override;
  /// A lane did what would end a kernel on a GPU. Here it goes on without.
  void fault(const Instruction& ins, u32 lane, const std::string& text);

 private:
  using Pages = std::array<u64, 512>;
  static Pages no_pages();
  std::vector<char> parameter_storage_;
  Pages read_pages_ = no_pages(), write_pages_ = no_pages();  // may be touched as a whole
};

}  // namespace gpu_emulator::ptx
