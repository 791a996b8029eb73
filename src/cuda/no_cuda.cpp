// The CUDA API of a build without CUDA: every call throws and reports this.
#include <stdexcept>

#include "stickslip/cuda.hpp"

namespace stickslip::cuda {

namespace {
[[noreturn]] void refuse() { throw std::runtime_error(why_not()); }
}  // namespace

bool available() { return false; }
std::string why_not() {
  return "this stickslip was built without CUDA (pip install \"stickslip[cuda13]\", or build it "
         "with -DSTICKSLIP_CUDA=ON in CMAKE_ARGS)";
}
int device_of(const void*) { return -1; }
void clear(void*, std::size_t, Stream) { refuse(); }
void wait(Stream) { refuse(); }
DeviceScope::DeviceScope(int) { refuse(); }
DeviceScope::~DeviceScope() = default;
std::string device_name() { return {}; }

struct Workspace::Impl {};
Buffer::Buffer(std::size_t) { refuse(); }
Buffer::~Buffer() = default;
Buffer::Buffer(Buffer&&) noexcept = default;
Buffer& Buffer::operator=(Buffer&&) noexcept = default;
void Buffer::upload(const void*, std::size_t, Stream) { refuse(); }
void Buffer::download(void*, std::size_t, Stream) const { refuse(); }
Workspace::Workspace(const WorkspaceConfig&) { refuse(); }
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

bool Workspace::holds(const WorkspaceConfig&) const { return false; }

template <class Scalar>
struct HostSolver<Scalar>::Impl {};
template <class Scalar>
HostSolver<Scalar>::HostSolver() {
  refuse();
}
template <class Scalar>
HostSolver<Scalar>::~HostSolver() = default;
template <class Scalar>
HostSolver<Scalar>::HostSolver(HostSolver&&) noexcept = default;
template <class Scalar>
HostSolver<Scalar>& HostSolver<Scalar>::operator=(HostSolver&&) noexcept = default;
template <class Scalar>
void HostSolver<Scalar>::start(const ProblemBatch<Scalar>&, const SolveOptions&, Certificates) {
  refuse();
}
template <class Scalar>
void HostSolver<Scalar>::finish(const ResultBatch<Scalar>&,
                                const std::function<bool(std::int32_t)>&) {
  refuse();
}
template <class Scalar>
double HostSolver<Scalar>::busy_seconds() const {
  return 0.0;
}
template class HostSolver<double>;
template class HostSolver<float>;

template <class Scalar>
void solve(const ProblemBatch<Scalar>&, const ResultBatch<Scalar>&, const SolveOptions&, Workspace&,
           Stream) {
  refuse();
}
template <class Scalar>
void solve_mechanism(const MechanismStep<Scalar>&, const ProblemBatch<Scalar>&,
                     const ResultBatch<Scalar>&, const SolveOptions&, Workspace&, Stream) {
  refuse();
}
void solve_mechanism(const EngineStep&, const ProblemBatch<double>&, const ResultBatch<double>&,
                     const SolveOptions&, Workspace&, Stream) {
  refuse();
}
void solve_convex(const ProblemBatch<double>&, const EngineMechanism&, EnvArray<const double>,
                  const ResultBatch<double>&, const SolveOptions&, Workspace&, Stream) {
  refuse();
}
void round_to_float(const double*, float*, std::int32_t, Stream) { refuse(); }
template <class Scalar>
void solve_host(const ProblemBatch<Scalar>&, const ResultBatch<Scalar>&, const SolveOptions&) {
  refuse();
}
template <class Scalar>
void delassus(const MechanismBatch<Scalar>&, EnvArray<Scalar>, std::int32_t, std::int32_t*,
              Workspace&, Stream) {
  refuse();
}
template <class Scalar>
void apply_impulse(const MechanismBatch<Scalar>&, EnvArray<const Scalar>, EnvArray<const Scalar>,
                   EnvArray<Scalar>, std::int32_t*, Workspace&, Stream) {
  refuse();
}

template <class Scalar>
void spread_friction(const ProblemBatch<Scalar>&, EnvArray<const Scalar>, EnvArray<Scalar>,
                     Stream) {
  refuse();
}
template <class Scalar>
void sum_friction(const ProblemBatch<Scalar>&, EnvArray<const Scalar>, EnvArray<Scalar>, Stream) {
  refuse();
}

template <class Scalar>
void solve_vjp(const ProblemBatch<Scalar>&, const SolutionBatch<Scalar>&, const LossBatch<Scalar>&,
               const GradientBatch<Scalar>&, const SolveOptions&, Workspace&, Stream) {
  refuse();
}
template <class Scalar>
void solve_jvp(const ProblemBatch<Scalar>&, const SolutionBatch<Scalar>&,
               const ChangeBatch<Scalar>&, const SolutionChange<Scalar>&, const SolveOptions&,
               Workspace&, Stream) {
  refuse();
}
template <class Scalar>
void step_vjp(const MechanismStep<Scalar>&, const ProblemBatch<Scalar>&,
              const SolutionBatch<Scalar>&, const StepLoss<Scalar>&, const StepGradient<Scalar>&,
              const SolveOptions&, Workspace&, Stream) {
  refuse();
}

struct LcpWorkspace::Impl {};
LcpWorkspace::LcpWorkspace(const LcpWorkspaceConfig&) { refuse(); }
LcpWorkspace::~LcpWorkspace() = default;
LcpWorkspace::LcpWorkspace(LcpWorkspace&&) noexcept = default;
LcpWorkspace& LcpWorkspace::operator=(LcpWorkspace&&) noexcept = default;

template <class Scalar>
void solve_lcp(const LcpBatch<Scalar>&, const LcpResult<Scalar>&, const LcpOptions&, LcpWorkspace&,
               Stream) {
  refuse();
}
template <class Scalar>
void solve_lcp_host(const LcpBatch<Scalar>&, const LcpResult<Scalar>&, const LcpOptions&) {
  refuse();
}

#define SS_INSTANTIATE(Scalar)                                                                     \
  template void solve(const ProblemBatch<Scalar>&, const ResultBatch<Scalar>&,                     \
                      const SolveOptions&, Workspace&, Stream);                                    \
  template void solve_mechanism(const MechanismStep<Scalar>&, const ProblemBatch<Scalar>&,         \
                                const ResultBatch<Scalar>&, const SolveOptions&, Workspace&,       \
                                Stream);                                                           \
  template void solve_host(const ProblemBatch<Scalar>&, const ResultBatch<Scalar>&,                \
                           const SolveOptions&);                                                   \
  template void delassus(const MechanismBatch<Scalar>&, EnvArray<Scalar>, std::int32_t,            \
                         std::int32_t*, Workspace&, Stream);                                       \
  template void apply_impulse(const MechanismBatch<Scalar>&, EnvArray<const Scalar>,               \
                              EnvArray<const Scalar>, EnvArray<Scalar>, std::int32_t*, Workspace&, \
                              Stream);                                                             \
  template void spread_friction(const ProblemBatch<Scalar>&, EnvArray<const Scalar>,               \
                                EnvArray<Scalar>, Stream);                                         \
  template void sum_friction(const ProblemBatch<Scalar>&, EnvArray<const Scalar>,                  \
                             EnvArray<Scalar>, Stream);                                            \
  template void solve_vjp(const ProblemBatch<Scalar>&, const SolutionBatch<Scalar>&,               \
                          const LossBatch<Scalar>&, const GradientBatch<Scalar>&,                  \
                          const SolveOptions&, Workspace&, Stream);                                \
  template void solve_jvp(const ProblemBatch<Scalar>&, const SolutionBatch<Scalar>&,               \
                          const ChangeBatch<Scalar>&, const SolutionChange<Scalar>&,               \
                          const SolveOptions&, Workspace&, Stream);                                \
  template void step_vjp(const MechanismStep<Scalar>&, const ProblemBatch<Scalar>&,                \
                         const SolutionBatch<Scalar>&, const StepLoss<Scalar>&,                    \
                         const StepGradient<Scalar>&, const SolveOptions&, Workspace&, Stream);    \
  template void solve_lcp(const LcpBatch<Scalar>&, const LcpResult<Scalar>&, const LcpOptions&,    \
                          LcpWorkspace&, Stream);                                                  \
  template void solve_lcp_host(const LcpBatch<Scalar>&, const LcpResult<Scalar>&,                  \
                               const LcpOptions&);
SS_INSTANTIATE(double)
SS_INSTANTIATE(float)
#undef SS_INSTANTIATE

}  // namespace stickslip::cuda
