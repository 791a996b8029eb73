// Solving batches in device memory. Present in every build; without CUDA `available()` is false
// and the other calls throw std::runtime_error.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "stickslip/batch.hpp"
#include "stickslip/delassus.hpp"
#include "stickslip/engine_mechanism.hpp"
#include "stickslip/gradient.hpp"
#include "stickslip/lcp.hpp"

struct CUstream_st;  // cudaStream_t is CUstream_st*: no CUDA header needed here

namespace stickslip {
struct ImplAccess;
}

namespace stickslip::cuda {

using Stream = CUstream_st*;

bool available();           ///< built with CUDA, and a device responds
std::string why_not();      ///< why it is not available, and what to do; empty if it is
std::string device_name();  ///< of the current device; empty if not available

void clear(void* memory, std::size_t bytes, Stream stream);  ///< enqueues zeros
int device_of(const void* memory);  ///< index of the device that owns this memory; -1: no device
void wait(Stream stream);           ///< until all work enqueued there has finished

/// Makes a device the current one during its lifetime.
class DeviceScope {
 public:
  explicit DeviceScope(int device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int before_ = 0;
};

/// Device memory, freed by the destructor. Throws std::runtime_error when out of memory.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  void upload(const void* host, std::size_t bytes, Stream stream);
  void download(void* host, std::size_t bytes, Stream stream) const;

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The batches of a workspace: at most these sizes.
struct WorkspaceConfig {
  std::int32_t num_envs = 0;
  std::int32_t max_rows = 0;      ///< of an environment
  std::int32_t max_contacts = 0;  ///< of an environment
  std::int32_t nv = -1;           ///< degrees of freedom of a mechanism; -1: no mechanisms
  /// Directions of the law `pyramid` as an LCP in global memory. That LCP is needed for other
  /// numbers than 4 and for rows other than contacts of dimension 3. 0: no memory for it; such
  /// environments are `over_capacity`.
  std::int32_t directions = 0;
  bool float_storage = false;  ///< also solves in double or mixed precision of arrays in float
  bool gradients = false;      ///< also derivatives
};

/// Device memory and launch parameters of solves, fixed at construction. The calls below that take
/// a workspace do not allocate, wait, or copy anything to or from the host. They enqueue on
/// `stream` and can be captured in a CUDA graph; a replay reads the values that the arrays hold at
/// that time. Only one solve at a time may use a workspace: two streams need two workspaces. It
/// keeps what each environment took, so that in the next solve neighbours on the GPU do alike work:
/// a batch whose environments stay in their places should keep its workspace. No result depends on
/// it.
class Workspace {
 public:
  /// On the current device. Throws std::invalid_argument for negative sizes and impossible
  /// directions.
  explicit Workspace(const WorkspaceConfig& config);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;
  bool holds(const WorkspaceConfig& config) const;  ///< whether such batches fit
  struct Impl;

 private:
  friend struct stickslip::ImplAccess;
  std::unique_ptr<Impl> impl_;
};

/// As stickslip::solve, for views of device memory, and with the same bits. Runs rung 0 of the
/// ladder for all environments, then the other rungs for those that the device has counted as
/// unsolved.
template <class Scalar>
void solve(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
           const SolveOptions& options, Workspace& workspace, Stream stream);

/// As stickslip::solve_mechanism. W stays in shared memory if the scratch of an environment fits
/// there.
template <class Scalar>
void solve_mechanism(const MechanismStep<Scalar>& step, const ProblemBatch<Scalar>& problem,
                     const ResultBatch<Scalar>& result, const SolveOptions& options,
                     Workspace& workspace, Stream stream);

/// The same for matrices that an engine stores in float.
void solve_mechanism(const EngineStep& step, const ProblemBatch<double>& problem,
                     const ResultBatch<double>& result, const SolveOptions& options,
                     Workspace& workspace, Stream stream);

/// As stickslip::solve_convex for an engine's mechanisms, for views of device memory, and with the
/// same bits. The workspace is one for mechanisms.
void solve_convex(const ProblemBatch<double>& problem, const EngineMechanism& mechanism,
                  EnvArray<const double> start, const ResultBatch<double>& result,
                  const SolveOptions& options, Workspace& workspace, Stream stream);

/// Rounds `count` numbers in device memory, such as residuals, to float: for callers that keep
/// everything in float. Only enqueues. Throws std::invalid_argument for a negative count.
void round_to_float(const double* from, float* to, std::int32_t count, Stream stream);

/// As stickslip::spread_friction and sum_friction, for views of device memory. Only enqueue.
template <class Scalar>
void spread_friction(const ProblemBatch<Scalar>& problem, EnvArray<const Scalar> contacts,
                     EnvArray<Scalar> rows, Stream stream);
template <class Scalar>
void sum_friction(const ProblemBatch<Scalar>& problem, EnvArray<const Scalar> rows,
                  EnvArray<Scalar> contacts, Stream stream);

/// As stickslip::solve_vjp, solve_jvp and step_vjp, for views of device memory, and with the same
/// bits. The workspace has `gradients`, and for steps nv.
template <class Scalar>
void solve_vjp(const ProblemBatch<Scalar>& problem, const SolutionBatch<Scalar>& solution,
               const LossBatch<Scalar>& loss, const GradientBatch<Scalar>& gradient,
               const SolveOptions& options, Workspace& workspace, Stream stream);
template <class Scalar>
void solve_jvp(const ProblemBatch<Scalar>& problem, const SolutionBatch<Scalar>& solution,
               const ChangeBatch<Scalar>& change, const SolutionChange<Scalar>& result,
               const SolveOptions& options, Workspace& workspace, Stream stream);
template <class Scalar>
void step_vjp(const MechanismStep<Scalar>& step, const ProblemBatch<Scalar>& problem,
              const SolutionBatch<Scalar>& solution, const StepLoss<Scalar>& loss,
              const StepGradient<Scalar>& gradient, const SolveOptions& options,
              Workspace& workspace, Stream stream);

/// Whether the certificates of `infeasible` environments are copied back.
enum class Certificates { skip, copy };

/// Solves batches of host memory, one after the other, with its own memory and stream, which grow
/// to the largest batch so far. Two of these objects overlap: the batch of one is copied and solved
/// while the caller prepares the batch of the other.
template <class Scalar>
class HostSolver {
 public:
  HostSolver();
  ~HostSolver();
  HostSolver(HostSolver&&) noexcept;
  HostSolver& operator=(HostSolver&&) noexcept;

