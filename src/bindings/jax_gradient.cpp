// Targets of XLA's foreign function interface for derivatives of a solve, on the CPU (jax.cpp).
#include <nanobind/nanobind.h>

#include "src/bindings/bindings.hpp"

#if __has_include("xla/ffi/api/ffi.h")
#include <algorithm>
#include <vector>

#include "src/bindings/jax_arguments.hpp"
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
  ffi::ResultBuffer<T> margin, lost;
};

/// The slots of a result, filled with zeros: the library does not write what no row uses.
template <ffi::DataType T>
EnvArray<ffi::NativeType<T>> zeros(const char* name, ffi::ResultBuffer<T>& array,
                                   std::int64_t num_envs, std::int64_t columns) {
  const std::int64_t size = width(array->dimensions());
  if (size == 0) return {};
  require(size == columns, name, "as many columns as its argument has", size);
  require(environments(array->dimensions(), 1) == num_envs, name, "as many environments as W has",
          environments(array->dimensions(), 1));
  std::fill_n(array->typed_data(), num_envs * size, ffi::NativeType<T>(0));
  return {array->typed_data(), size};
}

template <ffi::DataType T, class A>
void require_one_each(const char* name, const A& array, std::int64_t num_envs) {
  require(environments(array.dimensions(), 0) == num_envs, name, "a number for each environment",
          environments(array.dimensions(), 0));
}

template <ffi::DataType T>
void vjp_on_cpu(const Operands<T>& in, const SolutionOperands<T>& of, const Attributes& attributes,
                GradientResults<T>& out) {
  using In = ffi::NativeType<T>;
  const ProblemBatch<In> p = view(in);
  require_room(p, p.mu.stride, p.lo.stride);
  const std::int64_t num_envs = p.num_envs, n = p.max_rows;
  SolutionBatch<In> solution;
  solution.impulse = slots("impulse", of.impulse, num_envs, n);
  require_one_each<ffi::S32>("status", of.status, num_envs);
  solution.status = reinterpret_cast<const EnvStatus*>(of.status.typed_data());
  const LossBatch<In> loss{slots("g_impulse", of.g_impulse, num_envs, n),
                           slots("g_velocity", of.g_velocity, num_envs, n)};
  GradientBatch<In> g;
  g.b = zeros("gradient of b", out.b, num_envs, n);
  g.mu = zeros("gradient of mu", out.mu, num_envs, p.mu.stride);
  g.R = zeros("gradient of R", out.R, num_envs, n);
  g.lo = zeros("gradient of lo", out.lo, num_envs, p.lo.stride);
  g.hi = zeros("gradient of hi", out.hi, num_envs, p.hi.stride);
  require_one_each<ffi::S32>("status", *out.status, num_envs);
  require_one_each<T>("margin", *out.margin, num_envs);
  require_one_each<T>("lost", *out.lost, num_envs);
  std::vector<double> margin(std::size_t(p.num_envs)), lost(margin);
  g.report = {reinterpret_cast<GradientStatus*>(out.status->typed_data()), margin.data(),
              lost.data()};
  const auto workspace = take_workspace(p.max_rows, p.max_contacts,
                                        attributes.get<std::int32_t>("threads"), Caller::xla);
  solve_vjp(p, solution, loss, g, attributes.options(), *workspace);
  const auto rounded = [](double value) { return In(value); };
  std::transform(margin.begin(), margin.end(), out.margin->typed_data(), rounded);
  std::transform(lost.begin(), lost.end(), out.lost->typed_data(), rounded);
}

template <ffi::DataType T>
ffi::Error call(ffi::Buffer<T> W, ffi::Buffer<T> b, ffi::Buffer<T> mu, ffi::Buffer<T> R,
                ffi::Buffer<T> lo, ffi::Buffer<T> hi, ffi::Buffer<ffi::S32> counts,
                ffi::Buffer<ffi::S32> dims, ffi::Buffer<T> impulse, ffi::Buffer<ffi::S32> status,
                ffi::Buffer<T> g_impulse, ffi::Buffer<T> g_velocity, ffi::Dictionary attributes,
                ffi::ResultBuffer<T> g_b, ffi::ResultBuffer<T> g_mu, ffi::ResultBuffer<T> g_R,
                ffi::ResultBuffer<T> g_lo, ffi::ResultBuffer<T> g_hi,
                ffi::ResultBuffer<ffi::S32> verdict, ffi::ResultBuffer<T> margin,
                ffi::ResultBuffer<T> lost) {
  const Operands<T> in{W, b, mu, R, lo, hi, impulse, counts, dims};  // no warm start is read
  GradientResults<T> out{g_b, g_mu, g_R, g_lo, g_hi, verdict, margin, lost};
  try {
    vjp_on_cpu<T>(in, {impulse, status, g_impulse, g_velocity}, Attributes(attributes), out);
    return ffi::Error::Success();
  } catch (const std::invalid_argument& error) {
    return ffi::Error::InvalidArgument(error.what());
  } catch (const std::exception& error) {
    return ffi::Error::Internal(error.what());
  }
}

template <ffi::DataType T>
XLA_FFI_Error* on_cpu(XLA_FFI_CallFrame* frame) {
  using Real = ffi::Buffer<T>;
  using Int = ffi::Buffer<ffi::S32>;
  static const auto handler = ffi::Ffi::Bind()
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
                                  .To(&call<T>);
  return handler->Call(frame);
}

template <class F>
nanobind::capsule capsule(F* target) {
  return nanobind::capsule(reinterpret_cast<void*>(target), "xla._CUSTOM_CALL_TARGET");
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
