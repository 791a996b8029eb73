#include "src/cpu/workspace.hpp"

#include <new>
#include <utility>

#include "src/api/check.hpp"

namespace stickslip {

namespace {
constexpr std::align_val_t kCacheLine{64};
}

void Workspace::Impl::AlignedDelete::operator()(unsigned char* p) const {
  ::operator delete(p, kCacheLine);
}

Workspace::Impl::Impl(std::int32_t rows, std::int32_t contacts, int count)
    : max_rows(rows), max_contacts(contacts), threads(count == 0 ? usable_cores() : count) {
  thread_pool::prepare(threads);
}

void Workspace::Impl::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  require_memory(double(bytes) * threads, "workspace");
  decltype(scratch_) larger;
  for (int thread = 0; thread < threads; ++thread) {
    larger.emplace_back(static_cast<unsigned char*>(::operator new(bytes, kCacheLine)));
  }
  scratch_ = std::move(larger);
  bytes_ = bytes;
}

const kernels::Ladder& Workspace::Impl::ladder_of(const SolveOptions& options) {
  if (ladders_[last_ladder_].options != options) {
    last_ladder_ = 1 - last_ladder_;
    if (ladders_[last_ladder_].options != options) ladders_[last_ladder_] = options;
  }
  return ladders_[last_ladder_];
}

Workspace::Workspace(std::int32_t max_rows, std::int32_t max_contacts, int threads) {
  require(max_rows >= 0, "max_rows", "a number >= 0", max_rows);
  require(max_contacts >= 0, "max_contacts", "a number >= 0", max_contacts);
  require(threads >= 0, "threads", "a number >= 0 (0: all cores)", threads);
  const auto& table = kernels::kernel_table();
  impl_ = std::make_unique<Impl>(max_rows, max_contacts, threads);
  require_memory(double(max_rows) * max_rows * 8.0 * impl_->threads, "max_rows, threads");
  constexpr int directions = 0,
                nv = -1;  // larger calls, of the rest of the API, grow it once
  impl_->reserve(std::max(table.f64.solve_bytes(max_rows, max_contacts, directions, {nv}),
                          table.f32.solve_bytes(max_rows, max_contacts, directions, {nv})));
}

Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
void Workspace::watch(std::function<bool()> go_on) { impl_->go_on = std::move(go_on); }
int Workspace::threads() const { return impl_->threads; }
std::int32_t Workspace::max_rows() const { return impl_->max_rows; }
std::int32_t Workspace::max_contacts() const { return impl_->max_contacts; }

}  // namespace stickslip
