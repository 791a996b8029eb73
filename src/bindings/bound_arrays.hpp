// The arrays of a bound solve: all of one type, on one device, each of its required shape.
#pragma once
#include <string>
#include <vector>

#include "src/bindings/any_array.hpp"
#include "stickslip/batch.hpp"

namespace stickslip::bindings {

class BoundArrays {
 public:
  /// `leader`, (E, n, m) of float32 or float64, determines the number of environments, the element
  /// type and the device of all arrays.
  BoundArrays(const char* name, nb::handle leader);

  const AnyArray& leader() const { return arrays_.front(); }
  std::int64_t num_envs() const { return leader().shape[0]; }

  /// An input of the given sizes, (E, sizes...), or (sizes...) for all environments; None: absent.
  /// `ld`: if given, the rows of a matrix may be padded, and it receives the row stride.
  /// `at_least`: the last size may be larger.
  template <class T>
  EnvArray<const T> input(const char* name, nb::handle value,
                          const std::vector<std::int64_t>& sizes, std::int32_t* ld = nullptr,
                          bool at_least = false) {
    const auto [data, stride] = add(name, value, nb::dtype<T>(), sizes, false, ld, at_least);
    return {static_cast<const T*>(data), stride / std::int64_t(sizeof(T))};
  }
  /// An output (E, sizes...), `out[name]`.
  template <class T>
  EnvArray<T> output(const char* name, const nb::dict& out,
                     const std::vector<std::int64_t>& sizes) {
    const std::string full = std::string("out['") + name + "']";
    const auto [data, stride] = add(full, out[name], nb::dtype<T>(), sizes, true, nullptr, false);
    return {static_cast<T*>(data), stride / std::int64_t(sizeof(T))};
  }

  /// No output may share memory with another array: a launch still reads inputs after it has
  /// started to write.
  void require_outputs_of_their_own() const;

 private:
  struct Slots {
    void* data;
    std::int64_t stride;  ///< bytes
  };
  Slots add(const std::string& name, nb::handle value, nb::dlpack::dtype dtype,
            const std::vector<std::int64_t>& sizes, bool writable, std::int32_t* ld, bool at_least);
  void check_kind(const AnyArray& a, nb::dlpack::dtype dtype) const;

  std::vector<AnyArray> arrays_;
  std::vector<std::size_t> outputs_;  ///< indices of the outputs
};

/// Sizes of an array without its first axis, the environments.
inline std::vector<std::int64_t> sizes_of(const char* name, nb::handle value) {
  const AnyArray a = take_array(name, value, false);
  if (a.ndim() < 2) throw nb::value_error((a.name + ": expected an axis of environments").c_str());
  return {a.shape.begin() + 1, a.shape.end()};
}

}  // namespace stickslip::bindings
