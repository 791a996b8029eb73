// Random linear complementarity problems made of small dyadic numbers (like
// tests/support/dyadic.hpp), and their results in plain vectors. Needs only the public headers.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "stickslip/info.hpp"
#include "stickslip/lcp.hpp"
#include "tests/support/random.hpp"
#include "tests/support/results.hpp"

namespace stickslip::support {

/// The kinds of rows in a batch.
enum class LcpKind { standard, mixed, boxed };

/// The cases of one parametrised suite: every kind by every method in every precision.
struct LcpCase {
  LcpKind kind;
  LcpMethod method;
  Precision precision;
  LcpOptions options() const {
    LcpOptions o;
    o.method = method;
    o.precision = precision;
    return o;
  }
};

inline std::vector<LcpCase> lcp_cases() {
  std::vector<LcpCase> all;
  for (LcpKind kind : {LcpKind::standard, LcpKind::mixed, LcpKind::boxed}) {
    for (LcpMethod method : {LcpMethod::automatic, LcpMethod::lemke, LcpMethod::newton}) {
      for (Precision precision : {Precision::float64, Precision::float32}) {
        all.push_back({kind, method, precision});
      }
    }
  }
  return all;
}

inline std::string name(const LcpCase& c) {
  const char* kinds[] = {"standard", "mixed", "boxed"};
  return std::string(kinds[int(c.kind)]) + "_" + stickslip::name(c.method) + "_" +
         stickslip::name(c.precision);
}

/// Problems that have a solution: M = J J^T with q in the range of J; a third of them also has a
/// positive definite, nonsymmetric part on the rows that are not free. In another third, free rows
/// are repeated.
template <class Scalar>
class LcpProblems {
 public:
  LcpProblems(int num_envs, int max_rows, LcpKind kind, std::uint64_t seed = 1)
      : num_envs_(num_envs), max_rows_(max_rows), kind_(kind) {
    const std::size_t slots = std::size_t(num_envs) * std::size_t(max_rows);
    rows_.resize(std::size_t(num_envs));
    free_.resize(std::size_t(num_envs));
    M_.resize(slots * std::size_t(max_rows));
    q_.resize(slots);
    lo_.assign(slots, Scalar(0));
    hi_.assign(slots, std::numeric_limits<Scalar>::infinity());
    findex_.assign(slots, -1);
    for (int env = 0; env < num_envs; ++env) {
      Random random(seed * 1000003 + std::uint64_t(env));
      fill(env, random);
    }
  }

  LcpBatch<Scalar> view() const {
    LcpBatch<Scalar> p;
    p.num_envs = num_envs_;
    p.max_rows = max_rows_;
    p.rows = {rows_.data(), 1};
    p.n_free = {free_.data(), 1};
    p.M = {M_.data(), std::int64_t(max_rows_) * max_rows_};
    p.q = {q_.data(), max_rows_};
    if (kind_ == LcpKind::boxed) {
      p.lo = {lo_.data(), max_rows_};
      p.hi = {hi_.data(), max_rows_};
      p.findex = {findex_.data(), max_rows_};
    }
    return p;
  }

  int num_envs() const { return num_envs_; }
  int max_rows() const { return max_rows_; }
  std::int32_t& rows(int env) { return rows_[std::size_t(env)]; }
  std::int32_t& n_free(int env) { return free_[std::size_t(env)]; }
  Scalar& M(int env, int i, int j) { return M_[(slot(env) + std::size_t(i)) * max_rows_ + j]; }
  Scalar& q(int env, int i) { return q_[slot(env) + std::size_t(i)]; }
  Scalar& lo(int env, int i) { return lo_[slot(env) + std::size_t(i)]; }
  Scalar& hi(int env, int i) { return hi_[slot(env) + std::size_t(i)]; }
  std::int32_t& findex(int env, int i) { return findex_[slot(env) + std::size_t(i)]; }

 private:
  std::size_t slot(int env) const { return std::size_t(env) * std::size_t(max_rows_); }
  /// A multiple of 1/16 in [low, high).
  static double dyadic(Random& random, int low, int high) {
    return low + random.integer(16 * (high - low)) / 16.0;
  }

