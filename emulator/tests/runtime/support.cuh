// Conditions that tests of the runtime count, with the line where one does not hold.
#pragma once
#include <cstddef>
#include <cstdio>
#include <string>

inline int failures = 0;

inline void expect(bool right, const char* what, int line) {
  if (right) return;
  std::printf("line %d: %s\n", line, what);
  ++failures;
}
inline void expect_error(cudaError_t got, cudaError_t wanted, const char* call, int line) {
  if (got == wanted) return;
  std::printf("line %d: %s: %s, expected %s\n", line, call, cudaGetErrorName(got),
              cudaGetErrorName(wanted));
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define GIVES(call, wanted) expect_error(call, wanted, #call, __LINE__)
#define OK(call) GIVES(call, cudaSuccess)
