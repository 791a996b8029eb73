#include "ptx/parse/module_parser.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "ptx/parse/body_parser.hpp"
#include "ptx/program/names.hpp"

namespace gpu_emulator::ptx {
namespace {

constexpr Named<Space> kVariableSpaces[] = {
    {".global", Space::global}, {".const", Space::constant}, {".shared", Space::shared}};

/// Places variables one after the other from here; returns the end.
u64 place(std::vector<Variable>& list, u64 offset) {
  for (Variable& v : list) {
    v.offset = align_up(offset, v.align);
    offset = v.offset + v.bytes;
  }
  return offset;
}

Kernel kernel_of(const Function& f) {
  Kernel k;
  k.name = f.name;
  for (const Variable& v : f.parameters) {
    k.parameters.push_back({u32(v.offset), u32(v.bytes), v.align});
  }
  k.parameter_bytes = f.parameter_bytes;
  k.static_shared_bytes = f.shared_bytes;
  k.local_bytes = u32(f.local_declared);
  k.max_threads = f.max_threads;
  k.registers = f.registers;
  return k;
}

}  // namespace

void parse_file(Lexer& lex, ModuleImpl& module) {
  const auto index = std::size_t(lex.integer());
  const std::string name = lex.string();
  if (module.files.size() <= index) module.files.resize(index + 1);
  module.files[index] = name;
  lex.skip_to_line_end();
}

void ModuleParser::run() {
  while (!lex_.done()) top();
  resolve_initialisers();
  // Functions first: kernels come after the shared variables that these use.
  FunctionShared shared;
  for (const bool entries : {false, true}) {
    for (const Body& b : bodies_) {
      if (b.function->entry != entries) continue;
      lex_.pos = b.pos;
      lex_.line = b.line;
      BodyParser(module_, lex_, *b.function, shared).run();
    }
  }
  list_kernels();
}

void ModuleParser::list_kernels() {
  for (const Body& b : bodies_) {
    if (b.function->entry) module_.list.push_back(kernel_of(*b.function));
  }
  for (const auto& [name, v] : module_.variables) {
    if (v.memory == nullptr) continue;
    module_.ranges.emplace_back(u64(v.memory), u64(v.memory) + std::max<u64>(v.bytes, 1));
  }
  std::sort(module_.ranges.begin(), module_.ranges.end());
}

bool ModuleParser::skip_directive(std::string_view w) {
  if (w == ".version" || w == ".address_size") {
    lex_.word();
  } else if (w == ".target") {
    do lex_.word();
    while (lex_.accept(','));
  } else if (w == ".section") {
    lex_.word();
    lex_.expect('{');
    lex_.skip_braces();
  } else if (w == ".pragma") {
    lex_.string();
    lex_.expect(';');
  } else if (w == ".loc") {
    lex_.skip_to_line_end();
  } else if (w == ".alias") {
    lex_.skip_past(';');
  } else {
    return false;
  }
  return true;
}

void ModuleParser::top() {
  std::string_view w = lex_.word();
  if (w == ".file") return parse_file(lex_, module_);
  if (skip_directive(w)) return;
  bool external = false;
  while (w == ".visible" || w == ".extern" || w == ".weak" || w == ".common") {
    external = external || w == ".extern";
    w = lex_.word();
  }
  if (w == ".entry" || w == ".func") return function(w == ".entry");
  if (const auto space = find_named(kVariableSpaces, w)) return variable(*space, external);
  lex_.fail("unknown directive");
}

void ModuleParser::function(bool entry) {
  std::vector<Variable> results;
  if (!entry && lex_.peek() == '(') results = parse_parameters(lex_);
  const std::string name(lex_.word());
  auto& slot = module_.functions[name];
  if (slot == nullptr) slot = std::make_unique<Function>();
  Function& f = *slot;
  f.name = name;
  f.entry = entry;
  f.results = std::move(results);
  if (lex_.peek() == '(') f.parameters = parse_parameters(lex_);
  f.parameter_bytes = u32(place(f.parameters, 0));
  if (!entry) f.local_bytes = place(f.results, f.parameter_bytes);
  while (!lex_.accept('{')) {
    if (lex_.accept(';')) return;  // declared only
    if (!function_directive(lex_.word(), f)) lex_.fail("unknown directive of a function");
  }
  f.defined = true;
  bodies_.push_back({&f, lex_.pos, lex_.line});
  lex_.skip_braces();
}

bool ModuleParser::function_directive(std::string_view w, Function& f) {
  const auto product = [&] {
    u32 n = 1;
    do n *= u32(lex_.integer());
    while (lex_.accept(','));
    return n;
  };
  if (w == ".maxntid" || w == ".reqntid") {
    f.max_threads = product();
  } else if (w == ".minnctapersm" || w == ".maxnctapersm" || w == ".maxnreg" ||
             w == ".maxclusterrank" || w == ".reqnctapercluster") {
    product();
  } else if (w == ".pragma") {
    lex_.string();
    lex_.accept(';');
  } else {
    return w == ".noreturn" || w == ".explicitcluster" || w == ".blocksareclusters";
  }
  return true;
}

}  // namespace gpu_emulator::ptx

std::shared_ptr<const gpu_emulator::ptx::Module> gpu_emulator::ptx::Module::parse(
    std::string_view text) {
  auto module = std::make_shared<ModuleImpl>();
  ModuleParser(*module, text).run();
  return module;
}
