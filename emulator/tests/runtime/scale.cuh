// The kernel that tests of launches, streams and graphs use.
#pragma once

struct Scale {
  double factor;
  int shift;
};

/// p = factor p + shift + a number from a table, by way of shared memory.
__global__ void scale(float* p, const __grid_constant__ Scale s, int n);
/// How many elements it has scaled.
int times_scaled();
