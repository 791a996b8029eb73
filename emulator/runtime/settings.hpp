// What the environment says, read once.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace gpu_emulator {

struct Settings {
  bool check_memory = true;          ///< GPU_EMULATOR_CHECK: a list of these words, or "none"
  bool check_races = false;          ///< "races"
  bool check_uninitialised = false;  ///< "uninitialised"
  bool check_host = true;            ///< "host": the host may not touch device memory
  bool late = false;         ///< GPU_EMULATOR_STREAMS=late: work is done when it is waited for
  std::uint64_t seed = 0;    ///< GPU_EMULATOR_SEED: schedule of the lanes
  int processors = 132;      ///< GPU_EMULATOR_PROCESSORS
  int architecture = 90;     ///< GPU_EMULATOR_ARCHITECTURE
  std::size_t messages = 8;  ///< GPU_EMULATOR_MESSAGES: most per launch
  std::uint64_t most_instructions =
      0;               ///< GPU_EMULATOR_HANG: of warps, in a launch; 0: the default
  std::string report;  ///< GPU_EMULATOR_REPORT: file for a line per launch
  std::string ptx;     ///< GPU_EMULATOR_PTX: folder of PTX files, for programs without
};

const Settings& settings();

/// Says on stderr, with the emulator's name before it.
void say(const std::string& text);

}  // namespace gpu_emulator
