// The body of a function: declarations, labels, instructions.
#pragma once
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ptx/parse/module_parser.hpp"
#include "ptx/parse/operand.hpp"
#include "ptx/parse/scopes.hpp"
#include "ptx/parse/values.hpp"

namespace gpu_emulator::ptx {

class BodyParser {
 public:
  BodyParser(ModuleImpl& module, Lexer& lex, Function& f, FunctionShared& shared)
      : module_(module), lex_(lex), f_(f), function_shared_(shared), values_(f) {}
  void run();

 private:
  using Parse = void (BodyParser::*)(Statement&);
  struct Jump {
    u32 ins;
    std::string_view label;
    u32 line, scope;
  };
  struct Symbol {
    u32 value;
    Space space;
    bool in_frame;  // a parameter of a call
  };

  struct Found {
    const Variable* variable;
    bool of_kernel, of_module;  // a kernel's parameter; declared outside of functions
  };

  // body_parser.cpp: statements
  void statement();
  bool guard(Instruction& ins);
  void label(std::string_view name);
  bool labelled_directive(std::string_view name);
  void instruction(std::string_view name, Instruction& ins);
  void resolve_jumps();
  u32 place();
  void emit(Instruction& ins);

  // body_declarations.cpp
  void directive(std::string_view w);
  void declare_registers();
  void declare_variable(Space space);
  void place_shared(Variable& v, bool unsized);
  void location();
  u32 inlined_at(std::string_view rest);

  // operands.cpp
  Operand operand();
  Operand named_operand(std::string_view word);
  i64 optional_offset();
  u32 source(const Operand& o, Type t, bool any_size = false);
  u32 destination(const Operand& o, Type t, bool any_size = false);
  u32 register_operand(const Operand& o, Type t, bool any_size, const char* what);
  u32 immediate(const Operand& o, Type t);
  /// d or d|p: the value of p, one that nobody reads if it is not there.
  u32 paired_predicate(const Operand& o);
  void set(Instruction& ins, std::initializer_list<u32> dst, std::initializer_list<u32> src);
  void need(const Statement& s, std::size_t operands);
  [[noreturn]] void unknown(const Statement& s);

  // addresses.cpp
  Found find_variable(std::string_view name) const;
  Symbol symbol(const Operand& o, Register r);
  u64 shared_offset(const Variable& v, bool of_module);
  /// The address of a memory operand: a value, an offset, and perhaps another space.
  u32 address(const Operand& o, Instruction& ins);
  u32 symbol_address(const Operand& o, Instruction& ins);

  // control.cpp
  static Parse find_control(std::string_view base);
  void branch(Statement& s);
  void branch_by_index(Statement& s);
  void call(Statement& s);
  std::vector<Call::Piece> call_pieces();
  void leave(Statement& s);
  void trap(Statement& s);
  void nothing(Statement& s);
  void sleep(Statement& s);
  void barrier(Statement& s);
  void cluster_barrier(Statement& s);
  void reducing_barrier(Statement& s);

  // lane_exchange.cpp
  static Parse find_exchange(std::string_view base);
  void warp_barrier(Statement& s);
  void shuffle(Statement& s);
  void vote(Statement& s);
  void match(Statement& s);
  void redux(Statement& s);
  void elect(Statement& s);
  void active_mask(Statement& s);

  // memory_access.cpp
  static Parse find_memory(std::string_view base);
  void load(Statement& s);
  void store(Statement& s);
  void atomic(Statement& s);
  void copy_async(Statement& s);
  void convert_address(Statement& s);
  void is_space(Statement& s);
  std::vector<Operand> elements(Statement& s, const Operand& o, Register& r);

  // register_operations.cpp
  static Parse find_register_operation(std::string_view base);
  void move(Statement& s);
  void pack(Statement& s);
  void clock(Statement& s);
  void convert(Statement& s);
  void compare(Statement& s);
  void compare_to_value(Statement& s);
  void comparison(Statement& s, Type t, u32 result);
  void select(Statement& s);
  void arithmetic(Statement& s);

  ModuleImpl& module_;
  Lexer& lex_;
  Function& f_;
  FunctionShared& function_shared_;
  Values values_;
  Scopes scopes_;
  std::vector<Jump> jumps_;
  std::unordered_map<std::string_view, std::vector<std::string_view>> targets_;
  std::unordered_map<std::string, u64> shared_;  // of the module, used by this kernel
  std::map<std::tuple<u32, u32, u32>, u32> locs_;
  u32 loc_ = 0, line_ = 0;  // of the statement
};

}  // namespace gpu_emulator::ptx
