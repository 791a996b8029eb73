#include "runtime/memory.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ptx/words.hpp"
#include "runtime/settings.hpp"

namespace gpu_emulator {
namespace {

constexpr std::size_t kArena = std::size_t(1) << 40;   // addresses alone
constexpr std::size_t kPage = 4096, kAlignment = 256;  // what cudaMalloc promises, and no more
constexpr std::size_t kNear = 4096;                    // for words about what is wrong
constexpr std::uintptr_t kArenaHint = 0x7e0000000000;

std::size_t round_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

struct sigaction action_before;

/// The host touched device memory: says so, and lets the fault take its way.
void on_fault(int signal, siginfo_t* info, void* context) {
  if (Memory::get().in_arena(info->si_addr)) {
    char text[160];
    const int length = std::snprintf(
        text, sizeof text, "[gpu-emulator] host code touched device memory at %p\n", info->si_addr);
    if (write(STDERR_FILENO, text, std::size_t(length)) < 0) abort();
  }
  if ((action_before.sa_flags & SA_SIGINFO) != 0 && action_before.sa_sigaction != nullptr) {
    action_before.sa_sigaction(signal, info, context);
  } else {
    sigaction(signal, &action_before, nullptr);  // the access is tried again
  }
}

const char* name_of(Space space) {
  switch (space) {
    case Space::device:
      return "device memory";
    case Space::pinned:
      return "pinned host memory";
    case Space::managed:
      return "managed memory";
    case Space::variable:
      break;
  }
  return "a variable of a module";
}

}  // namespace

Memory& Memory::get() {
  static Memory* const instance = new Memory;
  return *instance;
}

Memory::Memory() {
  void* place = mmap(reinterpret_cast<void*>(kArenaHint), kArena, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) {
    say("no addresses for device memory");
    std::abort();
  }
  arena_ = next_ = reinterpret_cast<std::uintptr_t>(place);
  end_ = arena_ + kArena;
  if (!settings().check_host) return;
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &action_before);
}

/// One call for all of it, so that the cost does not depend on the number of allocations.
void Memory::protect(bool open) {
  if (next_ == arena_) return;
  const int rights = open || !settings().check_host ? PROT_READ | PROT_WRITE : PROT_NONE;
  mprotect(reinterpret_cast<void*>(arena_), next_ - arena_, rights);
}

Memory::Access::Access() {
  Memory& m = get();
  if (m.open_++ == 0) m.protect(true);
}
Memory::Access::~Access() {
  Memory& m = get();
  if (--m.open_ == 0) m.protect(false);
}

/// Whole pages, so that they can be given back; a page between, so that addresses tell them apart.
/// The first byte is aligned to what CUDA promises and not by chance to more.
void* Memory::take_from_arena(std::size_t bytes) {
  const std::size_t room = round_up(bytes + kAlignment, kPage) + kPage;
  if (used_ + bytes > kBytes || room > end_ - next_) return nullptr;
  const std::uintptr_t base = next_ + kAlignment;
  next_ += room;
  if (open_ > 0 || !settings().check_host) protect(true);
  return reinterpret_cast<void*>(base);
}

void* Memory::allocate(std::size_t bytes, Space space) {
  void* memory = nullptr;
  if (space == Space::device) {
    memory = take_from_arena(bytes);
    if (memory == nullptr) return nullptr;
    used_ += bytes;
  } else if (posix_memalign(&memory, kPage, bytes) != 0) {
    return nullptr;
  }
  adopt(memory, bytes, space);
  Allocation& a = *allocations_.at(reinterpret_cast<std::uintptr_t>(memory));
  a.owned = true;
  const Access access;
  std::memset(memory, 0xff, bytes);
  if (space == Space::device && settings().check_uninitialised) a.written.assign(bytes, 0);
  return memory;
}

void Memory::adopt(const void* memory, std::size_t bytes, Space space) {
  auto a = std::make_unique<Allocation>();
  a->base = reinterpret_cast<std::uintptr_t>(memory);
  a->bytes = bytes;
  a->space = space;
  a->owned = false;
  recent_.fill(nullptr);
  allocations_[a->base] = std::move(a);
}

