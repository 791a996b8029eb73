// Random numbers that a seed determines.
#pragma once
#include <utility>
#include <vector>

#include "ptx/program/types.hpp"

namespace gpu_emulator::ptx {

struct Random {
  u64 s;
  u64 next() {
    s += 0x9e3779b97f4a7c15ULL;
    u64 z = s;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  u32 below(u32 n) { return u32((next() >> 32) * n >> 32); }
  void shuffle(std::vector<u32>& list) {
    for (u32 i = u32(list.size()); i > 1; --i) std::swap(list[i - 1], list[below(i)]);
  }
};

}  // namespace gpu_emulator::ptx
