// Variables of a module and what they hold at first.
#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/parse/module_parser.hpp"

namespace gpu_emulator::ptx {
namespace {

/// The bits of a literal as a variable of type t has them.
u64 bits_as(Literal l, bool minus, Type t) {
  if (l.is_float || t == Type::f32 || t == Type::f64) {
    double x = l.is_float ? std::bit_cast<double>(l.bits)
               : minus    ? double(i64(l.bits))
                          : double(l.bits);
    if (minus) x = -x;
    return t == Type::f32 ? std::bit_cast<u32>(float(x)) : std::bit_cast<u64>(x);
  }
  return minus ? u64(-i64(l.bits)) : l.bits;
}

}  // namespace

void ModuleParser::variable(Space space, bool external) {
  do {
    const Declaration d = parse_declaration(lex_);
    Variable v = d.variable;
    v.space = space;
    if (space == Space::shared) {
      v.dynamic = d.unsized;
      if (d.unsized) module_.dynamic_align = std::max(module_.dynamic_align, v.align);
    } else {
      if (d.unsized && !external) lex_.fail("array without a size");
      const auto known = module_.variables.find(v.name);
      if (external && known != module_.variables.end() && known->second.memory != nullptr) continue;
      v.memory = module_.allocate(v.bytes, v.align);
      if (lex_.accept('=')) {
        char* at = v.memory;
        initialiser(v, d.type, at);
      }
    }
    module_.variables[v.name] = v;
  } while (lex_.accept(','));
  lex_.expect(';');
}

void ModuleParser::initialiser(const Variable& v, Type t, char*& at) {
  if (lex_.accept('{')) {
    while (!lex_.accept('}')) {
      initialiser(v, t, at);
      lex_.accept(',');
    }
    return;
  }
  const unsigned n = std::max(1U, width(t));
  if (at + n > v.memory + std::max<u64>(v.bytes, n)) lex_.fail("too many initialisers");
  const bool minus = lex_.accept('-');
  const std::string_view word = lex_.word();
  Literal l;
  if (!parse_literal(word, l)) {
    symbol_initialiser(word, at, n);
  } else {
    if (lex_.peek() == '(') lex_.fail("masked initialisers are not supported");
    const u64 bits = bits_as(l, minus, t);
    std::memcpy(at, &bits, n);
  }
  at += n;
}

/// name, or generic(name), or either with a number added.
void ModuleParser::symbol_initialiser(std::string_view word, char* at, unsigned bytes) {
  if (word == "generic") {
    lex_.expect('(');
    word = lex_.word();
    lex_.expect(')');
  }
  i64 add = 0;
  if (lex_.accept('+') || lex_.peek() == '-') add = lex_.integer();
  fixes_.push_back({at, bytes, std::string(word), add, lex_.line});
}

u64 ModuleParser::address_of(const Fix& fix) const {
  const auto v = module_.variables.find(fix.name);
  if (v != module_.variables.end()) return u64(v->second.memory);
  const auto f = module_.functions.find(fix.name);
  if (f != module_.functions.end()) return u64(f->second.get());
  throw std::runtime_error("PTX line " + std::to_string(fix.line) + ": unknown symbol " + fix.name);
}

void ModuleParser::resolve_initialisers() {
  for (const Fix& fix : fixes_) {
    const u64 value = address_of(fix) + u64(fix.add);
    std::memcpy(fix.at, &value, fix.bytes);
  }
}

}  // namespace gpu_emulator::ptx
