// N numbers in vector registers: the scalar type of a body that solves N environments at once on a
// CPU. Every operation is the IEEE one, lane by lane, so a lane has the same bits as the body with
// plain numbers.
#pragma once
#include "kernels/group/host_group.hpp"
#include "kernels/group/lanes.hpp"
#include "kernels/group/registers.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// The result of a comparison of packs: one truth value per lane.
template <class T, int N>
struct PackMask {
  using R = PackRegister<T>;
  static constexpr int kWidth = kRegisterBytes / int(sizeof(T)), K = N / kWidth;
  typename R::M m[K];

  PackMask() = default;
  SS_INNER PackMask(bool value) {
    for (int k = 0; k < K; ++k) m[k] = lanes_of<T>(value ? ~0U : 0U);
  }
  template <class U>
  SS_INNER explicit PackMask(const PackMask<U, N>& from) {
    const unsigned bits = from.bits();
    for (int k = 0; k < K; ++k) m[k] = lanes_of<T>(bits >> (k * kWidth));
  }
  SS_INNER friend PackMask operator&(PackMask a, PackMask b) {
    for (int k = 0; k < K; ++k) a.m[k] = typename R::M(a.m[k] & b.m[k]);
    return a;
  }
  SS_INNER friend PackMask operator|(PackMask a, PackMask b) {
    for (int k = 0; k < K; ++k) a.m[k] = typename R::M(a.m[k] | b.m[k]);
    return a;
  }
  SS_INNER friend PackMask operator!(PackMask a) {
    for (int k = 0; k < K; ++k) a.m[k] = typename R::M(~a.m[k]);
    return a;
  }
  /// Bit l: the value of lane l.
  SS_INNER unsigned bits() const {
    unsigned all = 0;
    for (int k = 0; k < K; ++k) all |= lane_bits(m[k]) << (k * kWidth);
    return all;
  }
  SS_INNER friend bool any(PackMask a) {
    typename R::M one = a.m[0];
    for (int k = 1; k < K; ++k) one = typename R::M(one | a.m[k]);
    return lane_bits(one) != 0;
  }
  SS_INNER friend bool all(PackMask a) { return !any(!a); }
};

template <class T, int N>
struct Pack {
  using R = PackRegister<T>;
  using M = PackMask<T, N>;
  static constexpr int kWidth = M::kWidth, K = M::K;
  static_assert(K * kWidth == N);
  typename R::V v[K];

  Pack() = default;
  SS_INNER Pack(T x) {
    for (int k = 0; k < K; ++k) v[k] = x - typename R::V{};
  }
  /// Rounds or widens every lane.
  template <class U>
  SS_INNER explicit Pack(const Pack<U, N>& from) {
    if constexpr (sizeof(U) < sizeof(T)) {
      for (int k = 0; k < from.K; ++k) {
        v[2 * k] = widen<0>(from.v[k]);
        v[2 * k + 1] = widen<1>(from.v[k]);
      }
    } else {
      for (int k = 0; k < K; ++k) v[k] = narrow(from.v[2 * k], from.v[2 * k + 1]);
    }
  }
  SS_INNER T lane(int l) const { return reinterpret_cast<const T*>(this)[l]; }

  SS_INNER friend Pack operator+(Pack a, Pack b) {
    for (int k = 0; k < K; ++k) a.v[k] = a.v[k] + b.v[k];
    return a;
  }
  SS_INNER friend Pack operator-(Pack a, Pack b) {
    for (int k = 0; k < K; ++k) a.v[k] = a.v[k] - b.v[k];
    return a;
  }
  SS_INNER friend Pack operator*(Pack a, Pack b) {
    for (int k = 0; k < K; ++k) a.v[k] = a.v[k] * b.v[k];
    return a;
  }
  SS_INNER friend Pack operator/(Pack a, Pack b) {
    for (int k = 0; k < K; ++k) a.v[k] = a.v[k] / b.v[k];
    return a;
  }
  SS_INNER friend Pack operator-(Pack a) {
    for (int k = 0; k < K; ++k) a.v[k] = -a.v[k];
    return a;
  }
  SS_INNER Pack& operator+=(Pack b) { return *this = *this + b; }
  SS_INNER Pack& operator*=(Pack b) { return *this = *this * b; }
  SS_INNER friend Pack fma(Pack a, Pack b, Pack c) {
    for (int k = 0; k < K; ++k) a.v[k] = R::fma(a.v[k], b.v[k], c.v[k]);
    return a;
  }
  SS_INNER friend Pack sqrt(Pack a) {
    for (int k = 0; k < K; ++k) a.v[k] = R::sqrt(a.v[k]);
    return a;
  }
  // In this order the processor's min and max equal those of math.hpp, for NaN and zeros too.
  SS_INNER friend Pack min(Pack a, Pack b) {
    for (int k = 0; k < K; ++k) a.v[k] = R::min(b.v[k], a.v[k]);
    return a;
  }
  SS_INNER friend Pack max(Pack a, Pack b) {
    for (int k = 0; k < K; ++k) a.v[k] = R::max(b.v[k], a.v[k]);
    return a;
  }
  SS_INNER friend Pack abs(Pack a) {
    using Bits = typename R::Bits;
    const Bits sign = Bits(-typename R::V{});
    for (int k = 0; k < K; ++k) a.v[k] = typename R::V(Bits(a.v[k]) & ~sign);
    return a;
  }
  SS_INNER friend M operator<(Pack a, Pack b) {
    M r;
    for (int k = 0; k < K; ++k) r.m[k] = R::less(a.v[k], b.v[k]);
    return r;
  }
  SS_INNER friend M operator<=(Pack a, Pack b) {
    M r;
    for (int k = 0; k < K; ++k) r.m[k] = R::less_equal(a.v[k], b.v[k]);
    return r;
  }
  SS_INNER friend M operator==(Pack a, Pack b) {
    M r;
    for (int k = 0; k < K; ++k) r.m[k] = R::equal(a.v[k], b.v[k]);
    return r;
  }
  SS_INNER friend M operator>(Pack a, Pack b) { return b < a; }
  SS_INNER friend M operator>=(Pack a, Pack b) { return b <= a; }
  SS_INNER friend M operator!=(Pack a, Pack b) { return !(a == b); }
  SS_INNER friend Pack select(M m, Pack a, Pack b) {
    for (int k = 0; k < K; ++k) a.v[k] = R::select(m.m[k], a.v[k], b.v[k]);
    return a;
  }
  SS_INNER friend Pack power_of_two_below(Pack a) {
    static_assert(sizeof(T) == 8);
    for (int k = 0; k < K; ++k) {
      a.v[k] = (typename R::V)((typename R::Bits)a.v[k] & 0x7ff0000000000000LL);
    }
    return a;
  }
};

