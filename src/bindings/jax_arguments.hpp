// The arguments of XLA's calls (jax.cpp), checked: a call may come from any program of XLA.
#pragma once
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "src/api/check.hpp"
#include "src/bindings/option_list.hpp"
#include "src/bindings/problem.hpp"
#include "stickslip/types.hpp"
#include "xla/ffi/api/ffi.h"

namespace stickslip::bindings {

namespace ffi = xla::ffi;

using Names = std::span<const char* const>;

/// Of a derivative: its arguments and its results, in their order. Those of a solve are
/// kProblemArrays and kSolveResults.
inline constexpr const char* kSolveResults[] = {"impulse", "residual",    "status", "iterations",
                                                "solver",  "rows_needed", "rung"};
inline constexpr const char* kVjpArrays[] = {"W",       "b",      "mu",        "R",
                                             "lo",      "hi",     "counts",    "dims",
                                             "impulse", "status", "d_impulse", "d_velocity"};
inline constexpr const char* kVjpResults[] = {
    "b", "mu", "R", "lo", "hi", "status", "kink_distance", "inconsistency", "redundant"};

/// Axes of an array that are an environment's own; the others, however many, are environments.
inline std::size_t own_axes(std::string_view name) {
  if (name == "W") return 2;
  const char* const numbers[] = {"residual",      "status",        "iterations",
                                 "solver",        "rows_needed",   "rung",
                                 "kink_distance", "inconsistency", "redundant"};
  return index_of(numbers, name) < std::size(numbers) ? 0 : 1;
}

inline nb::dlpack::dtype dtype_of(ffi::DataType type) {
  if (type == ffi::F64) return nb::dtype<double>();
  if (type == ffi::F32) return nb::dtype<float>();
  require(type == ffi::S32, "type", "float32, float64 or int32", "another");
  return nb::dtype<std::int32_t>();
}

/// A buffer with one axis of environments. Vectors without elements are not given. Whether the
/// memory is the host's or a GPU's is XLA's business.
inline AnyArray array_of(std::string_view name, const ffi::AnyBuffer& buffer) {
  const auto sizes = buffer.dimensions();
  const std::size_t own = own_axes(name);
  if (own == 1 && (sizes.size() == 0 || sizes.back() == 0)) return {};
  require(sizes.size() >= own, std::string(name).c_str(), "more axes", std::int64_t(sizes.size()));
  Axes shape{1};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i + own < sizes.size()) {
      shape[0] *= sizes[i];
    } else {
      shape.push_back(sizes[i]);
    }
  }
  return array_at(name.data(), buffer.untyped_data(), dtype_of(buffer.element_type()), shape);
}

inline const ffi::AnyBuffer& buffer_of(const ffi::AnyBuffer& argument) { return argument; }
inline const ffi::AnyBuffer& buffer_of(ffi::Result<ffi::AnyBuffer>& result) { return *result; }

/// Finds the arguments or the results of a call by their names.
template <class Buffers>
struct XlaArrays {
  const Buffers& buffers;
  Names names;

  AnyArray operator()(std::string_view name) const {
    const std::size_t i = index_of(names, name);
    if (i == names.size()) return {};
    auto found = buffers.template get<ffi::AnyBuffer>(i);
    if (!found.has_value()) throw std::invalid_argument(found.error().message());
    return array_of(name, buffer_of(*found));
  }
};
using FromXla = XlaArrays<ffi::RemainingArgs>;
using ToXla = XlaArrays<ffi::RemainingRets>;

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

/// A problem whose arrays XLA passes.
template <class Scalar>
struct XlaProblem {
  Arrays arrays;
  FromXla from;
  Layout layout;
  ProblemBatch<Scalar> view;

  explicit XlaProblem(const FromXla& given)
      : arrays(given("W"), "(E, n, n)"),
        from(given),
        layout{.rows = std::int32_t(arrays.leader().shape[1])},
        view(problem_of<Scalar>(arrays, from, layout)) {}

  /// What the arrays hold can be read: the CPU's.
  void require_room() const { bindings::require_room(view, layout); }
  /// Or it is read on the device: all that there may be must fit.
  void require_room_for_any(const Attributes& attributes) const {
    if (!attributes.get<bool>("ragged")) return;
    const std::int64_t tangential =
        std::min(5 * layout.contacts, 5 * std::int64_t(layout.rows) / 6);
    require(layout.tangential >= tangential, "mu",
            "a number for each tangential row that there may be", layout.tangential);
    require(view.lo.data == nullptr || layout.box >= layout.rows, "lo, hi",
            "as many columns as rows", layout.box);
  }
};

/// Exceptions become errors of XLA, which Python then raises.
template <class F>
ffi::Error guarded(F&& run) {
  try {
    run();
    return ffi::Error::Success();
  } catch (const std::invalid_argument& error) {
    return ffi::Error::InvalidArgument(error.what());
  } catch (const nb::builtin_exception& error) {
    return ffi::Error::InvalidArgument(error.what());
  } catch (const std::exception& error) {
    return ffi::Error::Internal(error.what());
  }
}

}  // namespace stickslip::bindings
