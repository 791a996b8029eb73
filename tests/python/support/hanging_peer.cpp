// A peer for tests of bench/compare that never returns from the problem $HANGS_AT, counted
// from 1, and creates the file $HANGS_NOW there; or crashes if there is no such variable.
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "bench/compare/peer.hpp"

namespace {

using namespace stickslip::compare;

struct Stuck : Loaded {
  explicit Stuck(bool hangs) : hangs_(hangs) {}
  bool solve(double*) override {
    if (!hangs_) return false;
    const char* file = std::getenv("HANGS_NOW");
    if (file == nullptr) std::abort();
    std::ofstream created(file);
    while (true) pause();
  }
  bool hangs_;
};

struct Hanging : Peer {
  std::string name() const override { return "hanging"; }
  std::string about() const override { return "a test double"; }
  std::unique_ptr<Loaded> load(const PeerProblem&) const override {
    static int problems = 0;
    return std::make_unique<Stuck>(++problems == std::atoi(std::getenv("HANGS_AT")));
  }
};

}  // namespace

extern "C" void stickslip_peers(Peers* out) { out->push_back(std::make_unique<Hanging>()); }
