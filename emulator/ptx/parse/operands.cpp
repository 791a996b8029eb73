// Operands: what is written, and the values that it stands for.
#include <bit>

#include "ptx/parse/body_parser.hpp"

namespace gpu_emulator::ptx {
namespace {

u64 negative(const Literal& l) {
  return l.is_float ? std::bit_cast<u64>(-std::bit_cast<double>(l.bits)) : u64(-i64(l.bits));
}

}  // namespace

Operand BodyParser::operand() {
  Operand o;
  if (lex_.accept('{')) {
    o.kind = Operand::vector;
    while (!lex_.accept('}')) {
      o.items.push_back(operand());
      lex_.accept(',');
    }
    return o;
  }
  if (lex_.accept('[')) {
    o.kind = Operand::memory;
    o.items.push_back(operand());
    o.add = optional_offset();
    lex_.expect(']');
    return o;
  }
  const bool negated = lex_.accept('!');
  const bool minus = lex_.accept('-'), plus = !minus && lex_.accept('+');
  const std::string_view word = lex_.word();
  Literal l;
  if (parse_literal(word, l)) {
    o.kind = Operand::imm;
    o.is_float = l.is_float;
    o.bits = minus ? negative(l) : l.bits;
    o.negated = negated;
    return o;
  }
  if (minus || plus) lex_.fail("number expected");
  o = named_operand(word);
  o.negated = negated;
  if (lex_.accept('|')) {
    o.paired = true;
    o.items.push_back(operand());
  }
  return o;
}

/// + number or - number, if one follows.
i64 BodyParser::optional_offset() {
  return lex_.accept('+') || lex_.peek() == '-' ? lex_.integer() : 0;
}

Operand BodyParser::named_operand(std::string_view word) {
  Operand o;
  if (word.empty()) lex_.fail("operand expected");
  if (word == "_") {
    o.kind = Operand::sink;
  } else if (word == "WARP_SZ") {
    o.kind = Operand::imm;
    o.bits = 32;
  } else if (const auto reg = scopes_.find_register(word)) {
    o.kind = Operand::reg;
    o.value = *reg;
  } else if (word[0] == '%' && (special_of(word) != Special::none || is_clock(word))) {
    o.kind = Operand::special;
    o.name = word;
  } else if (word[0] == '%') {
    lex_.fail("unknown register " + std::string(word));
  } else {
    o.kind = Operand::symbol;
    o.name = word;
    o.add = optional_offset();  // inside [] the offset belongs to the address: the same sum
  }
  return o;
}

u32 BodyParser::register_operand(const Operand& o, Type t, bool any_size, const char* what) {
  const Register have = values_[o.value].size;
  const bool larger = have != Register::pred && lane_bytes(have) >= width(t);
  if (have != register_of(t) && !(any_size && larger)) {
    lex_.fail(std::string(what) + " of another size");
  }
  return o.value;
}

u32 BodyParser::source(const Operand& o, Type t, bool any_size) {
  switch (o.kind) {
    case Operand::reg:
      return register_operand(o, t, any_size, "operand");
    case Operand::imm:
      return immediate(o, t);
    case Operand::special:
      return values_.special(special_of(o.name), register_of(t));
    case Operand::symbol:
      return symbol(o, register_of(t)).value;
    default:
      lex_.fail("bad operand");
  }
}

u32 BodyParser::immediate(const Operand& o, Type t) {
  u64 bits = o.bits;
  if (t == Type::pred) return values_.constant(Register::pred, bits != 0 ? kAll : 0);
  if (o.is_float) {
    if (width(t) == 4) bits = std::bit_cast<u32>(float(std::bit_cast<double>(bits)));
  } else if (t == Type::f32) {
    bits = std::bit_cast<u32>(float(i64(bits)));
  } else if (t == Type::f64) {
    bits = std::bit_cast<u64>(double(i64(bits)));
  }
  return values_.constant(register_of(t), bits);
}

u32 BodyParser::destination(const Operand& o, Type t, bool any_size) {
  if (o.kind == Operand::sink) return values_.add(register_of(t));
  if (o.kind != Operand::reg) lex_.fail("bad destination");
  return register_operand(o, t, any_size, "destination");
}

u32 BodyParser::paired_predicate(const Operand& o) {
  return o.paired ? destination(o.items[0], Type::pred) : values_.add(Register::pred);
}

void BodyParser::set(Instruction& ins, std::initializer_list<u32> dst,
                     std::initializer_list<u32> src) {
  unsigned n = 0;
  for (const u32 v : dst) ins.o[n++] = v;
  ins.ndst = u8(n);
  for (const u32 v : src) ins.o[n++] = v;
  ins.nops = u8(n);
}

void BodyParser::need(const Statement& s, std::size_t operands) {
  if (s.x.size() != operands) lex_.fail("unexpected number of operands");
}

void BodyParser::unknown(const Statement& s) {
  lex_.fail("unknown instruction " + std::string(s.op.text));
}

}  // namespace gpu_emulator::ptx
