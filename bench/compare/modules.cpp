// Peers are in modules that are opened at run time: each loads its own libraries (BLAS, Boost,
// another Eigen), which may be absent and must be kept separate from ours.
#include <dlfcn.h>

#include <stdexcept>

#include "bench/compare/contest.hpp"

namespace stickslip::compare {

std::vector<std::string> Contest::enter_module(const std::string& path) {
  // Never closed: it contains the code of the peers.
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) throw std::runtime_error(dlerror());
  auto* const peers_of =
      reinterpret_cast<decltype(&stickslip_peers)>(dlsym(module, "stickslip_peers"));
  if (peers_of == nullptr) throw std::runtime_error(path + " has no function stickslip_peers");
  Peers found;
  peers_of(&found);
  std::vector<std::string> names;
  for (auto& peer : found) {
    names.push_back(peer->name());
    enter(std::move(peer));
  }
  return names;
}

}  // namespace stickslip::compare
