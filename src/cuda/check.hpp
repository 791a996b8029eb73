// A CUDA call that fails throws std::runtime_error with file, line and CUDA's own message.
#pragma once
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace stickslip::cuda {

inline void check_call(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // so that a later call does not report it again
  std::string message = std::string(file) + ":" + std::to_string(line) + ": " + call + ": " +
                        cudaGetErrorString(error);
  if (error == cudaErrorNoKernelImageForDevice) {
    message +=
        " (this stickslip was built for other GPUs: build it here, or with "
        "-DSTICKSLIP_CUDA_ARCHITECTURES=<compute capability, such as 86> in CMAKE_ARGS)";
  }
  throw std::runtime_error(message);
}

}  // namespace stickslip::cuda

#define SS_CUDA(call) ::stickslip::cuda::check_call(call, #call, __FILE__, __LINE__)
