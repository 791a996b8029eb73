// printf of kernels.
#include <bit>
#include <cstdio>
#include <cstring>

#include "ptx/machine/machine.hpp"

namespace gpu_emulator::ptx {
namespace {

/// One conversion: %, flags, width, length, letter.
struct Conversion {
  std::string flags = "%";  // without the length
  bool longer = false;
  char letter = '%';

  bool is_float() const { return std::strchr("eEfFgGaA", letter) != nullptr; }
  unsigned bytes() const { return longer || is_float() || letter == 's' || letter == 'p' ? 8 : 4; }
};

/// After the sign; moves on past it.
Conversion conversion_at(const char*& f) {
  Conversion c;
  for (; *f != 0 && std::strchr("diouxXeEfFgGaAcsp%", *f) == nullptr; ++f) {
    c.longer = c.longer || std::strchr("ljzt", *f) != nullptr;
    if (std::strchr("hljzt", *f) == nullptr) c.flags += *f;
  }
  if (*f != 0) c.letter = *f++;
  return c;
}

std::string converted(const Conversion& c, u64 bits) {
  char text[512];
  const std::string plain = c.flags + c.letter, wide = c.flags + "ll" + c.letter;
  if (c.is_float()) {
    std::snprintf(text, sizeof text, plain.c_str(), std::bit_cast<double>(bits));
  } else if (c.letter == 's') {
    std::snprintf(text, sizeof text, plain.c_str(), reinterpret_cast<const char*>(bits));
  } else if (c.letter == 'p') {
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(bits));
  } else if (c.letter == 'c') {
    std::snprintf(text, sizeof text, "%c", int(bits));
  } else if (c.longer) {
    std::snprintf(text, sizeof text, wide.c_str(), static_cast<long long>(bits));
  } else {
    std::snprintf(text, sizeof text, plain.c_str(), int(bits));
  }
  return text;
}

std::string formatted(const char* f, const char* arguments) {
  std::string out;
  u64 used = 0;
  while (*f != 0) {
    if (*f != '%') {
      out += *f++;
      continue;
    }
    const Conversion c = conversion_at(++f);
    if (c.letter == '%') {
      out += '%';
      continue;
    }
    used = align_up(used, c.bytes());
    u64 bits = 0;
    if (arguments != nullptr) std::memcpy(&bits, arguments + used, c.bytes());
    used += c.bytes();
    out += converted(c, bits);
  }
  return out;
}

}  // namespace

/// vprintf(format, arguments): each lane's own.
void Machine::print(Warp& w, u32 m, u64 base, const Call& c) {
  for (u32 k = m; k; k &= k - 1) {
    const u32 l = u32(std::countr_zero(k));
    const char* format = nullptr;
    u64 arguments = 0;
    std::memcpy(&format, local_of(w, l, base + c.arguments.at(0).offset), sizeof format);
    std::memcpy(&arguments, local_of(w, l, base + c.arguments.at(1).offset), sizeof arguments);
    const char* list = arguments != 0 ? local_of(w, l, arguments - kLocalWindow) : nullptr;
    std::fputs(formatted(format, list).c_str(), stdout);
  }
}

}  // namespace gpu_emulator::ptx
