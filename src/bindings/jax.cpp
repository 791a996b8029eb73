// Targets of XLA's foreign function interface, for stickslip.jax: XLA calls them with its arrays,
// from its threads, without Python. None where the headers of XLA were not found
// (src/bindings/CMakeLists.txt).
#include <nanobind/nanobind.h>

#include "src/bindings/bindings.hpp"

#if __has_include("xla/ffi/api/ffi.h")
#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "kernels/law/dispatch.hpp"
#include "src/bindings/jax_arguments.hpp"
#include "src/bindings/room.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/cuda.hpp"
#include "stickslip/solve.hpp"

namespace stickslip::bindings {

namespace {

template <ffi::DataType T>
void solve_on_cpu(const Operands<T>& in, const Attributes& attributes, Results<T>& out) {
  const auto p = view(in);
  require_room(p, p.mu.stride, p.lo.stride);
  auto r = view(out, p.max_rows);
  std::vector<Solver> solver(std::size_t(p.num_envs));
  r.solver = solver.data();
  std::vector<double> residual;
  if constexpr (T == ffi::F32) {
    residual.resize(std::size_t(p.num_envs));
    r.residual = residual.data();
  }
  const auto workspace = take_workspace(p.max_rows, p.max_contacts,
                                        attributes.get<std::int32_t>("threads"), Caller::xla);
  solve(p, r, attributes.options(), *workspace);
  for (std::size_t e = 0; e < residual.size(); ++e)
    out.residual->typed_data()[e] = ffi::NativeType<T>(residual[e]);
}

template <ffi::DataType T>
XLA_FFI_Error* on_cpu(XLA_FFI_CallFrame* frame) {
  static const auto handler = make_handler<T>(ffi::Ffi::Bind(), &solve_on_cpu<T>);
  return handler->Call(frame);
}

/// Device memory of the calls on one stream: a solve's workspace, and, for results in float, the
/// residuals in double.
struct DeviceMemory {
  cuda::Workspace workspace;
  cuda::Buffer residual;
};

/// The memory, kept by what determines its size. XLA orders the calls of a stream.
template <class In>
DeviceMemory& device_memory(int device, cuda::Stream stream, const ProblemBatch<In>& p,
                            const SolveOptions& options) {
  using Key =
      std::tuple<int, cuda::Stream, std::int32_t, std::int32_t, std::int32_t, int, bool, bool>;
  static std::mutex mutex;
  static auto& all = *new std::map<Key, DeviceMemory>;  // never destroyed: CUDA ends before
  constexpr bool kFloat = sizeof(In) == 4;
  const int directions = kernels::lcp_directions(options);
  const bool widened = kFloat && options.precision != Precision::fp32;
  const Key key{device,         stream,     p.num_envs, p.max_rows,
                p.max_contacts, directions, kFloat,     widened};
  const std::lock_guard lock(mutex);
  const auto found = all.find(key);
  if (found != all.end()) return found->second;
  const cuda::DeviceScope current(device);
  DeviceMemory made{
      cuda::Workspace(p.num_envs, p.max_rows, p.max_contacts, -1, directions, widened),
      cuda::Buffer(kFloat ? sizeof(double) * std::size_t(p.num_envs) : 0)};
  return all.emplace(key, std::move(made)).first->second;
}

/// Checks the arguments, and makes the memory if there is none yet.
template <class In>
DeviceMemory& prepare_on_cuda(cuda::Stream stream, std::int32_t device, const ProblemBatch<In>& p,
                              const Attributes& attributes) {
  if (attributes.get<bool>("ragged")) {  // counts and dims are read on the device: all must fit
    const std::int32_t tangential = std::min(5 * p.max_contacts, 5 * p.max_rows / 6);
    require(p.mu.stride >= tangential, "mu", "a number for each tangential row that there may be",
            p.mu.stride);
    require(p.lo.data == nullptr || p.lo.stride >= p.max_rows, "lo, hi", "as many columns as rows",
            p.lo.stride);
  }
  return device_memory(device, stream, p, attributes.options());
}

/// The stage in which XLA lets targets allocate; solves themselves may be captured.
template <ffi::DataType T>
XLA_FFI_Error* initialize_on_cuda(XLA_FFI_CallFrame* frame) {
  static const auto handler = make_handler<T, cuda::Stream, std::int32_t>(
      ffi::Ffi::BindInitialize().Ctx<ffi::PlatformStream<cuda::Stream>>().Ctx<ffi::DeviceOrdinal>(),
      [](cuda::Stream stream, std::int32_t device, const Operands<T>& in,
         const Attributes& attributes,
         Results<T>&) { prepare_on_cuda(stream, device, view(in), attributes); });
  return handler->Call(frame);
}

template <ffi::DataType T>
void solve_on_cuda(cuda::Stream stream, std::int32_t device, const Operands<T>& in,
                   const Attributes& attributes, Results<T>& out) {
  const auto p = view(in);
  DeviceMemory& memory = prepare_on_cuda(stream, device, p, attributes);
  const cuda::DeviceScope current(device);
  auto r = view(out, p.max_rows);
  if constexpr (T == ffi::F32) r.residual = static_cast<double*>(memory.residual.data());
  cuda::solve(p, r, attributes.options(), memory.workspace, stream);
  if constexpr (T == ffi::F32)
    cuda::round_to_float(r.residual, out.residual->typed_data(), p.num_envs, stream);
}

template <ffi::DataType T>
XLA_FFI_Error* on_cuda(XLA_FFI_CallFrame* frame) {
  static const auto handler = make_handler<T, cuda::Stream, std::int32_t>(
      ffi::Ffi::Bind().Ctx<ffi::PlatformStream<cuda::Stream>>().Ctx<ffi::DeviceOrdinal>(),
      &solve_on_cuda<T>, {ffi::Traits::kCmdBufferCompatible});
  return handler->Call(frame);
}

template <class F>
nanobind::capsule capsule(F* target) {
  return nanobind::capsule(reinterpret_cast<void*>(target), "xla._CUSTOM_CALL_TARGET");
}

template <class F>
nanobind::dict stages(F* initialize, F* execute) {
  nanobind::dict both;
  both["initialize"] = capsule(initialize);
  both["execute"] = capsule(execute);
  return both;
}

}  // namespace

void bind_jax(nanobind::module_& m) {
  m.def(
      "jax_targets",
      [] {
        nanobind::dict cpu, targets;
        cpu["stickslip_solve_f32"] = capsule(&on_cpu<ffi::F32>);
        cpu["stickslip_solve_f64"] = capsule(&on_cpu<ffi::F64>);
        targets["cpu"] = cpu;
        if (cuda::available()) {
          nanobind::dict on_gpu;
          on_gpu["stickslip_solve_f32"] = stages(&initialize_on_cuda<ffi::F32>, &on_cuda<ffi::F32>);
          on_gpu["stickslip_solve_f64"] = stages(&initialize_on_cuda<ffi::F64>, &on_cuda<ffi::F64>);
          targets["CUDA"] = on_gpu;
        }
        return targets;
      },
      "Targets of XLA's foreign function interface, by platform and name.");
}

}  // namespace stickslip::bindings

#else

void stickslip::bindings::bind_jax(nanobind::module_& m) {
  m.def(
      "jax_targets", [] { return nanobind::dict(); },
      "None: the headers of XLA were not found when this was built.");
}

#endif
