#include "src/mujoco/step/sim_batch.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "src/api/check.hpp"
#include "src/mujoco/contacts/mocap.hpp"
#include "src/mujoco/model/ignored_fields.hpp"
#include "stickslip/info.hpp"

namespace stickslip::mujoco {
namespace {

void check_options(const SimOptions& o) {
  require(o.num_envs >= 1, "num_envs", "at least 1", o.num_envs);
  require(o.threads >= 0, "threads", "a number >= 0 (0: all cores)", o.threads);
  const auto& c = o.contact;
  const auto usable = [](double value) { return value >= 0 && std::isfinite(value); };
  require(c.restitution >= 0 && c.restitution <= 1, "restitution", "a number in [0, 1]",
          c.restitution);
  require(usable(c.v_rest), "v_rest", "a number >= 0, m/s", c.v_rest);
  require(usable(c.v_max), "v_max", "a number >= 0, m/s", c.v_max);
  require(usable(c.compliance), "compliance", "a number >= 0, 1/kg", c.compliance);
  require(std::isfinite(o.contact_margin), "contact_margin", "a finite number, m",
          o.contact_margin);
  if (o.mujoco_law && o.backend == Backend::cuda)
    throw std::invalid_argument(
        "backend: expected cpu with the law mujoco, whose solver is MuJoCo's");
  if (!o.mujoco_law && !supports(o.solve.solver, o.solve.law))
    throw std::invalid_argument(std::string("solver: ") + name(o.solve.solver) +
                                " cannot solve the law " + name(o.solve.law));
}

bool at_velocity_level(const SimOptions& o) { return !o.mujoco_law && o.solve.law != Law::convex; }

const char* law_of(const SimOptions& o) { return o.mujoco_law ? "mujoco" : name(o.solve.law); }

void check_softness(const SimOptions& o) {
  const bool soft = o.softness == Softness::model;
  if (soft && !at_velocity_level(o))
    throw std::invalid_argument(std::string("softness: expected rigid with the law ") + law_of(o) +
                                ", whose contacts are as soft as the model says anyway");
  if (!soft && at_velocity_level(o)) return;
  const auto refuse = [&](const char* option, const char* expected, double value) {
    const std::string why = soft ? "the model's softness" : std::string("the law ") + law_of(o);
    throw std::invalid_argument(std::string(option) + ": expected " + expected + " with " + why +
                                ", got " + std::to_string(value));
  };
  if (o.contact.restitution > 0) refuse("restitution", "0", o.contact.restitution);
  if (o.contact.compliance > 0) refuse("compliance", "0", o.contact.compliance);
  if (o.contact_margin >= 0) refuse("contact_margin", "None", o.contact_margin);
}

void check_position_options(const SimOptions& o, const mjModel& m) {
  require(o.position_iterations >= 0, "position_iterations", "a number >= 0",
          o.position_iterations);
  require(o.position_tolerance > 0 && std::isfinite(o.position_tolerance), "position_tolerance",
          "a number > 0, m", o.position_tolerance);
  if (o.position_iterations == 0) return;
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("position_iterations: expected 0 with " + why + ", got " +
                                std::to_string(o.position_iterations));
  };
  if (!at_velocity_level(o))
    refuse(std::string("the law ") + law_of(o) +
           ", whose contacts are soft (laws at velocity level keep gaps)");
  if (o.softness == Softness::model) refuse("the model's softness, which lets contacts sink in");
  if (o.contact.compliance > 0) refuse("compliance > 0, which lets contacts sink in");
  if (m.nflex > 0) refuse("flexible bodies, whose contacts belong to no pair of geoms");
}

// Memory of the environments alone; a lower bound.
double bytes_of(const SimOptions& o, const mjModel* m) {
  const double numbers = 2.0 * mj_stateSize(m, mjSTATE_INTEGRATION) + double(m->nsensordata) + 8.0;
  return o.num_envs * numbers * sizeof(mjtNum);
}

void open_context(StepContext& step, SimBatch& sim, int number) {
  step.sim = &sim;
  step.slot = step.env = number;
  for (ShallowModel* copy : {&step.undamped, &step.margins.only, &step.margins.wide})
    *copy = ShallowModel(sim.model);
}

}  // namespace

