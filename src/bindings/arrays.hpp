// Checks of the arrays of one call: all in one place, each with its element type and its shape, so
// that no array can make the library read or write outside it.
#pragma once
#include <string>
#include <vector>

#include "src/bindings/any_array.hpp"
#include "stickslip/batch.hpp"

namespace stickslip::bindings {

/// What else an input may be.
struct Allowed {
  std::int32_t* ld = nullptr;  ///< rows of a matrix may be padded: receives the row stride
  bool at_least = false;       ///< the last size may be larger
};

class Arrays {
 public:
  /// `leader`, of float32 or float64 in the given form, such as "(E, n, n)", determines the number
  /// of environments, the element type and the memory of all arrays.
  Arrays(AnyArray leader, const char* form);

  const AnyArray& leader() const { return arrays_.front(); }
  std::int64_t num_envs() const { return leader().shape[0]; }

  /// An input of the given sizes, (E, sizes...), or (sizes...) for all environments.
  template <class T>
  EnvArray<const T> input(AnyArray a, const Axes& sizes, const Allowed& allowed = {}) {
    const Slots found = add(std::move(a), nb::dtype<T>(), sizes, false, allowed);
    return {static_cast<const T*>(found.data), found.stride / std::int64_t(sizeof(T))};
  }
  /// The same of one axis, whose size may be kAny: it becomes the array's (0: not given).
  template <class T>
  EnvArray<const T> columns(AnyArray a, std::int64_t& size, const Allowed& allowed = {}) {
    if (size == kAny) size = a.ndim() > 0 ? a.shape.back() : 0;
    return input<T>(std::move(a), {size}, allowed);
  }
  /// An input of one number for each environment, side by side: (E,).
  template <class T>
  const T* numbers(AnyArray a) {
    const std::string name = a.name;
    const EnvArray<const T> found = input<T>(std::move(a), {});
    if (found.data != nullptr && num_envs() > 1 && found.stride != 1)
      throw nb::value_error(
          (name + ": expected a number for each environment, side by side").c_str());
    return found.data;
  }
  /// An output (E, sizes...).
  template <class T>
  EnvArray<T> output(AnyArray a, const Axes& sizes) {
    const Slots found = add(std::move(a), nb::dtype<T>(), sizes, true, {});
    return {static_cast<T*>(found.data), found.stride / std::int64_t(sizeof(T))};
  }
  /// An output of one number for each environment: (E,).
  template <class T>
  T* output_numbers(AnyArray a) {
    return output<T>(std::move(a), {}).data;
  }

  /// No output may share memory with another array: a launch still reads inputs after it has
  /// started to write.
  void require_outputs_of_their_own() const;

 private:
  struct Slots {
    void* data;
    std::int64_t stride;  ///< bytes
  };
  Slots add(AnyArray a, nb::dlpack::dtype dtype, const Axes& sizes, bool writable,
            const Allowed& allowed);
  void check_kind(const AnyArray& a, nb::dlpack::dtype dtype) const;

  std::vector<AnyArray> arrays_;
  std::vector<std::size_t> outputs_;  ///< indices of the outputs
};

/// Finds arrays by name in a dict; names that it lacks are not given.
struct FromDict {
  const nb::dict& arrays;
  bool writable = false;
  const char* prefix = "";  ///< of the names in messages

  AnyArray operator()(const char* name) const {
    const std::string full =
        writable ? std::string("out['") + name + "']" : prefix + std::string(name);
    return take_array(full, arrays.contains(name) ? nb::object(arrays[name]) : nb::none(),
                      writable);
  }
};

/// Calls f with a number of the element type of an array: double or float.
template <class F>
decltype(auto) with_scalar(const AnyArray& array, F&& f) {
  return array.dtype == nb::dtype<double>() ? f(double()) : f(float());
}

}  // namespace stickslip::bindings
