// The blocks of a function and where they lead.
#pragma once
#include <vector>

#include "ptx/program/program.hpp"

namespace gpu_emulator::ptx {

struct Graph {
  std::vector<u32> start;              // first instruction of each block, and the end
  std::vector<u32> block_of;           // of an instruction that starts one
  std::vector<std::vector<u32>> next;  // the last one is the exit
  u32 blocks() const { return u32(start.size() - 1); }
};

Graph graph_of(const std::vector<Instruction>& code, const std::vector<std::vector<u32>>& tables);

/// Immediate post-dominators of blocks and of the exit; kNone where none is known.
std::vector<u32> post_dominators(const Graph& g);

}  // namespace gpu_emulator::ptx