bool Memory::release(const void* memory, Space space) {
  const auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == allocations_.end()) return false;
  const Allocation& a = *found->second;
  const bool managed = space == Space::device && a.space == Space::managed;  // cudaFree frees both
  if (!a.owned || (a.space != space && !managed)) return false;
  if (a.space == Space::device) {
    used_ -= a.bytes;
    freed_[a.base] = a.bytes;
    const Access access;  // the pages are given back; their addresses are not used again
    madvise(reinterpret_cast<void*>(a.base / kPage * kPage), round_up(a.bytes + kAlignment, kPage),
            MADV_DONTNEED);
  } else {
    std::free(reinterpret_cast<void*>(a.base));
  }
  recent_.fill(nullptr);
  allocations_.erase(found);
  return true;
}

void Memory::disown(const void* memory) {
  recent_.fill(nullptr);
  allocations_.erase(reinterpret_cast<std::uintptr_t>(memory));
}

Allocation* Memory::find(std::uintptr_t address) {
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  Allocation* a = (--after)->second.get();
  return a->holds(address, 0) ? a : nullptr;
}

bool Memory::in_arena(const void* p) const {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return address >= arena_ && address < end_;
}

bool Memory::touch(std::uintptr_t address, std::size_t bytes, bool write) {
  // The interpreter asks for the whole page around an access, so as not to ask again.
  const bool is_page = bytes == kPage && address % kPage == 0;
  Allocation*& recent = recent_[address / kPage % recent_.size()];
  if (recent == nullptr || !recent->holds(address, bytes)) {
    Allocation* a = find(address);
    if (a == nullptr || !a->holds(address, bytes)) {
      if (!is_page && complaints.size() < settings().messages) {
        complaints.push_back(std::string(write ? "write of " : "read of ") + std::to_string(bytes) +
                             " bytes at " + ptx::hex(address) + ": " + describe(address));
      }
      return false;
    }
    recent = a;
  }
  if (recent->written.empty()) return true;
  unsigned char* const marks = recent->written.data() + (address - recent->base);
  if (write && !is_page) {
    std::memset(marks, 1, bytes);
    return true;
  }
  if (std::memchr(marks, 0, bytes) == nullptr) return true;
  if (!is_page && complaints.size() < settings().messages) {
    complaints.push_back("read of " + std::to_string(bytes) + " bytes at " + ptx::hex(address) +
                         " that nobody wrote: " + describe(address));
  }
  return false;
}

void Memory::mark_written(const void* memory, std::size_t bytes) {
  Allocation* a = find(memory);
  if (a == nullptr || a->written.empty() || bytes == 0) return;
  const std::size_t first = reinterpret_cast<std::uintptr_t>(memory) - a->base;
  if (first + bytes <= a->bytes) std::memset(a->written.data() + first, 1, bytes);
}

std::string Memory::describe(std::uintptr_t address) {
  const auto say_of = [&](std::uintptr_t base, std::size_t bytes) {
    const bool after = address >= base + bytes;
    return (after ? std::to_string(address - base - bytes) + " bytes after "
                  : "byte " + std::to_string(address - base) + " of ") +
           std::to_string(bytes) + " bytes at " + ptx::hex(base);
  };
  auto freed = freed_.upper_bound(address);
  if (freed != freed_.begin() && address < std::prev(freed)->first + std::prev(freed)->second) {
    return "freed device memory, " + say_of(std::prev(freed)->first, std::prev(freed)->second);
  }
  auto after = allocations_.upper_bound(address);
  if (address < kPage) return "a null pointer";
  if (after != allocations_.begin()) {
    const Allocation& a = *std::prev(after)->second;
    if (address < a.base + a.bytes + kNear) {
      return say_of(a.base, a.bytes) + " (" + name_of(a.space) + ")";
    }
  }
  if (after != allocations_.end() && after->first - address < kNear) {
    const Allocation& a = *after->second;
    return std::to_string(a.base - address) + " bytes before " + std::to_string(a.bytes) +
           " bytes at " + ptx::hex(a.base) + " (" + name_of(a.space) + ")";
  }
  return in_arena(reinterpret_cast<const void*>(address))
             ? "an address of device memory, not near any allocation"
             : "host memory that is not pinned, or nothing";
}

Kind kind_of(const void* p, std::size_t bytes) {
  const Allocation* a = Memory::get().find(p);
  if (a == nullptr || !a->holds(reinterpret_cast<std::uintptr_t>(p), 1)) {
    return p == nullptr || Memory::get().in_arena(p) ? Kind::wrong : Kind::host;
  }
  if (!a->holds(reinterpret_cast<std::uintptr_t>(p), bytes)) return Kind::wrong;
  return a->space == Space::pinned ? Kind::pinned : Kind::device;
}

}  // namespace gpu_emulator
