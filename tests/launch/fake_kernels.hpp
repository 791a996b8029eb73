// The kernels without a GPU, for tests: functions in place of them.
#pragma once
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/launch/fake_runtime.hpp"

namespace stickslip::fake {

/// Environments in the list of each launch of a solve kernel, in order.
std::vector<int>& solved_by_launch();

/// A kernel from a function of its parameters and of the launch's shape; copies the parameters, as
/// a launch does.
template <class... P, void (*function)(const LaunchShape&, const P&...)>
auto make_kernel(std::integral_constant<void (*)(const LaunchShape&, const P&...), function>) {
  static const Kernel kernel{[](void** parameters, const LaunchShape& shape) {
    std::tuple<P...> copies = [&]<std::size_t... i>(std::index_sequence<i...>) {
      return std::tuple<P...>(*static_cast<P*>(parameters[i])...);
    }
    (std::index_sequence_for<P...>{});
    return std::function<void()>(
        [=] { std::apply([&](const P&... values) { function(shape, values...); }, copies); });
  }};
  return reinterpret_cast<void (*)(P...)>(&kernel);
}

/// Its type is that of the kernel: a pointer to a function of P by value.
template <auto function>
auto kernel() {
  return make_kernel(std::integral_constant<decltype(function), function>{});
}

}  // namespace stickslip::fake
