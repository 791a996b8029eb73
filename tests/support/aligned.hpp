// Scratch for a kernel that is called without the library's workspaces.
#pragma once
#include <cstddef>
#include <cstring>
#include <vector>

namespace stickslip::support {

/// Zeroed memory that begins at a cache line, as kernels::Arena requires.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t bytes) : lines_(bytes / sizeof(Line) + 1) {}
  void* data() { return lines_.data(); }
  void fill(int byte) { std::memset(lines_.data(), byte, lines_.size() * sizeof(Line)); }

 private:
  struct alignas(64) Line {
    unsigned char bytes[64];
  };
  std::vector<Line> lines_;
};

}  // namespace stickslip::support
