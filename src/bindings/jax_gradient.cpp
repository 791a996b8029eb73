// Targets of XLA's foreign function interface for derivatives of a solve (jax.cpp).
#include <nanobind/nanobind.h>

#include "src/bindings/bindings.hpp"

#if __has_include("xla/ffi/api/ffi.h")
#include <algorithm>
#include <vector>

#include "src/bindings/jax_arguments.hpp"
#include "src/bindings/jax_device.hpp"
#include "src/bindings/jax_targets.hpp"
#include "src/bindings/room.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/gradient.hpp"

namespace stickslip::bindings {

namespace {

/// The solution, and the derivatives of a loss by its impulses.
template <ffi::DataType T>
struct SolutionOperands {
  ffi::Buffer<T> impulse;
  ffi::Buffer<ffi::S32> status;
  ffi::Buffer<T> g_impulse, g_velocity;
};

/// Those without elements are absent.
template <ffi::DataType T>
struct GradientResults {
  ffi::ResultBuffer<T> b, mu, R, lo, hi;
  ffi::ResultBuffer<ffi::S32> status;
  ffi::ResultBuffer<T> kink_distance, inconsistency;
  ffi::ResultBuffer<ffi::S32> redundant;
};

/// The slots of a result.
template <ffi::DataType T>
EnvArray<ffi::NativeType<T>> room(const char* name, ffi::ResultBuffer<T>& array,
                                  std::int64_t num_envs, std::int64_t columns) {
  const std::int64_t size = width(array->dimensions());
  if (size == 0) return {};
  require(size == columns, name, "as many columns as its argument has", size);
  require(environments(array->dimensions(), 1) == num_envs, name, "as many environments as W has",
          environments(array->dimensions(), 1));
  return {array->typed_data(), size};
}

template <class A>
void require_one_each(const char* name, const A& array, std::int64_t num_envs) {
  require(environments(array.dimensions(), 0) == num_envs, name, "a number for each environment",
          environments(array.dimensions(), 0));
}

/// The arguments of a call, checked; of the report without kink_distance and inconsistency.
template <ffi::DataType T>
struct Task {
  using Scalar = ffi::NativeType<T>;
  ProblemBatch<Scalar> problem;
  SolutionBatch<Scalar> solution;
  LossBatch<Scalar> loss;
  GradientBatch<Scalar> gradient;

