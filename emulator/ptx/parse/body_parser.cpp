#include "ptx/parse/body_parser.hpp"

namespace gpu_emulator::ptx {

void BodyParser::run() {
  f_.shared_bytes = f_.entry ? function_shared_.bytes : 0;
  for (int depth = 1; depth > 0;) {
    if (lex_.accept('{')) {
      ++depth;
      scopes_.open();
    } else if (lex_.accept('}')) {
      if (--depth > 0) scopes_.close();
    } else {
      statement();
    }
  }
  Instruction end;
  end.kind = f_.entry ? Kind::exit : Kind::ret;
  emit(end);
  resolve_jumps();
  f_.finish();
}

void BodyParser::resolve_jumps() {
  for (const Jump& j : jumps_) {
    const auto target = scopes_.find_label(j.scope, j.label);
    if (!target) {
      lex_.line = j.line;
      lex_.fail("unknown label " + std::string(j.label));
    }
    Instruction& ins = f_.parsed[j.ins];
    if (ins.kind == Kind::brx) {
      f_.tables[std::size_t(ins.imm)].push_back(*target);
    } else {
      ins.imm = *target;
    }
  }
}

u32 BodyParser::place() {
  f_.places.push_back({line_, loc_});
  return u32(f_.places.size() - 1);
}

void BodyParser::emit(Instruction& ins) {
  ins.place = place();
  f_.parsed.push_back(ins);
}

void BodyParser::statement() {
  lex_.peek();
  line_ = lex_.line;
  Instruction ins;
  const bool guarded = guard(ins);
  const std::string_view w = lex_.word();
  if (w.empty()) lex_.fail("statement expected");
  if (w[0] == '.') return directive(w);
  if (!guarded && lex_.accept(':')) return label(w);
  instruction(w, ins);
}

bool BodyParser::guard(Instruction& ins) {
  if (!lex_.accept('@')) return false;
  if (lex_.accept('!')) ins.flip = kAll;
  const auto v = scopes_.find_register(lex_.word());
  if (!v || values_[*v].size != Register::pred) lex_.fail("unknown predicate");
  ins.guard = *v;
  return true;
}

void BodyParser::label(std::string_view name) {
  if (lex_.peek() == '.') {
    const Lexer before = lex_;
    if (labelled_directive(name)) return;
    lex_ = before;
  }
  scopes_.add_label(name, u32(f_.parsed.size()));
}

bool BodyParser::labelled_directive(std::string_view name) {
  const std::string_view w = lex_.word();
  if (w == ".branchtargets") {
    auto& list = targets_[name];
    list.clear();
    do list.push_back(lex_.word());
    while (lex_.accept(','));
    lex_.expect(';');
    return true;
  }
  if (w != ".callprototype") return false;
  lex_.skip_past(';');
  return true;
}

void BodyParser::instruction(std::string_view name, Instruction& ins) {
  Statement s{Opcode(name), ins, {}};
  const std::string_view base = s.op.base;
  if (base == "call") return call(s);  // their operands are functions and labels
  if (base == "bra") return branch(s);
  if (base == "brx") return branch_by_index(s);
  while (!lex_.accept(';')) {
    if (!s.x.empty()) lex_.expect(',');
    s.x.push_back(operand());
  }
  Parse parse = &BodyParser::arithmetic;
  for (const auto find : {&find_register_operation, &find_memory, &find_exchange, &find_control}) {
    if (const Parse found = find(base); found != nullptr) parse = found;
  }
  (this->*parse)(s);
}

}  // namespace gpu_emulator::ptx