template <class T, int N>
struct WideOf<Pack<T, N>> {
  using type = Pack<double, N>;
};
template <class T, int N>
struct Limits<Pack<T, N>> : Limits<T> {};

/// C packs that are summed at the same time.
template <class T, int N, int C>
requires(C > 1) struct Lanes<Pack<T, N>, C> {
  using Real = Pack<T, N>;
  Real v[C];

  template <class A>
  SS_INNER static Lanes load(const A* p) {
    Lanes r;
    unroll<0, C>([&](auto i) SS_INLINE { r.v[i] = Real(p[i]); });
    return r;
  }
  SS_INNER void store(Real* p) const {
    unroll<0, C>([&](auto i) SS_INLINE { p[i] = v[i]; });
  }
  SS_INNER void add(const Lanes& a, Real x) {
    unroll<0, C>([&](auto i) SS_INLINE { v[i] = fma(a.v[i], x, v[i]); });
  }
  SS_INNER Lanes magnitude() const {
    Lanes r;
    unroll<0, C>([&](auto i) SS_INLINE { r.v[i] = abs(v[i]); });
    return r;
  }
};

/// The group of a body whose numbers are packs: one thread runs it for all lanes of the packs.
struct PackGroup : HostGroup {
  static constexpr int kChunk = 4;

  template <class F>
  SS_INNER auto max(int n, F&& f) const {
    using T = decltype(f(0));
    T best(0.0);
    for (int i = 0; i < n; ++i) {
      const T value = f(i);
      best = select(value > best, value, best);
    }
    return best;
  }
  /// Calls f for each lane.
  template <class F>
  SS_INNER auto any(int n, F&& f) const {
    decltype(f(0)) found(false);
    for (int i = 0; i < n; ++i) found = found | f(i);
    return found;
  }
};

/// Writes `count` consecutive numbers of each of N sources into lanes: to[i] = (from[0][i], ...).
template <class T, int N>
void gather_lanes(const T* const* from, int count, Pack<T, N>* to) {
  using R = PackRegister<T>;
  constexpr int W = Pack<T, N>::kWidth;
  for (int k = 0; k < Pack<T, N>::K; ++k) {
    for (int i0 = 0; i0 < count; i0 += W) {
      const int here = min(W, count - i0);
      typename R::V rows[W], next[W];
      for (int l = 0; l < W; ++l) {
        const T* row = from[k * W + l] + i0;
        rows[l] = R::load(row, here);
        __builtin_prefetch(row + 4 * W);
      }
      // A perfect shuffle of pairs, log2(W) times, is a transposition.
      typename R::Bits low, high;
      for (int l = 0; l < W; ++l) {
        low[l] = l / 2 + (l % 2) * W;
        high[l] = low[l] + W / 2;
      }
      for (int step = W; step > 1; step /= 2) {
        for (int l = 0; l < W / 2; ++l) {
          next[2 * l] = __builtin_shuffle(rows[l], rows[l + W / 2], low);
          next[2 * l + 1] = __builtin_shuffle(rows[l], rows[l + W / 2], high);
        }
        for (int l = 0; l < W; ++l) rows[l] = next[l];
      }
      unroll<0, W>([&](auto i) SS_INLINE {  // no loop: g++ would copy through memory
        if (i < here) to[i0 + i].v[k] = rows[i];
      });
    }
  }
}

}  // namespace stickslip::kernels::inline SS_ISA
