// Addresses of variables and of memory operands.
#include "ptx/parse/body_parser.hpp"

namespace gpu_emulator::ptx {
namespace {

const Variable* find_in(const std::vector<Variable>& list, std::string_view name) {
  for (const Variable& v : list) {
    if (v.name == name) return &v;
  }
  return nullptr;
}

}  // namespace

BodyParser::Found BodyParser::find_variable(std::string_view name) const {
  if (const Variable* v = scopes_.find_variable(name)) return {v, false, false};
  if (const Variable* v = find_in(f_.parameters, name)) return {v, f_.entry, false};
  if (const Variable* v = find_in(f_.results, name)) return {v, false, false};
  const auto m = module_.variables.find(name);
  if (m != module_.variables.end()) return {&m->second, false, true};
  return {nullptr, false, false};
}

/// The address of a symbol in its own space, as an operand.
BodyParser::Symbol BodyParser::symbol(const Operand& o, Register r) {
  const auto [v, of_kernel, of_module] = find_variable(o.name);
  if (v == nullptr) {
    const auto g = module_.functions.find(o.name);
    if (g == module_.functions.end()) lex_.fail("unknown symbol " + std::string(o.name));
    return {values_.constant(r, u64(g->second.get())), Space::generic, false};
  }
  const u64 added = u64(o.add);
  switch (v->space) {
    case Space::shared:
      if (v->dynamic) return {values_.special(Special::dynamic_shared, r, added), v->space, false};
      return {values_.constant(r, shared_offset(*v, of_module) + added), v->space, false};
    case Space::param:
      if (of_kernel) {
        return {values_.special(Special::param_base, r, v->offset + added), v->space, false};
      }
      return {values_.special(Special::local_base, r, v->offset + added), v->space, true};
    case Space::local:
      return {values_.special(Special::local_base, r, v->offset + added), v->space, false};
    default:
      return {values_.constant(r, u64(v->memory) + added), v->space, false};
  }
}

/// Shared variables of the module get their place in a kernel where it first uses them.
u64 BodyParser::shared_offset(const Variable& v, bool of_module) {
  if (!of_module) return v.offset;
  const auto of_functions = function_shared_.offsets.find(v.name);
  if (of_functions != function_shared_.offsets.end()) return of_functions->second;
  auto& known = f_.entry ? shared_ : function_shared_.offsets;
  u32& end = f_.entry ? f_.shared_bytes : function_shared_.bytes;
  const auto [found, is_new] = known.try_emplace(v.name, align_up(end, v.align));
  if (is_new) end = u32(found->second + v.bytes);
  return found->second;
}

u32 BodyParser::address(const Operand& o, Instruction& ins) {
  if (o.kind != Operand::memory) lex_.fail("address expected");
  const Operand& base = o.items[0];
  ins.imm = o.add;
  ins.reg_size2 = 8;
  if (base.kind == Operand::symbol) return symbol_address(base, ins);
  if (ins.space == Space::param && !f_.entry) ins.space = Space::local;
  if (base.kind == Operand::imm) {
    ins.imm += i64(base.bits);
    return values_.constant(Register::wide, 0);
  }
  if (base.kind != Operand::reg) lex_.fail("bad address");
  const Register r = values_[base.value].size;
  if (r != Register::word && r != Register::wide) lex_.fail("bad address register");
  ins.reg_size2 = u8(lane_bytes(r));
  return base.value;
}

u32 BodyParser::symbol_address(const Operand& o, Instruction& ins) {
  const Symbol s = symbol(o, Register::wide);
  // An address of a space used as a generic one: only global and const have it.
  const bool own = s.space == Space::shared || s.space == Space::local || s.space == Space::param;
  if (ins.space == Space::generic && own) ins.space = s.space;
  if (ins.space == Space::param && (s.in_frame || !f_.entry)) ins.space = Space::local;
  return s.value;
}

}  // namespace gpu_emulator::ptx
