// The prototype of Lemke's method for `pyramid`, called like in its own main(), compiled from
// STICKSLIP_PROTOTYPES. A namespace separates its helpers from those of the other prototype, and
// its headers are included first, outside of the namespace.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace lemke_pyramid {
#define main prototype_main
#include "lemke_pyramid.cpp"
#undef main
}  // namespace lemke_pyramid

#include "bench/compare/prototype.hpp"

namespace stickslip::bench {
namespace {

template <int P>
class Sized : public Prototype {
 public:
  void load(const double* W, const double* b, const double* mu) override {
    W_.assign(W, W + 9 * P * P);
    b_.assign(b, b + 3 * P);
    mu_.assign(mu, mu + P);
    options_.dladder = lemke_pyramid::LADDER;
    options_.restarts = 7;
  }
  bool solve(double* /*impulse*/) override {
    return solver_->solve(W_.data(), b_.data(), mu_.data(), z_, options_).st == 0;
  }

 private:
  std::vector<double> W_, b_, mu_;
  double z_[6 * P];
  lemke_pyramid::LOpt options_;
  std::unique_ptr<lemke_pyramid::StLemke<double, P>> solver_ =
      std::make_unique<lemke_pyramid::StLemke<double, P>>();
};

}  // namespace

std::unique_ptr<Prototype> make_lemke_prototype(int contacts) {
  return make_sized<Sized>(contacts);
}

}  // namespace stickslip::bench
