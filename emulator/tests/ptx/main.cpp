// ptx_test FOLDER ARCHITECTURE [TEST ..]: runs the kernels FOLDER/*.ARCHITECTURE.ptx. Without
// names: all tests but `speed`, which only measures.
#include <algorithm>
#include <exception>

#include "support.hpp"
#include "tests.hpp"

using namespace gpu_emulator::tests;

namespace {

struct Test {
  std::string name;
  void (*run)();
};
const Test kTests[] = {
    {"floats", floats},
    {"conversions", conversions},
    {"comparisons", comparisons},
    {"integers", integers},
    {"bits", bits},
    {"control", control},
    {"functions", functions},
    {"parameters", parameters},
    {"warps", warps},
    {"blocks", blocks},
    {"atomics", atomics},
    {"races", races},
    {"errors", errors},
    {"schedules", schedules},
    {"transactions", transactions},
    {"refusals", refusals},
    {"speed", speed},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::vector<std::string> names(argv + 3, argv + argc);
  try {
    read_kernels(argv[1], std::string(".") + argv[2] + ".ptx");
    for (const Test& t : kTests) {
      const bool named = std::find(names.begin(), names.end(), t.name) != names.end();
      if (names.empty() ? t.name != "speed" : named) t.run();
    }
  } catch (const std::exception& e) {
    check(false, e.what());
  }
  std::printf("architecture %s: %d checks, %d failures\n", argv[2], checks_done(), failures());
  return failures() != 0 || checks_done() == 0;
}
