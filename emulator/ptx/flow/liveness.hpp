// From where to where in its function's code a register is needed.
#pragma once
#include <vector>

#include "ptx/flow/graph.hpp"
#include "ptx/program/program.hpp"

namespace gpu_emulator::ptx {

struct Interval {
  u32 value, from, to;
};

/// Of every register that has no slot of its own, in no order. Instruction i reads at 2 i and
/// writes at 2 i + 1.
std::vector<Interval> live_intervals(const std::vector<Instruction>& code,
                                     const std::vector<Value>& values, const Graph& g);

}  // namespace gpu_emulator::ptx
