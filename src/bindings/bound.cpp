// BoundSolve: a solve whose arrays are checked once. python/stickslip/_src/bound.py is the public
// interface.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <functional>
#include <optional>

#include "kernels/delassus/matrix_source.hpp"
#include "kernels/law/dispatch.hpp"
#include "src/api/exclusive_use.hpp"
#include "src/bindings/bindings.hpp"
#include "src/bindings/bound_arrays.hpp"
#include "src/bindings/bound_gradient.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/cuda.hpp"
#include "stickslip/delassus.hpp"
#include "stickslip/engine_mechanism.hpp"

namespace stickslip::bindings {

using namespace nb::literals;

namespace {

/// The sizes that the caller has derived from its arguments.
struct Sizes {
  std::int32_t rows = 0;      ///< of a slot
  std::int64_t contacts = 0;  ///< slots for contacts
  std::int64_t box = 0;       ///< columns of lo and hi
  std::int64_t mu = 0;        ///< columns of mu, at least if `ragged`
  bool ragged = false;
};

/// Where the matrices come from.
enum class From { W, mechanism, engine };

/// All data that a call needs.
template <class Scalar>
struct Task {
  From from = From::W;
  MechanismStep<Scalar> step;
  EngineStep engine;
  ProblemBatch<Scalar> problem;
  ResultBatch<Scalar> result;