SimBatch::SimBatch(LoadedModel given, const SimOptions& o) : options(o) {
  check_options(options);
  check_softness(options);
  mjModel& m = *given.model;
  check_position_options(options, m);
  const bool velocities = at_velocity_level(options);
  formulation = {.level = velocities ? Level::velocity : Level::acceleration,
                 .model_softness = options.softness == Softness::model};
  if (rigid()) {
    contact_models = ContactModels(m, options.contact, options.num_envs);
  } else {
    ignored_fields = ContactModels::tuples_of(m);
  }
  override_options(m, options.integrator, options.timestep);
  if (!options.mujoco_law) {
    prepare_model(m, velocities, warnings);
    if (velocities && options.warm_start) impulses = ImpulseStore(m);
    remember_mocap(m);
    if (rigid()) {
      look_ahead = LookAhead(&m, options.contact_margin);
      ignored_fields = ignored_contact_fields(m);
    }
  }
  memory = StepMemory(m, given.fixes_memory);
  require_memory(bytes_of(options, &m), "num_envs");
  // Plugins may keep their own state in mjData.
  batch = Pool(&m, options.num_envs, options.threads, gpu() || m.nplugin > 0);
  given.model.reset();
  model = mjb_model(batch.get());
  nstate = mjb_nstate(batch.get());

  const std::size_t n = options.num_envs;
  const bool acceleration_stages = model->opt.integrator == mjINT_RK4 && !options.mujoco_law;
  const int threads = mjb_nthread(batch.get());
  const int slots = mjb_persistent(batch.get()) ? options.num_envs : threads;
  contexts = std::vector<StepContext>(slots);
  for (int i = 0; i < slots; ++i) open_context(contexts[i], *this, i);
  buffers = std::make_unique<ProblemBuffers>(model, slots, threads, options.solve,
                                             options.position_tolerance, token);
  for (StepContext& step : contexts) step.buffers = buffers.get();
  for (int half = 0; gpu() && half < ProblemBuffers::kHalves; ++half)
    for (int e = buffers->first_of_half(half); e < buffers->first_of_half(half + 1); ++e)
      halves[half].push_back(e);
  if (acceleration_stages) rk4 = std::make_unique<Rk4Memory>(model, slots);
  fields = std::make_unique<Fields>(model, options.num_envs, options.fields);
  contact_sensors =
      std::make_unique<ContactSensors>(model, options.num_envs, options.contact_sensors);
  sensordata.resize(n * model->nsensordata);
  residual.resize(n);
  status.resize(n);
  solver.resize(n);
  penetration.resize(n, std::numeric_limits<double>::quiet_NaN());
  for (auto* counts : {&iterations, &num_contacts, &num_rows, &failures, &position_rounds})
    counts->resize(n);
  substeps_left.resize(n);
  raised.resize(n);
  if (rigid()) separations.resize(n);
  misfit.resize(n);
  refuse_effective_metric();
}

void SimBatch::keep_sensors(const StepContext& step) {
  mju_copy(sensordata.data() + model->nsensordata * step.env, step.d->sensordata,
           int(model->nsensordata));
}

void SimBatch::clear_sensors(int env) {
  mju_zero(sensordata.data() + model->nsensordata * env, int(model->nsensordata));
  contact_sensors->clear(env);
}

std::vector<int> SimBatch::selected(const std::uint8_t* mask) const {
  std::vector<int> ids;
  for (int e = 0; e < options.num_envs; ++e)
    if (mask[e]) ids.push_back(e);
  return ids;
}

}  // namespace stickslip::mujoco
