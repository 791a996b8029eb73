// What the tests of the interpreter share: kernels by name, checks that are counted.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "ptx/program/types.hpp"
#include "ptx/ptx.hpp"

namespace gpu_emulator::tests {

using ptx::i8, ptx::i16, ptx::i32, ptx::i64, ptx::i128;
using ptx::u8, ptx::u16, ptx::u32, ptx::u64, ptx::u128;

/// Counts a check, and says what failed.
void check(bool ok, const std::string& what);
/// Of all checks.
int failures();
int checks_done();

/// Reads all PTX files of a folder whose names end like this.
void read_kernels(const std::string& folder, const std::string& ending);
ptx::Report run_kernel(const char* name, const ptx::Launch& launch, const ptx::Checks& checks,
                       u64 seed);

struct Setup {
  ptx::Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  ptx::Checks checks;
  u64 seed = 0;
};
template <class... A>
ptx::Report launch(const char* name, const Setup& s, A... arguments) {
  const void* list[] = {static_cast<const void*>(&arguments)..., nullptr};
  return run_kernel(name, {s.grid, s.block, s.dynamic_shared_bytes, list}, s.checks, s.seed);
}

ptx::Checks all_checks();
std::string joined(const ptx::Report& r);

/// A kernel ran without complaint, and nothing of what it gave is wrong.
void expect(const char* name, const ptx::Report& r, int wrong);
/// How many of `count` numbers, from `first` on, are not what they should be.
template <class List, class F>
int wrong(const List& got, int first, int count, F expected) {
  int n = 0;
  for (int i = 0; i < count; ++i) n += got[first + i] != expected(i);
  return n;
}

/// Without checks, and with all of them in many schedules.
template <class F>
void in_schedules(F body) {
  constexpr u64 kSeeds = 12;
  Setup s;
  body(s);
  s.checks = all_checks();
  for (s.seed = 0; s.seed < kSeeds; ++s.seed) body(s);
}
inline Setup shaped(Setup s, ptx::Dim3 grid, ptx::Dim3 block, std::uint32_t dynamic = 0) {
  s.grid = grid;
  s.block = block;
  s.dynamic_shared_bytes = dynamic;
  return s;
}

/// One block, several schedules: each complains of this; the first complaint is shown.
template <class... A>
void must_say(const char* name, const char* text, unsigned threads, const ptx::Checks& c, A... a) {
  for (u64 seed = 0; seed < 8; ++seed) {
    const auto r = launch(name, {{1}, {threads}, 0, c, seed}, a...);
    const bool found = joined(r).find(text) != std::string::npos;
    check(found, std::string(name) + ", seed " + std::to_string(seed) + ": no complaint of \"" +
                     text + "\" but: " + joined(r));
    if (seed == 0 && found) std::printf("  %s\n", r.errors[0].c_str());
  }
}
template <class... A>
void must_be_silent(const char* name, unsigned threads, const ptx::Checks& c, A... a) {
  for (u64 seed = 0; seed < 24; ++seed) {
    const auto r = launch(name, {{1}, {threads}, 0, c, seed}, a...);
    check(r.errors.empty(),
          std::string(name) + ", seed " + std::to_string(seed) + ": " + joined(r));
  }
}

}  // namespace gpu_emulator::tests
