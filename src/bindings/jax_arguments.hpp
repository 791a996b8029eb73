// The arguments of XLA's calls (jax.cpp), checked: a call may come from any program of XLA.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "src/api/check.hpp"
#include "src/bindings/option_list.hpp"
#include "stickslip/batch.hpp"
#include "stickslip/types.hpp"
#include "xla/ffi/api/ffi.h"

namespace stickslip::bindings {

namespace ffi = xla::ffi;

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
  ffi::ResultBuffer<ffi::S32> status, iterations;
};

using Sizes = ffi::Span<const std::int64_t>;

/// The product of all sizes but the last `own` ones.
inline std::int64_t environments(Sizes sizes, std::size_t own) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i + own < sizes.size(); ++i) count *= sizes[i];
  return count;
}

inline std::int32_t width(Sizes sizes) {
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
  static_assert(sizeof(RowCounts) == 4 * sizeof(std::int32_t));
  const Sizes sizes = in.W.dimensions();
  require(sizes.size() >= 2 && sizes[sizes.size() - 2] == sizes.back(), "W", "shape (..., n, n)",
          "another");
  ProblemBatch<ffi::NativeType<T>> p;
  const std::int64_t num_envs = environments(sizes, 2), n = width(sizes);
  require(num_envs <= INT32_MAX, "W", "at most 2147483647 environments", num_envs);
  p.num_envs = std::int32_t(num_envs);
  p.max_rows = std::int32_t(n);
  p.max_contacts = width(in.dims.dimensions());
  require(width(in.counts.dimensions()) == 4, "counts", "4 columns", "another number");
  const auto shape = slots("counts", in.counts, num_envs, 4);
  p.counts = {reinterpret_cast<const RowCounts*>(shape.data), shape.stride / 4};
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
    for_options([&](const char* name, auto member) {
      using Value = std::remove_reference_t<decltype(o.*member)>;
      if constexpr (std::is_enum_v<Value>)
        o.*member = Value(get<std::int32_t>(name));
      else
        o.*member = get<Value>(name);
    });
    return o;
  }

 private:
  const ffi::Dictionary& all_;
};

/// Checks what jax.py has checked, except what arrays hold.
template <class Scalar>
void check_on_cuda(const ProblemBatch<Scalar>& p, const Attributes& attributes) {
  if (attributes.get<bool>("ragged")) {  // counts and dims are read on the device: all must fit
    const std::int32_t tangential = std::min(5 * p.max_contacts, 5 * p.max_rows / 6);
    require(p.mu.stride >= tangential, "mu", "a number for each tangential row that there may be",
            p.mu.stride);
    require(p.lo.data == nullptr || p.lo.stride >= p.max_rows, "lo, hi", "as many columns as rows",
            p.lo.stride);
  }
}

/// The results; the residual, which is double, only if they are.
template <ffi::DataType T>
ResultBatch<ffi::NativeType<T>> view(Results<T>& out, std::int32_t max_rows) {
  ResultBatch<ffi::NativeType<T>> r;
  r.impulse = {out.impulse->typed_data(), max_rows};
  if constexpr (T == ffi::F64) r.residual = out.residual->typed_data();
  r.status = reinterpret_cast<EnvStatus*>(out.status->typed_data());
  r.iterations = out.iterations->typed_data();
  return r;
}

/// Exceptions become errors of XLA, which Python then raises.
template <class F>
ffi::Error guarded(F&& run) {
  try {
    run();
    return ffi::Error::Success();
  } catch (const std::invalid_argument& error) {
    return ffi::Error::InvalidArgument(error.what());
  } catch (const std::exception& error) {
    return ffi::Error::Internal(error.what());
  }
}

/// What XLA calls: `body(context..., operands, attributes, results)`. `binding` names the
/// context.
template <ffi::DataType T, class... Context, class Binding, class Body>
auto make_handler(Binding&& binding, Body body, std::initializer_list<ffi::Traits> traits = {}) {
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
      .template Ret<Int>()
      .template Ret<Int>()
      .To(
          [body](Context... context, Real W, Real b, Real mu, Real R, Real lo, Real hi,
                 Real warm_start, Int counts, Int dims, ffi::Dictionary attributes,
                 ffi::Result<Real> impulse, ffi::Result<Real> residual, ffi::Result<Int> status,
                 ffi::Result<Int> iterations) {
            const Operands<T> in{W, b, mu, R, lo, hi, warm_start, counts, dims};
            Results<T> out{impulse, residual, status, iterations};
            return guarded([&] { body(context..., in, Attributes(attributes), out); });
          },
          traits);
}

}  // namespace stickslip::bindings
