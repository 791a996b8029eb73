// Modules and kernels of the program, as nvcc's host stubs register them.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ptx/ptx.hpp"
#include "ptx/words.hpp"

namespace gpu_emulator {

/// What the program has in one fat binary.
struct Binary {
  const void* wrapper = nullptr;
  bool loaded = false;
  cudaError_t error = cudaSuccess;
  std::string text;  ///< PTX
  std::shared_ptr<const ptx::Module> module;
  std::vector<const void*> variables;  ///< made known to Memory
};

struct Function {
  Binary* binary = nullptr;
  std::string name;  // mangled
  const ptx::Kernel* kernel = nullptr;
  std::shared_ptr<const ptx::Module> module;
  std::size_t most_dynamic_shared = 48 * 1024;  // until cudaFuncSetAttribute raises it
  int least_blocks = 1;                         // .minnctapersm

  int registers() const;
  std::string readable_name() const { return ptx::readable(name); }
};

/// By the address of its host stub or a cudaKernel_t; parsed at first use. cudaSuccess, or why not.
cudaError_t find_function(const void* symbol, Function*& function);
/// A __device__ or __constant__ variable, by the address of its host shadow.
cudaError_t find_variable(const void* symbol, void*& memory, std::size_t& bytes);

/// How many blocks of this kind a multiprocessor of an sm_90 holds.
int resident_blocks(const Function& f, int threads, std::size_t dynamic_shared);

constexpr std::size_t kMostSharedPerBlock = 227 * 1024;
constexpr std::size_t kSharedPerProcessor = 228 * 1024;
constexpr std::size_t kReservedShared = 1024;  // per block

}  // namespace gpu_emulator
