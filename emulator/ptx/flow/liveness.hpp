// From where to where in its function's code a register is needed, and for what.
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

/// Marks the loads whose values are only stored again, in local memory or as arguments: a compiler
/// copies objects so, with their padding and the byte of an empty one, which nobody writes.
void mark_copies(std::vector<Instruction>& code, std::size_t values);

}  // namespace gpu_emulator::ptx
