#include <cstddef>

#include "tests/reference/blocks.hpp"
#include "tests/reference/slots.hpp"

namespace stickslip::reference {
namespace {

template <class Scalar>
Vector vector_or_zero(const EnvArray<const Scalar>& array, int env, int size) {
  return array.data == nullptr ? Vector(Vector::Zero(size)) : vector_of(array, env, size);
}

int tangential_rows(const std::vector<int>& dims) {
  int count = 0;
  for (int dim : dims) count += dim - 1;
  return count;
}

}  // namespace

int rows(const Problem& problem) {
  const RowCounts& s = problem.counts;
  return s.n_free + s.n_nonneg + s.n_box + s.n_contacts + tangential_rows(problem.dims);
}

template <class Scalar>
Problem from_batch(const ProblemBatch<Scalar>& batch, int env) {
  Problem problem;
  problem.counts = *slot(batch.counts, env);
  const auto contacts = std::size_t(problem.counts.n_contacts);
  problem.dims.assign(contacts, 3);
  if (const auto* dims = slot(batch.dims, env)) problem.dims.assign(dims, dims + contacts);

  const int n = rows(problem);
  using RowMajor = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::OuterStride<> stride(batch.ld_W == 0 ? batch.max_rows : batch.ld_W);
  problem.W = Eigen::Map<const RowMajor, 0, Eigen::OuterStride<>>(slot(batch.W, env), n, n, stride)
                  .template cast<double>();
  problem.b = vector_or_zero(batch.b, env, n);
  problem.mu = vector_or_zero(batch.mu, env, tangential_rows(problem.dims));
  problem.R = vector_or_zero(batch.R, env, n);
  problem.lo = vector_or_zero(batch.lo, env, problem.counts.n_box);
  problem.hi = vector_or_zero(batch.hi, env, problem.counts.n_box);
  return problem;
}
template Problem from_batch(const ProblemBatch<float>&, int);
template Problem from_batch(const ProblemBatch<double>&, int);

bool is_valid(const Problem& p, Law law, double asymmetry) {
  if (!p.W.allFinite() || !p.b.allFinite() || !p.mu.allFinite() || !p.R.allFinite()) return false;
  if (p.lo.hasNaN() || p.hi.hasNaN() || (p.lo.array() > p.hi.array()).any()) return false;
  if ((p.mu.array() < 0.0).any() || (p.R.array() < 0.0).any()) return false;
  if ((p.W.diagonal().array() < 0.0).any()) return false;
  if (law != Law::convex || p.W.size() == 0) return true;
  const double difference = (p.W - p.W.transpose()).lpNorm<Eigen::Infinity>();
  return difference <= asymmetry * p.W.lpNorm<Eigen::Infinity>();
}

std::vector<Block> blocks(const Problem& problem) {
  std::vector<Block> all;
  int row = 0;
  for (int i = 0; i < problem.counts.n_free; ++i) all.push_back({Kind::free, row++, 1, 0});
  for (int i = 0; i < problem.counts.n_nonneg; ++i) all.push_back({Kind::nonneg, row++, 1, 0});
  for (int i = 0; i < problem.counts.n_box; ++i) all.push_back({Kind::box, row++, 1, i});
  int coefficient = 0;
  for (int dim : problem.dims) {
    all.push_back({Kind::contact, row, dim, coefficient});
    row += dim;
    coefficient += dim - 1;
  }
  return all;
}

template <class Real>
Circular<Real> circular(const Problem& problem, const Block& block, Law law) {
  Circular<Real> c{0, Eigen::VectorX<Real>::Zero(block.size)};
  c.scale[0] = 1;
  if (block.kind != Kind::contact || law == Law::frictionless) return c;
  const Eigen::VectorX<Real> mu =
      problem.mu.segment(block.parameter, block.size - 1).template cast<Real>();
  for (Real coefficient : mu) {
    if (c.mu1 == 0) c.mu1 = coefficient;
  }
  if (c.mu1 != 0) c.scale.tail(mu.size()) = mu / c.mu1;
  return c;
}
template Circular<double> circular(const Problem&, const Block&, Law);
template Circular<long double> circular(const Problem&, const Block&, Law);

}  // namespace stickslip::reference