  Task(const Operands<T>& in, const SolutionOperands<T>& of, GradientResults<T>& out)
      : problem(view(in)) {
    const ProblemBatch<Scalar>& p = problem;
    const std::int64_t num_envs = p.num_envs, n = p.max_rows;
    solution.impulse = slots("impulse", of.impulse, num_envs, n);
    require_one_each("status", of.status, num_envs);
    solution.status = reinterpret_cast<const EnvStatus*>(of.status.typed_data());
    loss = {slots("g_impulse", of.g_impulse, num_envs, n),
            slots("g_velocity", of.g_velocity, num_envs, n)};
    gradient.b = room("gradient of b", out.b, num_envs, n);
    gradient.mu = room("gradient of mu", out.mu, num_envs, p.mu.stride);
    gradient.R = room("gradient of R", out.R, num_envs, n);
    gradient.lo = room("gradient of lo", out.lo, num_envs, p.lo.stride);
    gradient.hi = room("gradient of hi", out.hi, num_envs, p.hi.stride);
    require_one_each("status", *out.status, num_envs);
    require_one_each("kink_distance", *out.kink_distance, num_envs);
    require_one_each("inconsistency", *out.inconsistency, num_envs);
    require_one_each("redundant", *out.redundant, num_envs);
    gradient.report.status = reinterpret_cast<GradientStatus*>(out.status->typed_data());
    gradient.report.redundant = out.redundant->typed_data();
  }
};

template <ffi::DataType T>
void vjp_on_cpu(const Operands<T>& in, const SolutionOperands<T>& of, const Attributes& attributes,
                GradientResults<T>& out) {
  using Scalar = ffi::NativeType<T>;
  Task<T> task(in, of, out);
  const ProblemBatch<Scalar>& p = task.problem;
  require_room(p, p.mu.stride, p.lo.stride);
  GradientBatch<Scalar>& g = task.gradient;
  clear(g, p.num_envs);
  std::vector<double> kink_distance(std::size_t(p.num_envs)), inconsistency(kink_distance);
  g.report.kink_distance = kink_distance.data();
  g.report.inconsistency = inconsistency.data();
  const auto workspace = take_workspace(p.max_rows, p.max_contacts,
                                        attributes.get<std::int32_t>("threads"), Caller::xla);
  solve_vjp(p, task.solution, task.loss, g, attributes.options(), *workspace);
  const auto rounded = [](double value) { return Scalar(value); };
  std::transform(kink_distance.begin(), kink_distance.end(), out.kink_distance->typed_data(),
                 rounded);
  std::transform(inconsistency.begin(), inconsistency.end(), out.inconsistency->typed_data(),
                 rounded);
}

template <ffi::DataType T>
void initialize_on_cuda(cuda::Stream stream, std::int32_t device, const Operands<T>& in,
                        const SolutionOperands<T>&, const Attributes& attributes,
                        GradientResults<T>&) {
  const auto p = view(in);
  check_on_cuda(p, attributes);
  device_memory(device, stream, p, attributes.options(), true);
}

template <ffi::DataType T>
void vjp_on_cuda(cuda::Stream stream, std::int32_t device, const Operands<T>& in,
                 const SolutionOperands<T>& of, const Attributes& attributes,
                 GradientResults<T>& out) {
  const Task<T> task(in, of, out);
  check_on_cuda(task.problem, attributes);
  vjp_on_device(device, stream, task.problem, task.solution, task.loss, task.gradient,
                out.kink_distance->typed_data(), out.inconsistency->typed_data(),
                attributes.options());
}

/// What XLA calls, as make_handler of solves: `body(context..., operands, solution, attributes,
/// results)`.
template <ffi::DataType T, class... Context, class Binding, class Body>
auto make_vjp_handler(Binding&& binding, Body body,
                      std::initializer_list<ffi::Traits> traits = {}) {
  using Real = ffi::Buffer<T>;
  using Int = ffi::Buffer<ffi::S32>;
  return std::forward<Binding>(binding)
      .template Arg<Real>()
      .template Arg<Real>()
      .template Arg<Real>()
      .template Arg<Real>()
      .template Arg<Real>()
      .template Arg<Real>()
      .template Arg<Int>()
      .template Arg<Int>()
      .template Arg<Real>()
      .template Arg<Int>()
      .template Arg<Real>()
      .template Arg<Real>()
      .Attrs()
      .template Ret<Real>()
      .template Ret<Real>()
      .template Ret<Real>()
      .template Ret<Real>()
      .template Ret<Real>()
      .template Ret<Int>()
      .template Ret<Real>()
      .template Ret<Real>()
      .template Ret<Int>()
      .To(
          [body](Context... context, Real W, Real b, Real mu, Real R, Real lo, Real hi, Int counts,
                 Int dims, Real impulse, Int status, Real g_impulse, Real g_velocity,
                 ffi::Dictionary attributes, ffi::Result<Real> g_b, ffi::Result<Real> g_mu,
                 ffi::Result<Real> g_R, ffi::Result<Real> g_lo, ffi::Result<Real> g_hi,
                 ffi::Result<Int> verdict, ffi::Result<Real> kink_distance,
                 ffi::Result<Real> inconsistency, ffi::Result<Int> redundant) {
            const Operands<T> in{W, b, mu, R, lo, hi, impulse, counts, dims};  // no warm start
            const SolutionOperands<T> of{impulse, status, g_impulse, g_velocity};
            GradientResults<T> out{g_b,     g_mu,          g_R,           g_lo,     g_hi,
                                   verdict, kink_distance, inconsistency, redundant};
            return guarded([&] { body(context..., in, of, Attributes(attributes), out); });
          },
          traits);
}

template <ffi::DataType T>
XLA_FFI_Error* on_cpu(XLA_FFI_CallFrame* frame) {
  static const auto handler = make_vjp_handler<T>(ffi::Ffi::Bind(), &vjp_on_cpu<T>);
  return handler->Call(frame);
}

template <ffi::DataType T>
XLA_FFI_Error* prepare_on_cuda(XLA_FFI_CallFrame* frame) {
  static const auto handler = make_vjp_handler<T, cuda::Stream, std::int32_t>(
      ffi::Ffi::BindInitialize().Ctx<ffi::PlatformStream<cuda::Stream>>().Ctx<ffi::DeviceOrdinal>(),
      &initialize_on_cuda<T>);
  return handler->Call(frame);
}

template <ffi::DataType T>
XLA_FFI_Error* on_cuda(XLA_FFI_CallFrame* frame) {
  static const auto handler = make_vjp_handler<T, cuda::Stream, std::int32_t>(
      ffi::Ffi::Bind().Ctx<ffi::PlatformStream<cuda::Stream>>().Ctx<ffi::DeviceOrdinal>(),
      &vjp_on_cuda<T>, {ffi::Traits::kCmdBufferCompatible});
  return handler->Call(frame);
}

}  // namespace

void bind_jax_vjp(nanobind::module_& m) {
  m.def(
      "jax_gradient_targets",
      [] {
        nanobind::dict cpu, targets;
        cpu["stickslip_vjp_f32"] = capsule(&on_cpu<ffi::F32>);
        cpu["stickslip_vjp_f64"] = capsule(&on_cpu<ffi::F64>);
        targets["cpu"] = cpu;
        if (cuda::available()) {
          nanobind::dict on_gpu;
          on_gpu["stickslip_vjp_f32"] = stages(&prepare_on_cuda<ffi::F32>, &on_cuda<ffi::F32>);
          on_gpu["stickslip_vjp_f64"] = stages(&prepare_on_cuda<ffi::F64>, &on_cuda<ffi::F64>);
          targets["CUDA"] = on_gpu;
        }
        return targets;
      },
      "Targets of XLA for derivatives, by platform and name.");
}

}  // namespace stickslip::bindings

#else

void stickslip::bindings::bind_jax_vjp(nanobind::module_& m) {
  m.def(
      "jax_gradient_targets", [] { return nanobind::dict(); },
      "None: the headers of XLA were not found when this was built.");
}

#endif
