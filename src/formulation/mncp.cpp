#include "stickslip/mncp.hpp"

#include <atomic>
#include <exception>
#include <limits>
#include <mutex>

#include "src/batch/check.hpp"
#include "src/cpu/workspace.hpp"

namespace stickslip {

struct MncpWorkspace::Impl : Workspace::Impl {
  using Workspace::Impl::Impl;
};

MncpWorkspace::MncpWorkspace(std::int32_t max_unknowns, int threads) {
  require(max_unknowns >= 0, "max_unknowns", "a number >= 0", max_unknowns);
  require(threads >= 0, "threads", "a number >= 0 (0: all cores)", threads);
  impl_ = std::make_unique<Impl>(max_unknowns, 0, threads);
  require_memory(double(max_unknowns) * max_unknowns * 8.0 * impl_->threads,
                 "max_unknowns, threads");
  impl_->reserve(kernels::kernel_table().mncp_bytes(max_unknowns));
}

MncpWorkspace::~MncpWorkspace() = default;
MncpWorkspace::MncpWorkspace(MncpWorkspace&&) noexcept = default;
MncpWorkspace& MncpWorkspace::operator=(MncpWorkspace&&) noexcept = default;
std::int32_t MncpWorkspace::max_unknowns() const { return impl_->max_rows; }

namespace {

void check_mncp(const MncpBatch& p, const MncpResult& r, const MncpOptions& o) {
  require(p.num_envs >= 0, "problem.num_envs", "a number >= 0", p.num_envs);
  require(p.max_x >= 0, "problem.max_x", "a number >= 0", p.max_x);
  require(p.max_w >= 0, "problem.max_w", "a number >= 0", p.max_w);
  check_tolerances(o.atol, o.rtol);
  require(o.max_newton >= 0, "options.max_newton", "a number >= 0", o.max_newton);
  require(o.restarts >= 0, "options.restarts", "a number >= 0", o.restarts);
  if (p.num_envs == 0) return;
  require(p.map != nullptr, "problem.map", "a function", "none");
  if (p.max_x > 0) require_array(r.x, "result.x");
  if (p.max_w > 0) require_array(r.w, "result.w");
  require(r.residual != nullptr, "result.residual", "an array", "none");
  require(r.status != nullptr, "result.status", "an array", "none");
  require(r.iterations != nullptr, "result.iterations", "an array", "none");
}

/// The caller's map. Its exceptions must not pass through kernels or threads: after the first one
/// it is not called again, and its values are NaN.
class GuardedMap {
 public:
  explicit GuardedMap(const MncpMap& map) : map_(map) {}
  kernels::MncpCallback callback() const { return {&GuardedMap::call, this}; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  static void call(const void* context, const MncpPoint& point) {
    static_cast<const GuardedMap*>(context)->evaluate(point);
  }
  void evaluate(const MncpPoint& point) const {
    try {
      if (!failed_) return map_(point);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!failed_.exchange(true)) error_ = std::current_exception();
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (int i = 0; i < point.n_x; ++i) point.y[i] = nan;
    for (int i = 0; i < point.n_w; ++i) point.z[i] = nan;
  }

  const MncpMap& map_;
  mutable std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;
  mutable std::exception_ptr error_;
};

}  // namespace

void solve_mncp(const MncpBatch& problem, const MncpResult& result, const MncpOptions& options,
                MncpWorkspace& workspace) {
  check_mncp(problem, result, options);
  require(workspace.max_unknowns() >= problem.max_x + problem.max_w, "workspace.max_unknowns",
          "at least problem.max_x + problem.max_w", workspace.max_unknowns());
  const GuardedMap map(problem.map);
  const auto run = kernels::kernel_table().solve_mncp;
  const auto turn = impl_of(workspace).caller.enter();
  constexpr double kUnknown = 1e6;  // cost of the caller's map, unknown
  impl_of(workspace).for_chunks(
      problem.num_envs, kUnknown, [&](std::int64_t begin, std::int64_t end, void* scratch) {
        run(problem, map.callback(), result, options, begin, end, scratch);
      });
  map.rethrow();
}

void solve_mncp(const MncpBatch& problem, const MncpResult& result, const MncpOptions& options) {
  check_mncp(problem, result, options);
  MncpWorkspace workspace(problem.max_x + problem.max_w);
  solve_mncp(problem, result, options, workspace);
}

}  // namespace stickslip
