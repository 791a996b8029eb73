// The kernels of kernels/launch/gpu_*.cu on the CPU: the same bodies on a HostGroup, in scratch of
// the size that the launch has given them.
#include "tests/launch/fake_kernels.hpp"

#include <cstring>
#include <stdexcept>
#include <tuple>

#include "kernels/delassus/delassus.hpp"
#include "kernels/group/host_group.hpp"
#include "kernels/launch/gpu_kernels.hpp"
#include "kernels/launch/solve_env.hpp"
#include "kernels/launch/work_list.hpp"
#include "tests/launch/fake_runtime.hpp"
#include "tests/support/aligned.hpp"

namespace stickslip::fake {

std::vector<int>& solved_by_launch() {
  static std::vector<int> counts;
  return counts;
}

namespace {

using kernels::Arena;
using kernels::HostGroup;

/// A kernel from a function of its parameters and the launch's shape: copies the parameters, as a
/// launch does.
template <class... P, void (*function)(const LaunchShape&, const P&...)>
const void* make_kernel(
    std::integral_constant<void (*)(const LaunchShape&, const P&...), function>) {
  static const Kernel kernel{[](void** parameters, const LaunchShape& shape) {
    std::tuple<P...> copies = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return std::tuple<P...>(*static_cast<P*>(parameters[i])...);
    }
    (std::index_sequence_for<P...>{});
    return std::function<void()>(
        [=] { std::apply([&](const P&... values) { function(shape, values...); }, copies); });
  }};
  return &kernel;
}

template <auto function>
const void* kernel() {
  return make_kernel(std::integral_constant<decltype(function), function>{});
}

void require_device(bool on_device) {
  if (!on_device) throw std::runtime_error("a kernel was given host memory");
}

template <class T>
void require_device(const EnvArray<T>& array, std::int64_t num_envs, std::int64_t size) {
  if (array.data == nullptr) return;
  const std::int64_t last = num_envs > 0 ? (num_envs - 1) * array.stride : 0;
  require_device(on_device(array.data, std::size_t(last + size) * sizeof(T)));
}

/// Scratch of a group, full of NaN, with a guard behind it.
class GroupMemory {
 public:
  GroupMemory(const kernels::GroupScratch& scratch, std::size_t shared_bytes)
      : own_(scratch.bytes + 64), bytes_(scratch.bytes) {
    if (shared_bytes == 0) {
      require_device(on_device(scratch.memory, scratch.bytes));
    } else if (scratch.bytes > shared_bytes) {
      throw std::runtime_error("less shared memory than a group needs");
    }
    std::memset(own_.data(), 0xff, bytes_ + 64);
  }
  Arena arena() { return Arena(own_.data()); }
  void check() {
    const auto* guard = static_cast<const unsigned char*>(own_.data()) + bytes_;
    for (int i = 0; i < 64; ++i) {
      if (guard[i] != 0xff) throw std::runtime_error("a kernel wrote past its scratch");
    }
  }

