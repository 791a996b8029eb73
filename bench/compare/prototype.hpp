// Another program's solver of the same problems, behind a plain interface.
#pragma once
#include <memory>

namespace stickslip::bench {

class Prototype {
 public:
  virtual ~Prototype() = default;
  /// Takes over a problem of p contacts of dimension 3: W [3p][3p], b [3p], mu [p]. Not timed.
  virtual void load(const double* W, const double* b, const double* mu) = 0;
  /// Solves it; whether the solver believes it succeeded.
  virtual bool solve(double* impulse) = 0;
};

/// Sweeps over `kLanes` problems side by side, in float.
class SweepsPrototype {
 public:
  static constexpr int kLanes = 16;
  virtual ~SweepsPrototype() = default;
  /// Takes over a problem of p contacts of dimension 3 for one lane. Not timed.
  virtual void load(int lane, const float* W, const float* b, const float* mu) = 0;
  /// Solves all lanes; the first impulse, so that nothing is left out.
  virtual float solve(int sweeps) = 0;
};

/// Of the sizes that the prototypes, whose number of contacts is a constant, are built for.
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

/// Null for numbers of contacts that the prototypes are not built for.
std::unique_ptr<Prototype> make_newton_prototype(int contacts);  ///< law `coulomb`
std::unique_ptr<Prototype> make_lemke_prototype(int contacts);   ///< law `pyramid`
std::unique_ptr<SweepsPrototype> make_sweeps_prototype(int contacts);

}  // namespace stickslip::bench
