// Assigns parts of one piece of memory to the arrays of a body. A null base only counts bytes, so
// the constructor that places a scratch also computes its size.
#pragma once
#include <cstddef>

#include "kernels/group/defs.hpp"

namespace stickslip::kernels::inline SS_ISA {

class Arena {
 public:
  static constexpr std::size_t kAlignment = kOnGpu ? 16 : 64;

  SS_INNER explicit Arena(void* base) : base_(static_cast<unsigned char*>(base)) {}

  template <class T>
  SS_INNER T* take(std::size_t count) {
    T* place = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    used_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return place;
  }
  SS_INNER std::size_t used() const { return used_; }

 private:
  unsigned char* base_;
  std::size_t used_ = 0;
};

}  // namespace stickslip::kernels::inline SS_ISA
