// What a launch did wrong, in words: with kernel, block, thread and line.
#pragma once
#include <set>
#include <string>
#include <tuple>

#include "ptx/program/program.hpp"
#include "ptx/words.hpp"

namespace gpu_emulator::ptx {

/// Thrown where a launch cannot go on, after it was said why.
struct Abort {};

/// "0-7,12"
std::string lane_ranges(u32 mask);

class Messages {
 public:
  Messages(const ModuleImpl& module, const Function& entry, const Launch& launch,
           const Checks& checks, Report& report)
      : module_(module),
        entry_(entry),
        launch_(launch),
        most_(checks.most_messages),
        report_(report) {}

  /// The block that runs.
  Dim3 block;

  std::string kernel() const;
  std::string context() const;  ///< kernel and block
  std::string thread(u32 t) const;
  std::string where(const Function& f, const Instruction& ins) const;

  void say(const std::string& text);
  bool full() const { return report_.errors.size() >= most_; }
  /// Says this if need be in place of another message.
  [[noreturn]] void stop(const std::string& text);
  /// Whether nothing was said yet about two instructions in this regard.
  bool first_time(const Instruction* a, const Instruction* b, int kind) {
    return told_.emplace(a, b, kind).second;
  }
  /// Says what an instruction of a thread did, once.
  void complain(const Function& f, const Instruction& ins, u32 t, const std::string& text);

 private:
  std::string line(Loc l) const;

  const ModuleImpl& module_;
  const Function& entry_;
  const Launch& launch_;
  const std::size_t most_;
  Report& report_;
  std::set<std::tuple<const Instruction*, const Instruction*, int>> told_;
};

}  // namespace gpu_emulator::ptx
