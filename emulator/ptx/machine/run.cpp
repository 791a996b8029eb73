// A launch from its beginning: memory, blocks, and what is reported of them.
#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "ptx/machine/block_queue.hpp"
#include "ptx/machine/machine.hpp"

namespace gpu_emulator::ptx {
namespace {

constexpr u64 kAlign = 64;
constexpr u64 kStack = 32768;      // of a thread, for what its kernel calls
constexpr char kGarbage = '\xa5';  // what memory holds that nobody wrote

char* aligned(std::vector<char>& storage) {
  return reinterpret_cast<char*>(align_up(u64(storage.data()), kAlign));
}

/// The host's arithmetic as a GPU's: all exceptions masked, nothing flushed, rounded to nearest.
class Arithmetic {
 public:
  Arithmetic() { _mm_setcsr(0x1f80); }
  ~Arithmetic() { _mm_setcsr(before_); }
  Arithmetic(const Arithmetic&) = delete;
  Arithmetic& operator=(const Arithmetic&) = delete;

 private:
  unsigned before_ = _mm_getcsr();
};

}  // namespace

Machine::Machine(const ModuleImpl& m, const Function& e, const Launch& l, const Checks& c, u64 seed)
    : module(m),
      entry(e),
      launch(l),
      checks(c),
      messages(m, e, l, c, report),
      random{seed * 0x2545f4914f6cdd1dULL + 1},
      shuffled(seed != 0) {}

Machine::Pages Machine::no_pages() {  // page 0 is a page too
  Pages none;
  none.fill(~u64(0));
  return none;
}

Report Machine::run() {
  const Dim3 b = launch.block, g = launch.grid;
  threads = b.x * b.y * b.z;
  if (threads == 0 || threads > 1024) {
    messages.say(messages.kernel() + ": launched with " + std::to_string(threads) +
                 " threads per block");
    return std::move(report);
  }
  start_launch();
  try {
    const Arithmetic arithmetic;
    block = std::make_unique<Block>();
    BlockQueue(*this, u64(g.x) * g.y * g.z).run();
  } catch (const Abort&) {
  }
  report.fma_double = categories[std::size_t(Category::fma_double)];
  report.fma_float = categories[std::size_t(Category::fma_float)];
  report.other_double = categories[std::size_t(Category::other_double)];
  report.div_sqrt = categories[std::size_t(Category::div_sqrt)];
  return std::move(report);
}

void Machine::start_launch() {
  warp_count = (threads + 31) / 32;
  const u32 dynamic = launch.dynamic_shared_bytes;
  dynamic_at = u32(align_up(entry.shared_bytes, module.dynamic_align));
  shared_bytes = dynamic != 0 ? dynamic_at + dynamic : entry.shared_bytes;
  parameter_storage_.assign(entry.parameter_bytes + 2 * kAlign, 0);
  parameters = aligned(parameter_storage_);
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    const Variable& p = entry.parameters[i];
    std::memcpy(parameters + p.offset, launch.arguments[i], p.bytes);
  }
  std::call_once(entry.once, [&] { entry.allocate(); });
  local_stride = align_up(entry.local_bytes, kAlign) + (entry.calls.empty() ? 0 : kStack);
}

void Machine::make_room(Block& b) {
  b.shared_storage.assign(shared_bytes + 2 * kAlign, 0);
  b.shared = aligned(b.shared_storage);
  if (checks.uninitialised) b.shared_written.assign(shared_bytes + 16, 0);
  if (checks.races || checks.global_races) b.races.emplace(messages, threads, shared_bytes);
  for (u32 i = 0; i < warp_count; ++i) {
    auto w = std::make_unique<Warp>();
    w->index = i;
    w->local.assign(local_stride * 32, kGarbage);
    if (checks.uninitialised) w->local_written.assign(local_stride * 32, 0);
    b.warps.push_back(std::move(w));
  }
}

void Machine::activate(std::unique_ptr<Block> b) {
  block = std::move(b);
  messages.block = block->index;
}

void Machine::start_block(u64 index) {
  const Dim3 g = launch.grid;
  Block& b = *block;
  if (b.warps.empty()) make_room(b);
  b.index = {unsigned(index % g.x), unsigned(index / g.x % g.y), unsigned(index / g.x / g.y)};
  messages.block = b.index;
  b.alive = threads;
  b.barriers.fill(Barrier());
  const char garbage = shuffled ? char(random.next()) : kGarbage;
  std::fill(b.shared_storage.begin(), b.shared_storage.end(), garbage);
  std::fill(b.shared_written.begin(), b.shared_written.end(), 0);
  if (b.races) b.races->restart();
  for (auto& w : b.warps) start_warp(*w);
}

void Machine::start_warp(Warp& w) {
  const u32 n = std::min(32U, threads - w.index * 32);
  w.alive = n == 32 ? kAll : (1U << n) - 1;
  prepare(w.root, entry);
  w.root.refs = 1;
  w.root.local_base = 0;
  fill_specials(w.root, w);
  std::fill(w.local_written.begin(), w.local_written.end(), 0);
  w.count = 1;
  w.parts[0] = Part();
  w.parts[0].mask = w.alive;
  w.parts[0].frame = &w.root;
  w.polls = 0;
  w.polled.fill({});
  if (shuffled && random.below(2) != 0) tear_apart(w, 0);
}

void Machine::complain(const Instruction& ins, u32 lanes, const std::string& text) {
  messages.complain(*function, ins, warp->index * 32 + u32(std::countr_zero(lanes)), text);
}

void Machine::fault(const Instruction& ins, u32 lane, const std::string& text) {
  constexpr u64 kMostFaults = 2000;
  complain(ins, 1U << lane, text);
  if (++faults > kMostFaults || messages.full()) throw Abort{};
}

Report run(const Module& module, const Kernel& kernel, const Launch& launch, const Checks& checks,
           std::uint64_t seed) {
  const auto& m = static_cast<const ModuleImpl&>(module);
  const auto f = m.functions.find(kernel.name);
  if (f == m.functions.end() || !f->second->defined) {
    throw std::runtime_error("no kernel " + kernel.name);
  }
  return std::make_unique<Machine>(m, *f->second, launch, checks, seed)->run();
}

}  // namespace gpu_emulator::ptx
