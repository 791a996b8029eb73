// Launches: what CUDA refuses, arguments copied, the interpreter's findings said and reported.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <set>
#include <stdexcept>
#include <vector>

#include "ptx/ptx.hpp"
#include "runtime/memory.hpp"
#include "runtime/modules.hpp"
#include "runtime/settings.hpp"
#include "runtime/streams.hpp"

namespace gpu_emulator {
namespace {

/// A launch with its own copy of the arguments, as a graph replays it.
struct Launched {
  const Function* function;
  std::shared_ptr<const ptx::Module> module;  // outlives the program's own registration
  dim3 grid, block;
  std::size_t shared;
  std::vector<unsigned char> arguments;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 32) {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// One line of JSON, written at once, so that programs that run side by side may share the file.
void report_line(const Launched& l, const ptx::Report& r, double seconds) {
  char shape[400];
  std::snprintf(shape, sizeof shape,
                "\"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"dynamic_shared\": %zu, "
                "\"static_shared\": %u, \"local\": %u, \"virtual_registers\": %u, "
                "\"seconds\": %.6f",
                l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y, l.block.z, l.shared,
                l.function->kernel->static_shared_bytes, l.function->kernel->local_bytes,
                l.function->kernel->registers, seconds);
  std::string line = "{\"kernel\": " + quoted(l.function->readable_name()) + ", " + shape;
  const auto count = [&](const char* name, std::uint64_t value) {
    line += ", \"" + std::string(name) + "\": " + std::to_string(value);
  };
  count("warp_instructions", r.warp_instructions);
  count("lane_instructions", r.lane_instructions);
  count("fma_double", r.fma_double);
  count("fma_float", r.fma_float);
  count("other_double", r.other_double);
  count("div_sqrt", r.div_sqrt);
  count("shared_accesses", r.shared_accesses);
  count("shared_transactions", r.shared_transactions);
  count("global_accesses", r.global_accesses);
  count("global_sectors", r.global_sectors);
  count("local_accesses", r.local_accesses);
  count("barriers", r.barriers);
  count("divergent_branches", r.divergent_branches);
  line += ", \"errors\": [";
  for (const std::string& error : r.errors) {
    line += (&error == r.errors.data() ? "" : ", ") + quoted(error);
  }
  line += "]}\n";
  std::FILE* file = std::fopen(settings().report.c_str(), "a");
  if (file == nullptr) return;
  std::fwrite(line.data(), 1, line.size(), file);
  std::fclose(file);
}

/// Another schedule for each launch, the same in each run.
std::uint64_t next_seed() {
  static std::uint64_t launches = 0;
  return settings().seed * 1000003 + launches++;
}

cudaError_t run(const Launched& l) {
  const ptx::Kernel& kernel = *l.function->kernel;
  std::vector<const void*> addresses;
  for (const ptx::Kernel::Parameter& p : kernel.parameters) {
    addresses.push_back(l.arguments.data() + p.offset);
  }
  Memory& memory = Memory::get();
  memory.complaints.clear();
  ptx::Checks checks;
  if (settings().check_memory || settings().check_uninitialised) {
    checks.may_touch = [&](std::uintptr_t address, std::size_t bytes, bool write) {
      return memory.touch(address, bytes, write);
    };
  }
  checks.races = checks.global_races = settings().check_races;
  checks.traffic = !settings().report.empty();
  checks.uninitialised = settings().check_uninitialised;
  checks.most_messages = settings().messages;
  if (settings().most_instructions != 0) {
    checks.most_warp_instructions = settings().most_instructions;
  }
  const ptx::Launch launch{{l.grid.x, l.grid.y, l.grid.z},
                           {l.block.x, l.block.y, l.block.z},
                           std::uint32_t(l.shared),
                           addresses.data()};
  const auto begin = std::chrono::steady_clock::now();
  ptx::Report report;
  try {
    const Memory::Access access;
    report = ptx::run(*l.module, kernel, launch, checks, next_seed());
  } catch (const std::exception& e) {
    report.errors.push_back(e.what());
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  const bool wrong_address = !memory.complaints.empty();
  constexpr std::size_t kFew = 3;  // the interpreter says where they are, these what they touch
  const std::size_t said = std::min(kFew, memory.complaints.size());
  report.errors.insert(report.errors.end(), memory.complaints.begin(),
                       memory.complaints.begin() + std::ptrdiff_t(said));
  if (!settings().report.empty()) report_line(l, report, seconds.count());
  if (report.errors.empty()) return cudaSuccess;
  const std::string name = l.function->readable_name();
  say("errors in " + name);
  for (const std::string& error : report.errors) {
    const std::string again = "kernel " + name + ", ";
    const std::size_t at = error.find(again);
    say("  " + (at == error.npos ? error : error.substr(0, at) + error.substr(at + again.size())));
  }
  return wrong_address ? cudaErrorIllegalAddress : cudaErrorLaunchFailure;
}

cudaError_t refusal_of(const Function& f, dim3 grid, dim3 block, std::size_t shared) {
  const auto threads = std::uint64_t(block.x) * block.y * block.z;
  const bool some = threads > 0 && grid.x > 0 && grid.y > 0 && grid.z > 0;
  const bool grid_fits = grid.x < (1U << 31) && grid.y < 65536 && grid.z < 65536;
  if (!some || !grid_fits || threads > 1024 || block.z > 64) return cudaErrorInvalidConfiguration;
  if (threads > f.kernel->max_threads) return cudaErrorInvalidValue;
  if (shared > f.most_dynamic_shared) return cudaErrorInvalidValue;
  return cudaSuccess;
}

std::string text_of(dim3 d) {
  return std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z);
}

cudaError_t launch(const void* symbol, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                   cudaStream_t stream) {
  Function* f = nullptr;
  if (const cudaError_t error = find_function(symbol, f); error != cudaSuccess) {
    say(std::string("launch of ") + (f != nullptr ? f->readable_name() : "an unknown kernel") +
        ": " + cudaGetErrorString(error));
    return error;
  }
  if (const cudaError_t error = refusal_of(*f, grid, block, shared); error != cudaSuccess) {
    say("launch refused: " + f->readable_name() + ", grid " + text_of(grid) + ", block " +
        text_of(block) + ", dynamic shared memory " + std::to_string(shared) + " (most " +
        std::to_string(f->most_dynamic_shared) + ")");
    return error;
  }
  auto l = std::make_shared<Launched>(Launched{
      f, f->module, grid, block, shared, std::vector<unsigned char>(f->kernel->parameter_bytes)});
  for (std::size_t i = 0; i < f->kernel->parameters.size(); ++i) {
    const ptx::Kernel::Parameter& p = f->kernel->parameters[i];
    std::memcpy(l->arguments.data() + p.offset, arguments[i], p.bytes);
  }
  return enqueue(stream, [l] { return run(*l); });
}

}  // namespace
}  // namespace gpu_emulator

using namespace gpu_emulator;

namespace {
struct Configuration {
  dim3 grid, block;
  size_t shared;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;  // of <<<...>>>
}  // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (configurations.empty()) return fail(cudaErrorMissingConfiguration);
  const Configuration c = configurations.back();
  configurations.pop_back();
  *grid = c.grid;
  *block = c.block;
  *shared = c.shared;
  *static_cast<cudaStream_t*>(stream) = c.stream;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* symbol, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t stream) {
  const Lock lock;
  return fail(launch(symbol, grid, block, arguments, shared, stream));
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared,
                          stream);
}

/// Of the attributes, those that ask for more than blocks on their own are refused.
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* symbol,
                                void** arguments) {
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& a = config->attrs[i];
    const bool cluster = a.id == cudaLaunchAttributeClusterDimension &&
                         a.val.clusterDim.x * a.val.clusterDim.y * a.val.clusterDim.z > 1;
    const bool cooperative = a.id == cudaLaunchAttributeCooperative && a.val.cooperative != 0;
    if (cluster || cooperative) return fail(cudaErrorNotSupported);
  }
  return cudaLaunchKernel(symbol, config->gridDim, config->blockDim, arguments,
                          config->dynamicSmemBytes, config->stream);
}

}  // extern "C"
