// Declarations of variables and parameters.
#pragma once
#include <vector>

#include "ptx/parse/lexer.hpp"
#include "ptx/program/program.hpp"

namespace gpu_emulator::ptx {

struct Declaration {
  Variable variable;
  Type type = Type::none;
  bool unsized = false;  // name[]
};

/// [.align n] [.v2] .type name[..], without what follows.
Declaration parse_declaration(Lexer& lex);

/// (.param .type name, ..)
std::vector<Variable> parse_parameters(Lexer& lex);

}  // namespace gpu_emulator::ptx
