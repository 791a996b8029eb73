// Words that stand for something: tables that need no initialisation when a program starts.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

namespace gpu_emulator::ptx {

template <class T>
struct Named {
  std::string_view name;
  T value;
};

template <class T, std::size_t n>
constexpr std::optional<T> find_named(const Named<T> (&list)[n], std::string_view name) {
  for (const Named<T>& x : list) {
    if (x.name == name) return x.value;
  }
  return std::nullopt;
}

}  // namespace gpu_emulator::ptx
