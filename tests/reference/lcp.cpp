#include "tests/reference/lcp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/reference/slots.hpp"

namespace stickslip::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

template <class Scalar>
Lcp from_batch(const LcpBatch<Scalar>& batch, double cfm, int env) {
  Lcp problem;
  const auto* rows = slot(batch.rows, env);
  const auto* free = slot(batch.n_free, env);
  const int n = rows == nullptr ? batch.max_rows : *rows;
  const int ld = batch.ld_M > 0 ? batch.ld_M : batch.max_rows;
  problem.M.resize(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j)
      problem.M(i, j) = double(slot(batch.M, env)[std::int64_t(i) * ld + j]);
  }
  problem.q = vector_of(batch.q, env, n);
  problem.n_free = free == nullptr ? 0 : *free;
  problem.lo = vector_of(batch.lo, env, n);
  problem.hi = vector_of(batch.hi, env, n);
  if (const auto* findex = slot(batch.findex, env)) problem.findex.assign(findex, findex + n);
  problem.cfm = cfm;
  return problem;
}

std::pair<Vector, Vector> bounds(const Lcp& problem, const Vector& z) {
  const Eigen::Index n = z.size();
  Vector lo = problem.lo.size() == n ? problem.lo : Vector::Zero(n);
  Vector hi = problem.hi.size() == n ? problem.hi : Vector::Constant(n, kInfinity);
  for (Eigen::Index i = 0; i < n; ++i) {
    if (i < problem.n_free) {
      lo[i] = -kInfinity;
      hi[i] = kInfinity;
    } else if (!problem.findex.empty() && problem.findex[std::size_t(i)] >= 0) {
      const double scale = std::max(0.0, z[problem.findex[std::size_t(i)]]);
      lo[i] *= scale;
      hi[i] *= scale;
    }
  }
  return {lo, hi};
}

double residual(const Lcp& problem, const Vector& z) {
  Vector w = problem.M * z + problem.q;
  w += problem.cfm * problem.M.diagonal().cwiseProduct(z);
  if (!w.allFinite() || !z.allFinite()) return kInfinity;
  const auto [lo, hi] = bounds(problem, z);
  double worst = 0.0;
  for (Eigen::Index i = 0; i < z.size(); ++i) {
    // min(z - lo, max(z - hi, w)) is the same map, written without the clamp.
    const double value = std::min(z[i] - lo[i], std::max(z[i] - hi[i], w[i]));
    worst = std::max(worst, std::abs(value));
  }
  return worst;
}

template Lcp from_batch(const LcpBatch<double>&, double, int);
template Lcp from_batch(const LcpBatch<float>&, double, int);

}  // namespace stickslip::reference
