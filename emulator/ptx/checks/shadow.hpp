// Who wrote and who read each word of memory last.
#pragma once
#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ptx/program/program.hpp"

namespace gpu_emulator::ptx {

struct Cell {
  u32 w_epoch = 0, w_clock = 0, r_epoch = 0, r_clock = 0;
  u16 w_thread = 0, r_thread = 0;
  const Function *w_function = nullptr, *r_function = nullptr;
  const Instruction *w_ins = nullptr, *r_ins = nullptr;
  i32 many = -1;  // clocks of several readers, in the pool
  bool w_atomic = false, r_many = false;
  bool split = false;  // its bytes have cells of their own
};

class Shadow {
 public:
  /// Of shared memory: a cell per word. Of global memory (0 bytes): pages of cells where needed.
  explicit Shadow(u32 bytes) : flat_(bytes == 0 ? 0 : bytes / 4 + 4) {}
  void clear();

  Cell& word(u64 w) {
    if (!flat_.empty()) return flat_[w];
    const u64 page = w / kPage;
    if (page != last_page_) {
      auto& p = pages_[page];
      if (p == nullptr) p = std::make_unique<Cell[]>(kPage);
      last_ = p.get();
      last_page_ = page;
    }
    return last_[w % kPage];
  }
  /// The bytes of a word, which are told apart from now on.
  std::array<Cell, 4>& bytes(u64 w, Cell& c, u32 epoch);

  /// Clocks of the readers of a cell that has several.
  std::vector<u32>& readers(const Cell& c) { return pool_[std::size_t(c.many)]; }
  /// From now on it has two.
  void add_reader(Cell& c, u32 threads, u32 t, u32 clock);

 private:
  static constexpr u64 kPage = 1024;
  std::vector<Cell> flat_;
  std::unordered_map<u64, std::unique_ptr<Cell[]>> pages_;
  std::unordered_map<u64, std::array<Cell, 4>> bytes_;
  std::deque<std::vector<u32>> pool_;
  u64 last_page_ = ~u64(0);
  Cell* last_ = nullptr;
};

}  // namespace gpu_emulator::ptx
