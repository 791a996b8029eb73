// Enqueues what turns friction per contact into that of rows, and back.
#include "src/api/check.hpp"
#include "src/cuda/launch.hpp"

namespace stickslip::cuda {

namespace {

template <class Scalar>
void enqueue(kernels::FrictionKernel<Scalar> kernel, const ProblemBatch<Scalar>& problem,
             const EnvArray<const Scalar>& from, const EnvArray<Scalar>& to, Stream stream) {
  if (problem.num_envs == 0 || problem.max_contacts == 0) return;
  const int blocks = (problem.num_envs - 1) / kernels::kFrictionThreads + 1;
  launch(kernel, blocks, kernels::kFrictionThreads, 0, stream, problem, from, to);
}

}  // namespace

template <class Scalar>
void spread_friction(const ProblemBatch<Scalar>& problem, EnvArray<const Scalar> contacts,
                     EnvArray<Scalar> rows, Stream stream) {
  check_friction(problem, contacts, rows, "contacts", "rows");
  enqueue(kernels::friction_kernels<Scalar>().spread, problem, contacts, rows, stream);
}

template <class Scalar>
void sum_friction(const ProblemBatch<Scalar>& problem, EnvArray<const Scalar> rows,
                  EnvArray<Scalar> contacts, Stream stream) {
  check_friction(problem, rows, contacts, "rows", "contacts");
  enqueue(kernels::friction_kernels<Scalar>().sum, problem, rows, contacts, stream);
}

#define SS_INSTANTIATE(Scalar)                                                       \
  template void spread_friction(const ProblemBatch<Scalar>&, EnvArray<const Scalar>, \
                                EnvArray<Scalar>, Stream);                           \
  template void sum_friction(const ProblemBatch<Scalar>&, EnvArray<const Scalar>,    \
                             EnvArray<Scalar>, Stream);
SS_INSTANTIATE(double)
SS_INSTANTIATE(float)
#undef SS_INSTANTIATE

}  // namespace stickslip::cuda
