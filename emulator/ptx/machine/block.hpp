// A block while it runs: its warps, the parts that their lanes have diverged into, barriers,
// memory.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ptx/checks/races.hpp"
#include "ptx/program/program.hpp"

namespace gpu_emulator::ptx {

/// Registers of lanes that have called a function together.
struct Frame {
  const Function* function = nullptr;
  Frame* parent = nullptr;
  u32 return_pc = 0, refs = 0, depth = 0, call = 0;
  u64 local_base = 0;
  char* registers = nullptr;
  std::vector<char> storage;
};

/// Lanes of a warp that are together.
struct Part {
  enum State : u8 { ready, reconv, sync, bar };
  u32 mask = 0, pc = 0;
  Frame* frame = nullptr;
  State state = ready;
  u32 sync_mask = 0, sync_key = 0, bar_id = 0;
  u64 depth = 0;
};

constexpr u32 kSpinning = 16;  // polls after which a warp has nothing to do but wait
constexpr u32 kMostTorn = 40;  // parts of a warp that is torn apart no further

struct Warp {
  u32 index = 0, alive = 0;
  u32 count = 0;
  std::array<Part, 64> parts;
  Frame root;
  std::vector<char> local, local_written;
  // Polls of memory that found what they had found before, and nothing was written between.
  u32 polls = 0, next_polled = 0;
  u64 changes = 0;
  std::array<std::pair<const Instruction*, u64>, 16> polled{};

  /// Ready ones at the same place become one.
  void merge_ready();
  Part& add(const Part& p);
  /// Some of a part's lanes, at another place.
  Part& add(const Part& like, u32 mask, u32 pc);
  u32 waiting_at(u32 barrier) const;
  /// Of the lanes: where the first part is.
  const Part& first() const { return parts[0]; }
};

struct Barrier {
  bool used = false;
  u32 expected = 0;                    // threads; 0: all
  std::array<u32, 32> arrived_only{};  // lanes of each warp that came by bar.arrive
  u32 popc = 0;
  bool all = true, any = false;
  std::vector<u32> clocks;  // joined, where not the whole block takes part
};

struct Block {
  u32 alive = 0;
  Dim3 index;
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<Barrier, 16> barriers;
  std::vector<char> shared_storage, shared_written;
  char* shared = nullptr;
  std::optional<Races> races;  // none: not checked
};

}  // namespace gpu_emulator::ptx
