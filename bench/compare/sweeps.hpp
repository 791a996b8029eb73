// Fifty sweeps in float, from views of a batch to impulses and verdicts, compared with the plain
// loop of the prototype.
#pragma once
#include <cstdio>

namespace stickslip::bench {

/// Prints a JSON record per family and number of contacts.
void compare_sweeps(std::FILE* out);

}  // namespace stickslip::bench
