#include "kernels/gpu/gpu_batch.cuh"

namespace stickslip::kernels {

template <class In>
MechanismKernels mechanism_kernels() {
  const auto address = [](auto* kernel) { return reinterpret_cast<const void*>(kernel); };
  return {{address(&delassus_kernel<In, true>), address(&delassus_kernel<In, false>)},
          {address(&apply_kernel<In, true>), address(&apply_kernel<In, false>)},
          &DelassusScratch<In>::bytes};
}

template MechanismKernels mechanism_kernels<double>();
template MechanismKernels mechanism_kernels<float>();

}  // namespace stickslip::kernels
