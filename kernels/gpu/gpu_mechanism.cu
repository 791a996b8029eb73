#include "kernels/gpu/gpu_batch.cuh"

namespace stickslip::kernels {

template <class Scalar>
MechanismKernels<Scalar> mechanism_kernels() {
  return {{&delassus_kernel<Scalar, true>, &delassus_kernel<Scalar, false>},
          {&apply_kernel<Scalar, true>, &apply_kernel<Scalar, false>},
          &DelassusScratch<Scalar>::bytes};
}

template MechanismKernels<double> mechanism_kernels<double>();
template MechanismKernels<float> mechanism_kernels<float>();

}  // namespace stickslip::kernels
