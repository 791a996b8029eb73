// The kernels of kernels/gpu/gpu_work_list.cu on the CPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "kernels/gpu/work_list.hpp"
#include "src/cuda/launch.hpp"
#include "tests/launch/fake_kernels.hpp"

namespace stickslip::fake {
namespace {

template <class Scalar>
void write_keys(const LaunchShape& shape, const ProblemBatch<Scalar>& problem,
                const kernels::SizeClasses& classes, const std::int32_t* const& work,
                std::uint32_t* const& keys, std::int32_t* const& envs) {
  if (shape.blocks * shape.threads < problem.num_envs) throw std::runtime_error("too few threads");
  for (int env = 0; env < problem.num_envs; ++env) {
    keys[env] = kernels::list_key(classes, problem, env, work[env]);
    envs[env] = env;
  }
}

void sort_pairs(const LaunchShape&, const kernels::ListArrays& lists, const int& num_envs) {
  std::copy_n(lists.envs, num_envs, lists.sorted_envs);
  std::stable_sort(lists.sorted_envs, lists.sorted_envs + num_envs,
                   [&](int a, int b) { return lists.keys[a] < lists.keys[b]; });
  for (int i = 0; i < num_envs; ++i) lists.sorted_keys[i] = lists.keys[lists.sorted_envs[i]];
}

void write_ends(const LaunchShape&, const std::uint32_t* const& keys, const int& num_envs,
                const kernels::ListEnds& ends) {
  for (int i = 0; i < num_envs; ++i) kernels::mark_ends(keys, num_envs, i, ends);
}

template <class Scalar>
void write_all(const LaunchShape& shape, const ProblemBatch<Scalar>& problem,
               const kernels::SizeClasses& classes, const std::int32_t* const& work,
               std::uint32_t* const& sorted_keys, std::int32_t* const& sorted_envs,
               const kernels::ListEnds& ends) {
  const int envs = problem.num_envs;
  if (shape.blocks != 1 || envs > kernels::kSmallBatch) throw std::runtime_error("too many");
  std::vector<std::uint32_t> keys(std::size_t(envs) + 1);
  std::vector<std::int32_t> order(keys.size());
  write_keys({1, envs, 0}, problem, classes, work, keys.data(), order.data());
  sort_pairs(shape, {keys.data(), sorted_keys, order.data(), sorted_envs}, envs);
  for (auto* counters : {ends.end, ends.next, ends.unsolved_end, ends.unsolved_next})
    std::fill_n(counters, classes.count, 0);
  write_ends(shape, sorted_keys, envs, ends);
}

}  // namespace
}  // namespace stickslip::fake

namespace stickslip::kernels {

template <class Scalar>
ListKernels<Scalar> list_kernels() {
  return {fake::kernel<&fake::write_keys<Scalar>>(), fake::kernel<&fake::write_ends>(),
          fake::kernel<&fake::write_all<Scalar>>()};
}
template ListKernels<double> list_kernels<double>();
template ListKernels<float> list_kernels<float>();

int sort_lists(void* storage, std::size_t& bytes, const ListArrays& lists, int num_envs,
               CUstream_st* stream) {
  const std::size_t needed = std::size_t(num_envs);
  if (storage == nullptr) {
    bytes = needed;
    return cudaSuccess;
  }
  if (bytes < needed || !fake::on_device(storage, needed)) return cudaErrorInvalidValue;
  cuda::launch(fake::kernel<&fake::sort_pairs>(), 1, 1, 0, stream, lists, num_envs);
  return cudaSuccess;
}

}  // namespace stickslip::kernels
