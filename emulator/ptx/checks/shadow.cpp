#include "ptx/checks/shadow.hpp"

namespace gpu_emulator::ptx {

void Shadow::clear() {
  std::fill(flat_.begin(), flat_.end(), Cell());
  pages_.clear();
  bytes_.clear();
  pool_.clear();
  last_page_ = ~u64(0);
}

std::array<Cell, 4>& Shadow::bytes(u64 w, Cell& c, u32 epoch) {
  auto& four = bytes_[w];
  if (c.split) return four;
  c.split = true;
  for (Cell& x : four) {
    x = c;
    x.split = false;
    x.many = -1;
    if (c.r_many && c.r_epoch == epoch) {
      x.many = i32(pool_.size());
      pool_.push_back(std::vector<u32>(readers(c)));
    } else {
      x.r_many = false;
      if (c.r_many) x.r_epoch = 0;
    }
  }
  return four;
}

void Shadow::add_reader(Cell& c, u32 threads, u32 t, u32 clock) {
  if (c.many < 0) {
    c.many = i32(pool_.size());
    pool_.emplace_back(threads, 0);
  } else {
    std::fill(readers(c).begin(), readers(c).end(), 0);
  }
  c.r_many = true;
  readers(c)[c.r_thread] = c.r_clock;
  readers(c)[t] = clock;
}

}  // namespace gpu_emulator::ptx
