#include "stickslip/lcp.hpp"

#include "src/api/check.hpp"
#include "src/cpu/workspace.hpp"
#include "stickslip/info.hpp"

namespace stickslip {

struct LcpWorkspace::Impl : Workspace::Impl {
  using Workspace::Impl::Impl;
  bool boxed;
};

const char* name(LcpMethod method) {
  switch (method) {
    case LcpMethod::automatic:
      return "auto";
    case LcpMethod::lemke:
      return "lemke";
    case LcpMethod::newton:
      return "newton";
  }
  return "unknown";
}

LcpWorkspace::LcpWorkspace(const LcpWorkspaceConfig& c) {
  require(c.max_rows >= 0, "max_rows", "a number >= 0", c.max_rows);
  require(c.threads >= 0, "threads", "a number >= 0 (0: all cores)", c.threads);
  const auto& table = kernels::kernel_table();
  impl_ = std::make_unique<Impl>(c.max_rows, 0, c.threads);
  impl_->boxed = c.boxed;
  require_memory(double(c.max_rows) * c.max_rows * 8.0 * impl_->threads, "max_rows, threads");
  impl_->reserve(
      std::max(table.f64.lcp_bytes(c.max_rows, c.boxed), table.f32.lcp_bytes(c.max_rows, c.boxed)));
}

LcpWorkspace::~LcpWorkspace() = default;
LcpWorkspace::LcpWorkspace(LcpWorkspace&&) noexcept = default;
LcpWorkspace& LcpWorkspace::operator=(LcpWorkspace&&) noexcept = default;
std::int32_t LcpWorkspace::max_rows() const { return impl_->max_rows; }
int LcpWorkspace::threads() const { return impl_->threads; }
void LcpWorkspace::watch(std::function<bool()> go_on) { impl_->go_on = std::move(go_on); }
bool LcpWorkspace::boxed() const { return impl_->boxed; }

template <class Scalar>
void solve_lcp(const LcpBatch<Scalar>& problem, const LcpResult<Scalar>& result,
               const LcpOptions& options, LcpWorkspace& workspace) {
  check_lcp(problem, result, options);
  require(workspace.max_rows() >= problem.max_rows, "workspace.max_rows",
          "at least problem.max_rows", workspace.max_rows());
  require(workspace.boxed() || problem.lo.data == nullptr, "workspace.boxed",
          "true, because the problem has bounds", "false");
  const auto run =
      kernels::typed<Scalar>(kernels::kernel_table()).solve_lcp[int(options.precision)];
  auto& memory = impl_of(workspace);
  const auto turn = memory.caller.enter();
  memory.for_chunks(problem.num_envs, memory.work_of(problem.max_rows),
                    [&](std::int64_t begin, std::int64_t end, void* scratch) {
                      run(problem, result, options, begin, end, scratch);
                    });
}

template <class Scalar>
void solve_lcp(const LcpBatch<Scalar>& problem, const LcpResult<Scalar>& result,
               const LcpOptions& options) {
  check_lcp(problem, result, options);
  LcpWorkspace workspace({.max_rows = problem.max_rows, .boxed = problem.lo.data != nullptr});
  solve_lcp(problem, result, options, workspace);
}

template void solve_lcp(const LcpBatch<double>&, const LcpResult<double>&, const LcpOptions&,
                        LcpWorkspace&);
template void solve_lcp(const LcpBatch<float>&, const LcpResult<float>&, const LcpOptions&,
                        LcpWorkspace&);
template void solve_lcp(const LcpBatch<double>&, const LcpResult<double>&, const LcpOptions&);
template void solve_lcp(const LcpBatch<float>&, const LcpResult<float>&, const LcpOptions&);

}  // namespace stickslip
