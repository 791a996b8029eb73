// stickslip_gallery [--variations N] [NAME...]: runs examples (all without a NAME), prints their
// results, and fails if a check fails.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "gallery/cpp/gallery.hpp"

namespace {

using stickslip::gallery::Check;
using stickslip::gallery::Example;
using stickslip::gallery::examples;

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "stickslip_gallery: %s\n", message.c_str());
  std::exit(2);
}

int positive(const char* text) {
  char* end = nullptr;
  const long number = text ? std::strtol(text, &end, 10) : 0;
  if (number < 1 || number > 1'000'000 || *end != '\0')
    fail("--variations: expected 1 to 1000000, got " + std::string(text ? text : "nothing"));
  return int(number);
}

const Example& find(const std::string& name) {
  const auto& all = examples();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Example& e) { return e.name == name; });
  if (found != all.end()) return *found;
  std::string names;
  for (const Example& each : all) names += " " + each.name;
  fail("no example " + name + "; there are" + names);
}

/// Runs one example and prints it; returns whether all its checks hold.
bool run(const Example& example, int variations) {
  const auto record = example.run(variations);
  std::printf("%s, %d variations\n", example.name.c_str(), variations);
  bool holds = !record.checks.empty();
  for (const Check& check : record.checks) {
    holds = holds && check.holds();
    std::printf("  %s  %-58s %10.3g <= %.3g\n", check.holds() ? "ok  " : "FAIL", check.name.c_str(),
                check.value, check.bound);
  }
  for (const auto& [name, value] : record.numbers)
    std::printf("        %-58s %10.4g\n", name.c_str(), value);
  return holds;
}

}  // namespace

int main(int argc, char** argv) try {
  int variations = 1000;
  std::vector<Example> chosen;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--variations")
      variations = positive(argv[++i]);
    else
      chosen.push_back(find(argument));
  }
  bool hold = true;
  for (const Example& example : chosen.empty() ? examples() : chosen)
    hold = run(example, variations) && hold;
  return hold ? 0 : 1;
} catch (const std::exception& error) {
  fail(error.what());
}
