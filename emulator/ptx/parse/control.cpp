// Branches, calls, barriers, and what has no effect here.
#include "ptx/machine/memory_operations.hpp"
#include "ptx/parse/body_parser.hpp"
#include "ptx/program/names.hpp"

namespace gpu_emulator::ptx {

BodyParser::Parse BodyParser::find_control(std::string_view base) {
  static constexpr Named<Parse> kList[] = {{"ret", &BodyParser::leave},
                                           {"exit", &BodyParser::leave},
                                           {"trap", &BodyParser::trap},
                                           {"brkpt", &BodyParser::trap},
                                           {"bar", &BodyParser::barrier},
                                           {"barrier", &BodyParser::barrier},
                                           {"nanosleep", &BodyParser::sleep},
                                           {"membar", &BodyParser::nothing},
                                           {"fence", &BodyParser::nothing},
                                           {"prefetch", &BodyParser::nothing},
                                           {"prefetchu", &BodyParser::nothing},
                                           {"discard", &BodyParser::nothing},
                                           {"applypriority", &BodyParser::nothing},
                                           {"griddepcontrol", &BodyParser::nothing},
                                           {"pmevent", &BodyParser::nothing}};
  return find_named(kList, base).value_or(nullptr);
}

void BodyParser::branch(Statement& s) {
  s.ins.kind = Kind::branch;
  jumps_.push_back({u32(f_.parsed.size()), lex_.word(), lex_.line, scopes_.current()});
  lex_.expect(';');
  emit(s.ins);
}

void BodyParser::branch_by_index(Statement& s) {
  const Operand index = operand();
  lex_.expect(',');
  const auto targets = targets_.find(lex_.word());
  lex_.expect(';');
  if (targets == targets_.end() || targets->second.empty()) lex_.fail("unknown branch targets");
  s.ins.kind = Kind::brx;
  s.ins.imm = i64(f_.tables.size());
  f_.tables.emplace_back();
  set(s.ins, {}, {source(index, Type::u32)});
  for (const auto label : targets->second) {
    jumps_.push_back({u32(f_.parsed.size()), label, lex_.line, scopes_.current()});
  }
  emit(s.ins);
}

std::vector<Call::Piece> BodyParser::call_pieces() {
  std::vector<Call::Piece> list;
  lex_.expect('(');
  while (!lex_.accept(')')) {
    const Variable* v = find_variable(lex_.word()).variable;
    if (v == nullptr) lex_.fail("arguments that are not .param variables are not supported");
    list.push_back({u32(v->offset), u32(v->bytes)});
    lex_.accept(',');
  }
  return list;
}

/// call (results), function, (arguments), prototype;
void BodyParser::call(Statement& s) {
  Call c;
  if (lex_.peek() == '(') {
    c.results = call_pieces();
    lex_.expect(',');
  }
  const std::string_view name = lex_.word();
  if (const auto reg = scopes_.find_register(name)) {
    set(s.ins, {}, {*reg});
  } else {
    if (module_.functions.find(name) == module_.functions.end()) lex_.fail("unknown function");
    c.callee = std::string(name);
  }
  if (lex_.accept(',')) {
    if (lex_.peek() == '(') c.arguments = call_pieces();
    if (lex_.accept(',')) lex_.word();
  }
  lex_.expect(';');
  s.ins.kind = Kind::call;
  s.ins.imm = i64(f_.calls.size());
  f_.calls.push_back(std::move(c));
  emit(s.ins);
}

void BodyParser::leave(Statement& s) {
  s.ins.kind = s.op.base == "exit" || f_.entry ? Kind::exit : Kind::ret;
  emit(s.ins);
}

void BodyParser::trap(Statement& s) {
  s.ins.kind = Kind::trap;
  emit(s.ins);
}

void BodyParser::nothing(Statement& s) {
  s.ins.handler = kNothing;
  emit(s.ins);
}

void BodyParser::sleep(Statement& s) {
  s.ins.handler = kPoll;
  emit(s.ins);
}

void BodyParser::barrier(Statement& s) {
  if (s.op.has("warp")) return warp_barrier(s);
  if (s.op.has("cluster")) return cluster_barrier(s);
  s.ins.kind = Kind::bar;
  s.ins.uniform = s.op.base == "bar" || s.op.has("aligned");
  if (s.op.has("red")) return reducing_barrier(s);
  if (s.op.has("arrive")) {
    s.ins.mode = kBarrierArrive;
  } else if (!s.op.has("sync")) {
    unknown(s);
  }
  const std::size_t n = s.x.size();
  if (n < 1 || n > 2) unknown(s);
  const u32 all = values_.constant(Register::word, 0);
  set(s.ins, {}, {source(s.x[0], Type::u32), n == 2 ? source(s.x[1], Type::u32) : all});
  emit(s.ins);
}

/// A cluster is a block: to wait for it is a barrier that programs cannot name otherwise.
void BodyParser::cluster_barrier(Statement& s) {
  if (s.op.has("arrive")) return nothing(s);
  s.ins.kind = Kind::bar;
  set(s.ins, {}, {values_.constant(Register::word, 15), values_.constant(Register::word, 0)});
  emit(s.ins);
}

void BodyParser::reducing_barrier(Statement& s) {
  static constexpr Named<u8> kReductions[] = {
      {"and", kReduceAnd}, {"or", kReduceOr}, {"popc", kReducePopc}};
  s.ins.mode = kBarrierReduce;
  for (const auto modifier : s.op.modifiers) {
    if (const auto found = find_named(kReductions, modifier)) s.ins.mode2 = *found;
  }
  const std::size_t n = s.x.size();
  if (s.ins.mode2 == 0 || n < 3 || n > 4) unknown(s);
  const Type result = s.ins.mode2 == kReducePopc ? Type::u32 : Type::pred;
  s.ins.imm = s.x[n - 1].negated ? 1 : 0;
  const u32 all = values_.constant(Register::word, 0);
  set(s.ins, {destination(s.x[0], result)},
      {source(s.x[1], Type::u32), n == 4 ? source(s.x[2], Type::u32) : all,
       source(s.x[n - 1], Type::pred)});
  emit(s.ins);
}

}  // namespace gpu_emulator::ptx
