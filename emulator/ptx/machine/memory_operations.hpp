// Handlers of instructions that touch memory or ask about the machine. nullptr: there is none.
#pragma once
#include "ptx/program/modes.hpp"
#include "ptx/program/program.hpp"

namespace gpu_emulator::ptx {

/// strong: of what another block may write while this one waits for it.
Handler pick_load(Type t, Register r, bool strong);
Handler pick_store(unsigned bytes);
Handler pick_atom(Atomic op, Type t);
extern const Handler kCopyAsync, kActiveMask, kConvertAddress, kIsSpace, kClock, kPoll, kNothing;

}  // namespace gpu_emulator::ptx
