#include "runtime/modules.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "runtime/fatbin.hpp"
#include "runtime/memory.hpp"
#include "runtime/settings.hpp"
#include "runtime/streams.hpp"

namespace gpu_emulator {

namespace {

struct Variable {
  Binary* binary;
  std::string name;
  std::size_t bytes;
};

struct Registry {
  std::map<const void*, std::unique_ptr<Function>> functions;  // by host stub
  std::map<const void*, Variable> variables;                   // by host shadow
};
Registry& registry() {
  static Registry* const instance = new Registry;
  return *instance;
}

/// The names of the module's variables: of declarations outside of functions.
std::vector<std::string> variable_names(std::string_view text) {
  std::vector<std::string> names;
  int depth = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    std::string_view line = text.substr(0, end + 1);
    text.remove_prefix(end + 1);
    const bool outside = depth == 0;
    if (const std::size_t comment = line.find("//"); comment != line.npos) {
      line = line.substr(0, comment);
    }
    for (const char c : line) depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    const bool variable = line.find(".global ") != line.npos || line.find(".const ") != line.npos;
    if (!outside || !variable) continue;
    const std::size_t after = line.find_first_of("[=;");
    if (after == line.npos || after == 0) continue;
    const std::size_t last = line.find_last_not_of(" \t", after - 1);
    const std::size_t before = line.find_last_of(" \t", last);
    names.emplace_back(line.substr(before + 1, last - before));
  }
  return names;
}

void load(Binary& b) {
  if (b.loaded) return;
  b.loaded = true;
  PtxImage image = find_ptx(b.wrapper, settings().architecture);
  if (!settings().ptx.empty()) {
    for (const auto& [host, f] : registry().functions) {
      if (f->binary == &b) image.text = ptx_file_with(f->name);
      if (f->binary == &b) break;
    }
  }
  if (image.text.empty()) {
    say("PTX of a kernel: " + image.why);
    b.error = cudaErrorNoKernelImageForDevice;
    return;
  }
  b.text = std::move(image.text);
  try {
    b.module = ptx::Module::parse(b.text);
  } catch (const std::exception& e) {
    say(std::string("PTX of a kernel: ") + e.what());
    b.error = cudaErrorInvalidPtx;
    return;
  }
  for (const std::string& name : variable_names(b.text)) {
    std::size_t bytes = 0;
    void* memory = b.module->global(name, &bytes);
    if (memory == nullptr || bytes == 0) continue;
    Memory::get().adopt(memory, bytes, Space::variable);
    b.variables.push_back(memory);
  }
}

/// .minnctapersm of a kernel; 1 where it has none.
int least_blocks_of(const std::string& text, const std::string& name) {
  const std::size_t entry = text.find(".entry " + name + "(");
  if (entry == text.npos) return 1;
  const std::size_t body = std::min(text.find('{', entry), text.size());
  const std::size_t found = text.find(".minnctapersm ", entry);
  if (found >= body) return 1;
  return std::max(1, std::atoi(text.c_str() + found + std::strlen(".minnctapersm ")));
}

}  // namespace

cudaError_t find_function(const void* symbol, Function*& function) {
  Registry& r = registry();
  auto found = r.functions.find(symbol);
  if (found == r.functions.end()) {  // a cudaKernel_t is the address of a Function
    found = std::find_if(r.functions.begin(), r.functions.end(),
                         [&](const auto& f) { return f.second.get() == symbol; });
  }
  if (found == r.functions.end()) return cudaErrorInvalidDeviceFunction;
  Function& f = *found->second;
  function = &f;
  if (f.kernel != nullptr) return cudaSuccess;
  load(*f.binary);
  if (f.binary->error != cudaSuccess) return f.binary->error;
  f.module = f.binary->module;
  f.kernel = f.module->find(f.name);
  if (f.kernel == nullptr) {
    for (const ptx::Kernel& k : f.module->kernels()) {
      if (same_name(k.name, f.name)) f.kernel = &k;
    }
  }
  if (f.kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  f.least_blocks = least_blocks_of(f.binary->text, f.kernel->name);
  f.most_dynamic_shared -=
      std::min<std::size_t>(f.most_dynamic_shared, f.kernel->static_shared_bytes);
  return cudaSuccess;
}

cudaError_t find_variable(const void* symbol, void*& memory, std::size_t& bytes) {
  const auto found = registry().variables.find(symbol);
  if (found == registry().variables.end()) return cudaErrorInvalidSymbol;
  const Variable& v = found->second;
  load(*v.binary);
  if (v.binary->error != cudaSuccess) return v.binary->error;
  memory = v.binary->module->global(v.name, &bytes);
  return memory != nullptr ? cudaSuccess : cudaErrorInvalidSymbol;
}

}  // namespace gpu_emulator

using namespace gpu_emulator;

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  auto* binary = new Binary;
  binary->wrapper = wrapper;
  return reinterpret_cast<void**>(binary);
}
void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  const Lock lock;
  auto* binary = reinterpret_cast<Binary*>(handle);
  std::erase_if(registry().functions, [&](const auto& f) { return f.second->binary == binary; });
  std::erase_if(registry().variables, [&](const auto& v) { return v.second.binary == binary; });
  for (const void* memory : binary->variables) Memory::get().disown(memory);
  delete binary;
}

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  const Lock lock;
  auto f = std::make_unique<Function>();
  f->binary = reinterpret_cast<Binary*>(handle);
  f->name = name;
  registry().functions[host] = std::move(f);
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t bytes, int,
                       int) {
  const Lock lock;
  registry().variables[host] = {reinterpret_cast<Binary*>(handle), name, bytes};
}

void __cudaRegisterManagedVar(void**, void**, char*, const char* name, int, size_t, int, int) {
  say(std::string("__managed__ variables are not emulated: ") + name);
}

char __cudaInitModule(void**) { return 1; }

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  const Lock lock;
  const auto found = registry().functions.find(host);
  if (found == registry().functions.end()) return fail(cudaErrorInvalidDeviceFunction);
  *kernel = reinterpret_cast<cudaKernel_t>(found->second.get());
  return cudaSuccess;
}

cudaError_t cudaGetSymbolAddress(void** memory, const void* symbol) {
  const Lock lock;
  std::size_t bytes = 0;
  return fail(find_variable(symbol, *memory, bytes));
}
cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  const Lock lock;
  void* memory = nullptr;
  return fail(find_variable(symbol, memory, *bytes));
}

}  // extern "C"