 private:
  support::AlignedBytes own_;
  std::size_t bytes_;
};

template <class Real, class Factor, class In, kernels::Program kProgram>
void solve_list(const LaunchShape& shape, const ProblemBatch<In>& batch,
                const ResultBatch<In>& result, const SolveOptions& options,
                const MechanismStep<In>& step, const kernels::GroupScratch& scratch,
                const kernels::WorkList& work) {
  require_device(batch.shape, batch.num_envs, 1);
  require_device(batch.b, batch.num_envs, batch.max_rows);
  require_device(batch.W, batch.num_envs, std::int64_t(batch.max_rows) * batch.max_rows);
  require_device(step.mechanism.M, batch.num_envs,
                 std::int64_t(step.mechanism.nv) * step.mechanism.nv);
  require_device(result.impulse, batch.num_envs, batch.max_rows);
  require_device(on_device(result.status, std::size_t(batch.num_envs) * sizeof(EnvStatus)));
  GroupMemory memory(scratch, shape.shared_bytes);
  const kernels::EnvScratch<Real, Factor, In, kProgram> place(memory.arena(), scratch.max_rows,
                                                              scratch.max_contacts, 0, scratch.nv);
  solved_by_launch().push_back(*work.count);
  for (int ticket = *work.next; ticket < *work.count; ticket = ++*work.next) {
    kernels::solve_env<Real, Factor>(HostGroup{}, batch, result, options, work.envs[ticket], place,
                                     kernels::part_of(kProgram), step);
  }
  memory.check();
}

/// From the last environment to the first: no result may depend on the order.
void list_environments(const LaunchShape& shape, const EnvArray<const EnvShape>& shapes,
                       const EnvArray<const std::int32_t>& dims, const int& num_envs,
                       const int& max_rows, const int& max_contacts,
                       const kernels::SizeClasses& classes, const EnvStatus* const& status,
                       std::int32_t* const& envs, std::int32_t* const& count) {
  if (shape.blocks * shape.threads < num_envs) throw std::runtime_error("too few threads");
  for (int env = num_envs - 1; env >= 0; --env) {
    if (status != nullptr && !kernels::wants_later_rungs(status[env])) continue;
    const int c = kernels::size_class(classes, shapes, dims, env, max_rows, max_contacts);
    envs[std::int64_t(c) * num_envs + count[c]++] = env;
  }
}

template <class In>
void form(const LaunchShape& shape, const MechanismBatch<In>& batch, const EnvArray<In>& W,
          const int& ld_W, std::int32_t* const& ok, const kernels::GroupScratch& scratch) {
  GroupMemory memory(scratch, shape.shared_bytes);
  const kernels::DelassusScratch<In> place(memory.arena(), batch.nv, scratch.max_rows);
  for (int env = 0; env < batch.num_envs; ++env) {
    kernels::form_delassus(HostGroup{}, batch, W, ld_W, ok, env, place);
  }
  memory.check();
}

template <class In>
void apply(const LaunchShape& shape, const MechanismBatch<In>& batch,
           const EnvArray<const In>& impulse, const EnvArray<const In>& v_free,
           const EnvArray<In>& v_next, std::int32_t* const& ok,
           const kernels::GroupScratch& scratch) {
  GroupMemory memory(scratch, shape.shared_bytes);
  const kernels::DelassusScratch<In> place(memory.arena(), batch.nv, scratch.max_rows);
  for (int env = 0; env < batch.num_envs; ++env) {
    kernels::apply_env_impulse(HostGroup{}, batch, impulse, v_free, v_next, ok, env, place);
  }
  memory.check();
}

}  // namespace
}  // namespace stickslip::fake

namespace stickslip::kernels {

template <class Real, class Factor, class In, Program kProgram>
SolveKernels solve_kernels() {
  const void* solve = fake::kernel<&fake::solve_list<Real, Factor, In, kProgram>>();
  return {kProgram == Program::later ? nullptr : solve,
          solve,
          solve,
          solve,
          &EnvScratch<Real, Factor, In, kProgram>::bytes,
          narrow_rows_of(kProgram)};
}
template SolveKernels solve_kernels<double, double, double, Program::sweeping>();
template SolveKernels solve_kernels<float, float, double, Program::sweeping>();
template SolveKernels solve_kernels<float, float, float, Program::sweeping>();
template SolveKernels solve_kernels<double, double, double, Program::first>();
template SolveKernels solve_kernels<double, float, double, Program::first>();
template SolveKernels solve_kernels<float, float, double, Program::first>();
template SolveKernels solve_kernels<float, float, float, Program::first>();
template SolveKernels solve_kernels<double, double, double, Program::later>();
template SolveKernels solve_kernels<float, float, double, Program::later>();
template SolveKernels solve_kernels<float, float, float, Program::later>();
template SolveKernels solve_kernels<double, double, double, Program::pivoting>();
template SolveKernels solve_kernels<double, float, double, Program::pivoting>();
template SolveKernels solve_kernels<float, float, double, Program::pivoting>();
template SolveKernels solve_kernels<float, float, float, Program::pivoting>();

template <class In>
MechanismKernels mechanism_kernels() {
  const void* form = fake::kernel<&fake::form<In>>();
  const void* apply = fake::kernel<&fake::apply<In>>();
  return {{form, form}, {apply, apply}, &DelassusScratch<In>::bytes};
}
template MechanismKernels mechanism_kernels<double>();
template MechanismKernels mechanism_kernels<float>();

const void* list_kernel() { return fake::kernel<&fake::list_environments>(); }

}  // namespace stickslip::kernels
