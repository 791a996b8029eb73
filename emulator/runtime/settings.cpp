#include "runtime/settings.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace gpu_emulator {
namespace {

const char* text_of(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

template <class Number>
void read_number(const char* name, Number& value) {
  const std::string text = text_of(name);
  if (text.empty()) return;
  char* end = nullptr;
  const unsigned long long read = std::strtoull(text.c_str(), &end, 10);
  if (*end == 0) {
    value = Number(read);
  } else {
    say(std::string(name) + ": expected a number, got '" + text + "'");
  }
}

void read_checks(Settings& s) {
  const std::string list = text_of("GPU_EMULATOR_CHECK");
  if (list.empty()) return;
  s.check_memory = s.check_races = s.check_uninitialised = s.check_host = false;
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    const bool all = word == "all";
    bool known = all || word == "none";
    const auto set = [&](const char* name, bool& check) {
      if (all || word == name) known = check = true;
    };
    set("memory", s.check_memory);
    set("races", s.check_races);
    set("uninitialised", s.check_uninitialised);
    set("host", s.check_host);
    if (!known) {
      say("GPU_EMULATOR_CHECK: expected memory, races, uninitialised, host, all or none, got '" +
          word + "'");
    }
  }
}

Settings read_settings() {
  Settings s;
  read_checks(s);
  const std::string streams = text_of("GPU_EMULATOR_STREAMS");
  s.late = streams == "late";
  if (!streams.empty() && !s.late && streams != "eager") {
    say("GPU_EMULATOR_STREAMS: expected eager or late, got '" + streams + "'");
  }
  read_number("GPU_EMULATOR_SEED", s.seed);
  read_number("GPU_EMULATOR_PROCESSORS", s.processors);
  read_number("GPU_EMULATOR_ARCHITECTURE", s.architecture);
  read_number("GPU_EMULATOR_MESSAGES", s.messages);
  read_number("GPU_EMULATOR_HANG", s.most_instructions);
  s.report = text_of("GPU_EMULATOR_REPORT");
  s.ptx = text_of("GPU_EMULATOR_PTX");
  return s;
}

}  // namespace

const Settings& settings() {
  static const Settings* const instance = new Settings(read_settings());
  return *instance;
}

void say(const std::string& text) { std::fprintf(stderr, "[gpu-emulator] %s\n", text.c_str()); }

}  // namespace gpu_emulator
