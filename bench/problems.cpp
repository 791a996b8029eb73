#include "bench/problems.hpp"

namespace stickslip::bench {

std::vector<Case> all_cases(const std::vector<int>& contacts) {
  std::vector<Case> cases;
  for (const support::Family family : support::kFamilies) {
    for (const int p : contacts) {
      if (support::exists(family, p)) cases.push_back({family, p});
    }
  }
  return cases;
}

std::string name(const Case& c) {
  return std::string(support::name(c.family)) + "/p:" + std::to_string(c.contacts);
}

template <class In>
HostProblems<In> make_batch(const Case& c, int count) {
  return support::to_batch<In>(support::make_problems(c.family, c.contacts, count));
}
template HostProblems<float> make_batch(const Case&, int);
template HostProblems<double> make_batch(const Case&, int);

namespace {

template <class T>
EnvArray<T> from(const EnvArray<T>& array, int env) {
  return array.data == nullptr ? array : EnvArray<T>{array.data + env * array.stride, array.stride};
}

template <class T>
T* from(T* array, int env) {
  return array == nullptr ? array : array + env;
}

}  // namespace

template <class In>
ProblemBatch<In> single(const ProblemBatch<In>& batch, int env) {
  ProblemBatch<In> one = batch;
  one.num_envs = 1;
  one.shape = from(batch.shape, env);
  one.dims = from(batch.dims, env);
  one.W = from(batch.W, env);
  one.b = from(batch.b, env);
  one.mu = from(batch.mu, env);
  one.R = from(batch.R, env);
  one.lo = from(batch.lo, env);
  one.hi = from(batch.hi, env);
  one.warm_start = from(batch.warm_start, env);
  return one;
}
template ProblemBatch<float> single(const ProblemBatch<float>&, int);
template ProblemBatch<double> single(const ProblemBatch<double>&, int);

template <class In>
ResultBatch<In> single(const ResultBatch<In>& batch, int env) {
  return {from(batch.impulse, env),    from(batch.residual, env), from(batch.status, env),
          from(batch.iterations, env), from(batch.solver, env),   from(batch.rows_needed, env)};
}
template ResultBatch<float> single(const ResultBatch<float>&, int);
template ResultBatch<double> single(const ResultBatch<double>&, int);

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  return values[std::size_t(q * double(values.size() - 1))];
}

}  // namespace stickslip::bench
