// Parts of a solve of data in double that are in double in every precision: compiled once, in
// solve_parts_kernels.cpp, because they take a third of the time of each unit.
#pragma once
#include "kernels/cpu/cpu_batch.hpp"

// `how`: extern, or nothing where they are compiled.
#define SS_SHARED_PARTS(how)                                                                      \
  how template int run_farkas(const HostGroup&, const EnvProblem<double>&, Farkas, int,           \
                              Judge<double>&);                                                    \
  how template int run_lemke(const HostGroup&, const EnvProblem<double>&, Lemke<double>&,         \
                             Attempts, int, bool, double, Judge<double>&);                        \
  how template int run_general_pyramid(const HostGroup&, const EnvProblem<double>&, const Stage&, \
                                       Arena, Judge<double>&);                                    \
  how template int run_interior_stage(const HostGroup&, const EnvProblem<double>&, const Stage&,  \
                                      Scaled<double>&, Arena, Judge<double>&);
