// All tests of the interpreter.
#pragma once

namespace gpu_emulator::tests {

void floats();
void conversions();
void comparisons();
void integers();
void bits();
void control();
void functions();
void parameters();
void warps();
void blocks();
void atomics();
void races();
void errors();
void schedules();
void transactions();
void refusals();
void speed();

}  // namespace gpu_emulator::tests
