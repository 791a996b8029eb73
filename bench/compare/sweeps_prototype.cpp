// The prototype's loop of 50 projected Gauss-Seidel sweeps over 16 problems in SIMD lanes, compiled
// from STICKSLIP_PROTOTYPES: only the loop, on problems that are already in lane order.
#include <vector>

#define LANES 16
#define SS_ISA prototype
#include "bench/compare/prototype.hpp"
#include "simd_pack.hpp"

namespace stickslip::bench {
namespace {

using Lanes = ss::SS_ISA::Pack<float>;
static_assert(Lanes::N == SweepsPrototype::kLanes);

struct AlignedFloats {
  std::vector<float> storage;
  float* data = nullptr;
  void resize(std::size_t count) {
    storage.resize(count + 16);
    data = storage.data();
    while (reinterpret_cast<std::uintptr_t>(data) % 64 != 0) ++data;
  }
};

template <int P>
class Sized : public SweepsPrototype {
 public:
  void load(int lane, const float* W, const float* b, const float* mu) override {
    constexpr int n = 3 * P;
    if (W_.data == nullptr) {
      W_.resize(kLanes * n * n);
      b_.resize(kLanes * n);
      mu_.resize(kLanes * P);
    }
    for (int i = 0; i < n * n; ++i) W_.data[kLanes * i + lane] = W[i];
    for (int i = 0; i < n; ++i) b_.data[kLanes * i + lane] = b[i];
    for (int k = 0; k < P; ++k) mu_.data[kLanes * k + lane] = mu[k];
  }
  __attribute__((noinline)) float solve(int sweeps) override {
    Lanes r[3 * P];
    ss::SS_ISA::pgs<Lanes, P>({W_.data}, {b_.data}, {mu_.data}, r, sweeps);
    alignas(64) float first[kLanes];
    r[0].store(first);
    return first[0];
  }

 private:
  AlignedFloats W_, b_, mu_;
};

}  // namespace

std::unique_ptr<SweepsPrototype> make_sweeps_prototype(int contacts) {
  if (contacts == 1) return std::make_unique<Sized<1>>();
  return make_sized<Sized, SweepsPrototype>(contacts);
}

}  // namespace stickslip::bench
