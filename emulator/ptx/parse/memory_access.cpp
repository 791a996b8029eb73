// Loads, stores, atomics, and addresses of spaces.
#include "ptx/machine/memory_operations.hpp"
#include "ptx/parse/body_parser.hpp"
#include "ptx/program/names.hpp"

namespace gpu_emulator::ptx {

BodyParser::Parse BodyParser::find_memory(std::string_view base) {
  static constexpr Named<Parse> kList[] = {{"ld", &BodyParser::load},
                                           {"ldu", &BodyParser::load},
                                           {"st", &BodyParser::store},
                                           {"atom", &BodyParser::atomic},
                                           {"red", &BodyParser::atomic},
                                           {"cp", &BodyParser::copy_async},
                                           {"cvta", &BodyParser::convert_address},
                                           {"isspacep", &BodyParser::is_space}};
  return find_named(kList, base).value_or(nullptr);
}

/// What is loaded or stored, one operand or several in braces, and the size of its registers.
std::vector<Operand> BodyParser::elements(Statement& s, const Operand& o, Register& r) {
  s.ins.space = s.op.space();
  s.ins.vec = s.op.has("v2") ? 2 : s.op.has("v4") ? 4 : 1;
  s.ins.size = u8(width(s.type()));
  if (s.ins.size == 0 || s.ins.size > 8) unknown(s);
  std::vector<Operand> list = o.kind == Operand::vector ? o.items : std::vector<Operand>{o};
  if (list.size() != s.ins.vec) lex_.fail("vector of another length");
  r = register_of(s.type());
  for (const Operand& x : list) {
    if (x.kind == Operand::reg) r = values_[x.value].size;
  }
  s.ins.reg_size = u8(lane_bytes(r));
  return list;
}

void BodyParser::load(Statement& s) {
  need(s, 2);
  Register r = Register::wide;
  const std::vector<Operand> to = elements(s, s.x[0], r);
  const u32 from = address(s.x[1], s.ins);
  Instruction& ins = s.ins;
  for (unsigned k = 0; k < ins.vec; ++k) {
    const bool unread = to[k].kind == Operand::sink;
    ins.o[k] = unread ? values_.add(r) : destination(to[k], s.type(), true);
    if (values_[ins.o[k]].size != r) lex_.fail("registers of different sizes");
  }
  ins.o[ins.vec] = from;
  ins.ndst = ins.vec;
  ins.load = true;
  ins.nops = u8(ins.vec + 1);
  // What another block may write while this one waits for it.
  const bool ordered =
      s.op.has("volatile") || s.op.has("relaxed") || s.op.has("acquire") || s.op.has("mmio");
  const bool elsewhere = ins.space == Space::global || ins.space == Space::generic;
  ins.handler = pick_load(s.type(), r, ordered && elsewhere);
  if (ins.handler == nullptr) unknown(s);
  emit(ins);
}

void BodyParser::store(Statement& s) {
  if (s.op.has("async") || s.op.has("bulk")) unknown(s);
  need(s, 2);
  Register r = Register::wide;
  const std::vector<Operand> from = elements(s, s.x[1], r);
  Instruction& ins = s.ins;
  ins.o[0] = address(s.x[0], ins);
  for (unsigned k = 0; k < ins.vec; ++k) {
    u32 v = source(from[k], s.type(), from[k].kind == Operand::reg);
    if (values_[v].size != r) {
      if (values_[v].kind != Value::constant) lex_.fail("registers of different sizes");
      v = values_.constant(r, values_[v].bits);
    }
    ins.o[1 + k] = v;
  }
  ins.nops = u8(ins.vec + 1);
  ins.store = true;
  ins.handler = pick_store(ins.size);
  if (ins.handler == nullptr) unknown(s);
  emit(ins);
}

void BodyParser::atomic(Statement& s) {
  if (s.op.has("async") || s.op.has("v2") || s.op.has("v4") || s.op.types == 0) unknown(s);
  const Type t = s.op.type[s.op.types - 1];
  const Atomic operation = s.op.atomic();
  s.ins.space = s.op.space();
  s.ins.size = u8(width(t));
  s.ins.mode = u8(operation);
  s.ins.handler = pick_atom(operation, t);
  if (s.ins.handler == nullptr) unknown(s);
  const std::size_t first = s.op.base == "atom" ? 1 : 0;  // red gives no result
  if (s.x.size() < first + 2) unknown(s);
  const u32 d = first != 0 ? destination(s.x[0], t) : values_.add(register_of(t));
  const u32 where = address(s.x[first], s.ins);
  const u32 b = source(s.x[first + 1], t);
  if (operation == Atomic::cas) {
    need(s, first + 3);
    set(s.ins, {d}, {where, b, source(s.x[first + 2], t)});
  } else {
    set(s.ins, {d}, {where, b});
  }
  emit(s.ins);
}

/// cp.async: done at once, so that groups need no waiting.
void BodyParser::copy_async(Statement& s) {
  const Opcode& op = s.op;
  if (!op.has("async") || op.has("bulk") || op.has("reduce") || op.has("mbarrier")) unknown(s);
  if (op.has("commit_group") || op.has("wait_group") || op.has("wait_all")) return nothing(s);
  if (s.x.size() < 3 || s.x[2].kind != Operand::imm) unknown(s);
  Instruction other;
  s.ins.space = Space::shared;
  other.space = Space::global;
  const u32 to = address(s.x[0], s.ins), from = address(s.x[1], other);
  if (other.imm != 0 || other.reg_size2 != 8) unknown(s);
  s.ins.size = u8(s.x[2].bits);
  s.ins.handler = kCopyAsync;
  u32 bytes = values_.constant(Register::word, s.ins.size);
  if (s.x.size() > 3) {  // the rest becomes zeros; or a policy of caches
    const Operand& o = s.x[3];
    const bool word = o.kind == Operand::reg && values_[o.value].size == Register::word;
    if (word || o.kind == Operand::imm) bytes = source(o, Type::u32);
  }
  set(s.ins, {}, {to, from, bytes});
  emit(s.ins);
}

void BodyParser::convert_address(Statement& s) {
  need(s, 2);
  s.ins.space = s.op.space();
  s.ins.mode = s.op.has("to");
  s.ins.handler = kConvertAddress;
  const Type t = s.type() == Type::none ? Type::u64 : s.type();
  if (width(t) != 8) unknown(s);
  set(s.ins, {destination(s.x[0], t)}, {source(s.x[1], t)});
  emit(s.ins);
}

void BodyParser::is_space(Statement& s) {
  need(s, 2);
  s.ins.space = s.op.space();
  s.ins.handler = kIsSpace;
  set(s.ins, {destination(s.x[0], Type::pred)}, {source(s.x[1], Type::u64)});
  emit(s.ins);
}

}  // namespace gpu_emulator::ptx
