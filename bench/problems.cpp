#include "bench/problems.hpp"

#include "src/cpu/kernel_table.hpp"

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

template <class Scalar>
HostProblems<Scalar> make_batch(const Case& c, int count) {
  return support::to_batch<Scalar>(support::make_problems(c.family, c.contacts, count));
}
template HostProblems<float> make_batch(const Case&, int);
template HostProblems<double> make_batch(const Case&, int);

template <class Scalar>
SingleSolve<Scalar>::SingleSolve(const HostProblems<Scalar>& problems, HostResults<Scalar>& results,
                                 const SolveOptions& o)
    : problem_(problems.view()),
      result_(results.view()),
      ladder_(o),
      memory_(kernels::typed<Scalar>(kernels::kernel_table())
                  .solve_bytes(problem_.max_rows, problem_.max_contacts, /*directions=*/0, {})) {}

template <class Scalar>
void SingleSolve<Scalar>::operator()(int env) {
  const auto& kernels = kernels::typed<Scalar>(kernels::kernel_table());
  kernels.solve[int(ladder_.options.precision)](problem_, result_, ladder_, {}, env, env + 1,
                                                memory_.data(), kernels::Rungs::all, nullptr);
}
template class SingleSolve<float>;
template class SingleSolve<double>;

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0.0;
  std::sort(values.begin(), values.end());
  return values[std::size_t(q * double(values.size() - 1))];
}

}  // namespace stickslip::bench