  int dofs() const {
    if (from == From::W) return kernels::kGivenMatrix;
    return from == From::engine ? engine.mechanism.nv : step.mechanism.nv;
  }
  template <class Workspace, class... Stream>
  void run(const SolveOptions& options, Workspace& workspace, Stream... stream) const {
    if constexpr (sizeof(Scalar) == 8) {
      if (from == From::engine) {
        return solve_mechanism(engine, problem, result, options, workspace, stream...);
      }
    }
    from == From::W ? solve(problem, result, options, workspace, stream...)
                    : solve_mechanism(step, problem, result, options, workspace, stream...);
  }
};

/// One array of all environments.
const std::int32_t* shared_input(BoundArrays& arrays, const char* name, nb::handle value,
                                 std::int64_t size) {
  const auto array = arrays.input<std::int32_t>(name, value, {size});
  if (array.stride != 0) throw nb::value_error((std::string(name) + ": expected one axis").c_str());
  return array.data;
}

void bind_engine(BoundArrays& arrays, const nb::dict& in, Task<double>& task) {
  EngineMechanism& m = task.engine.mechanism;
  const nb::dict e = nb::cast<nb::dict>(in["engine"]);
  const auto M = sizes_of("engine.M", e["M"]), J = sizes_of("engine.J", e["J"]);
  m.num_envs = task.problem.num_envs;
  m.nv = nb::cast<std::int32_t>(e["nv"]);
  const bool sparse = !e["M_rownnz"].is_none();
  m.M = arrays.input<float>("engine.M", e["M"], sparse ? M : std::vector<std::int64_t>{m.nv, m.nv});
  m.J = arrays.input<float>("engine.J", e["J"], J);
  if (sparse) {
    m.M_size = std::int32_t(M[0]);
    m.tree = {m.nv, shared_input(arrays, "engine.M_rownnz", e["M_rownnz"], m.nv),
              shared_input(arrays, "engine.M_rowadr", e["M_rowadr"], m.nv),
              shared_input(arrays, "engine.M_colind", e["M_colind"], M[0])};
  }
  if (e["J_rownnz"].is_none()) {
    m.J_rows = std::int32_t(J[0]);
    m.ld_J = std::int32_t(J[1]);
  } else {
    const auto rows = sizes_of("engine.J_rownnz", e["J_rownnz"]);
    m.J_rows = std::int32_t(rows[0]);
    m.J_size = std::int32_t(J.back());
    m.J_nnz = arrays.input<std::int32_t>("engine.J_rownnz", e["J_rownnz"], rows);
    m.J_adr = arrays.input<std::int32_t>("engine.J_rowadr", e["J_rowadr"], rows);
    m.J_col = arrays.input<std::int32_t>("engine.J_colind", e["J_colind"], J);
  }
  m.row_of = arrays.input<std::int32_t>("engine.row_of", e["row_of"], {task.problem.max_rows});
  task.engine.v_free = arrays.input<double>("v_free", in["v_free"], {m.nv});
}

template <class Scalar>
void bind_matrices(BoundArrays& arrays, const nb::dict& in, Task<Scalar>& task) {
  ProblemBatch<Scalar>& p = task.problem;
  const std::int64_t n = p.max_rows;
  if (task.from == From::W) {
    p.W = arrays.input<Scalar>("W", in["W"], {n, n}, &p.ld_W);
    return;
  }
  if constexpr (sizeof(Scalar) == 8) {
    if (task.from == From::engine) return bind_engine(arrays, in, task);
  }
  MechanismBatch<Scalar>& m = task.step.mechanism;
  const std::int64_t nv = m.nv;
  m.num_envs = p.num_envs;
  m.max_rows = p.max_rows;
  m.J = arrays.input<Scalar>("J", in["J"], {n, nv});
  m.M = arrays.input<Scalar>("M", in["M"], {nv, nv});
  task.step.v_free = arrays.input<Scalar>("v_free", in["v_free"], {nv});
}

template <class Scalar>
void bind_problem(BoundArrays& arrays, const nb::dict& in, const Sizes& sizes,
                  ProblemBatch<Scalar>& p) {
  static_assert(sizeof(RowCounts) == 4 * sizeof(std::int32_t));
  const std::int64_t n = p.max_rows;
  const auto shape = arrays.input<std::int32_t>("counts", in["counts"], {4});
  if (shape.stride % 4 != 0) {
    throw nb::value_error("counts: expected environments a multiple of 4 integers apart");
  }
  p.counts = {reinterpret_cast<const RowCounts*>(shape.data), shape.stride / 4};
  p.max_contacts = std::int32_t(sizes.contacts);
  p.dims = arrays.input<std::int32_t>("dims", in["dims"], {sizes.contacts});
  p.b = arrays.input<Scalar>("b", in["b"], {n});
  p.mu = arrays.input<Scalar>("mu", in["mu"], {sizes.mu}, nullptr, sizes.ragged);
  p.R = arrays.input<Scalar>("R", in["R"], {n});
  p.lo = arrays.input<Scalar>("lo", in["lo"], {sizes.box});
  p.hi = arrays.input<Scalar>("hi", in["hi"], {sizes.box});
  p.warm_start = arrays.input<Scalar>("warm_start", in["warm_start"], {n});
}

template <class Scalar>
void bind_results(BoundArrays& arrays, const nb::dict& out, Task<Scalar>& task) {
  ResultBatch<Scalar>& r = task.result;
  r.impulse = arrays.output<Scalar>("impulse", out, {task.problem.max_rows});
  r.residual = arrays.output<double>("residual", out, {}).data;
  r.status = reinterpret_cast<EnvStatus*>(arrays.output<std::int32_t>("status", out, {}).data);
  r.iterations = arrays.output<std::int32_t>("iterations", out, {}).data;
  r.solver = reinterpret_cast<Solver*>(arrays.output<std::int32_t>("solver", out, {}).data);
  r.rows_needed = arrays.output<std::int32_t>("rows_needed", out, {}).data;
  r.rung = arrays.output<std::int32_t>("rung", out, {}).data;
  if (task.step.v_free.data != nullptr) {
    task.step.v_next = arrays.output<Scalar>("v_next", out, {task.step.mechanism.nv});
  }
  if (task.engine.v_free.data != nullptr) {
    task.engine.v_next = arrays.output<double>("v_next", out, {task.engine.mechanism.nv});
  }
  r.certificate = arrays.output<double>("certificate", out, {task.problem.max_rows});
}

template <class Scalar>
Call on_cpu(const Task<Scalar>& task, const SolveOptions& options, int threads) {
  const auto workspace = take_workspace(task.problem.max_rows, task.problem.max_contacts, threads);
  return [=](cuda::Stream) { task.run(options, *workspace); };
}

template <class Scalar>
Call on_gpu(const Task<Scalar>& task, const SolveOptions& options, int gpu) {
  const cuda::DeviceScope device(gpu);
  const ProblemBatch<Scalar>& p = task.problem;
  const bool widens = sizeof(Scalar) == 4 && options.precision != Precision::float32;
  const auto workspace =
      std::make_shared<cuda::Workspace>(p.num_envs, p.max_rows, p.max_contacts, task.dofs(),
                                        kernels::lcp_directions(options), widens);
  return [=](cuda::Stream stream) {
    const cuda::DeviceScope current(gpu);
    task.run(options, *workspace, stream);
  };
}

class BoundSolve {
 public:
  BoundSolve(const nb::dict& in, const nb::dict& out, const Sizes& sizes,
             const SolveOptions& options, int threads)
      : arrays_(leader_of(in)) {
    if (from_of(in) == From::engine || arrays_.leader().dtype == nb::dtype<double>()) {
      bind<double>(in, out, sizes, options, threads);
    } else {
      bind<float>(in, out, sizes, options, threads);
    }
  }
  void run(std::uintptr_t stream) {
    const auto turn = caller_.enter();
    run_(reinterpret_cast<cuda::Stream>(stream));
  }
  void bind_vjp(const nb::dict& loss, const nb::dict& out) {
    const auto turn = caller_.enter();
    vjp_ = make_vjp_(loss, out);
  }
  void vjp(std::uintptr_t stream) {
    const auto turn = caller_.enter();
    vjp_(reinterpret_cast<cuda::Stream>(stream));
  }

