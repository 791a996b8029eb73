// Results of a batch in plain vectors, and a hash of all their bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stickslip/batch.hpp"

namespace stickslip::support {

/// FNV-1a.
inline void hash_bytes(std::uint64_t& hash, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 1099511628211ULL;
}

template <class Scalar>
struct PlainResults {
  int max_rows;
  std::vector<Scalar> impulse;
  std::vector<double> residual, certificate;
  std::vector<EnvStatus> status;
  std::vector<std::int32_t> iterations, rows_needed, rung;
  std::vector<Solver> solver;

  PlainResults(int num_envs, int max_rows_)
      : max_rows(max_rows_),
        impulse(std::size_t(num_envs) * max_rows),
        residual(std::size_t(num_envs)),
        certificate(impulse.size()),
        status(std::size_t(num_envs)),
        iterations(std::size_t(num_envs)),
        rows_needed(std::size_t(num_envs)),
        rung(std::size_t(num_envs)),
        solver(std::size_t(num_envs)) {}

  ResultBatch<Scalar> view() {
    return {{impulse.data(), max_rows},
            residual.data(),
            status.data(),
            iterations.data(),
            solver.data(),
            rows_needed.data(),
            rung.data(),
            {certificate.data(), max_rows}};
  }
  /// The complete result of environment `env`, whose problem has `rows` rows.
  std::uint64_t hash(int env, int rows) const {
    const auto e = std::size_t(env);
    std::uint64_t h = 1469598103934665603ULL;
    hash_bytes(h, &impulse[e * max_rows], std::size_t(rows) * sizeof(Scalar));
    hash_bytes(h, &residual[e], sizeof residual[e]);
    const std::int32_t words[] = {std::int32_t(status[e]), iterations[e], std::int32_t(solver[e]),
                                  rows_needed[e], rung[e]};
    hash_bytes(h, words, sizeof words);
    hash_bytes(h, &certificate[e * max_rows], std::size_t(rows) * sizeof(double));
    return h;
  }
};

}  // namespace stickslip::support
