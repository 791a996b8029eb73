// The problem of a single contact block, u = W_kk x + c: computes, with the others fixed, the
// impulse x of its law from its impulse z. In registers, and without branches that differ between
// lanes of a pack: code that no lane needs is skipped; where only some lanes need a value, it is
// selected.
#pragma once
#include "kernels/cone/project.hpp"
#include "kernels/scaling/scaled.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Inverse of the diagonal block k, regularised (rank-deficient blocks are normal), by Gauss-Jordan
/// elimination in `v` (D x D, row-major). The sums stay in memory.
template <int D, class S>
SS_INNER void invert_block(const S& s, int k, typename S::Number* v) {
  using Real = typename S::Number;
  constexpr double kRegular = Limits<Real>::epsilon > 1e-10 ? 4e-6 : 1e-9;
  const int a = s.block[k];
  for (int i = 0; i < D; ++i) {
    for (int j = 0; j < D; ++j) v[i * D + j] = s.at(a + i, a + j);
    v[i * D + i] = fma(Real(kRegular), v[i * D + i], v[i * D + i]) + Real(1e-13) * s.rho_inv[a];
  }
  for (int p = 0; p < D; ++p) {  // in-place inversion; positive definite, so no pivoting
    const Real inverse = Real(1) / v[p * D + p];
    v[p * D + p] = Real(1);
    for (int j = 0; j < D; ++j) v[p * D + j] *= inverse;
    for (int i = 0; i < D; ++i) {
      if (i == p) continue;
      const Real f = v[i * D + p];
      v[i * D + p] = Real(0);
      for (int j = 0; j < D; ++j) v[i * D + j] = fma(-f, v[p * D + j], v[i * D + j]);
    }
  }
}

/// Whether a block's part of W_hat and its negated inverse lie side by side, so that each lane of a
/// GPU's group reads all of them in few loads. The memory of an inverse holds both for D = 3 only.
template <int D>
inline constexpr bool kSideBySide = D == 3 && kOnGpu;

/// The inverse of block k for `LocalBlock`, in 6 D numbers.
template <int D, class S>
SS_INNER void prepare_block(const S& s, int k, typename S::Number* memory) {
  if constexpr (kSideBySide<D>) {
    const int a = s.block[k];
    auto* const inverse = memory + D * D;
    invert_block<D>(s, k, inverse);
    for (int i = 0; i < D; ++i) {
      for (int j = 0; j < D; ++j) {
        memory[i * D + j] = s.at(a + i, a + j);
        inverse[i * D + j] = -inverse[i * D + j];
      }
    }
  } else {
    invert_block<D>(s, k, memory);
  }
}

/// Those of all blocks, block k at 6 times its first row.
template <class G, class S>
SS_INNER void prepare_blocks(const G& g, const S& s, typename S::Number* memory) {
  g.for_each(s.n_contacts, [&](int k) {
    with_dim(s.dim(k), [&](auto dim) { prepare_block<dim()>(s, k, memory + 6 * s.block[k]); });
  });
}

/// What a visit reads of a block's matrices.
template <class Real, int D, bool kTogether = kSideBySide<D>>
struct BlockMatrices {
  Real numbers[2 * D * D];
  SS_INNER explicit BlockMatrices(const Real* memory) {
    unroll<0, D * D>([&](auto i) SS_INLINE {
      const auto pair = pair_at(memory + 2 * i);
      numbers[2 * i] = pair.first;
      numbers[2 * i + 1] = pair.second;
    });
  }
};
template <class Real, int D>
struct BlockMatrices<Real, D, false> {
  const Real* inverse;
};

template <class S, int D>
struct LocalBlock {
  using Number = typename S::Number;
  using Real = Number;
  static constexpr int kDim = D;
  const S& s;
  int a;  ///< first row
  Real mu;
  BlockMatrices<Real, D> matrices;
  const Real *z, *c;  ///< [D] impulse, and velocity without that impulse
  Real u[D], x[D];

  SS_INNER LocalBlock(const S& scaled, int k, int row, const Real* inverses, const Real* all_z,
                      const Real* all_c)
      : s(scaled),
        a(row),
        mu(scaled.mu[k]),
        matrices{inverses + 6 * a},
        z(all_z + a),
        c(all_c + a) {
    unroll<0, D>([&](auto i) SS_INLINE {
      Real u_i = c[i];
      unroll<0, D>([&](auto j) SS_INLINE { u_i = fma(w(i, j), z[j], u_i); });
      u[i] = u_i;
    });
  }

  SS_INNER Real w(int i, int j) const {
    if constexpr (kSideBySide<D>) {
      return matrices.numbers[i * D + j];
    } else {
      return s.at(a + i, a + j);
    }
  }
  /// Of -W_kk^-1.
  SS_INNER Real gain(int i, int j) const {
    if constexpr (kSideBySide<D>) {
      return matrices.numbers[D * D + i * D + j];
    } else {
      return -matrices.inverse[i * D + j];
    }
  }

