#include "support.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

namespace gpu_emulator::tests {
namespace {

std::vector<std::shared_ptr<const ptx::Module>> modules;
int done = 0, failed = 0;

}  // namespace

void check(bool ok, const std::string& what) {
  constexpr int kMostShown = 60;
  ++done;
  if (ok) return;
  if (++failed < kMostShown) std::printf("FAILED: %s\n", what.c_str());
}
int failures() { return failed; }
int checks_done() { return done; }

void read_kernels(const std::string& folder, const std::string& ending) {
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (!file.path().filename().string().ends_with(ending)) continue;
    std::ifstream in(file.path(), std::ios::binary);
    modules.push_back(ptx::Module::parse(std::string(std::istreambuf_iterator<char>(in), {})));
  }
}

ptx::Report run_kernel(const char* name, const ptx::Launch& launch, const ptx::Checks& checks,
                       u64 seed) {
  for (const auto& m : modules) {
    if (const ptx::Kernel* k = m->find(name)) return ptx::run(*m, *k, launch, checks, seed);
  }
  check(false, std::string("no kernel ") + name);
  return {};
}

ptx::Checks all_checks() {
  ptx::Checks c;
  c.races = c.uninitialised = c.global_races = true;
  return c;
}

std::string joined(const ptx::Report& r) {
  std::string s;
  for (const auto& e : r.errors) s += e + "\n";
  return s;
}

void expect(const char* name, const ptx::Report& r, int wrong) {
  check(wrong == 0 && r.errors.empty(),
        std::string(name) + ": " + std::to_string(wrong) + " wrong. " + joined(r));
}

}  // namespace gpu_emulator::tests
