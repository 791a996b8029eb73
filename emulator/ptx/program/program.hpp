// A module after parsing: functions of decoded instructions.
#pragma once
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ptx/program/types.hpp"
#include "ptx/ptx.hpp"

namespace gpu_emulator::ptx {

/// What an instruction reads or writes.
struct Value {
  Register size = Register::word;
  enum Kind : u8 { reg, constant, special } kind = reg;
  Special special_id = Special::none;
  u64 bits = 0;         // constant: its value; special: what is added to it
  bool pinned = false;  // a slot of its own
};

/// Plain ones are done by their handler, the others by the machine.
enum class Kind : u8 {
  plain,
  branch,
  brx,
  exit,
  ret,
  call,
  bar,
  warpbar,
  shfl,
  vote,
  match,
  redux,
  elect,
  reconv,
  trap
};

/// What an operation of lanes counts as.
enum class Category : u8 { other, fma_double, fma_float, other_double, div_sqrt, count };

struct Lanes;
struct Instruction;
using Handler = void (*)(Lanes&, const Instruction&, u32 mask);

struct Instruction {
  Handler handler = nullptr;
  i64 imm = 0;        // memory: offset of the address; branch: target; reconv: depth
  u32 o[6] = {};      // operands: values, after allocation byte offsets in the frame
  u32 guard = kNone;  // likewise
  u32 flip = 0;       // guard is negated: all bits
  Kind kind = Kind::plain;
  u8 ndst = 0, nops = 0;
  Category category = Category::other;
  u8 size = 0, vec = 1;  // memory: bytes of an element, elements
  Space space = Space::generic;
  u8 mode = 0;  // whatever the handler needs
  u8 mode2 = 0;
  bool uniform = false;  // bar: all lanes of a warp must be at the same instruction
  bool load = false, store = false;
  bool copy = false;  // load: what it loads is only stored again, in a frame (mark_copies)
  u8 reg_size = 0;    // memory, cvt: bytes of a register
  u8 reg_size2 = 0;
  u32 place = 0;  // index into Function::places
};

/// Where an instruction comes from.
struct Place {
  u32 line = 0;  // of the PTX
  u32 loc = 0;   // into Function::locs, 0: none
};
struct Loc {
  u32 file = 0, line = 0, column = 0, parent = 0;
};

struct Call {
  struct Piece {
    u32 offset, bytes;  // of the caller's frame
  };
  std::string callee;  // empty: indirect, through the first operand
  std::vector<Piece> arguments, results;
};

struct Variable {
  std::string name;
  Space space = Space::global;
  u32 align = 1;
  u64 bytes = 0;
  char* memory = nullptr;  // global and const
  u64 offset = 0;          // shared, local, param
  bool dynamic = false;    // extern shared
};

struct Function {
  std::string name;
  bool entry = false, defined = false;
  std::vector<Variable> parameters, results;  // offsets: in the kernel's parameters, or the frame
  u32 parameter_bytes = 0;
  u64 local_bytes = 0;     // frame: .local and .param variables
  u64 local_declared = 0;  // of these, .local ones
  u32 shared_bytes = 0;    // static ones
  u32 registers = 0;
  u32 max_threads = 1024;
  std::vector<Value> values;
  std::vector<Instruction> parsed;  // operands are values
  std::vector<Call> calls;
  std::vector<std::vector<u32>> tables;  // brx
  std::vector<Place> places;
  std::vector<Loc> locs{1};

  /// After parsing: points of reconvergence.
  void finish();

  // Of allocation, at the first launch.
  void allocate() const;
  mutable std::once_flag once;
  mutable std::vector<Instruction> code;
  mutable std::vector<std::pair<u32, u32>> specials;  // (value, byte offset)
  mutable std::vector<char> frame_template;
  mutable u32 frame_bytes = 0;
};

struct ModuleImpl : Module {
  std::vector<Kernel> list;
  std::map<std::string, std::unique_ptr<Function>, std::less<>> functions;
  std::map<std::string, Variable, std::less<>> variables;
  std::vector<std::string> files;
  u32 dynamic_align = 16;  // of extern shared memory
  std::vector<std::unique_ptr<char[]>> storage;
  std::vector<std::pair<u64, u64>> ranges;  // of the variables in memory, sorted

  const std::vector<Kernel>& kernels() const override { return list; }
  const Kernel* find(std::string_view name) const override;
  void* global(std::string_view name, std::size_t* bytes) const override;
  /// Memory of a variable.
  char* allocate(u64 bytes, u32 align);
  /// Whether this lies in one of the variables.
  bool holds(u64 address, u64 bytes) const;
};

}  // namespace gpu_emulator::ptx
