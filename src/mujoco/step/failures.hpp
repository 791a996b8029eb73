// What becomes of a step that failed, or for which MuJoCo had too little memory.
#pragma once
#include "src/mujoco/step/step_context.hpp"

namespace stickslip::mujoco {

/// MuJoCo's warnings that contacts or constraints did not fit its memory.
int memory_warnings(const mjData* d);

/// MuJoCo leaves out contacts and constraints that do not fit its memory, and warns: such a step
/// does not count as solved.
void note_left_out(StepContext& step, int warnings_before);

/// To the state in which the step began.
void go_back(const StepContext& step);

/// A failed environment does not advance: it is reset, or goes back.
void recover(const StepContext& step);

/// The verdict on a step that means nothing.
void refuse(Verdict& verdict);

/// Both.
void fail(StepContext& step);

}  // namespace stickslip::mujoco
