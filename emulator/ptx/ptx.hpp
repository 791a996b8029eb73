// Runs kernels of a PTX module on the host, lane by lane as a GPU would, and checks what they do.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpu_emulator::ptx {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

struct Kernel {
  struct Parameter {
    std::uint32_t offset, bytes, align;
  };
  std::string name;                   ///< as in the PTX: mangled
  std::vector<Parameter> parameters;  ///< offsets into one block of parameter memory
  std::uint32_t parameter_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;     ///< per thread: depot and other .local
  std::uint32_t max_threads = 1024;  ///< .maxntid
  std::uint32_t registers = 0;       ///< virtual ones, per thread
};

class Module {
 public:
  /// Throws std::runtime_error with line and text for what it does not know.
  static std::shared_ptr<const Module> parse(std::string_view text);
  virtual ~Module() = default;
  virtual const std::vector<Kernel>& kernels() const = 0;
  /// nullptr: there is none.
  virtual const Kernel* find(std::string_view name) const = 0;
  /// A .global or .const variable; nullptr: there is none.
  virtual void* global(std::string_view name, std::size_t* bytes) const = 0;
};

struct Launch {
  Dim3 grid, block;
  std::uint32_t dynamic_shared_bytes = 0;
  const void* const* arguments = nullptr;  ///< a pointer per parameter, as for cudaLaunchKernel
};

struct Checks {
  /// Whether [address, address + bytes) of global memory may be touched; empty: anything.
  std::function<bool(std::uintptr_t address, std::size_t bytes, bool write)> may_touch;
  /// Hazards on shared memory between barriers, and between lanes of a warp without a barrier.
  bool races = false;
  bool uninitialised = false;  ///< reads of shared or local memory that nobody wrote
  std::uint64_t most_warp_instructions = std::uint64_t(1) << 36;  ///< then it is called a hang
  std::size_t most_messages = 20;
  bool global_races = false;  ///< also in global memory, between the lanes of a block
  bool traffic = true;        ///< count bank conflicts and sectors
};

struct Report {
  std::uint64_t warp_instructions = 0, lane_instructions = 0;
  // Operations of lanes.
  std::uint64_t fma_double = 0, fma_float = 0, other_double = 0, div_sqrt = 0;
  // Of warps: 32 banks of 4 bytes, sectors of 32 bytes.
  std::uint64_t shared_transactions = 0, shared_accesses = 0;
  std::uint64_t global_sectors = 0, global_accesses = 0;
  std::uint64_t local_accesses = 0, barriers = 0, divergent_branches = 0;
  /// Memory, races, uninitialised reads, deadlocks: with kernel, block, thread and line.
  std::vector<std::string> errors;
};

/// Runs the launch to its end. Blocks run one after the other, warps of a block in turns, and the
/// order within is by `seed`: another seed is another legal schedule. A block that only polls
/// memory (volatile, relaxed or acquire loads, atomics that change nothing, nanosleep) is put aside
/// and others run.
Report run(const Module& module, const Kernel& kernel, const Launch& launch,
           const Checks& checks = {}, std::uint64_t seed = 0);

}  // namespace gpu_emulator::ptx
