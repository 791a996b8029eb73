// What Instruction::mode and mode2 say of an instruction, where parser and handlers share it.
#pragma once
#include "ptx/program/types.hpp"

namespace gpu_emulator::ptx {

// bar: mode; and what mode2 reduces.
constexpr u8 kBarrierArrive = 1, kBarrierReduce = 2;
constexpr u8 kReduceAnd = 1, kReduceOr = 2, kReducePopc = 3;

constexpr u8 kShuffleUp = 0, kShuffleDown = 1, kShuffleXor = 2, kShuffleIndex = 3;
constexpr u8 kVoteAll = 0, kVoteAny = 1, kVoteUniform = 2, kVoteBallot = 3;

// setp: one of three in the lowest bits, and flags.
constexpr u8 kCombine = 3, kCombineAnd = 1, kCombineOr = 2, kCombineXor = 3;
constexpr u8 kSecondResult = 4;  // p|q: q is the opposite
constexpr u8 kNegated = 8;       // the predicate that it is combined with

// cvt and arithmetic whose rounding mode2 names.
constexpr u8 kSaturate = 1, kFlush = 2;

}  // namespace gpu_emulator::ptx
