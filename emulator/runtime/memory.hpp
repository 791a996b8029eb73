// Device memory: host memory at addresses that nothing else has and that are never given out twice.
// While no kernel and no copy runs, the host may not touch it.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gpu_emulator {

enum class Space { device, pinned, managed, variable };

struct Allocation {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  Space space = Space::device;
  bool owned = true;                   ///< false: registered host memory, variables of modules
  std::vector<unsigned char> written;  ///< per byte, where reads of what nobody wrote are checked

  bool holds(std::uintptr_t address, std::size_t size) const {
    return address >= base && size <= bytes && address - base <= bytes - size;
  }
};

class Memory {
 public:
  static Memory& get();

  /// nullptr: no room. Device memory is filled with bytes 0xff: NaN, or -1.
  void* allocate(std::size_t bytes, Space space);
  /// Makes memory of others known: what is registered, and variables of modules.
  void adopt(const void* memory, std::size_t bytes, Space space);
  /// False: nothing of this kind begins there.
  bool release(const void* memory, Space space);
  void disown(const void* memory);

  /// The allocation around an address, or nullptr.
  Allocation* find(std::uintptr_t address);
  Allocation* find(const void* p) { return find(reinterpret_cast<std::uintptr_t>(p)); }
  /// Whether an address is in what was or is device memory.
  bool in_arena(const void* p) const;

  /// For kernels: whether they may touch this. What was wrong, if not, is added to `complaints`.
  bool touch(std::uintptr_t address, std::size_t bytes, bool write);
  std::vector<std::string> complaints;

  /// Of copies and memset to device memory.
  void mark_written(const void* memory, std::size_t bytes);

  /// What lies near an address, in words.
  std::string describe(std::uintptr_t address);

  /// Device memory may be touched while one of these lives.
  class Access {
   public:
    Access();
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;
  };

  std::size_t used() const { return used_; }
  static constexpr std::size_t kBytes = std::size_t(80) << 30;  ///< as an H100

 private:
  Memory();
  void protect(bool open);
  void* take_from_arena(std::size_t bytes);

  std::uintptr_t arena_ = 0, next_ = 0, end_ = 0;
  std::size_t used_ = 0;
  int open_ = 0;
  std::map<std::uintptr_t, std::unique_ptr<Allocation>> allocations_;
  std::map<std::uintptr_t, std::size_t> freed_;
  std::array<Allocation*, 4096> recent_{};  ///< by page
};

/// Whether memory lies whole in an allocation that kernels may use, or is plain host memory.
enum class Kind { device, pinned, host, wrong };
Kind kind_of(const void* memory, std::size_t bytes);

}  // namespace gpu_emulator
