// Targets of XLA's foreign function interface, for stickslip.jax: XLA calls them with its arrays,
// from its threads, without Python. None where the headers of XLA were not found
// (src/bindings/CMakeLists.txt).
#include <nanobind/nanobind.h>

#include "src/bindings/bindings.hpp"

#if __has_include("xla/ffi/api/ffi.h")
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/law/dispatch.hpp"
#include "kernels/problem/env_problem.hpp"
#include "src/batch/check.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/cuda.hpp"
#include "stickslip/solve.hpp"
#include "xla/ffi/api/ffi.h"

namespace stickslip::bindings {

namespace ffi = xla::ffi;

namespace {

/// The arguments of a call. All axes but the own ones of an environment (two of W, one of the
/// others) are environments. Arrays whose last axis has no elements are absent.
template <ffi::DataType T>
struct Operands {
  ffi::Buffer<T> W, b, mu, R, lo, hi, warm_start;
  ffi::Buffer<ffi::S32> counts, dims;
};

template <ffi::DataType T>
struct Results {
  ffi::ResultBuffer<T> impulse, residual;
  ffi::ResultBuffer<ffi::S32> status;
};

using Sizes = ffi::Span<const std::int64_t>;

/// The product of all sizes but the last `own` ones.
std::int64_t environments(Sizes sizes, std::size_t own) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i + own < sizes.size(); ++i) count *= sizes[i];
  return count;
}

std::int32_t width(Sizes sizes) {
  if (sizes.size() == 0) return 0;
  require(sizes.back() <= INT32_MAX, "sizes", "numbers of 32 bits", sizes.back());
  return std::int32_t(sizes.back());
}

/// The slots of an array; absent if they have no elements.
template <ffi::DataType T>
EnvArray<const ffi::NativeType<T>> slots(const char* name, const ffi::Buffer<T>& array,
                                         std::int64_t num_envs, std::int64_t expected) {
  const std::int64_t size = width(array.dimensions());
  if (size == 0) return {};
  if (expected >= 0) {
    const std::string columns = std::to_string(expected) + " columns";
    require(size == expected, name, columns.c_str(), size);
  }
  const std::int64_t found = environments(array.dimensions(), 1);
  require(found == num_envs, name, "as many environments as W has", found);
  return {array.typed_data(), size};
}

constexpr std::int64_t kAny = -1;  ///< number of columns

template <ffi::DataType T>
ProblemBatch<ffi::NativeType<T>> view(const Operands<T>& in) {
  static_assert(sizeof(EnvShape) == 4 * sizeof(std::int32_t));
  const Sizes sizes = in.W.dimensions();
  require(sizes.size() >= 2 && sizes[sizes.size() - 2] == sizes.back(), "W", "shape (..., n, n)",
          "another");
  ProblemBatch<ffi::NativeType<T>> p;
  const std::int64_t num_envs = environments(sizes, 2), n = width(sizes);
  require(num_envs <= INT32_MAX, "W", "at most 2147483647 environments", num_envs);
  p.num_envs = std::int32_t(num_envs);
  p.max_rows = std::int32_t(n);
  p.max_contacts = width(in.dims.dimensions());
  const auto shape = slots("counts", in.counts, num_envs, 4);
  p.shape = {reinterpret_cast<const EnvShape*>(shape.data), shape.stride / 4};
  p.dims = slots("dims", in.dims, num_envs, kAny);
  p.W = {in.W.typed_data(), n * n};
  p.b = slots("b", in.b, num_envs, n);
  p.mu = slots("mu", in.mu, num_envs, kAny);
  p.R = slots("R", in.R, num_envs, n);
  p.lo = slots("lo", in.lo, num_envs, kAny);
  p.hi = slots("hi", in.hi, num_envs, p.lo.stride);
  p.warm_start = slots("warm_start", in.warm_start, num_envs, n);
  return p;
}

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

