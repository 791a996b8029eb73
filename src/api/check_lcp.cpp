#include "src/api/check.hpp"
#include "stickslip/info.hpp"

namespace stickslip {

namespace {

template <class Scalar>
void check_options(const LcpOptions& o) {
  const auto method = std::int32_t(o.method);
  require(method >= 0 && method < 3, "options.method", "auto, lemke or newton", name(o.method));
  require(o.precision == Precision::float64 || o.precision == Precision::float32,
          "options.precision", "float64 or float32", name(o.precision));
  require(sizeof(Scalar) == 8 || o.precision == Precision::float32, "options.precision",
          "float32 for problems given in float", name(o.precision));
  check_tolerances(o.atol, o.rtol);
  require(o.max_pivots >= 0, "options.max_pivots", "a number >= 0", o.max_pivots);
  require(o.max_newton >= 0, "options.max_newton", "a number >= 0", o.max_newton);
  require(o.restarts >= 0, "options.restarts", "a number >= 0", o.restarts);
  require(o.cfm >= 0.0 && o.cfm - o.cfm == 0.0, "options.cfm", "a finite number >= 0", o.cfm);
}

}  // namespace

template <class Scalar>
void check_lcp(const LcpBatch<Scalar>& p, const LcpResult<Scalar>& r, const LcpOptions& o) {
  check_options<Scalar>(o);
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

template void check_lcp(const LcpBatch<double>&, const LcpResult<double>&, const LcpOptions&);
template void check_lcp(const LcpBatch<float>&, const LcpResult<float>&, const LcpOptions&);

}  // namespace stickslip
