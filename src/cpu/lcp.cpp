#include "stickslip/lcp.hpp"

#include "src/batch/check.hpp"
#include "src/cpu/workspace.hpp"
#include "stickslip/info.hpp"

namespace stickslip {

struct LcpWorkspace::Impl : Workspace::Impl {
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

LcpWorkspace::LcpWorkspace(std::int32_t max_rows, bool boxed, int threads) {
  require(max_rows >= 0, "max_rows", "a number >= 0", max_rows);
  require(threads >= 0, "threads", "a number >= 0 (0: all cores)", threads);
  const auto& table = kernels::kernel_table();
  impl_ = std::make_unique<Impl>();
  impl_->max_rows = max_rows;
  impl_->max_contacts = 0;
  impl_->boxed = boxed;
  impl_->threads = Impl::threads_or_all(threads);
  impl_->reserve(
      std::max(table.f64.lcp_bytes(max_rows, boxed), table.f32.lcp_bytes(max_rows, boxed)));
}

LcpWorkspace::~LcpWorkspace() = default;
LcpWorkspace::LcpWorkspace(LcpWorkspace&&) noexcept = default;
LcpWorkspace& LcpWorkspace::operator=(LcpWorkspace&&) noexcept = default;
std::int32_t LcpWorkspace::max_rows() const { return impl_->max_rows; }
bool LcpWorkspace::boxed() const { return impl_->boxed; }

namespace {

template <class In>
void check_options(const LcpOptions& o) {
  const auto method = std::int32_t(o.method);
  require(method >= 0 && method < 3, "options.method", "auto, lemke or newton", name(o.method));
  require(o.precision == Precision::fp64 || o.precision == Precision::fp32, "options.precision",
          "double or float", name(o.precision));
  require(sizeof(In) == 8 || o.precision == Precision::fp32, "options.precision",
          "float for problems given in float", name(o.precision));
  require(o.atol == o.atol && o.rtol == o.rtol, "options.atol, options.rtol", "numbers", "NaN");
  require(o.max_pivots >= 0, "options.max_pivots", "a number >= 0", o.max_pivots);
  require(o.max_newton >= 0, "options.max_newton", "a number >= 0", o.max_newton);
  require(o.restarts >= 0, "options.restarts", "a number >= 0", o.restarts);
  require(o.cfm >= 0.0 && o.cfm - o.cfm == 0.0, "options.cfm", "a finite number >= 0", o.cfm);
}

template <class In>
void check_lcp(const LcpBatch<In>& p, const LcpResult<In>& r) {
  require(p.num_envs >= 0, "problem.num_envs", "a number >= 0", p.num_envs);
  require(p.max_rows >= 0, "problem.max_rows", "a number >= 0", p.max_rows);
  require(p.ld_M == 0 || p.ld_M >= p.max_rows, "problem.ld_M", "0 or at least max_rows", p.ld_M);
  require((p.lo.data == nullptr) == (p.hi.data == nullptr), "problem.lo, problem.hi",
          "both or neither", "one of them");
  require(p.findex.data == nullptr || p.lo.data != nullptr, "problem.lo, problem.hi",
          "arrays, because findex scales them", "none");
  if (p.num_envs == 0) return;
  if (p.max_rows > 0) {
    require_array(p.M, "problem.M");
    require_array(p.q, "problem.q");
    require_array(r.z, "result.z");
  }
  require(r.residual != nullptr, "result.residual", "an array", "none");
  require(r.status != nullptr, "result.status", "an array", "none");
  require(r.iterations != nullptr, "result.iterations", "an array", "none");
  require(r.method != nullptr, "result.method", "an array", "none");
}

}  // namespace

template <class In>
void solve_lcp(const LcpBatch<In>& problem, const LcpResult<In>& result, const LcpOptions& options,
               LcpWorkspace& workspace) {
  check_lcp(problem, result);
  check_options<In>(options);
  require(workspace.max_rows() >= problem.max_rows, "workspace.max_rows",
          "at least problem.max_rows", workspace.max_rows());
  require(workspace.boxed() || problem.lo.data == nullptr, "workspace.boxed",
          "true, because the problem has bounds", "false");
  const auto run = kernels::typed<In>(kernels::kernel_table()).solve_lcp[int(options.precision)];
  workspace.impl().for_chunks(problem.num_envs,
                              [&](std::int64_t begin, std::int64_t end, void* scratch) {
                                run(problem, result, options, begin, end, scratch);
                              });
}

template <class In>
void solve_lcp(const LcpBatch<In>& problem, const LcpResult<In>& result,
               const LcpOptions& options) {
  check_lcp(problem, result);
  LcpWorkspace workspace(problem.max_rows, problem.lo.data != nullptr);
  solve_lcp(problem, result, options, workspace);
}

template void solve_lcp(const LcpBatch<double>&, const LcpResult<double>&, const LcpOptions&,
                        LcpWorkspace&);
template void solve_lcp(const LcpBatch<float>&, const LcpResult<float>&, const LcpOptions&,
                        LcpWorkspace&);
template void solve_lcp(const LcpBatch<double>&, const LcpResult<double>&, const LcpOptions&);
template void solve_lcp(const LcpBatch<float>&, const LcpResult<float>&, const LcpOptions&);

}  // namespace stickslip
