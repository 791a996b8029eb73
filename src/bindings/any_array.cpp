#include "src/bindings/any_array.hpp"

#include <nanobind/stl/string.h>

#include <stdexcept>
#include <utility>

#include "stickslip/cuda.hpp"

namespace stickslip::bindings {

namespace {

constexpr int kDlpackHost = 1, kDlpackCuda = 2, kDlpackPinned = 3, kDlpackManaged = 13;

[[noreturn]] void refuse_type(const std::string& message) { throw nb::type_error(message.c_str()); }

std::string type_of(nb::handle value) {
  return nb::cast<std::string>(nb::str(value.type().attr("__name__")));
}

/// Device memory can be used only if a GPU is available.
void require_gpu(const std::string& name, nb::handle value) {
  if (cuda::available()) return;
  refuse_type(name + ": expected an array in host memory, because " + cuda::why_not() + ", got " +
              type_of(value) + " in the memory of a GPU");
}

void require_axes(const std::string& name, std::size_t count) {
  if (count <= Axes::kMost) return;
  refuse_type(name + ": expected at most " + std::to_string(Axes::kMost) + " axes, got " +
              std::to_string(count));
}

Place place_of(const std::string& name, nb::handle value, int type, int index) {
  if (type == kDlpackHost || type == kDlpackPinned) return {};
  if (type != kDlpackCuda && type != kDlpackManaged) {
    refuse_type(name + ": expected an array in host memory or on a CUDA device, got " +
                type_of(value) + " on a device of DLPack type " + std::to_string(type));
  }
  require_gpu(name, value);
  return {index};
}

/// What __dlpack_device__ says: the type of the device, and its number.
std::pair<int, int> device_of(const std::string& name, nb::handle value) {
  const nb::object found = value.attr("__dlpack_device__")();
  std::pair<int, int> device;
  const bool good = nb::isinstance<nb::tuple>(found) && nb::len(found) == 2 &&
                    nb::try_cast(nb::object(nb::int_(found[0])), device.first) &&
                    nb::try_cast(nb::object(nb::int_(found[1])), device.second);
  if (!good) {
    refuse_type(name + ": expected two integers from __dlpack_device__, got " +
                nb::cast<std::string>(nb::repr(found)));
  }
  return device;
}

template <class Ndarray>
AnyArray from_dlpack(const std::string& name, nb::handle value, const char* kind) {
  Ndarray array;
  if (!nb::try_cast(value, array)) {
    refuse_type(name + ": expected " + kind + " that DLPack can hand over, got " + type_of(value));
  }
  AnyArray a;
  a.name = name;
  a.owner = nb::borrow(value);
  a.exported = std::make_shared<Ndarray>(array);
  a.place = place_of(name, value, array.device_type(), array.device_id());
  a.data = static_cast<unsigned char*>(const_cast<void*>(static_cast<const void*>(array.data())));
  a.dtype = array.dtype();
  require_axes(name, array.ndim());
  const auto bytes = std::int64_t(array.itemsize());
  for (std::size_t i = 0; i < array.ndim(); ++i) {
    a.shape.push_back(std::int64_t(array.shape(i)));
    a.strides.push_back(array.stride(i) * bytes);
  }
  return a;
}

nb::dlpack::dtype dtype_of(const std::string& name, const std::string& typestr) {
  using Code = nb::dlpack::dtype_code;
  if (typestr.size() < 3 || typestr[0] == '>') {
    refuse_type(name + ": expected numbers in the machine's byte order, got '" + typestr + "'");
  }
  const Code code = typestr[1] == 'f' ? Code::Float : typestr[1] == 'i' ? Code::Int : Code::Bool;
  return {std::uint8_t(code), std::uint8_t(8 * std::stoi(typestr.substr(2))), 1};
}

Axes without_gaps(const Axes& shape, std::int64_t bytes) {
  Axes strides = shape;
  for (std::size_t i = shape.size(); i-- > 0; bytes *= shape[i]) strides[i] = bytes;
  return strides;
}

/// numpy's own arrays, which are in host memory: no need to ask.
bool is_numpy(nb::handle value) {
  static PyObject* const type =
      nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
  return value.type().ptr() == type;
}

/// The interface of Numba and of others that have no DLPack (version 3 of the interface).
AnyArray from_cuda_interface(const std::string& name, nb::handle value, bool writable) {
  require_gpu(name, value);
  const auto interface = nb::cast<nb::dict>(value.attr("__cuda_array_interface__"));
  const auto data = nb::cast<nb::tuple>(interface["data"]);
  AnyArray a;
  a.name = name;
  a.owner = nb::borrow(value);
  a.data = reinterpret_cast<unsigned char*>(nb::cast<std::uintptr_t>(data[0]));
  if (writable && nb::cast<bool>(data[1])) {
    refuse_type(name + ": expected a writable array, got a read-only " + type_of(value));
  }
  a.dtype = dtype_of(name, nb::cast<std::string>(interface["typestr"]));
  const auto shape = nb::cast<nb::tuple>(interface["shape"]);
  require_axes(name, shape.size());
  for (nb::handle size : shape) a.shape.push_back(nb::cast<std::int64_t>(size));
  const nb::object strides = interface.attr("get")("strides");
  if (strides.is_none()) {
    a.strides = without_gaps(a.shape, a.item());
  } else {
    for (nb::handle stride : nb::cast<nb::tuple>(strides))
      a.strides.push_back(nb::cast<std::int64_t>(stride));
  }
  a.place = {a.empty() ? 0 : cuda::device_of(a.data)};
  if (a.place.on_host())
    refuse_type(name + ": expected memory of a GPU behind the interface, got other");
  return a;
}

}  // namespace

bool AnyArray::empty() const {
  for (const std::int64_t size : shape) {
    if (size == 0) return true;
  }
  return false;
}

AnyArray take_array(const std::string& name, nb::handle value, bool writable) {
  if (value.is_none()) {
    AnyArray none;
    none.name = name;
    return none;
  }
  if (!is_numpy(value) && nb::hasattr(value, "__dlpack_device__")) {  // before memory is requested
    const auto [type, index] = device_of(name, value);
    place_of(name, value, type, index);
  } else if (!is_numpy(value) && nb::hasattr(value, "__cuda_array_interface__")) {
    return from_cuda_interface(name, value, writable);
  }
  return writable ? from_dlpack<nb::ndarray<>>(name, value, "a writable array")
                  : from_dlpack<nb::ndarray<nb::ro>>(name, value, "an array");
}

AnyArray array_at(const char* name, const void* data, nb::dlpack::dtype dtype, const Axes& shape) {
  AnyArray a;
  a.name = name;
  a.data = static_cast<unsigned char*>(const_cast<void*>(data));
  a.dtype = dtype;
  a.shape = shape;
  a.strides = without_gaps(shape, a.item());
  return a;
}

std::string name_of(nb::dlpack::dtype dtype) {
  using Code = nb::dlpack::dtype_code;
  const char* kind = dtype.code == std::uint8_t(Code::Float)  ? "float"
                     : dtype.code == std::uint8_t(Code::Int)  ? "int"
                     : dtype.code == std::uint8_t(Code::UInt) ? "uint"
                     : dtype.code == std::uint8_t(Code::Bool) ? "bool"
                                                              : "type of ";
  return kind + std::to_string(int(dtype.bits));
}

std::string text_of(const Axes& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i > 0 ? ", " : "") + (shape[i] == kAny ? "any" : std::to_string(shape[i]));
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace stickslip::bindings