  /// Packs the problems, enqueues copies and solve, and returns; the problems may then change. Only
  /// the rows in use of each environment are copied. One batch at a time.
  void start(const ProblemBatch<Scalar>& problem, const SolveOptions& options,
             Certificates certificates = Certificates::skip);
  /// Waits for the batch that was started and writes its results; the bits are those of `solve`. If
  /// `wanted` is given, the results of environments that it rejects stay unchanged.
  void finish(const ResultBatch<Scalar>& result,
              const std::function<bool(std::int32_t env)>& wanted = nullptr);
  /// Seconds from the first to the last copy on the device, for all finished batches.
  double busy_seconds() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// As stickslip::solve for views of host memory: copies, solves on the GPU, copies back, waits.
template <class Scalar>
void solve_host(const ProblemBatch<Scalar>& problem, const ResultBatch<Scalar>& result,
                const SolveOptions& options);

/// As stickslip::delassus and stickslip::apply_impulse, for views of device memory.
template <class Scalar>
void delassus(const MechanismBatch<Scalar>& mechanism, EnvArray<Scalar> W, std::int32_t ld_W,
              std::int32_t* ok, Workspace& workspace, Stream stream);
template <class Scalar>
void apply_impulse(const MechanismBatch<Scalar>& mechanism, EnvArray<const Scalar> impulse,
                   EnvArray<const Scalar> v_free, EnvArray<Scalar> v_next, std::int32_t* ok,
                   Workspace& workspace, Stream stream);

/// The batches of an LcpWorkspace: at most these sizes.
struct LcpWorkspaceConfig {
  std::int32_t num_envs = 0;
  std::int32_t max_rows = 0;  ///< of an environment
  bool boxed = false;         ///< also problems with bounds
};

/// Device memory and launches of linear complementarity problems; used like Workspace.
class LcpWorkspace {
 public:
  /// On the current device. Throws std::invalid_argument for negative sizes.
  explicit LcpWorkspace(const LcpWorkspaceConfig& config);
  ~LcpWorkspace();
  LcpWorkspace(LcpWorkspace&&) noexcept;
  LcpWorkspace& operator=(LcpWorkspace&&) noexcept;
  struct Impl;

 private:
  friend struct stickslip::ImplAccess;
  std::unique_ptr<Impl> impl_;
};

/// As stickslip::solve_lcp, for views of device memory, and with the same bits. Only enqueues.
template <class Scalar>
void solve_lcp(const LcpBatch<Scalar>& problem, const LcpResult<Scalar>& result,
               const LcpOptions& options, LcpWorkspace& workspace, Stream stream);

/// The same for views of host memory: copies, solves on the GPU, copies back, waits.
template <class Scalar>
void solve_lcp_host(const LcpBatch<Scalar>& problem, const LcpResult<Scalar>& result,
                    const LcpOptions& options);

}  // namespace stickslip::cuda
