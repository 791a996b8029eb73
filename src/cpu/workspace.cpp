#include "src/cpu/workspace.hpp"

#include <omp.h>

#include <new>

#include "src/batch/check.hpp"

namespace stickslip {

namespace {
constexpr std::align_val_t kCacheLine{64};
}

void Workspace::Impl::AlignedDelete::operator()(unsigned char* p) const {
  ::operator delete(p, kCacheLine);
}

int Workspace::Impl::thread_index() { return omp_get_thread_num(); }

int Workspace::Impl::threads_or_all(int threads) {
  return threads == 0 ? omp_get_num_procs() : threads;
}

void Workspace::Impl::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  scratch_.clear();
  for (int thread = 0; thread < threads; ++thread) {
    scratch_.emplace_back(static_cast<unsigned char*>(::operator new(bytes, kCacheLine)));
  }
  bytes_ = bytes;
}

Workspace::Workspace(std::int32_t max_rows, std::int32_t max_contacts, int threads) {
  require(max_rows >= 0, "max_rows", "a number >= 0", max_rows);
  require(max_contacts >= 0, "max_contacts", "a number >= 0", max_contacts);
  require(threads >= 0, "threads", "a number >= 0 (0: all cores)", threads);
  const auto& table = kernels::kernel_table();
  impl_ = std::make_unique<Impl>();
  impl_->max_rows = max_rows;
  impl_->max_contacts = max_contacts;
  impl_->threads = Impl::threads_or_all(threads);
  constexpr int directions = 0,
                nv = -1;  // the largest solves, of the rest of the API, grow it once
  impl_->reserve(std::max(table.f64.solve_bytes(max_rows, max_contacts, directions, nv),
                          table.f32.solve_bytes(max_rows, max_contacts, directions, nv)));
}

Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
int Workspace::threads() const { return impl_->threads; }
std::int32_t Workspace::max_rows() const { return impl_->max_rows; }
std::int32_t Workspace::max_contacts() const { return impl_->max_contacts; }

}  // namespace stickslip
