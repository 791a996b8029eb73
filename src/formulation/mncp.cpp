#include "stickslip/mncp.hpp"

#include <atomic>
#include <exception>
#include <limits>
#include <mutex>

#include "src/api/check.hpp"
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
void MncpWorkspace::watch(std::function<bool()> go_on) { impl_->go_on = std::move(go_on); }

namespace {

constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();

void check_mncp(const MncpBatch& p, const MncpResult& r, const MncpOptions& o) {
  require(p.num_envs >= 0, "problem.num_envs", "a number >= 0", p.num_envs);
  require(p.max_x >= 0, "problem.max_x", "a number >= 0", p.max_x);
  require(p.max_w >= 0, "problem.max_w", "a number >= 0", p.max_w);
  require(p.max_x <= kMost - p.max_w, "problem.max_x, problem.max_w",
          "numbers whose sum fits 32 bits", p.max_x);
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
/// it is not called again, its values are NaN, and the environments end.
class GuardedMap {
 public:
  explicit GuardedMap(const MncpMap& map) : map_(map) {}
  kernels::MncpCallback callback() const { return {&GuardedMap::call, this}; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }
  bool ended() const { return ended_; }
  /// The map is not called again: its caller waits for the end.
  void end() { ended_ = true; }

 private:
  static void call(const void* context, const MncpPoint& point) {
    static_cast<const GuardedMap*>(context)->evaluate(point);
  }
  void evaluate(const MncpPoint& point) const {
    try {
      if (!ended_) return map_(point);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!ended_.exchange(true)) error_ = std::current_exception();
    }
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (int i = 0; i < point.n_x; ++i) point.y[i] = nan;
    for (int i = 0; i < point.n_w; ++i) point.z[i] = nan;
  }

  const MncpMap& map_;
  mutable std::atomic<bool> ended_{false};
  mutable std::mutex mutex_;
  mutable std::exception_ptr error_;
};

/// During its lifetime, the environments of this thread end with the map, or where the watch of the
/// call says so.
class EndWith {
 public:
  explicit EndWith(GuardedMap& map) : map_(map), before_(set(&stop_)) {}
  ~EndWith() { set(before_); }
  EndWith(const EndWith&) = delete;
  EndWith& operator=(const EndWith&) = delete;

 private:
  static const kernels::Stop* set(const kernels::Stop* stop) {
    return kernels::kernel_table().set_stop(stop);
  }
  bool ask() {
    if (!map_.ended() && before_ != nullptr && before_->ask(before_->whom)) map_.end();
    return map_.ended();
  }

  GuardedMap& map_;
  kernels::Stop stop_{[](void* its) { return static_cast<EndWith*>(its)->ask(); }, this};
  const kernels::Stop* before_;
};

}  // namespace

void solve_mncp(const MncpBatch& problem, const MncpResult& result, const MncpOptions& options,
                MncpWorkspace& workspace) {
  check_mncp(problem, result, options);
  require(workspace.max_unknowns() >= problem.max_x + problem.max_w, "workspace.max_unknowns",
          "at least problem.max_x + problem.max_w", workspace.max_unknowns());
  GuardedMap map(problem.map);
  const auto run = kernels::kernel_table().solve_mncp;
  const auto turn = impl_of(workspace).caller.enter();
  constexpr double kUnknown = 1e6;  // cost of the caller's map, unknown
  impl_of(workspace).for_chunks(
      problem.num_envs, kUnknown, [&](std::int64_t begin, std::int64_t end, void* scratch) {
        const EndWith ends(map);
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