/// Reads the attributes of a call; all of them are there, or stickslip.jax is of another version.
class Attributes {
 public:
  explicit Attributes(const ffi::Dictionary& all) : all_(all) {}
  template <class T>
  T get(const char* name) const {
    const auto value = all_.get<T>(name);
    if (!value.has_value()) throw std::invalid_argument(value.error().message());
    return *value;
  }
  SolveOptions options() const {
    SolveOptions o;
    o.law = Law(get<std::int32_t>("law"));
    o.solver = Solver(get<std::int32_t>("solver"));
    o.precision = Precision(get<std::int32_t>("precision"));
    o.atol = get<double>("atol");
    o.rtol = get<double>("rtol");
    o.max_sweeps = get<std::int32_t>("max_sweeps");
    o.max_newton = get<std::int32_t>("max_newton");
    o.max_rung = get<std::int32_t>("max_rung");
    o.max_work = get<double>("max_work");
    o.thorough = get<bool>("thorough");
    o.exact_sweeps = get<bool>("exact_sweeps");
    o.max_pivots = get<std::int32_t>("max_pivots");
    o.exact_pivots = get<bool>("exact_pivots");
    o.directions = get<std::int32_t>("directions");
    return o;
  }

 private:
  const ffi::Dictionary& all_;
};

/// Calls `body`; exceptions become errors of XLA, which Python then raises.
template <class Body>
ffi::Error guarded(Body&& body) {
  try {
    body();
    return ffi::Error::Success();
  } catch (const std::invalid_argument& error) {
    return ffi::Error::InvalidArgument(error.what());
  } catch (const std::exception& error) {
    return ffi::Error::Internal(error.what());
  }
}

template <ffi::DataType T>
void solve_on_cpu(const Operands<T>& in, const Attributes& attributes, Results<T>& out) {
  using In = ffi::NativeType<T>;
  const ProblemBatch<In> p = view(in);
  require_room(p);
  std::vector<std::int32_t> iterations(std::size_t(p.num_envs));
  std::vector<Solver> solver(std::size_t(p.num_envs));
  std::vector<double> residual(sizeof(In) == 8 ? 0 : std::size_t(p.num_envs));
  ResultBatch<In> r;
  r.impulse = {out.impulse->typed_data(), p.max_rows};
  r.status = reinterpret_cast<EnvStatus*>(out.status->typed_data());
  r.iterations = iterations.data();
  r.solver = solver.data();
  if constexpr (sizeof(In) == 8) {
    r.residual = out.residual->typed_data();
  } else {
    r.residual = residual.data();
  }
  const auto workspace = take_workspace(p.max_rows, p.max_contacts,
                                        attributes.get<std::int32_t>("threads"), Caller::xla);
  solve(p, r, attributes.options(), *workspace);
  std::copy(residual.begin(), residual.end(), out.residual->typed_data());
}

/// The binding of a target: its operands, attributes and results.
template <ffi::DataType T, class Binding>
auto with_arrays(Binding&& binding) {
  using Real = ffi::Buffer<T>;
  using Int = ffi::Buffer<ffi::S32>;
  return std::forward<Binding>(binding)
      .template Arg<Real>()
      .template Arg<Real>()
      .template Arg<Real>()
      .template Arg<Real>()
      .template Arg<Real>()
      .template Arg<Real>()
      .template Arg<Real>()
      .template Arg<Int>()
      .template Arg<Int>()
      .Attrs()
      .template Ret<Real>()
      .template Ret<Real>()
      .template Ret<Int>();
}

template <ffi::DataType T>
XLA_FFI_Error* on_cpu(XLA_FFI_CallFrame* frame) {
  using Real = ffi::Buffer<T>;
  using Int = ffi::Buffer<ffi::S32>;
  static const auto handler =
      with_arrays<T>(ffi::Ffi::Bind())
          .To([](Real W, Real b, Real mu, Real R, Real lo, Real hi, Real warm_start, Int counts,
                 Int dims, ffi::Dictionary attributes, ffi::Result<Real> impulse,
                 ffi::Result<Real> residual, ffi::Result<Int> status) {
            return guarded([&] {
              Results<T> out{impulse, residual, status};
              solve_on_cpu<T>({W, b, mu, R, lo, hi, warm_start, counts, dims},
                              Attributes(attributes), out);
            });
          });
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
        nanobind::dict targets;
        targets["stickslip_solve_f32"] = capsule(&on_cpu<ffi::F32>);
        targets["stickslip_solve_f64"] = capsule(&on_cpu<ffi::F64>);
        return targets;
      },
      "Targets of XLA's foreign function interface, by name.");
}

}  // namespace stickslip::bindings

#else

void stickslip::bindings::bind_jax(nanobind::module_& m) {
  m.def(
      "jax_targets", [] { return nanobind::dict(); },
      "None: the headers of XLA were not found when this was built.");
}

#endif
