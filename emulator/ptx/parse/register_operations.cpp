// Instructions from registers to registers.
#include <utility>

#include "ptx/machine/memory_operations.hpp"
#include "ptx/operations/operations.hpp"
#include "ptx/parse/body_parser.hpp"
#include "ptx/program/names.hpp"

namespace gpu_emulator::ptx {
namespace {

/// How many sources an instruction has, where they are not one, and which have types of their own.
struct Shape {
  u8 sources = 1;
  Type result = Type::none;  // none: the instruction's type
  Type source[4] = {Type::none, Type::none, Type::none, Type::none};
};
constexpr Type kSame = Type::none;
constexpr Shape kOne{}, kTwo{2}, kThree{3};
constexpr Shape kShift{2, kSame, {kSame, Type::u32}};
constexpr Shape kCount{1, Type::u32};
constexpr Named<Shape> kShapes[] = {{"add", kTwo},
                                    {"sub", kTwo},
                                    {"mul", kTwo},
                                    {"div", kTwo},
                                    {"rem", kTwo},
                                    {"min", kTwo},
                                    {"max", kTwo},
                                    {"and", kTwo},
                                    {"or", kTwo},
                                    {"xor", kTwo},
                                    {"copysign", kTwo},
                                    {"mul24", kTwo},
                                    {"addc", kTwo},
                                    {"subc", kTwo},
                                    {"bmsk", kTwo},
                                    {"shl", kShift},
                                    {"shr", kShift},
                                    {"mad", kThree},
                                    {"fma", kThree},
                                    {"mad24", kThree},
                                    {"sad", kThree},
                                    {"madc", kThree},
                                    {"shf", kThree},
                                    {"prmt", kThree},
                                    {"lop3", kThree},
                                    {"slct", kThree},
                                    {"popc", kCount},
                                    {"clz", kCount},
                                    {"bfind", kCount},
                                    {"bfe", {3, kSame, {kSame, Type::u32, Type::u32}}},
                                    {"bfi", {4, kSame, {kSame, kSame, Type::u32, Type::u32}}},
                                    {"dp4a", {3, Type::b32, {Type::b32, Type::b32, Type::b32}}},
                                    {"testp", {1, Type::pred}}};

Type twice_as_wide(Type t) {
  switch (t) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    default:
      return Type::s64;
  }
}

Shape shape_of(const Opcode& op) {
  Shape shape = find_named(kShapes, op.base).value_or(kOne);
  if (op.has("wide")) shape.result = shape.source[2] = twice_as_wide(op.type[0]);
  if (op.base == "slct") shape.source[2] = op.type[1];
  return shape;
}

}  // namespace

BodyParser::Parse BodyParser::find_register_operation(std::string_view base) {
  static constexpr Named<Parse> kList[] = {{"mov", &BodyParser::move},
                                           {"cvt", &BodyParser::convert},
                                           {"setp", &BodyParser::compare},
                                           {"set", &BodyParser::compare_to_value},
                                           {"selp", &BodyParser::select}};
  return find_named(kList, base).value_or(nullptr);
}

void BodyParser::move(Statement& s) {
  need(s, 2);
  if (s.x[0].kind == Operand::vector || s.x[1].kind == Operand::vector) return pack(s);
  if (s.x[1].kind == Operand::special && is_clock(s.x[1].name)) return clock(s);
  s.ins.handler = pick_mov(register_of(s.type()));
  set(s.ins, {destination(s.x[0], s.type())}, {source(s.x[1], s.type())});
  emit(s.ins);
}

/// mov d, {a, b} or mov {a, b}, d.
void BodyParser::pack(Statement& s) {
  const bool to_one = s.x[1].kind == Operand::vector;
  const auto& parts = to_one ? s.x[1].items : s.x[0].items;
  if (parts.size() < 2 || parts.size() > 4) unknown(s);
  const unsigned bytes = width(s.type()) / unsigned(parts.size());
  const Type part = bytes == 4 ? Type::b32 : bytes == 2 ? Type::b16 : Type::none;
  if (part == Type::none) unknown(s);
  s.ins.handler = pick_pack(register_of(s.type()), register_of(part), to_one);
  if (s.ins.handler == nullptr) unknown(s);
  unsigned k = 0;
  if (to_one) s.ins.o[k++] = destination(s.x[0], s.type());
  for (const Operand& o : parts) {
    s.ins.o[k++] = to_one ? source(o, part) : destination(o, part);
  }
  if (!to_one) s.ins.o[k++] = source(s.x[1], s.type());
  s.ins.ndst = to_one ? 1 : u8(parts.size());
  s.ins.nops = u8(k);
  emit(s.ins);
}