  /// x = z - W_kk^-1 u, which gives zero velocity; returns whether this x is in the cone.
  SS_INNER Mask<Real> stick() {
    Real square = Real(0);
    unroll<0, D>([&](auto i) SS_INLINE {
      Real x_i = z[i];
      unroll<0, D>([&](auto j) SS_INLINE { x_i = fma(gain(i, j), u[j], x_i); });
      if (i > 0) square = fma(x_i, x_i, square);
      x[i] = x_i;
    });
    const Real radius = mu * x[0];
    return (x[0] >= Real(0)) & (square <= radius * radius);
  }

  /// Sliding along y = z_t - rho_t u_t, at its fixed point opposite to u_t, with u_n = 0:
  /// x = t (|y|, mu y), t = -c_n / (W_nn |y| + mu W_nt y). One root and one division.
  SS_INNER void slide(Mask<Real> wanted) {
    const Real rho = s.rho[a + 1];
    Real y[D], square = Real(1e-30), across = Real(0);  // |y| >= 1e-15
    unroll<1, D>([&](auto j) SS_INLINE {
      const Real y_j = fma(-rho, u[j], z[j]);
      square = fma(y_j, y_j, square);
      y[j] = mu * y_j;
      across = fma(w(0, j), y[j], across);
    });
    const Real length = sqrt(square);
    // On Painlevé's side (along <= 0) no sliding solution exists: keep the denominator positive.
    const Real along = max(fma(w(0, 0), length, across), Real(0.05) * s.rho_inv[a] * length);
    const Real t = -c[0] / along;
    x[0] = select(wanted, t * length, x[0]);
    unroll<1, D>([&](auto j) SS_INLINE { x[j] = select(wanted, t * y[j], x[j]); });
  }

  /// Four projected-gradient steps on the convex cone.
  SS_INNER void project_gradient(Mask<Real> wanted) {
    const Real rho = s.rho[a];
    Real at[D], velocity[D], move[D];
    unroll<0, D>([&](auto i) SS_INLINE {
      at[i] = z[i];
      velocity[i] = u[i];
    });
    SS_ROLLED
    for (int step = 0; step < 4; ++step) {
      Real square = Real(0);
      unroll<0, D>([&](auto i) SS_INLINE {
        move[i] = fma(-rho, velocity[i], at[i]);
        if (i > 0) square = fma(move[i], move[i], square);
      });
      const auto projected = project_cone(mu, move[0], sqrt(square));
      unroll<0, D>([&](auto i) SS_INLINE {
        const Real next = i == 0 ? projected.normal : Real(projected.factor * move[i]);
        move[i] = next - at[i];
        at[i] = next;
      });
      unroll<0, D>([&](auto i) SS_INLINE {
        unroll<0, D>([&](auto j) SS_INLINE { velocity[i] = fma(w(i, j), move[j], velocity[i]); });
      });
    }
    unroll<0, D>([&](auto i) SS_INLINE { x[i] = select(wanted, at[i], x[i]); });
  }

  /// Axis by axis: the normal first, then each tangent, limited to mu r_n.
  SS_INNER void clamp_axes() {
    unroll<0, D>([&](auto i) SS_INLINE {
      Real velocity = u[i];
      unroll<0, i>([&](auto j) SS_INLINE { velocity = fma(w(i, j), x[j] - z[j], velocity); });
      const Real y = z[i] - velocity / max(w(i, i), Real(1e-12));
      x[i] = i == 0 ? max(Real(0), y) : project_square(y, mu * x[0]);
    });
  }

  SS_INNER void release() {
    unroll<0, D>([&](auto i) SS_INLINE { x[i] = Real(0); });
  }

  /// x = 0 except where `wanted`.
  SS_INNER void release_unless(Mask<Real> wanted) {
    unroll<0, D>([&](auto i) SS_INLINE { x[i] = select(wanted, x[i], Real(0)); });
  }

  /// The normal alone.
  SS_INNER void push_normal() {
    x[0] = max(Real(0), -s.rho[a] * c[0]);
    unroll<1, D>([&](auto i) SS_INLINE { x[i] = Real(0); });
  }

  /// Solves for x; a law that does not support sweeps has no block solve: x = z.
  SS_INNER void solve(Law law) {
    with_law(law, [&](auto its) {
      if constexpr (decltype(its)::supports(Solver::pgs)) {
        its.solve_block(*this);
      } else {
        unroll<0, D>([&](auto i) SS_INLINE { x[i] = z[i]; });
      }
    });
  }
};

}  // namespace stickslip::kernels::inline SS_ISA
