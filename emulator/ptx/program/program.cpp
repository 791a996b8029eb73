#include "ptx/program/program.hpp"

#include <algorithm>

namespace gpu_emulator::ptx {

const Kernel* ModuleImpl::find(std::string_view name) const {
  for (const Kernel& k : list) {
    if (k.name == name) return &k;
  }
  return nullptr;
}

void* ModuleImpl::global(std::string_view name, std::size_t* bytes) const {
  const auto v = variables.find(name);
  if (v == variables.end() || v->second.memory == nullptr) return nullptr;
  if (bytes != nullptr) *bytes = v->second.bytes;
  return v->second.memory;
}

char* ModuleImpl::allocate(u64 bytes, u32 align) {
  const u64 a = std::max<u64>(align, 256);
  auto p = std::make_unique<char[]>(bytes + 2 * a + 64);
  char* const at = reinterpret_cast<char*>(align_up(u64(p.get()), a));
  storage.push_back(std::move(p));
  return at;
}

bool ModuleImpl::holds(u64 address, u64 bytes) const {
  auto i = std::upper_bound(ranges.begin(), ranges.end(), std::pair(address, ~u64(0)));
  if (i == ranges.begin()) return false;
  --i;
  return address >= i->first && address + bytes <= i->second;
}

}  // namespace gpu_emulator::ptx
