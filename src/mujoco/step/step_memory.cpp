#include "src/mujoco/step/step_memory.hpp"

#include <algorithm>
#include <cstring>

namespace stickslip::mujoco {
namespace {

constexpr std::size_t kPairBytes = 32;  // MuJoCo's mjcPair, with alignment
constexpr std::size_t kMost = std::size_t(4) << 30;

// Pages that are never written cost nothing. Pairs with flexes are listed element by element.
std::size_t bytes_of_pairs(const mjModel& m) {
  const std::size_t geoms = m.ngeom, elements = m.nflexelem;
  const std::size_t pairs = geoms * (geoms + 1) / 2 + m.npair + geoms * elements;
  return std::min(kMost / 4, kPairBytes * pairs);
}

}  // namespace

StepMemory::StepMemory(mjModel& m, bool fixed) : fixed_(fixed), allowed_(m.narena) {
  m.narena += bytes_of_pairs(m);
  bytes_ = m.narena;
  most_ = std::max(kMost, bytes_);
}

void StepMemory::begin(const mjModel* m, mjData* d, const mjtNum* state) const {
  d->maxuse_arena = 0;
  if (std::size_t(d->narena) >= bytes_) return;
  void* more = mju_malloc(bytes_);
  mju_free(d->arena);
  d->arena = more;
  d->narena = bytes_;
  mj_resetData(m, d);
  mj_setState(m, d, state, mjSTATE_INTEGRATION);
}

bool StepMemory::exceeded(const mjData* d) const {
  return fixed_ && std::size_t(d->maxuse_arena) > allowed_;
}

bool StepMemory::is_shortage(const char* error) {
  return std::strstr(error, "out of memory") || std::strstr(error, "arena");
}

}  // namespace stickslip::mujoco
