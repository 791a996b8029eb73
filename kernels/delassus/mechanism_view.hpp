// M and J of one environment, as the caller stores them: dense in the type of the arithmetic, or as
// an engine stores them. What reads them is here; the algorithms of delassus.hpp do not see it.
#pragma once
#include "kernels/group/arena.hpp"
#include "kernels/group/math.hpp"
#include "kernels/problem/env_problem.hpp"
#include "stickslip/engine_mechanism.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// One environment of an EngineMechanism.
struct EngineView {
  TreeSparsity tree;
  const float *M = nullptr, *J = nullptr;
  const std::int32_t *nnz = nullptr, *adr = nullptr, *col = nullptr, *row_of = nullptr;
  int M_size = 0, J_rows = 0, ld_J = 0, J_size = 0;

  SS_HD bool is_compressed() const { return adr != nullptr; }
  SS_HD int row(int i) const { return row_of == nullptr ? i : row_of[i]; }
};

SS_HD EngineView view_of(const EngineMechanism& m, std::int64_t env) {
  return {m.tree,
          slot(m.M, env),
          slot(m.J, env),
          slot(m.J_nnz, env),
          slot(m.J_adr, env),
          slot(m.J_col, env),
          slot(m.row_of, env),
          m.M_size,
          m.J_rows,
          m.ld_J > 0 ? m.ld_J : m.nv,
          m.J_size};
}

/// M and J of one environment. Only In = double can come from an engine.
template <class Scalar>
struct MechanismView {
  int nv = 0;
  const Scalar* M = nullptr;  ///< [nv][nv]
  const Scalar* J = nullptr;  ///< [rows][nv]
  bool is_engine = false;
  EngineView engine;
};

/// Whether all indices of an engine's M, and of the first n rows of its J, are in range.
template <class G>
SS_HD bool indices_are_valid(const G& g, const EngineView& m, int nv, int n) {
  const auto outside = [](std::int64_t first, std::int64_t count, std::int64_t size) {
    return first < 0 || count < 0 || first + count > size;
  };
  const TreeSparsity& tree = m.tree;
  const bool bad_M = tree.n > 0 && g.any(nv, [&](int i) {
    const std::int64_t first = tree.row_adr[i], count = tree.row_nnz[i];
    if (outside(first, count, m.M_size)) return true;
    for (int c = 0; c < count; ++c) {
      if (tree.col[first + c] < 0 || tree.col[first + c] > i) return true;
    }
    return false;
  });
  if (bad_M) return false;
  return !g.any(n, [&](int i) {
    const int row = m.row(i);
    if (row < 0 || row >= m.J_rows) return true;
    if (!m.is_compressed()) return false;
    const std::int64_t first = m.adr[row], count = m.nnz[row];
    if (outside(first, count, m.J_size)) return true;
    for (int c = 0; c < count; ++c) {
      if (m.col[first + c] < 0 || m.col[first + c] >= nv) return true;
    }
    return false;
  });
}

/// L = M with the degrees of freedom in reverse order.
template <class Scalar, class G>
SS_HD void load_mass(const G& g, const MechanismView<Scalar>& m, Scalar* L) {
  const int nv = m.nv, last = nv - 1;
  if constexpr (sizeof(Scalar) == 8) {
    if (m.is_engine) {
      const EngineView& e = m.engine;
      g.for_each_2d(nv, nv, [&](int i, int j) {
        L[std::int64_t(i) * nv + j] =
            e.tree.n > 0 ? 0.0 : double(e.M[std::int64_t(last - i) * nv + (last - j)]);
      });
      g.for_each(e.tree.n, [&](int i) {
        for (int c = 0; c < e.tree.row_nnz[i]; ++c) {
          const int at = e.tree.row_adr[i] + c, j = e.tree.col[at];
          L[std::int64_t(last - i) * nv + (last - j)] = double(e.M[at]);
          L[std::int64_t(last - j) * nv + (last - i)] = double(e.M[at]);
        }
      });
      return;
    }
  }
  g.for_each_2d(nv, nv, [&](int i, int j) {
    L[std::int64_t(i) * nv + j] = m.M[std::int64_t(last - i) * nv + (last - j)];
  });
}

/// Y = the first n rows of J, transposed and in reverse order: [nv][ld], zero beyond n.
template <class Scalar, class G>
SS_HD void load_rows(const G& g, const MechanismView<Scalar>& m, int n, int ld, Scalar* Y) {
  const int nv = m.nv, last = nv - 1;
  if constexpr (sizeof(Scalar) == 8) {
    if (m.is_engine) {
      const EngineView& e = m.engine;
      g.for_each_2d(nv, ld, [&](int k, int i) { Y[std::int64_t(k) * ld + i] = 0.0; });
      g.for_each(n, [&](int i) {
        const int row = e.row(i), count = e.is_compressed() ? e.nnz[row] : nv;
        const std::int64_t first = e.is_compressed() ? e.adr[row] : std::int64_t(row) * e.ld_J;
        for (int c = 0; c < count; ++c) {
          const int k = e.is_compressed() ? e.col[first + c] : c;
          Y[std::int64_t(last - k) * ld + i] = double(e.J[first + c]);
        }
      });
      return;
    }
  }
  g.for_each_2d(nv, ld, [&](int k, int i) {
    Y[std::int64_t(k) * ld + i] = i < n ? m.J[std::int64_t(i) * nv + (last - k)] : Scalar(0);
  });
}

/// x += J_i^T r, x in reverse order.
template <class Scalar, class G>
SS_HD void add_row(const G& g, const MechanismView<Scalar>& m, int i, Scalar r, Scalar* x) {
  const int nv = m.nv, last = nv - 1;
  if constexpr (sizeof(Scalar) == 8) {
    if (m.is_engine) {
      const EngineView& e = m.engine;
      const int row = e.row(i), count = e.is_compressed() ? e.nnz[row] : nv;
      const std::int64_t first = e.is_compressed() ? e.adr[row] : std::int64_t(row) * e.ld_J;
      g.for_each(count, [&](int c) {
        const int k = last - (e.is_compressed() ? e.col[first + c] : c);
        x[k] = fma(double(e.J[first + c]), r, x[k]);
      });
      return;
    }
  }
  const Scalar* row = m.J + std::int64_t(i) * nv;
  g.for_each(nv, [&](int k) { x[k] = fma(row[last - k], r, x[k]); });
}

}  // namespace stickslip::kernels::inline SS_ISA
