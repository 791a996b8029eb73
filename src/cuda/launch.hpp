// A kernel launch with its parameters.
#pragma once
#include <type_traits>

#include "src/cuda/check.hpp"
#include "src/cuda/plan.hpp"
#include "stickslip/cuda.hpp"

namespace stickslip::cuda {

/// The runtime knows kernels by their address.
template <class... Parameters>
const void* address_of(void (*kernel)(Parameters...)) {
  return reinterpret_cast<const void*>(kernel);
}

/// Converts the arguments to the kernel's parameters, as a call does. cudaLaunchKernel takes their
/// addresses and would read whatever is there.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), int blocks, int threads, std::size_t shared_bytes,
            Stream stream, std::type_identity_t<Parameters>... parameters) {
  void* addresses[] = {&parameters...};
  SS_CUDA(cudaLaunchKernel(address_of(kernel), dim3(unsigned(blocks)), dim3(unsigned(threads)),
                           addresses, shared_bytes, stream));
}

template <class... Parameters>
void launch(const LaunchPlan<void (*)(Parameters...)>& plan, Stream stream,
            std::type_identity_t<Parameters>... parameters) {
  launch(plan.kernel, plan.blocks, plan.threads(), plan.shared_bytes, stream, parameters...);
}

}  // namespace stickslip::cuda