  void fill(int env, Random& random) {
    const int n = 1 + random.integer(max_rows_), nv = 1 + random.integer(n + 3);
    rows(env) = n;
    n_free(env) = kind_ == LcpKind::standard ? 0 : random.integer(n / 2 + 1);
    std::vector<double> J(std::size_t(n) * nv), v(static_cast<std::size_t>(nv));
    for (double& x : J) x = dyadic(random, -2, 2);
    for (double& x : v) x = dyadic(random, -1, 1);
    if (random.chance(0.33)) {  // a second joint that repeats the first
      for (int k = 0; n_free(env) > 1 && k < nv; ++k) J[std::size_t(nv + k)] = J[std::size_t(k)];
    }
    for (int i = 0; i < n; ++i) {
      double right = 0.0;
      for (int k = 0; k < nv; ++k) right += J[std::size_t(i * nv + k)] * v[std::size_t(k)];
      q(env, i) = Scalar(right);
      for (int j = 0; j < n; ++j) {
        double entry = 0.0;
        for (int k = 0; k < nv; ++k)
          entry += J[std::size_t(i * nv + k)] * J[std::size_t(j * nv + k)];
        M(env, i, j) = Scalar(entry);
      }
    }
    if (random.chance(0.3)) add_definite_part(env, random);
    if (kind_ == LcpKind::boxed) add_bounds(env, random);
  }

  /// Not on free rows, so that redundant ones stay consistent.
  void add_definite_part(int env, Random& random) {
    for (int i = n_free(env); i < rows(env); ++i) {
      M(env, i, i) += Scalar(1);
      for (int j = n_free(env); j < i; ++j) {
        const double entry = dyadic(random, -1, 1);
        M(env, i, j) += Scalar(entry);
        M(env, j, i) -= Scalar(entry);
      }
    }
  }

  void add_bounds(int env, Random& random) {
    for (int i = n_free(env); i < rows(env); ++i) {
      const int sort = random.integer(5);
      if (sort == 1) {
        lo(env, i) = Scalar(-dyadic(random, 0, 1));
        hi(env, i) = Scalar(dyadic(random, 0, 1));
      } else if (sort == 2) {
        lo(env, i) = -std::numeric_limits<Scalar>::infinity();
        hi(env, i) = Scalar(dyadic(random, -1, 1));
      } else if (sort == 3) {
        lo(env, i) = Scalar(-dyadic(random, 0, 1));
      } else if (sort == 4 && i > n_free(env)) {  // friction of the last row that is a plain normal
        int normal = i - 1;
        while (normal > n_free(env) && !is_normal(env, normal)) --normal;
        if (!is_normal(env, normal)) continue;
        findex(env, i) = normal;
        hi(env, i) = Scalar(dyadic(random, 0, 1));
        lo(env, i) = -hi(env, i);
      }
    }
  }

  bool is_normal(int env, int i) {
    return lo(env, i) == Scalar(0) && hi(env, i) == std::numeric_limits<Scalar>::infinity();
  }

  int num_envs_, max_rows_;
  LcpKind kind_;
  std::vector<std::int32_t> rows_, free_, findex_;
  std::vector<Scalar> M_, q_, lo_, hi_;
};

template <class Scalar>
struct LcpAnswers {
  int max_rows;
  std::vector<Scalar> z, w;
  std::vector<double> residual;
  std::vector<EnvStatus> status;
  std::vector<std::int32_t> iterations;
  std::vector<LcpMethod> method;

  LcpAnswers(int num_envs, int rows)
      : max_rows(rows),
        z(std::size_t(num_envs) * std::size_t(rows)),
        w(z.size()),
        residual(std::size_t(num_envs)),
        status(std::size_t(num_envs)),
        iterations(std::size_t(num_envs)),
        method(std::size_t(num_envs)) {}

  LcpResult<Scalar> view() {
    return {{z.data(), max_rows}, {w.data(), max_rows}, residual.data(),
            status.data(),        iterations.data(),    method.data()};
  }
  /// The complete result of environment `env`.
  std::uint64_t hash(int env) const {
    const auto e = std::size_t(env);
    std::uint64_t h = 1469598103934665603ULL;
    hash_bytes(h, &z[e * max_rows], std::size_t(max_rows) * sizeof(Scalar));
    hash_bytes(h, &w[e * max_rows], std::size_t(max_rows) * sizeof(Scalar));
    hash_bytes(h, &residual[e], sizeof residual[e]);
    const std::int32_t words[] = {std::int32_t(status[e]), iterations[e], std::int32_t(method[e])};
    hash_bytes(h, words, sizeof words);
    return h;
  }
  std::vector<std::uint64_t> hashes() const {
    std::vector<std::uint64_t> all;
    for (std::size_t env = 0; env < residual.size(); ++env) all.push_back(hash(int(env)));
    return all;
  }
};

/// Solves on one thread.
template <class Scalar>
LcpAnswers<Scalar> solve_problems(const LcpBatch<Scalar>& p, const LcpOptions& options) {
  LcpAnswers<Scalar> answers(p.num_envs, p.max_rows);
  LcpWorkspace workspace({.max_rows = p.max_rows, .boxed = p.lo.data != nullptr, .threads = 1});
  solve_lcp(p, answers.view(), options, workspace);
  return answers;
}

}  // namespace stickslip::support
