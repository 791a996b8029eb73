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
#include "kernels/problem/env_problem.hpp"
#include "src/bindings/jax_arguments.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/cuda.hpp"
#include "stickslip/solve.hpp"

namespace stickslip::bindings {

namespace {

/// mu, lo, hi have all values that the environments which fit their slot will read.
template <class In>
void require_room(const ProblemBatch<In>& p) {
  for (std::int64_t e = 0; e < p.num_envs; ++e) {
    const EnvShape& s = p.shape.data[e * p.shape.stride];
    const std::int32_t* dims = kernels::slot(p.dims, e);
    if (!kernels::shape_is_valid<In>(s, nullptr) || s.n_contacts > p.max_contacts ||
        !kernels::shape_is_valid<In>(s, dims)) {
      continue;
    }
    const std::int32_t rows = kernels::rows_of(s, dims, p.max_contacts);
    if (rows > p.max_rows) continue;
    const int tangential = rows - s.n_free - s.n_nonneg - s.n_box - s.n_contacts;
    require(s.n_box <= p.lo.stride, "lo, hi", "a bound for each box row", p.lo.stride);
    require(tangential <= p.mu.stride, "mu", "a number for each tangential row", p.mu.stride);
  }
}

template <ffi::DataType T>
void solve_on_cpu(const Operands<T>& in, const Attributes& attributes, Results<T>& out) {
  const auto p = view(in);
  require_room(p);
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

/// Device memory of solves, kept by what determines its size. XLA orders the calls of a stream.
cuda::Workspace& device_workspace(int device, cuda::Stream stream, const ProblemBatch<double>& p,
                                  int directions) {
  using Key = std::tuple<int, cuda::Stream, std::int32_t, std::int32_t, std::int32_t, int>;
  static std::mutex mutex;
  static auto& all = *new std::map<Key, cuda::Workspace>;  // never destroyed: CUDA ends before
  const std::lock_guard lock(mutex);
  const Key key{device, stream, p.num_envs, p.max_rows, p.max_contacts, directions};
  const auto found = all.find(key);
  if (found != all.end()) return found->second;
  const cuda::DeviceScope current(device);
  return all.emplace(key, cuda::Workspace(p.num_envs, p.max_rows, p.max_contacts, -1, directions))
      .first->second;
}

/// Checks the arguments, and makes the workspace if there is none yet.
cuda::Workspace& prepare_on_cuda(cuda::Stream stream, std::int32_t device,
                                 const ProblemBatch<double>& p, const Attributes& attributes) {
  if (attributes.get<bool>("ragged")) {  // counts and dims are read on the device: all must fit
    const std::int32_t tangential = std::min(5 * p.max_contacts, 5 * p.max_rows / 6);
    require(p.mu.stride >= tangential, "mu", "a number for each tangential row that there may be",
            p.mu.stride);
    require(p.lo.data == nullptr || p.lo.stride >= p.max_rows, "lo, hi", "as many columns as rows",
            p.lo.stride);
  }
  return device_workspace(device, stream, p, kernels::lcp_directions(attributes.options()));
}

/// The stage in which XLA lets targets allocate; solves themselves may be captured.
XLA_FFI_Error* initialize_on_cuda(XLA_FFI_CallFrame* frame) {
  static const auto handler = make_handler<ffi::F64, cuda::Stream, std::int32_t>(
      ffi::Ffi::BindInitialize().Ctx<ffi::PlatformStream<cuda::Stream>>().Ctx<ffi::DeviceOrdinal>(),
      [](cuda::Stream stream, std::int32_t device, const Operands<ffi::F64>& in,
         const Attributes& attributes,
         Results<ffi::F64>&) { prepare_on_cuda(stream, device, view(in), attributes); });
  return handler->Call(frame);
}

XLA_FFI_Error* on_cuda(XLA_FFI_CallFrame* frame) {
  static const auto handler = make_handler<ffi::F64, cuda::Stream, std::int32_t>(
      ffi::Ffi::Bind().Ctx<ffi::PlatformStream<cuda::Stream>>().Ctx<ffi::DeviceOrdinal>(),
      [](cuda::Stream stream, std::int32_t device, const Operands<ffi::F64>& in,
         const Attributes& attributes, Results<ffi::F64>& out) {
        const ProblemBatch<double> p = view(in);
        cuda::Workspace& workspace = prepare_on_cuda(stream, device, p, attributes);
        const cuda::DeviceScope current(device);
        cuda::solve(p, view(out, p.max_rows), attributes.options(), workspace, stream);
      },
      {ffi::Traits::kCmdBufferCompatible});
  return handler->Call(frame);
}

template <class F>
nanobind::capsule capsule(F* target) {
  return nanobind::capsule(reinterpret_cast<void*>(target), "xla._CUSTOM_CALL_TARGET");
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
          nanobind::dict stages, on_gpu;
          stages["initialize"] = capsule(&initialize_on_cuda);
          stages["execute"] = capsule(&on_cuda);
          on_gpu["stickslip_solve_f64"] = stages;
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
