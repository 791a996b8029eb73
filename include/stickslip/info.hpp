// What this build and this machine can do.
#pragma once
#include <span>
#include <string>

#include "stickslip/types.hpp"

namespace stickslip {

const char* name(Law law);           ///< "coulomb", ...
const char* name(Solver solver);     ///< "auto", "pgs", "newton", "lemke"
const char* name(Precision p);       ///< "float64", "float32", "mixed"
const char* name(EnvStatus status);  ///< "solved", ...

std::string version();  ///< "0.1.0"
std::string cpu_isa();  ///< instruction set in use: "x86-64-v3", "x86-64-v4" or "aarch64"

/// Whether `solver` accepts `law`; `automatic` accepts every law that some solver accepts.
bool supports(Solver solver, Law law);

}  // namespace stickslip
