// Arrays of any framework, in host or device memory: by DLPack, __cuda_array_interface__, address,
// or as XLA passes them. Everything that enters through Python or XLA becomes an AnyArray.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>

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

inline constexpr std::int64_t kAny = -1;  ///< a size that the array itself determines

/// One number for each axis.
class Axes {
 public:
  static constexpr std::size_t kMost = 8;
  Axes() = default;
  Axes(std::initializer_list<std::int64_t> values) {
    for (const std::int64_t value : values) push_back(value);
  }
  void push_back(std::int64_t value) { values_[count_++] = value; }
  std::size_t size() const { return count_; }
  std::int64_t operator[](std::size_t i) const { return values_[i]; }
  std::int64_t& operator[](std::size_t i) { return values_[i]; }
  std::int64_t back() const { return values_[count_ - 1]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + count_; }

 private:
  std::array<std::int64_t, kMost> values_{};
  std::size_t count_ = 0;
};

/// An array as its exporter describes it, and its owner. Strides are in bytes.
struct AnyArray {
  std::string name;  ///< of the argument
  nb::object owner;
  std::shared_ptr<void> exported;  ///< while it lives, the owner may not free or move the memory
  Place place;
  unsigned char* data = nullptr;
  nb::dlpack::dtype dtype{};
  Axes shape, strides;

  /// Whether there is an array: None gives none.
  bool given() const { return dtype.bits != 0; }
  std::size_t ndim() const { return shape.size(); }
  bool empty() const;
  std::int64_t item() const { return dtype.bits / 8; }
};

/// An argument; None is not given. Throws TypeError (nb::type_error) for an object that is not an
/// array, for an array on an unsupported device, or, with `writable`, for a read-only array.
AnyArray take_array(const std::string& name, nb::handle value, bool writable);

/// An array in host memory without gaps between its elements.
AnyArray array_at(const char* name, const void* data, nb::dlpack::dtype dtype, const Axes& shape);

/// "float64" for an element type.
std::string name_of(nb::dlpack::dtype dtype);

/// "(3, 4)"
std::string text_of(const Axes& shape);

}  // namespace stickslip::bindings
