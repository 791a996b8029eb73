// Solving batches in device memory. Present in every build; without CUDA `available()` is false
// and the other calls throw std::runtime_error.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "stickslip/batch.hpp"
#include "stickslip/delassus.hpp"

struct CUstream_st;  // cudaStream_t is CUstream_st*: no CUDA header needed here

namespace stickslip::cuda {

using Stream = CUstream_st*;

bool available();           ///< built with CUDA, and a device answers
std::string device_name();  ///< of the current device; empty where not available

/// Device memory, freed with the object. Throws std::runtime_error when out of memory.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  void upload(const void* host, std::size_t bytes, Stream stream);
  void download(void* host, std::size_t bytes, Stream stream) const;

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Device memory of solves: allocated once, so that `solve` neither allocates nor synchronises.
class Workspace {
 public:
  Workspace(std::int32_t num_envs, std::int32_t max_rows, std::int32_t max_contacts);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;
  struct Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// As stickslip::solve, for views of device memory; enqueued on `stream`, capturable in a graph,
/// and with the same bits.
template <class In>
void solve(const ProblemBatch<In>& problem, const ResultBatch<In>& result,
           const SolveOptions& options, Workspace& workspace, Stream stream);

/// As stickslip::solve for views of host memory: copies, solves on the GPU, copies back, waits.
template <class In>
void solve_host(const ProblemBatch<In>& problem, const ResultBatch<In>& result,
                const SolveOptions& options);

/// As stickslip::delassus and stickslip::apply_impulse, for views of device memory.
template <class In>
void delassus(const MechanismBatch<In>& mechanism, EnvArray<In> W, std::int32_t ld_W,
              std::int32_t* ok, Workspace& workspace, Stream stream);
template <class In>
void apply_impulse(const MechanismBatch<In>& mechanism, EnvArray<const In> impulse,
                   EnvArray<const In> v_free, EnvArray<In> v_next, std::int32_t* ok,
                   Workspace& workspace, Stream stream);

}  // namespace stickslip::cuda
