#include "kernels/gpu/gpu_batch.cuh"

namespace stickslip::kernels {

template <class Scalar>
MechanismKernels mechanism_kernels() {
  const auto address = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
  return {{address(&delassus_kernel<Scalar, true>), address(&delassus_kernel<Scalar, false>)},
          {address(&apply_kernel<Scalar, true>), address(&apply_kernel<Scalar, false>)},
          &DelassusScratch<Scalar>::bytes};
}

template MechanismKernels mechanism_kernels<double>();
template MechanismKernels mechanism_kernels<float>();

}  // namespace stickslip::kernels
