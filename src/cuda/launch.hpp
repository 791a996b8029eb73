// A kernel launch with its parameters.
#pragma once
#include "src/cuda/check.hpp"
#include "stickslip/cuda.hpp"

namespace stickslip::cuda {

/// cudaLaunchKernel takes the addresses of the parameters, in the order of the kernel's parameters.
template <class... Parameters>
void launch(const void* kernel, int blocks, int threads, std::size_t shared_bytes, Stream stream,
            Parameters... parameters) {
  void* addresses[] = {&parameters...};
  SS_CUDA(cudaLaunchKernel(kernel, dim3(unsigned(blocks)), dim3(unsigned(threads)), addresses,
                           shared_bytes, stream));
}

}  // namespace stickslip::cuda
