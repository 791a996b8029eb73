// Names in a function: registers, variables and labels, each known within its braces.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/program/program.hpp"

namespace gpu_emulator::ptx {

class Scopes {
 public:
  Scopes() { open(); }
  void open();
  void close() { open_.pop_back(); }

  void add_register(std::string_view name, u32 value) { here().registers[name] = value; }
  /// prefix0, prefix1, ..
  void add_registers(std::string_view prefix, u32 first, u32 count) {
    here().prefixes[prefix] = {first, count};
  }
  void add_variable(const Variable& v) { here().variables[v.name] = v; }
  void add_label(std::string_view name, u32 instruction) {
    labels_[{here().id, name}] = instruction;
  }

  std::optional<u32> find_register(std::string_view name) const;
  const Variable* find_variable(std::string_view name) const;
  /// As seen from a scope, which may be closed by now.
  std::optional<u32> find_label(u32 scope, std::string_view name) const;
  u32 current() const { return open_.back().id; }

 private:
  struct Range {
    u32 first = 0, count = 0;
  };
  struct Scope {
    u32 id = 0;
    std::unordered_map<std::string_view, Range> prefixes;
    std::unordered_map<std::string_view, u32> registers;
    std::map<std::string, Variable, std::less<>> variables;
  };
  Scope& here() { return open_.back(); }

  std::vector<Scope> open_;
  std::vector<u32> outer_;  // of each scope, kNone: of the first
  std::map<std::pair<u32, std::string_view>, u32> labels_;
};

}  // namespace gpu_emulator::ptx
