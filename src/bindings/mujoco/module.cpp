// The Python modules stickslip._mujoco_4_0 and others, by the series of MuJoCo: BatchSim,
// simulations of one MuJoCo model in step. Modules of their own because the rest of the library
// needs no MuJoCo. python/stickslip/_src/sim.py is the public API.
#include "src/mujoco/batch_sim.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mujoco/mujoco.h>

#include <algorithm>
#include <atomic>

#include "src/bindings/mujoco/layout.hpp"
#include "src/bindings/mujoco/records.hpp"
#include "src/bindings/signals.hpp"
#include "stickslip/info.hpp"

namespace stickslip::bindings {

namespace nb = nanobind;
using namespace nb::literals;
using mujoco::BatchSim;
using mujoco::StateComponent;

namespace {

nb::object rows_view(const mujoco::Rows& rows, nb::handle owner) {
  const auto& sim = nb::cast<const BatchSim&>(owner);
  return view(rows.data, {std::size_t(sim.options().num_envs), std::size_t(rows.size)}, owner,
              {rows.stride, 1});
}

template <class E>
const std::int32_t* codes(const E* values) {
  static_assert(sizeof(E) == sizeof(std::int32_t));
  return reinterpret_cast<const std::int32_t*>(values);
}

nb::bytes as_bytes(const mjModel& m) {
  const std::string bytes = mujoco::bytes_of(m);
  return nb::bytes(bytes.data(), bytes.size());
}

/// The model of a file or of MJCF text, and whether it contains <size memory=...>.
nb::tuple compile_model(const std::string& file, const std::string& text) {
  const mujoco::LoadedModel loaded =
      text.empty() ? mujoco::load_model_file(file) : mujoco::load_model_text(text);
  return nb::make_tuple(as_bytes(*loaded.model), loaded.fixes_memory);
}

void create(BatchSim* self, const nb::bytes& model, bool fixes_memory, int num_envs,
            bool mujoco_law, const SolveOptions& options, int threads, bool cuda,
            const std::string& integrator, double timestep, double restitution, double v_rest,
            double v_max, double compliance, double contact_margin, bool warm_start,
            int position_iterations, double position_tolerance, bool model_softness,
            const std::vector<std::string>& fields,
            const mujoco::ContactSensors::Pairs& contact_sensors) {
  const mujoco::SimOptions sim_options{
      .num_envs = num_envs,
      .mujoco_law = mujoco_law,
      .solve = options,
      .threads = threads,
      .backend = cuda ? mujoco::Backend::cuda : mujoco::Backend::cpu,
      .integrator = integrator,
      .timestep = timestep,
      .contact = {.restitution = restitution,
                  .v_rest = v_rest,
                  .v_max = v_max,
                  .compliance = compliance},
      .softness = model_softness ? mujoco::Softness::model : mujoco::Softness::rigid,
      .contact_margin = contact_margin,
      .warm_start = warm_start,
      .position_iterations = position_iterations,
      .position_tolerance = position_tolerance,
      .fields = fields,
      .contact_sensors = contact_sensors};
  mujoco::LoadedModel loaded =
      mujoco::load_model_bytes({static_cast<const char*>(model.data()), model.size()});
  loaded.fixes_memory = fixes_memory;
  new (self) BatchSim(std::move(loaded), sim_options);
  self->watch(handle_signals);
}

using Mask = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig>;

const std::uint8_t* checked(const BatchSim& sim, const Mask& mask) {
  if (mask.shape(0) != std::size_t(sim.options().num_envs))
    throw std::invalid_argument("mask: expected " + std::to_string(sim.options().num_envs) +
                                " values, got " + std::to_string(mask.shape(0)));
  return mask.data();
}

void reset(BatchSim& sim, const Mask& mask, int key) { sim.reset(checked(sim, mask), key); }

void forward(BatchSim& sim, const Mask& mask) {
  const std::uint8_t* selected = checked(sim, mask);
  const nb::gil_scoped_release release;
  sim.forward(selected);
}

void vary(BatchSim& sim, const std::string& field,
          nb::ndarray<const double, nb::ndim<2>, nb::c_contig> values) {
  sim.vary(field, values.data(), std::int64_t(values.shape(1)));
}

template <StateComponent c>
nb::object component(nb::handle self) {
  return rows_view(nb::cast<const BatchSim&>(self).component(c), self);
}

/// Steps in progress, also on other threads than Python's first, end when flag[0] is not 0.
void stop_when(BatchSim& sim,
               const nb::ndarray<std::uint8_t, nb::shape<1>, nb::device::cpu>& flag) {
  std::uint8_t* const stop = flag.data();
  sim.watch([stop] {
    return std::atomic_ref(*stop).load(std::memory_order_relaxed) == 0 && handle_signals();
  });
}

template <auto member>
nb::object contact_sensors(nb::handle self) {
  const auto& sim = nb::cast<const BatchSim&>(self);
  const mujoco::ContactSensors& sensors = sim.contact_sensors();
  return view((sensors.*member).data(),
              {std::size_t(sim.options().num_envs), std::size_t(sensors.count()), 3}, self);
}

template <auto method>
nb::object per_env(nb::handle self) {
  const auto& sim = nb::cast<const BatchSim&>(self);
  const std::size_t n = sim.options().num_envs;
  const auto* values = (sim.*method)();
  if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(*values)>>)
    return view(codes(values), {n}, self);
  else
    return view(values, {n}, self);
}

/// Arrays with one value per environment or sensor.
void bind_results(nb::class_<BatchSim>& sim) {
  sim.def_prop_ro("contact_force", &contact_sensors<&mujoco::ContactSensors::force>)
      .def_prop_ro("contact_friction", &contact_sensors<&mujoco::ContactSensors::friction>)
      .def_prop_ro("contact_force_mean", &contact_sensors<&mujoco::ContactSensors::mean_force>)
      .def_prop_ro("contact_friction_mean",
                   &contact_sensors<&mujoco::ContactSensors::mean_friction>)
      .def_prop_ro("contact_slip", &contact_sensors<&mujoco::ContactSensors::slip>)
      .def_prop_ro("status", &per_env<&BatchSim::status>)
      .def_prop_ro("residual", &per_env<&BatchSim::residual>)
      .def_prop_ro("iterations", &per_env<&BatchSim::iterations>)
      .def_prop_ro("solver", &per_env<&BatchSim::solver>)
      .def_prop_ro("num_contacts", &per_env<&BatchSim::num_contacts>)
      .def_prop_ro("num_rows", &per_env<&BatchSim::num_rows>)
      .def_prop_ro("position_rounds", &per_env<&BatchSim::position_rounds>)
      .def_prop_ro("penetration", &per_env<&BatchSim::penetration>)
      .def_prop_ro("failures", &per_env<&BatchSim::failures>);
}

void bind_batch_sim(nb::module_& m) {
  using C = StateComponent;
  translate_interrupted();
  m.def("mujoco_version", &mj_versionString, "Version of the loaded libmujoco.");
  m.def("compile_model", &compile_model, "file"_a, "text"_a);
  nb::class_<BatchSim> sim(m, "BatchSim");
  bind_results(sim);
  bind_gradients(sim);
  sim.def("__init__", &create, "model"_a, "fixes_memory"_a, nb::kw_only(), "num_envs"_a,
          "mujoco_law"_a, "options"_a, "threads"_a, "cuda"_a, "integrator"_a, "timestep"_a,
          "restitution"_a, "v_rest"_a, "v_max"_a, "compliance"_a, "contact_margin"_a,
          "warm_start"_a, "position_iterations"_a, "position_tolerance"_a, "model_softness"_a,
          "fields"_a, "contact_sensors"_a)
      .def("step", &BatchSim::step, "substeps"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("require_idle", &BatchSim::require_idle)
      .def("stop_when", &stop_when, "flag"_a, nb::keep_alive<1, 2>())
      .def("reset", &reset, "mask"_a, "key"_a)
      .def("forward", &forward, "mask"_a)
      .def("vary", &vary, "field"_a, "values"_a)
      .def("contacts", &contacts, "env"_a)
      .def("contact_arrays", &contact_arrays)
      .def("problem", &problem, "env"_a)
      .def("timings", &timings)
      .def_prop_ro("statistics", &statistics)
      .def_prop_ro("fails_often", [](const BatchSim& s) { return s.statistics().fails_often(); })
      .def_prop_ro("state", &component<C::integration>)
      .def_prop_ro("time", &component<C::time>)
      .def_prop_ro("qpos", &component<C::qpos>)
      .def_prop_ro("qvel", &component<C::qvel>)
      .def_prop_ro("act", &component<C::act>)
      .def_prop_ro("ctrl", &component<C::ctrl>)
      .def_prop_ro("qacc", &component<C::qacc>)
      .def_prop_ro("qfrc_applied", &component<C::qfrc_applied>)
      .def_prop_ro("xfrc_applied", &component<C::xfrc_applied>)
      .def_prop_ro("eq_active", &component<C::eq_active>)
      .def_prop_ro("mocap_pos", &component<C::mocap_pos>)
      .def_prop_ro("mocap_quat", &component<C::mocap_quat>)
      .def_prop_ro("mocap_velocity", &component<C::mocap_velocity>)
      .def_prop_ro("model_bytes", [](const BatchSim& s) { return as_bytes(s.model()); })
      .def_prop_ro("sensordata",
                   [](nb::handle self) {
                     return rows_view(nb::cast<const BatchSim&>(self).sensordata(), self);
                   })
      .def(
          "field",
          [](nb::handle self, const std::string& name) {
            const mujoco::Rows rows = nb::cast<const BatchSim&>(self).field(name);
            const nb::object flat = rows_view(rows, self);
            if (rows.columns == 1) return flat;
            return nb::object(
                flat.attr("reshape")(flat.attr("shape")[nb::int_(0)], -1, rows.columns));
          },
          "name"_a)
      .def_prop_ro("timestep", [](const BatchSim& s) { return s.model().opt.timestep; })
      .def_prop_ro("integrator", [](const BatchSim& s) { return s.model().opt.integrator; })
      .def_prop_ro("threads", &BatchSim::threads)
      .def_prop_ro("warnings", &BatchSim::warnings)
      .def_prop_ro("ignored_fields", &BatchSim::ignored_fields);
}

}  // namespace

}  // namespace stickslip::bindings

NB_MODULE(STICKSLIP_MUJOCO_MODULE, m) {
  m.doc() = "Simulations of MuJoCo models; use stickslip.BatchSim instead.";
  stickslip::bindings::bind_batch_sim(m);
  stickslip::bindings::bind_layout(m);
}
