#include "src/bindings/arrays.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "stickslip/cuda.hpp"

namespace stickslip::bindings {

namespace {

[[noreturn]] void refuse_value(const AnyArray& a, const std::string& rest) {
  throw nb::value_error((a.name + ": " + rest).c_str());
}
[[noreturn]] void refuse_type(const AnyArray& a, const std::string& rest) {
  throw nb::type_error((a.name + ": " + rest).c_str());
}

bool is_float(nb::dlpack::dtype dtype) {
  return dtype == nb::dtype<double>() || dtype == nb::dtype<float>();
}

/// Whether the last dimensions are `sizes`.
bool ends_with(const AnyArray& a, const Axes& sizes, bool at_least) {
  const std::size_t skip = a.ndim() - sizes.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = a.shape[skip + i];
    const bool last = i + 1 == sizes.size();
    if (size != sizes[i] && sizes[i] != kAny && !(at_least && last && size > sizes[i]))
      return false;
  }
  return true;
}

/// Requires the values of a slot to be contiguous; the rows of a matrix may have the stride `ld`.
void check_slot(const AnyArray& a, std::size_t size_count, std::int32_t* ld) {
  if (a.empty()) return;
  const std::int64_t item = a.item();
  std::int64_t expected = item;
  bool good = true;
  for (std::size_t k = 0; k < size_count; ++k) {
    const std::size_t i = a.ndim() - 1 - k;
    const bool rows = ld != nullptr && k == 1 && a.shape[i] > 1;
    if (rows) {
      const std::int64_t distance = a.strides[i] / item;
      good = good && a.strides[i] >= expected && a.strides[i] % item == 0 &&
             distance <= std::numeric_limits<std::int32_t>::max();
      *ld = std::int32_t(distance);
    } else {
      good = good && (a.shape[i] == 1 || a.strides[i] == expected);
    }
    expected *= a.shape[i];
  }
  if (!good) {
    refuse_value(a,
                 "expected the values of an environment side by side in memory, got strides of " +
                     text_of(a.strides) + " bytes");
  }
}

/// Memory of an array: slots of `extent` bytes, with stride `stride` >= 0.
struct Extent {
  const unsigned char *begin, *end;
  std::int64_t extent, stride;
};

Extent extent_of(const AnyArray& a) {
  if (a.empty()) return {a.data, a.data, 0, 0};
  Extent e{a.data, a.data + a.item(), a.item(), 0};
  for (std::size_t i = 0; i < a.ndim(); ++i) {
    const std::int64_t reach = a.strides[i] * (a.shape[i] - 1);
    (reach < 0 ? e.begin : e.end) += reach;
    if (i > 0) e.extent += std::abs(reach);
  }
  if (a.ndim() > 0 && a.shape[0] > 1) e.stride = std::abs(a.strides[0]);
  return e;
}

bool overlap(const Extent& a, const Extent& b) {
  if (a.begin == a.end || b.begin == b.end) return false;
  if (a.end <= b.begin || b.end <= a.begin) return false;
  const std::int64_t stride = a.stride;
  if (stride != b.stride || stride < a.extent || stride < b.extent) return true;
  const std::int64_t apart = ((b.begin - a.begin) % stride + stride) % stride;  // interleaved?
  return apart < a.extent || apart + b.extent > stride;
}

}  // namespace

Arrays::Arrays(AnyArray leader, const char* form) {
  arrays_.reserve(24);  // as many as most calls have
  arrays_.push_back(std::move(leader));
  const AnyArray& a = arrays_.front();
  if (!is_float(a.dtype)) {
    const std::string got = a.given() ? name_of(a.dtype) : "None";
    refuse_type(a, "expected float32 or float64, got " + got);
  }
  const std::string text(form);
  if (a.ndim() != std::size_t(std::count(text.begin(), text.end(), ',')) + 1) {
    refuse_value(a, "expected shape " + text + ", got " + text_of(a.shape));
  }
  for (const std::int64_t size : a.shape) {
    if (size > std::numeric_limits<std::int32_t>::max())
      refuse_value(a, "expected sizes of 32 bits, got " + text_of(a.shape));
  }
}

void Arrays::check_kind(const AnyArray& a, nb::dlpack::dtype dtype) const {
  if (!(a.dtype == dtype)) {
    const std::string as = is_float(dtype) && dtype == leader().dtype
                               ? ", as " + leader().name + " has"
                               : std::string();
    refuse_type(a, "expected " + name_of(dtype) + as + ", got " + name_of(a.dtype));
  }
  if (!(a.place == leader().place)) {
    refuse_value(a, "expected an array in " + leader().place.text() + ", as " + leader().name +
                        " is, got one in " + a.place.text());
  }
  if (!a.place.on_host() && !a.empty() && cuda::device_of(a.data) != a.place.gpu) {
    refuse_value(a, "expected " + a.place.text() + ", got other memory");
  }
}

Arrays::Slots Arrays::add(AnyArray a, nb::dlpack::dtype dtype, const Axes& sizes, bool writable,
                          const Allowed& allowed) {
  if (!a.given()) return {nullptr, 0};
  check_kind(a, dtype);
  const bool shared = !writable && a.ndim() == sizes.size();
  const bool per_env = a.ndim() == sizes.size() + 1 && a.shape[0] == num_envs();
  if (!(shared || per_env) || !ends_with(a, sizes, allowed.at_least)) {
    Axes full{num_envs()};
    for (const std::int64_t size : sizes) full.push_back(size);
    const std::string or_shared = writable ? std::string() : " or " + text_of(sizes);
    const char* more = allowed.at_least ? ", or more columns" : "";
    refuse_value(
        a, "expected shape " + text_of(full) + or_shared + more + ", got " + text_of(a.shape));
  }
  const std::int64_t item = a.item();
  const bool slots = per_env && num_envs() > 1 && !a.empty();
  if (allowed.ld != nullptr) *allowed.ld = std::int32_t(a.shape.back());
  check_slot(a, sizes.size(), allowed.ld);
  std::int64_t stride = slots ? a.strides[0] : 0;
  if (reinterpret_cast<std::uintptr_t>(a.data) % std::uintptr_t(item) != 0 || stride % item != 0) {
    refuse_value(a, "expected memory aligned to " + std::to_string(item) +
                        " bytes, got the address " +
                        std::to_string(reinterpret_cast<std::uintptr_t>(a.data)));
  }
  std::int64_t slot_bytes = item;
  for (std::size_t i = a.ndim() - sizes.size(); i < a.ndim(); ++i) slot_bytes *= a.shape[i];
  const bool apart = sizes.size() == 0 ? stride == item : stride >= slot_bytes;
  if (slots && writable && !apart) {
    refuse_value(a, "expected one environment after the other in memory, got strides of " +
                        text_of(a.strides) + " bytes");
  }
  if (writable && num_envs() == 1) stride = slot_bytes;  // what is cleared has this size
  if (a.data == nullptr) {                               // an array without elements
    static std::int64_t nothing = 0;
    a.data = reinterpret_cast<unsigned char*>(&nothing);
  }
  if (writable) outputs_.push_back(arrays_.size());
  void* const data = a.data;
  arrays_.push_back(std::move(a));
  return {data, stride};
}

void Arrays::require_outputs_of_their_own() const {
  for (const std::size_t o : outputs_) {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
      if (i == o || !overlap(extent_of(arrays_[o]), extent_of(arrays_[i]))) continue;
      refuse_value(arrays_[o], "expected memory of its own, got some of " + arrays_[i].name);
    }
  }
}

}  // namespace stickslip::bindings
