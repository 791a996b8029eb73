// Arrays of any framework, in host or device memory, by DLPack or __cuda_array_interface__.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <vector>

namespace stickslip::bindings {

namespace nb = nanobind;

/// Where the memory is: on the host, or on a GPU.
struct Place {
  static constexpr int kHost = -1;
  int gpu = kHost;

  bool operator==(const Place&) const = default;
  bool on_host() const { return gpu == kHost; }
  std::string text() const {
    return on_host() ? "host memory" : "the memory of GPU " + std::to_string(gpu);
  }
};

/// An array as its exporter describes it, and its owner. Strides are in bytes.
struct AnyArray {
  std::string name;  ///< of the argument
  nb::object owner;
  Place place;
  unsigned char* data = nullptr;
  nb::dlpack::dtype dtype;
  std::vector<std::int64_t> shape, strides;

  std::size_t ndim() const { return shape.size(); }
  bool empty() const;
  /// One past the last byte that an element occupies.
  const unsigned char* end() const;
};

/// Accepts an argument. Throws TypeError (nb::type_error) for an object that is not an array, for
/// an array on an unsupported device, or, with `writable`, for a read-only array.
AnyArray take_array(const std::string& name, nb::handle value, bool writable);

/// "float64" for an element type.
std::string name_of(nb::dlpack::dtype dtype);

/// "(3, 4)"
std::string text_of(const std::vector<std::int64_t>& shape);

}  // namespace stickslip::bindings
