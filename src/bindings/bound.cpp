// BoundSolve: a solve whose arrays are checked once. python/stickslip/_src/bound.py is the public
// interface.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <functional>

#include "kernels/delassus/matrix_source.hpp"
#include "kernels/law/dispatch.hpp"
#include "src/api/exclusive_use.hpp"
#include "src/bindings/bindings.hpp"
#include "src/bindings/bound_friction.hpp"
#include "src/bindings/bound_gradient.hpp"
#include "src/bindings/workspaces.hpp"
#include "stickslip/cuda.hpp"
#include "stickslip/delassus.hpp"
#include "stickslip/engine_mechanism.hpp"

namespace stickslip::bindings {

using namespace nb::literals;

namespace {

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
const std::int32_t* shared(Arrays& arrays, const AnyArray& array, std::int64_t size) {
  const auto found = arrays.input<std::int32_t>(array, {size});
  if (found.stride != 0) throw nb::value_error((array.name + ": expected one axis").c_str());
  return found.data;
}

/// The sizes of an array without its first axis, the environments.
Axes sizes_of(const AnyArray& array) {
  if (array.ndim() < 2)
    throw nb::value_error((array.name + ": expected an axis of environments").c_str());
  Axes sizes;
  for (std::size_t i = 1; i < array.ndim(); ++i) sizes.push_back(array.shape[i]);
  return sizes;
}

EngineMechanism engine_of(Arrays& arrays, const nb::dict& engine, std::int64_t rows) {
  const FromDict from{engine, false, "engine."};
  const auto M = from("M"), J = from("J"), M_nnz = from("M_rownnz"), J_nnz = from("J_rownnz");
  EngineMechanism m;
  m.num_envs = std::int32_t(arrays.num_envs());
  m.nv = nb::cast<std::int32_t>(engine["nv"]);
  m.M = arrays.input<float>(M, M_nnz.given() ? sizes_of(M) : Axes{m.nv, m.nv});
  m.J = arrays.input<float>(J, sizes_of(J));
  if (M_nnz.given()) {
    m.M_size = std::int32_t(M.shape[1]);
    m.tree = {m.nv, shared(arrays, M_nnz, m.nv), shared(arrays, from("M_rowadr"), m.nv),
              shared(arrays, from("M_colind"), m.M_size)};
  }
  if (J_nnz.given()) {
    const Axes each = sizes_of(J_nnz);
    m.J_rows = std::int32_t(each[0]);
    m.J_size = std::int32_t(J.shape.back());
    m.J_nnz = arrays.input<std::int32_t>(J_nnz, each);
    m.J_adr = arrays.input<std::int32_t>(from("J_rowadr"), each);
    m.J_col = arrays.input<std::int32_t>(from("J_colind"), sizes_of(J));
  } else {
    m.J_rows = std::int32_t(J.shape[1]);
    m.ld_J = std::int32_t(J.shape[2]);
  }
  m.row_of = arrays.input<std::int32_t>(from("row_of"), {rows});
  return m;
}

/// The matrices, other than W, and the velocities.
template <class Scalar>
void bind_mechanism(Arrays& arrays, const nb::dict& in, const nb::dict& out, Task<Scalar>& task) {
  const FromDict from{in}, to{out, true};
  if (task.from == From::W) return;
  if constexpr (sizeof(Scalar) == 8) {
    if (task.from == From::engine) {
      task.engine.mechanism =
          engine_of(arrays, nb::cast<nb::dict>(in["engine"]), task.problem.max_rows);
      const std::int64_t nv = task.engine.mechanism.nv;
      task.engine.v_free = arrays.input<double>(from("v_free"), {nv});
      if (task.engine.v_free.data != nullptr)
        task.engine.v_next = arrays.output<double>(to("v_next"), {nv});
      return;
    }
  }
  task.step.mechanism = mechanism_of<Scalar>(arrays, from);
  const std::int64_t nv = task.step.mechanism.nv;
  task.step.v_free = arrays.input<Scalar>(from("v_free"), {nv});
  if (task.step.v_free.data != nullptr)
    task.step.v_next = arrays.output<Scalar>(to("v_next"), {nv});
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
  const auto workspace = std::make_shared<cuda::Workspace>(
      cuda::WorkspaceConfig{.num_envs = p.num_envs,
                            .max_rows = p.max_rows,
                            .max_contacts = p.max_contacts,
                            .nv = task.dofs(),
                            .directions = kernels::lcp_directions(options),
                            .float_storage = widens});
  return [=](cuda::Stream stream) {
    const cuda::DeviceScope current(gpu);
    task.run(options, *workspace, stream);
  };
}

class BoundSolve {
 public:
  /// `friction_rows`: tangential rows of a slot, if mu has a column for each contact, else 0.
  BoundSolve(const nb::dict& in, const nb::dict& out, const Layout& layout,
             std::int64_t friction_rows, const SolveOptions& options, int threads)
      : arrays_(leader_of(in)), layout_(layout), friction_rows_(friction_rows) {
    if (from_of(in) == From::engine || arrays_.leader().dtype == nb::dtype<double>()) {
      bind<double>(in, out, options, threads);
    } else {
      bind<float>(in, out, options, threads);
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
    if (vjp_ == nullptr)
      throw std::runtime_error("BoundSolve.vjp: expected bind_vjp before, got none");
    vjp_(reinterpret_cast<cuda::Stream>(stream));
  }

 private:
  static From from_of(const nb::dict& in) {
    if (!in["engine"].is_none()) return From::engine;
    return in["W"].is_none() ? From::mechanism : From::W;
  }
  static Arrays leader_of(const nb::dict& in) {
    switch (from_of(in)) {
      case From::W:
        return {FromDict{in}("W"), "(E, n, n)"};
      case From::mechanism:
        return {FromDict{in}("J"), "(E, n, nv)"};
      case From::engine:
        break;
    }
    return {FromDict{nb::cast<nb::dict>(in["engine"]), false, "engine."}("J"), "(E, rows, ld)"};
  }

  template <class Scalar>
  void bind(const nb::dict& in, const nb::dict& out, const SolveOptions& options, int threads) {
    Task<Scalar> task;
    task.from = from_of(in);
    task.problem = problem_of<Scalar>(arrays_, FromDict{in}, layout_);
    bind_mechanism(arrays_, in, out, task);
    task.result = results_of<Scalar>(arrays_, FromDict{out, true}, layout_.rows);
    arrays_.require_outputs_of_their_own();
    const Place place = arrays_.leader().place;
    ContactFriction<Scalar> friction;
    if (friction_rows_ > 0) friction = {task.problem, friction_rows_, place};
    run_ = in_turn({friction.spread(), place.on_host() ? on_cpu(task, options, threads)
                                                       : on_gpu(task, options, place.gpu)});
    make_vjp_ = [=, this](const nb::dict& loss, const nb::dict& to) {
      Arrays arrays = arrays_;
      VjpTask<Scalar> vjp(arrays, loss, to, layout_, task.problem, task.result, options);
      const Call sum = friction.sum_of(vjp.gradient);
      const Call derive = place.on_host() ? vjp_on_cpu(vjp, std::move(arrays), threads)
                                          : vjp_on_gpu(vjp, std::move(arrays), gradients_);
      return in_turn({friction.spread(), derive, sum});
    };
  }

  Arrays arrays_;
  Layout layout_;
  std::int64_t friction_rows_;
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
             std::int64_t box, std::int64_t mu, std::int64_t friction_rows, bool ragged,
             const SolveOptions& options, int threads, std::int32_t rows) {
            new (self) BoundSolve(in, out, {rows, contacts, mu, box, ragged}, friction_rows,
                                  options, threads);
          },
          "arrays"_a, "out"_a, nb::kw_only(), "contacts"_a, "box"_a, "mu"_a, "friction_rows"_a,
          "ragged"_a, "options"_a, "threads"_a, "rows"_a)
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
        if (!a.given()) throw nb::type_error((name + ": expected an array, got None").c_str());
        nb::list shape;
        for (const std::int64_t size : a.shape) shape.append(size);
        return nb::make_tuple(a.place.gpu, nb::tuple(shape), name_of(a.dtype));
      },
      "name"_a, "array"_a,
      "Of an array: the GPU in whose memory it lies (-1: the host's), shape, type of its numbers.");
}

}  // namespace stickslip::bindings
