#include "src/cuda/branches.hpp"

namespace stickslip::cuda {

Branches::Branches(int count) : branches_(count > 1 ? std::size_t(count - 1) : 0) {
  SS_CUDA(cudaEventCreateWithFlags(&begin_, cudaEventDisableTiming));
  for (Branch& branch : branches_) {
    SS_CUDA(cudaStreamCreateWithFlags(&branch.stream, cudaStreamNonBlocking));
    SS_CUDA(cudaEventCreateWithFlags(&branch.end, cudaEventDisableTiming));
  }
}

Branches::~Branches() {
  for (const Branch& branch : branches_) {
    cudaEventDestroy(branch.end);
    cudaStreamDestroy(branch.stream);
  }
  cudaEventDestroy(begin_);
}

}  // namespace stickslip::cuda
