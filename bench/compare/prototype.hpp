// Another program's solver of the same problems, with a simple interface.
#pragma once
#include <memory>

namespace stickslip::bench {

class Prototype {
 public:
  virtual ~Prototype() = default;
  /// Loads a problem of p contacts of dimension 3: W [3p][3p], b [3p], mu [p]. Not timed.
  virtual void load(const double* W, const double* b, const double* mu) = 0;
  /// Solves it; returns whether the solver reports success.
  virtual bool solve(double* impulse) = 0;
};

/// Sweeps over `kLanes` problems in SIMD lanes, in float.
class SweepsPrototype {
 public:
  static constexpr int kLanes = 16;
  virtual ~SweepsPrototype() = default;
  /// Loads a problem of p contacts of dimension 3 into one lane. Not timed.
  virtual void load(int lane, const float* W, const float* b, const float* mu) = 0;
  /// Solves all lanes; returns the first impulse, so that no work is optimised away.
  virtual float solve(int sweeps) = 0;
};

/// Makes a prototype; its number of contacts is a compile-time constant from a fixed set.
template <template <int> class Sized, class Interface = Prototype>
std::unique_ptr<Interface> make_sized(int contacts) {
  switch (contacts) {
    case 2:
      return std::make_unique<Sized<2>>();
    case 4:
      return std::make_unique<Sized<4>>();
    case 8:
      return std::make_unique<Sized<8>>();
    case 16:
      return std::make_unique<Sized<16>>();
    case 32:
      return std::make_unique<Sized<32>>();
    default:
      return nullptr;
  }
}

/// Null if the prototypes are not compiled for this number of contacts.
std::unique_ptr<Prototype> make_newton_prototype(int contacts);  ///< law `coulomb`
std::unique_ptr<Prototype> make_lemke_prototype(int contacts);   ///< law `pyramid`
std::unique_ptr<SweepsPrototype> make_sweeps_prototype(int contacts);

}  // namespace stickslip::bench
