// The implementation of a public class, for the library's own sources.
#pragma once

namespace stickslip {

struct ImplAccess {
  template <class T>
  static auto& of(T& object) {
    return *object.impl_;
  }
};

template <class T>
auto& impl_of(T& object) {
  return ImplAccess::of(object);
}

}  // namespace stickslip
