#include "ptx/parse/declaration.hpp"

#include <algorithm>

#include "ptx/program/opcode.hpp"

namespace gpu_emulator::ptx {
namespace {

struct Attributes {
  u64 elements = 1;
  u32 align = 0;
  Type type = Type::none;
};

/// What comes before the name, which is returned.
std::string_view parse_attributes(Lexer& lex, Attributes& a) {
  for (;;) {
    const std::string_view w = lex.word();
    if (w == ".align") {
      a.align = u32(lex.integer());
    } else if (w == ".v2") {
      a.elements = 2;
    } else if (w == ".v4") {
      a.elements = 4;
    } else if (w.starts_with(".attribute")) {
      lex.expect('(');
      lex.skip_past(')');
    } else if (w == ".ptr" || w == ".const" || w == ".global" || w == ".local" || w == ".shared") {
      continue;  // what a parameter points to
    } else if (w.size() > 1 && w[0] == '.') {
      a.type = type_of(w.substr(1));
      if (a.type == Type::none) lex.fail("unknown type");
    } else {
      return w;
    }
  }
}

}  // namespace

Declaration parse_declaration(Lexer& lex) {
  Attributes a;
  const std::string_view name = parse_attributes(lex, a);
  if (name.empty() || a.type == Type::none) lex.fail("declaration expected");
  Declaration d;
  d.type = a.type;
  while (lex.accept('[')) {
    if (lex.peek() == ']') {
      d.unsized = true;
      a.elements = 0;
    } else {
      a.elements *= u64(lex.integer());
    }
    lex.expect(']');
  }
  const u32 natural = std::max(1U, width(a.type));
  d.variable.name = std::string(name);
  d.variable.align = a.align != 0 ? a.align : natural;
  d.variable.bytes = a.elements * natural;
  return d;
}

std::vector<Variable> parse_parameters(Lexer& lex) {
  std::vector<Variable> list;
  lex.expect('(');
  while (!lex.accept(')')) {
    if (lex.word() != ".param") lex.fail("expected .param");
    Variable v = parse_declaration(lex).variable;
    v.space = Space::param;
    list.push_back(v);
    lex.accept(',');
  }
  return list;
}

}  // namespace gpu_emulator::ptx