void BodyParser::clock(Statement& s) {
  s.ins.handler = kClock;
  s.ins.size = u8(width(s.type()));
  s.ins.mode = s.x[1].name.ends_with("hi");
  set(s.ins, {destination(s.x[0], s.type())}, {});
  emit(s.ins);
}

void BodyParser::convert(Statement& s) {
  need(s, 2);
  s.ins.handler = pick_cvt(s.op, s.ins);
  if (s.ins.handler == nullptr) unknown(s);
  const Type to = s.op.type[0], from = s.op.type[1];
  const u32 d = destination(s.x[0], to, true), a = source(s.x[1], from, true);
  s.ins.reg_size = u8(lane_bytes(values_[d].size));
  s.ins.reg_size2 = u8(lane_bytes(values_[a].size));
  if (to == Type::f64 || from == Type::f64) s.ins.category = Category::other_double;
  set(s.ins, {d}, {a});
  emit(s.ins);
}

/// setp p|q, a, b, c
void BodyParser::compare(Statement& s) {
  const u32 p = s.x.empty() ? 0 : destination(s.x[0], Type::pred);
  comparison(s, s.op.type[0], p);
}

/// set d, a, b: a comparison, and its outcome as a number.
void BodyParser::compare_to_value(Statement& s) {
  const u32 p = values_.add(Register::pred);
  comparison(s, s.op.type[1], p);
  Instruction second;
  second.guard = s.ins.guard;
  second.flip = s.ins.flip;
  second.handler = pick_set_value(s.type(), second);
  set(second, {destination(s.x[0], s.type())}, {p});
  emit(second);
}

void BodyParser::comparison(Statement& s, Type t, u32 result) {
  const auto holds = s.op.compare();
  if (!holds) unknown(s);
  const u8 combine = s.op.has("and")   ? kCombineAnd
                     : s.op.has("or")  ? kCombineOr
                     : s.op.has("xor") ? kCombineXor
                                       : 0;
  if (s.op.base == "set" && combine != 0) unknown(s);
  need(s, combine != 0 ? 4 : 3);
  Instruction& ins = s.ins;
  ins.handler = pick_setp(t, *holds, s.op.ftz);
  if (ins.handler == nullptr) unknown(s);
  ins.mode = combine;
  if (s.x[0].paired) ins.mode |= kSecondResult;
  if (combine != 0 && s.x[3].negated) ins.mode |= kNegated;
  unsigned k = 0;
  ins.o[k++] = result;
  if (s.x[0].paired) ins.o[k++] = destination(s.x[0].items[0], Type::pred);
  ins.ndst = u8(k);
  ins.o[k++] = source(s.x[1], t);
  ins.o[k++] = source(s.x[2], t);
  if (combine != 0) ins.o[k++] = source(s.x[3], Type::pred);
  ins.nops = u8(k);
  if (t == Type::f64) ins.category = Category::other_double;
  emit(ins);
}

void BodyParser::select(Statement& s) {
  need(s, 4);
  const Type t = s.type();
  s.ins.handler = pick_selp(register_of(t));
  u32 first = source(s.x[1], t), second = source(s.x[2], t);
  if (s.x[3].negated) std::swap(first, second);
  set(s.ins, {destination(s.x[0], t)}, {first, second, source(s.x[3], Type::pred)});
  emit(s.ins);
}

/// The rest: registers in, a register out.
void BodyParser::arithmetic(Statement& s) {
  Instruction& ins = s.ins;
  ins.handler = pick_arithmetic(s.op, ins);
  if (ins.handler == nullptr) unknown(s);
  const Shape shape = shape_of(s.op);
  if (s.op.base == "lop3") {  // the last operand is its table
    if (s.x.size() != 5 || s.x[4].kind != Operand::imm) unknown(s);
    ins.imm = i64(s.x[4].bits);
    s.x.pop_back();
  }
  need(s, shape.sources + 1U);
  const auto or_same = [&](Type t) { return t == kSame ? s.type() : t; };
  unsigned k = 0;
  ins.o[k++] = destination(s.x[0], or_same(shape.result));
  ins.ndst = 1;
  for (unsigned i = 0; i < shape.sources; ++i) {
    if (s.x[i + 1].negated) unknown(s);
    ins.o[k++] = source(s.x[i + 1], or_same(shape.source[i]));
  }
  if (carries(s.op)) ins.o[k++] = values_.carry();
  ins.nops = u8(k);
  emit(ins);
}

}  // namespace gpu_emulator::ptx
