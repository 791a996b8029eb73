// The prototype of Newton's method for `coulomb`, called like in its own main(), compiled from
// STICKSLIP_PROTOTYPES.
#define main prototype_main
#include "ncp_newton.cpp"
#undef main

#include "bench/compare/prototype.hpp"

namespace stickslip::bench {
namespace {

template <int P>
class Sized : public Prototype {
 public:
  void load(const double* W, const double* b, const double* mu) override {
    problem_.p = P;
    problem_.W.assign(W, W + 9 * P * P);
    problem_.q3.assign(b, b + 3 * P);
    problem_.mu.assign(mu, mu + P);
  }
  bool solve(double* impulse) override { return ladder_.solve(problem_, impulse, NOpt()).st == 0; }

 private:
  Prob problem_;
  Ladder<P> ladder_;
};

}  // namespace

std::unique_ptr<Prototype> make_newton_prototype(int contacts) {
  return make_sized<Sized>(contacts);
}

}  // namespace stickslip::bench
