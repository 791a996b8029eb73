// Computes W = J M^-1 J^T and applies impulses for dense mechanisms, on one thread.
#include <benchmark/benchmark.h>

#include "bench/problems.hpp"

namespace stickslip::bench {
namespace {

constexpr int kMechanisms = 64;

/// Towers of boxes: nv = 6 per box and 12 rows per box, M diagonal, J with the zeros of a tower.
struct Mechanisms {
  int nv, rows;
  std::vector<double> M, J, W, impulse, v_free, v_next;
  std::vector<std::int32_t> ok;

  explicit Mechanisms(int contacts) : nv(6 * contacts / 4), rows(3 * contacts), ok(kMechanisms) {
    M.resize(std::size_t(kMechanisms) * nv * nv);
    J.resize(std::size_t(kMechanisms) * rows * nv);
    W.resize(std::size_t(kMechanisms) * rows * rows);
    impulse.assign(std::size_t(kMechanisms) * rows, 1.0);
    v_free.resize(std::size_t(kMechanisms) * nv);
    v_next.resize(v_free.size());
    for (int e = 0; e < kMechanisms; ++e) {
      const auto scene = support::make_scene(support::Family::stack, contacts, e);
      double* mass = &M[std::size_t(e) * nv * nv];
      double* jacobian = &J[std::size_t(e) * rows * nv];
      for (int i = 0; i < nv; ++i) mass[i * nv + i] = 1.0 / scene.inverse_mass[i];
      for (int i = 0; i < rows; ++i) {
        for (int j = 0; j < nv; ++j) jacobian[i * nv + j] = scene.J(i, j);
      }
    }
  }

  MechanismBatch<double> view() const {
    return {kMechanisms,
            nv,
            rows,
            {},
            {M.data(), std::int64_t(nv) * nv},
            {J.data(), std::int64_t(rows) * nv}};
  }
};

void form(benchmark::State& state) {
  Mechanisms m(int(state.range(0)));
  Workspace workspace(m.rows, 0, 1);
  const EnvArray<double> W{m.W.data(), std::int64_t(m.rows) * m.rows};
  for (auto _ : state) delassus(m.view(), W, m.rows, m.ok.data(), workspace);
  state.SetItemsProcessed(state.iterations() * kMechanisms);
}

void apply(benchmark::State& state) {
  Mechanisms m(int(state.range(0)));
  Workspace workspace(m.rows, 0, 1);
  for (auto _ : state) {
    apply_impulse<double>(m.view(), {m.impulse.data(), m.rows}, {m.v_free.data(), m.nv},
                          {m.v_next.data(), m.nv}, m.ok.data(), workspace);
  }
  state.SetItemsProcessed(state.iterations() * kMechanisms);
}

BENCHMARK(form)->Name("delassus/tower")->ArgName("p")->RangeMultiplier(2)->Range(4, 32);
BENCHMARK(apply)->Name("apply_impulse/tower")->ArgName("p")->RangeMultiplier(2)->Range(4, 32);

}  // namespace
}  // namespace stickslip::bench
