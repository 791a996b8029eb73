// Parameters of kernels: by name, by computed and by generic addresses.
#include <cstddef>

#include "support.hpp"
#include "tests.hpp"

namespace gpu_emulator::tests {
namespace {

struct Big {
  int n;
  double x[5];
  float y;
  u8 z[3];
};
const Big kBig = {7, {1.5, 2.5, 3.5, 4.5, 5.5}, 0.75F, {9, 200, 31}};

void by_value(const Setup& s) {
  std::vector<double> out(32);
  const auto r =
      launch("parameters", shaped(s, {1}, {32}), out.data(), kBig, u8(250), short(-300), 0.125F);
  expect("parameters", r, wrong(out, 0, 32, [&](int i) {
           return kBig.x[i % 5] + 7 + 0.75 + kBig.z[i % 3] + 250 - 300 + 0.125;
         }));
}

void by_address(const Setup& s) {
  std::vector<double> out(32);
  std::vector<float> floats(32);
  const auto at = [](int i) { return kBig.x[(i + 2) % 5] + kBig.z[i % 3]; };
  auto r = launch("parameter_address", shaped(s, {1}, {32}), out.data(), kBig, 2);
  expect("parameter_address", r, wrong(out, 0, 32, at));
  r = launch("parameter_indexed", shaped(s, {1}, {32}), floats.data(), kBig, 2);
  expect("parameter_indexed", r, wrong(floats, 0, 32, at));
}

/// .param lies in the window of .global.
void spaces(const Setup& s) {
  std::vector<int> out(32);
  const auto r = launch("parameter_spaces", shaped(s, {1}, {32}), out.data(), kBig);
  expect("parameter_spaces", r, wrong(out, 0, 32, [](int) { return 3; }));
}

}  // namespace

void parameters() {
  in_schedules([](const Setup& s) {
    by_value(s);
    by_address(s);
    spaces(s);
  });
  // Who is asked about memory knows nothing of parameters, and is not asked.
  std::vector<double> out(32);
  const auto from = reinterpret_cast<std::uintptr_t>(out.data());
  int unknown = 0;
  ptx::Checks bounds;
  bounds.may_touch = [&](std::uintptr_t a, std::size_t n, bool) {
    const bool known = a >= from && a + n <= from + 32 * sizeof(double);
    unknown += !known && n < 4096;
    return known;
  };
  must_be_silent("parameter_address", 32, bounds, out.data(), kBig, 2);
  check(unknown == 0, "reads of parameters are not asked about");
  must_say("parameter_written", "invalid global write of 8 bytes", 1, bounds, out.data(), kBig, 1);
  must_say("parameter_overrun", "invalid global read of 8 bytes", 1, bounds, out.data(), kBig, 90);
}

}  // namespace gpu_emulator::tests
