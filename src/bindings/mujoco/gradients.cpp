// BatchSim.step_vjp and step_jvp. Python has checked shapes and types.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "src/bindings/mujoco/records.hpp"

namespace stickslip::bindings {

using namespace nb::literals;
using mujoco::BatchSim;

namespace {

/// [num_envs][any], contiguous; None: absent.
template <class T>
using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Column = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Named = std::vector<std::pair<std::string, Table<T>>>;

template <class T>
T* rows(const BatchSim& sim, const char* name, const Table<T>& table, std::int64_t size) {
  if (!table.is_valid()) return nullptr;
  if (table.shape(0) != std::size_t(sim.options().num_envs) || table.shape(1) != std::size_t(size))
    throw std::invalid_argument(std::string(name) + ": expected shape (" +
                                std::to_string(sim.options().num_envs) + ", " +
                                std::to_string(size) + ")");
  return table.data();
}

template <class T>
mujoco::StepInputs<T> inputs(const BatchSim& sim, const Table<T>& ctrl, const Table<T>& qvel,
                             const Table<T>& qpos, const Named<T>& fields) {
  const mjModel& m = sim.model();
  mujoco::StepInputs<T> to{rows(sim, "ctrl", ctrl, m.nu),
                           rows(sim, "qvel", qvel, m.nv),
                           rows(sim, "qpos", qpos, m.nv),
                           {}};
  for (const auto& [name, table] : fields) {
    const std::int64_t size = sim.size_of_differentiable(name);
    to.fields.push_back({name, rows(sim, name.c_str(), table, size)});
  }
  return to;
}

template <class T>
mujoco::NextState<T> next_state(const BatchSim& sim, const Table<T>& qpos, const Table<T>& qvel) {
  const std::int64_t nv = sim.model().nv;
  return {rows(sim, "qpos", qpos, nv), rows(sim, "qvel", qvel, nv)};
}

const double* state_rows(const BatchSim& sim, const Table<const double>& state) {
  return rows(sim, "state", state, sim.component(mujoco::StateComponent::integration).size);
}

using Codes = Column<std::int32_t>;
using Numbers = Column<double>;

mujoco::StepReport report(const BatchSim& sim, const Codes& status, const Numbers& kink_distance,
                          const Numbers& inconsistency, const Codes& qpos_status) {
  const std::size_t n = sim.options().num_envs;
  if (status.shape(0) != n || kink_distance.shape(0) != n || inconsistency.shape(0) != n ||
      qpos_status.shape(0) != n)
    throw std::invalid_argument("report: expected one value per environment");
  return {reinterpret_cast<GradientStatus*>(status.data()), kink_distance.data(),
          inconsistency.data(), reinterpret_cast<GradientStatus*>(qpos_status.data())};
}

void step_vjp(BatchSim& sim, const Table<const double>& state, const Table<const double>& by_qpos,
              const Table<const double>& by_qvel, const Table<double>& ctrl,
              const Table<double>& qvel, const Table<double>& qpos, const Named<double>& fields,
              const Codes& status, const Numbers& kink_distance, const Numbers& inconsistency,
              const Codes& qpos_status) {
  const auto* from = state_rows(sim, state);
  const auto loss = next_state(sim, by_qpos, by_qvel);
  const auto gradient = inputs(sim, ctrl, qvel, qpos, fields);
  const auto verdict = report(sim, status, kink_distance, inconsistency, qpos_status);
  const nb::gil_scoped_release release;
  sim.step_vjp(from, loss, gradient, verdict);
}

void step_jvp(BatchSim& sim, const Table<const double>& state, const Table<const double>& ctrl,
              const Table<const double>& qvel, const Table<const double>& qpos,
              const Named<const double>& fields, const Table<double>& to_qpos,
              const Table<double>& to_qvel, const Codes& status, const Numbers& kink_distance,
              const Numbers& inconsistency, const Codes& qpos_status) {
  const auto* from = state_rows(sim, state);
  const auto change = inputs(sim, ctrl, qvel, qpos, fields);
  const auto result = next_state(sim, to_qpos, to_qvel);
  const auto verdict = report(sim, status, kink_distance, inconsistency, qpos_status);
  const nb::gil_scoped_release release;
  sim.step_jvp(from, change, result, verdict);
}

void step_transition(BatchSim& sim, const Table<const double>& state, const Table<double>& A,
                     const Table<double>& B, const Codes& status, const Numbers& kink_distance,
                     const Numbers& inconsistency, const Codes& qpos_status) {
  const auto* from = state_rows(sim, state);
  const std::int64_t nv = sim.model().nv, nu = sim.model().nu;
  const mujoco::Transition to{rows(sim, "A", A, 4 * nv * nv), rows(sim, "B", B, 2 * nv * nu)};
  const auto verdict = report(sim, status, kink_distance, inconsistency, qpos_status);
  const nb::gil_scoped_release release;
  sim.step_transition(from, to, verdict);
}

}  // namespace

void bind_gradients(nb::class_<BatchSim>& sim) {
  sim.def_static("differentiable_fields", &BatchSim::differentiable_fields)
      .def("size_of_differentiable", &BatchSim::size_of_differentiable, "field"_a);
  sim.def("step_vjp", &step_vjp, "state"_a.none(), "by_qpos"_a.none(), "by_qvel"_a.none(),
          "ctrl"_a.none(), "qvel"_a.none(), "qpos"_a.none(), "fields"_a, "status"_a,
          "kink_distance"_a, "inconsistency"_a, "qpos_status"_a)
      .def("step_jvp", &step_jvp, "state"_a.none(), "ctrl"_a.none(), "qvel"_a.none(),
           "qpos"_a.none(), "fields"_a, "to_qpos"_a, "to_qvel"_a, "status"_a, "kink_distance"_a,
           "inconsistency"_a, "qpos_status"_a)
      .def("step_transition", &step_transition, "state"_a.none(), "A"_a, "B"_a, "status"_a,
           "kink_distance"_a, "inconsistency"_a, "qpos_status"_a);
}

}  // namespace stickslip::bindings
