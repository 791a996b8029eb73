// Targets of XLA's foreign function interface, for stickslip.jax: XLA calls them with its arrays,
// from its threads, without Python. None where the headers of XLA were not found
// (src/bindings/CMakeLists.txt).
#include <nanobind/nanobind.h>

#include "src/bindings/bindings.hpp"

#if __has_include("xla/ffi/api/ffi.h")
#include <vector>

#include "src/bindings/jax_arguments.hpp"
#include "src/bindings/jax_device.hpp"
#include "src/bindings/jax_targets.hpp"
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

/// The stage in which XLA lets targets allocate; solves themselves may be captured.
template <ffi::DataType T>
XLA_FFI_Error* initialize_on_cuda(XLA_FFI_CallFrame* frame) {
  static const auto handler = make_handler<T, cuda::Stream, std::int32_t>(
      ffi::Ffi::BindInitialize().Ctx<ffi::PlatformStream<cuda::Stream>>().Ctx<ffi::DeviceOrdinal>(),
      [](cuda::Stream stream, std::int32_t device, const Operands<T>& in,
         const Attributes& attributes, Results<T>&) {
        const auto p = view(in);
        check_on_cuda(p, attributes);
        device_memory(device, stream, p, attributes.options());
      });
  return handler->Call(frame);
}

template <ffi::DataType T>
void solve_on_cuda(cuda::Stream stream, std::int32_t device, const Operands<T>& in,
                   const Attributes& attributes, Results<T>& out) {
  const auto p = view(in);
  check_on_cuda(p, attributes);
  solve_on_device(device, stream, p, view(out, p.max_rows), out.residual->typed_data(),
                  attributes.options());
}

template <ffi::DataType T>
XLA_FFI_Error* on_cuda(XLA_FFI_CallFrame* frame) {
  static const auto handler = make_handler<T, cuda::Stream, std::int32_t>(
      ffi::Ffi::Bind().Ctx<ffi::PlatformStream<cuda::Stream>>().Ctx<ffi::DeviceOrdinal>(),
      &solve_on_cuda<T>, {ffi::Traits::kCmdBufferCompatible});
  return handler->Call(frame);
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
