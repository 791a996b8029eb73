// What stands outside of functions: variables, and where each function's body is.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/parse/declaration.hpp"
#include "ptx/parse/lexer.hpp"
#include "ptx/program/program.hpp"

namespace gpu_emulator::ptx {

/// Shared variables of functions that are no kernels: their place is the same in every kernel.
struct FunctionShared {
  std::unordered_map<std::string, u64> offsets;  // of those that the module declares
  u32 bytes = 0;
};

/// .file of a module or of a function.
void parse_file(Lexer& lex, ModuleImpl& module);

class ModuleParser {
 public:
  ModuleParser(ModuleImpl& module, std::string_view text) : module_(module), lex_{text} {}
  void run();

 private:
  /// A variable's initial value that names a symbol, which may be declared later.
  struct Fix {
    char* at;
    unsigned bytes;
    std::string name;
    i64 add;
    u32 line;
  };
  struct Body {
    Function* function;
    std::size_t pos;
    u32 line;
  };

  void top();
  bool skip_directive(std::string_view w);
  void variable(Space space, bool external);
  void initialiser(const Variable& v, Type t, char*& at);
  void symbol_initialiser(std::string_view word, char* at, unsigned bytes);
  void resolve_initialisers();
  u64 address_of(const Fix& fix) const;
  void function(bool entry);
  bool function_directive(std::string_view w, Function& f);
  void list_kernels();

  ModuleImpl& module_;
  Lexer lex_;
  std::vector<Body> bodies_;
  std::vector<Fix> fixes_;
};

}  // namespace gpu_emulator::ptx