 private:
  static From from_of(const nb::dict& in) {
    if (!in["engine"].is_none()) return From::engine;
    return in["W"].is_none() ? From::mechanism : From::W;
  }
  static BoundArrays leader_of(const nb::dict& in) {
    const From from = from_of(in);
    if (from == From::engine) return {"engine.J", in["engine"]["J"]};
    const char* name = from == From::W ? "W" : "J";
    return {name, in[name]};
  }

  template <class Scalar>
  void bind(const nb::dict& in, const nb::dict& out, const Sizes& sizes,
            const SolveOptions& options, int threads) {
    Task<Scalar> task;
    task.from = from_of(in);
    task.problem.num_envs = std::int32_t(arrays_.num_envs());
    task.problem.max_rows = sizes.rows;
    if (task.from == From::mechanism)
      task.step.mechanism.nv = std::int32_t(arrays_.leader().shape[2]);
    bind_matrices(arrays_, in, task);
    bind_problem(arrays_, in, sizes, task.problem);
    bind_results(arrays_, out, task);
    arrays_.require_outputs_of_their_own();
    const Place place = arrays_.leader().place;
    run_ = place.on_host() ? on_cpu(task, options, threads) : on_gpu(task, options, place.gpu);
    make_vjp_ = [=, this](const nb::dict& loss, const nb::dict& to) {
      BoundArrays arrays = arrays_;
      VjpTask<Scalar> vjp(task.problem, task.result, options);
      vjp.bind(arrays, loss, to, sizes.box, sizes.mu);
      return place.on_host() ? vjp_on_cpu(vjp, std::move(arrays), threads)
                             : vjp_on_gpu(vjp, std::move(arrays), gradients_);
    };
  }

  BoundArrays arrays_;
  ExclusiveUse caller_{"BoundSolver"};
  Call run_;
  std::function<Call(const nb::dict&, const nb::dict&)> make_vjp_;
  std::shared_ptr<cuda::Workspace> gradients_;  ///< on a GPU, once derivatives are bound
  Call vjp_;
};

/// A copy of a host array in GPU memory; the copy owns the memory.
nb::object to_device(const nb::ndarray<nb::ro, nb::device::cpu, nb::c_contig>& host, int gpu) {
  const cuda::DeviceScope device(gpu);
  auto memory = std::make_unique<cuda::Buffer>(host.nbytes());
  memory->upload(host.data(), host.nbytes(), nullptr);
  cuda::wait(nullptr);
  std::vector<std::size_t> shape;
  for (std::size_t i = 0; i < host.ndim(); ++i) shape.push_back(host.shape(i));
  void* const data = memory->data();
  const nb::capsule owner(memory.release(),
                          [](void* p) noexcept { delete static_cast<cuda::Buffer*>(p); });
  constexpr int cuda_device = nb::device::cuda::value;
  // An object whose __dlpack__ can be called repeatedly; a bare capsule is consumed by its first
  // use.
  return nb::cast(nb::ndarray<nb::array_api>(data, shape.size(), shape.data(), owner, nullptr,
                                             host.dtype(), cuda_device, gpu));
}

}  // namespace

void bind_bound(nb::module_& m) {
  nb::class_<BoundSolve>(m, "BoundSolve", "A solve whose arrays are checked once.")
      .def(
          "__init__",
          [](BoundSolve* self, const nb::dict& in, const nb::dict& out, std::int64_t contacts,
             std::int64_t box, std::int64_t mu, bool ragged, const SolveOptions& options,
             int threads, std::int32_t rows) {
            new (self) BoundSolve(in, out, {rows, contacts, box, mu, ragged}, options, threads);
          },
          "arrays"_a, "out"_a, nb::kw_only(), "contacts"_a, "box"_a, "mu"_a, "ragged"_a,
          "options"_a, "threads"_a, "rows"_a)
      .def("run", &BoundSolve::run, "stream"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Enqueues the solve on a CUDA stream, or solves in host memory.")
      .def("bind_vjp", &BoundSolve::bind_vjp, "loss"_a, "out"_a, "Checks the arrays of `vjp`.")
      .def("vjp", &BoundSolve::vjp, "stream"_a, nb::call_guard<nb::gil_scoped_release>(),
           "Enqueues the derivatives on a CUDA stream, or computes them in host memory.");
  m.def("to_device", &to_device, "array"_a, "gpu"_a, "A copy in the memory of a GPU.");
  m.def(
      "describe",
      [](const std::string& name, nb::handle value) {
        const AnyArray a = take_array(name, value, false);
        nb::list shape;
        for (const std::int64_t size : a.shape) shape.append(size);
        return nb::make_tuple(a.place.gpu, nb::tuple(shape), name_of(a.dtype));
      },
      "name"_a, "array"_a,
      "Of an array: the GPU in whose memory it lies (-1: the host's), shape, type of its numbers.");
}

}  // namespace stickslip::bindings
