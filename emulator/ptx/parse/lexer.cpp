#include "ptx/parse/lexer.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>

namespace gpu_emulator::ptx {
namespace {

bool word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%' || c == '.';
}

bool matters_in_braces(char c) { return c == '{' || c == '}' || c == '"' || c == '/' || c == '\n'; }

}  // namespace

void Lexer::fail(const std::string& what) const {
  std::size_t from = std::min(pos, text.size()), to = from;
  while (from > 0 && text[from - 1] != '\n') --from;
  while (to < text.size() && text[to] != '\n') ++to;
  const std::size_t shown = std::min<std::size_t>(to - from, 300);
  throw std::runtime_error("PTX line " + std::to_string(line) + ": " + what + ": " +
                           std::string(text.substr(from, shown)));
}

void Lexer::skip() {
  while (pos < text.size()) {
    const char c = text[pos];
    if (c == '\n') {
      ++line;
      ++pos;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\0') {
      ++pos;
    } else if (c != '/') {
      return;
    } else if (starts("//")) {
      skip_to_line_end();
    } else if (starts("/*")) {
      skip_comment();
    } else {
      return;
    }
  }
}

void Lexer::skip_comment() {
  pos += 2;
  while (pos + 1 < text.size() && !starts("*/")) {
    if (text[pos] == '\n') ++line;
    ++pos;
  }
  pos += 2;
}

bool Lexer::done() {
  skip();
  return pos >= text.size();
}

void Lexer::expect(char c) {
  if (!accept(c)) fail(std::string("expected '") + c + "'");
}

std::string_view Lexer::word() {
  skip();
  const std::size_t from = pos;
  while (pos < text.size()) {
    if (word_char(text[pos])) {
      ++pos;
    } else if (text[pos] == ':' && pos > from && starts("::")) {
      pos += 2;
    } else {
      break;
    }
  }
  return text.substr(from, pos - from);
}

std::string Lexer::string() {
  expect('"');
  const std::size_t from = pos;
  while (pos < text.size() && text[pos] != '"') ++pos;
  std::string s(text.substr(from, pos - from));
  ++pos;
  return s;
}

i64 Lexer::integer() {
  const bool minus = accept('-');
  Literal l;
  if (!parse_literal(word(), l) || l.is_float) fail("integer expected");
  return minus ? -i64(l.bits) : i64(l.bits);
}

void Lexer::skip_to_line_end() { pos = std::min(text.find('\n', pos), text.size()); }

void Lexer::skip_past(char c) {
  while (pos < text.size() && text[pos] != c) {
    if (text[pos] == '\n') ++line;
    ++pos;
  }
  expect(c);
}

void Lexer::skip_braces() {
  for (int depth = 1; depth > 0;) {
    while (pos < text.size() && !matters_in_braces(text[pos])) ++pos;
    if (pos == text.size()) fail("unbalanced braces");
    const char c = text[pos];
    if (c == '/' && starts("//")) {
      skip_to_line_end();
      continue;
    }
    ++pos;
    if (c == '\n') ++line;
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == '"') pos = std::min(text.find('"', pos), text.size() - 1) + 1;
  }
}

bool parse_literal(std::string_view word, Literal& literal) {
  if (word.empty() || word[0] < '0' || word[0] > '9') return false;
  const std::string text(word);
  const char kind = word[0] == '0' && word.size() > 2 ? char(std::tolower(word[1])) : ' ';
  if (kind == 'f' && word.size() == 10) {
    const auto bits = u32(std::strtoul(text.c_str() + 2, nullptr, 16));
    literal = {std::bit_cast<u64>(double(std::bit_cast<float>(bits))), true};
  } else if (kind == 'd' && word.size() == 18) {
    literal = {std::strtoull(text.c_str() + 2, nullptr, 16), true};
  } else if (word.find('.') != word.npos) {
    literal = {std::bit_cast<u64>(std::strtod(text.c_str(), nullptr)), true};
  } else if (kind == 'b') {
    literal = {std::strtoull(text.c_str() + 2, nullptr, 2), false};
  } else {
    literal = {std::strtoull(text.c_str(), nullptr, 0), false};
  }
  return true;
}

}  // namespace gpu_emulator::ptx
