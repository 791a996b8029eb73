// Directives in a function: registers, variables, and lines of the sources.
#include <algorithm>
#include <cstdio>

#include "ptx/parse/body_parser.hpp"
#include "ptx/program/names.hpp"

namespace gpu_emulator::ptx {
namespace {

constexpr Named<Space> kSpaces[] = {{".local", Space::local},
                                    {".shared", Space::shared},
                                    {".param", Space::param},
                                    {".global", Space::global},
                                    {".const", Space::constant}};

}  // namespace

void BodyParser::directive(std::string_view w) {
  if (w == ".loc") return location();
  if (w == ".reg") return declare_registers();
  if (w == ".file") return parse_file(lex_, module_);
  if (const auto space = find_named(kSpaces, w)) return declare_variable(*space);
  if (w != ".pragma") lex_.fail("unknown directive");
  lex_.string();
  lex_.expect(';');
}

void BodyParser::declare_registers() {
  std::string_view w = lex_.word();
  while (w == ".v2" || w == ".v4") w = lex_.word();
  const Type t = w.empty() ? Type::none : type_of(w.substr(1));
  if (t == Type::none) lex_.fail("unknown register type");
  do {
    const std::string_view name = lex_.word();
    u32 count = 1;
    if (lex_.accept('<')) {
      count = u32(lex_.integer());
      lex_.expect('>');
      scopes_.add_registers(name, values_.add(register_of(t), count), count);
    } else {
      scopes_.add_register(name, values_.add(register_of(t)));
    }
    f_.registers += count;
  } while (lex_.accept(','));
  lex_.expect(';');
}

void BodyParser::declare_variable(Space space) {
  do {
    const Declaration d = parse_declaration(lex_);
    Variable v = d.variable;
    v.space = space;
    if (space == Space::shared) {
      place_shared(v, d.unsized);
    } else if (space == Space::global || space == Space::constant) {
      v.memory = module_.allocate(v.bytes, v.align);
      if (lex_.peek() == '=') lex_.fail("initialiser in a function");
      module_.variables[f_.name + "::" + v.name] = v;
    } else {
      v.offset = align_up(f_.local_bytes, std::max(v.align, 8U));
      f_.local_bytes = v.offset + v.bytes;
      if (space == Space::local) f_.local_declared += v.bytes;
    }
    scopes_.add_variable(v);
  } while (lex_.accept(','));
  lex_.expect(';');
}

void BodyParser::place_shared(Variable& v, bool unsized) {
  if (unsized) {
    v.dynamic = true;
    module_.dynamic_align = std::max(module_.dynamic_align, v.align);
    return;
  }
  u32& end = f_.entry ? f_.shared_bytes : function_shared_.bytes;
  v.offset = align_up(end, v.align);
  end = u32(v.offset + v.bytes);
}

/// .loc file line column, and on the same line: , function_name X, inlined_at file line column
void BodyParser::location() {
  Loc l;
  l.file = u32(lex_.integer());
  l.line = u32(lex_.integer());
  l.column = u32(lex_.integer());
  const std::size_t from = lex_.pos;
  lex_.skip_to_line_end();
  l.parent = inlined_at(lex_.text.substr(from, lex_.pos - from));
  f_.locs.push_back(l);
  loc_ = u32(f_.locs.size() - 1);
  locs_[{l.file, l.line, l.column}] = loc_;
}

u32 BodyParser::inlined_at(std::string_view rest) {
  const std::string mark = "inlined_at";
  const std::size_t found = rest.find(mark);
  if (found == rest.npos) return 0;
  unsigned file = 0, line = 0, column = 0;
  const std::string numbers(rest.substr(found + mark.size()));
  if (std::sscanf(numbers.c_str(), "%u %u %u", &file, &line, &column) != 3) return 0;
  const auto known = locs_.find({file, line, column});
  if (known != locs_.end()) return known->second;
  f_.locs.push_back({file, line, column, 0});
  return u32(f_.locs.size() - 1);
}

}  // namespace gpu_emulator::ptx
