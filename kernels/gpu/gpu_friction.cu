// Friction with one coefficient per contact becomes that of rows, and back: an environment per
// thread.
#include "kernels/gpu/gpu_kernels.hpp"
#include "kernels/problem/contact_friction.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Scalar>
__global__ void __launch_bounds__(kFrictionThreads)
    spread_kernel(const __grid_constant__ ProblemBatch<Scalar> problem,
                  const EnvArray<const Scalar> contacts, const EnvArray<Scalar> rows) {
  const unsigned env = thread_index();
  if (env < unsigned(problem.num_envs)) spread_friction(problem, contacts, rows, int(env));
}

template <class Scalar>
__global__ void __launch_bounds__(kFrictionThreads)
    sum_kernel(const __grid_constant__ ProblemBatch<Scalar> problem,
               const EnvArray<const Scalar> rows, const EnvArray<Scalar> contacts) {
  const unsigned env = thread_index();
  if (env < unsigned(problem.num_envs)) sum_friction(problem, rows, contacts, int(env));
}

}  // namespace stickslip::kernels::inline SS_ISA

namespace stickslip::kernels {

template <class Scalar>
FrictionKernels<Scalar> friction_kernels() {
  return {&spread_kernel<Scalar>, &sum_kernel<Scalar>};
}
template FrictionKernels<double> friction_kernels<double>();
template FrictionKernels<float> friction_kernels<float>();

}  // namespace stickslip::kernels
