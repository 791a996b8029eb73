// A run of C consecutive numbers that one lane of a group handles together: one number on a GPU, 16
// in vector registers on a CPU. Written with explicit vector registers, because compilers do not
// vectorise short loops inside larger ones.
#pragma once
#include "kernels/group/math.hpp"
#include "kernels/group/registers.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Two consecutive numbers, which a GPU loads together.
template <class Real>
struct alignas(2 * sizeof(Real)) Couple {
  Real first, second;
};
/// The two at p, an even number of entries from the begin of an array.
template <class Real>
SS_INNER Couple<Real> pair_at(const Real* p) {
  return *reinterpret_cast<const Couple<Real>*>(p);
}

#if defined(SS_REGISTERS)
template <class Real, int C>
struct Lanes {
  static constexpr int kBytes = min(C * int(sizeof(Real)), kRegisterBytes);
  static constexpr int kWidth = kBytes / int(sizeof(Real)), kRegisters = C / kWidth;
  using Vector = Register<Real, kBytes>;
  Vector v[kRegisters];

  template <class A>
  SS_INNER static Lanes load(const A* p) {
    Lanes r;
    for (int k = 0; k < kRegisters; ++k) r.v[k] = Vector::load(p + k * kWidth);
    return r;
  }
  SS_INNER static Lanes all(Real x) {
    Lanes r;
    for (int k = 0; k < kRegisters; ++k) r.v[k] = Vector::all(x);
    return r;
  }
  SS_INNER void store(Real* p) const {
    for (int k = 0; k < kRegisters; ++k) v[k].store(p + k * kWidth);
  }
  /// this += a * x
  SS_INNER void add(const Lanes& a, Real x) {
    const Vector factor = Vector::all(x);
    for (int k = 0; k < kRegisters; ++k) v[k].add(a.v[k], factor);
  }
  /// this = max(this, |a|), entry by entry
  SS_INNER void raise(const Lanes& a) {
    for (int k = 0; k < kRegisters; ++k) v[k].raise(a.v[k].v);
  }
  /// |this|, entry by entry
  SS_INNER Lanes magnitude() const {
    Lanes r;
    for (int k = 0; k < kRegisters; ++k) r.v[k] = v[k].magnitude();
    return r;
  }
  /// Largest entry
  SS_INNER Real max() const {
    Vector top = v[0];
    for (int k = 1; k < kRegisters; ++k) top.raise(v[k].v);
    Real part[kWidth];
    top.store(part);
    for (int half = kWidth / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) part[l] = kernels::max(part[l], part[l + half]);
    }
    return part[0];
  }
};
#else
template <class Real, int C>
struct Lanes;
#endif

template <class Real>
struct Lanes<Real, 1> {
  Real v;

  template <class A>
  SS_INNER static Lanes load(const A* p) {
    return {Real(*p)};
  }
  SS_INNER static Lanes all(Real x) { return {x}; }
  SS_INNER void store(Real* p) const { *p = v; }
  SS_INNER void add(const Lanes& a, Real x) { v = fma(a.v, x, v); }
  SS_INNER void raise(const Lanes& a) { v = kernels::max(v, abs(a.v)); }
  SS_INNER Lanes magnitude() const { return {abs(v)}; }
  SS_INNER Real max() const { return v; }
};

}  // namespace stickslip::kernels::inline SS_ISA
