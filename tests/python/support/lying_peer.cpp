// Peers that report wrong results, for tests of bench/compare; also the minimum that a peer
// needs. For problems with W = I whose contacts stick, r = -b is the solution.
#include <cmath>

#include "bench/compare/peer.hpp"

namespace {

using stickslip::compare::Loaded;
using stickslip::compare::Peer;
using stickslip::compare::PeerProblem;

struct Behaviour {
  const char* name;
  double factor;  ///< impulse / solution
  bool claim;
  bool takes_problems;
};

class Deceiver : public Peer {
 public:
  explicit Deceiver(const Behaviour& behaviour) : behaviour_(behaviour) {}
  std::string name() const override { return behaviour_.name; }
  std::string about() const override { return "a test double"; }

  std::unique_ptr<Loaded> load(const PeerProblem& p) const override {
    struct Answer : Loaded {
      std::vector<double> impulse;
      bool claim;
      bool solve(double* out) override {
        for (const double r : impulse) *out++ = r;
        return claim;
      }
    };
    if (!behaviour_.takes_problems) return nullptr;
    auto answer = std::make_unique<Answer>();
    for (int i = 0; i < p.rows; ++i) answer->impulse.push_back(-behaviour_.factor * p.b[i]);
    answer->claim = behaviour_.claim;
    return answer;
  }

 private:
  Behaviour behaviour_;
};

}  // namespace

extern "C" void stickslip_peers(stickslip::compare::Peers* out) {
  for (const Behaviour& behaviour : {Behaviour{"liar", 0.0, true, true},
                                     {"honest", 1.0, true, true},
                                     {"modest", 1.0, false, true},
                                     {"garbler", std::nan(""), true, true},
                                     {"choosy", 1.0, true, false}})
    out->push_back(std::make_unique<Deceiver>(behaviour));
}
