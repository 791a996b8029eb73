// Words and signs of a PTX text.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

#include "ptx/program/types.hpp"

namespace gpu_emulator::ptx {

struct Lexer {
  std::string_view text;
  std::size_t pos = 0;
  u32 line = 1;

  [[noreturn]] void fail(const std::string& what) const;
  bool done();
  /// The next sign, '\0' at the end.
  char peek() {
    if (at_space()) skip();
    return pos < text.size() ? text[pos] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++pos;
    return true;
  }
  void expect(char c);
  /// Letters, digits and what names have; empty if something else comes.
  std::string_view word();
  /// In quotes.
  std::string string();
  i64 integer();
  void skip_to_line_end();
  /// Up to this sign, and past it.
  void skip_past(char c);
  /// After '{': past the matching '}'.
  void skip_braces();

 private:
  void skip();
  /// Perhaps a comment.
  bool at_space() const { return pos < text.size() && (text[pos] <= ' ' || text[pos] == '/'); }
  bool starts(std::string_view what) const { return text.substr(pos, what.size()) == what; }
  void skip_comment();
};

/// What an integer or a floating-point literal stands for. `bits`: an integer, or a double's.
struct Literal {
  u64 bits = 0;
  bool is_float = false;
};
bool parse_literal(std::string_view word, Literal& literal);

}  // namespace gpu_emulator::ptx
