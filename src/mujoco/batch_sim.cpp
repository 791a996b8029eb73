#include "src/mujoco/batch_sim.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "src/batch/check.hpp"
#include "src/mujoco/batch_impl.hpp"
#include "src/mujoco/ignored_fields.hpp"
#include "src/mujoco/mocap.hpp"
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

int component_bit(StateComponent c) {
  static constexpr std::array kBits = {
      mjSTATE_INTEGRATION,  mjSTATE_TIME,      mjSTATE_QPOS,      mjSTATE_QVEL,
      mjSTATE_ACT,          mjSTATE_CTRL,      mjSTATE_WARMSTART, mjSTATE_QFRC_APPLIED,
      mjSTATE_XFRC_APPLIED, mjSTATE_EQ_ACTIVE, mjSTATE_MOCAP_POS, mjSTATE_MOCAP_QUAT,
      mjSTATE_USERDATA};
  return kBits[std::size_t(c)];
}

// Memory of the environments alone; a lower bound.
double bytes_of(const SimOptions& o, const mjModel* m) {
  const double numbers = 2.0 * mj_stateSize(m, mjSTATE_INTEGRATION) + double(m->nsensordata) + 8.0;
  return o.num_envs * numbers * sizeof(mjtNum);
}

}  // namespace

BatchSim::Impl::Impl(LoadedModel given, const SimOptions& o) : options(o) {
  check_options(options);
  check_softness(options);
  mjModel& m = *given.model;
  check_position_options(options, m);
  const bool velocities = at_velocity_level(options);
  formulation = {.level = velocities ? Level::velocity : Level::acceleration,
                 .model_softness = options.softness == Softness::model,
                 .contact = options.contact};
  if (options.mujoco_law) {
    override_integrator(m, options.integrator);
  } else {
    prepare_model(m, options.integrator, velocities, warnings);
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
  passages = std::vector<Passage>(slots);
  for (int i = 0; i < slots; ++i) passages[i].slot = passages[i].env = i;
  buffers = std::make_unique<ProblemBuffers>(model, slots, threads, options.solve, watch);
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

std::vector<int> BatchSim::Impl::selected(const std::uint8_t* mask) const {
  std::vector<int> ids;
  for (int e = 0; e < options.num_envs; ++e)
    if (mask[e]) ids.push_back(e);
  return ids;
}

BatchSim::BatchSim(LoadedModel model, const SimOptions& options)
    : impl_(std::make_unique<Impl>(std::move(model), options)) {}
BatchSim::~BatchSim() = default;
BatchSim::BatchSim(BatchSim&&) noexcept = default;
BatchSim& BatchSim::operator=(BatchSim&&) noexcept = default;

void BatchSim::step(int substeps) {
  require(substeps >= 1, "substeps", "at least 1", substeps);
  const auto turn = impl_->caller.enter();
  impl_->step(substeps);
}

void BatchSim::watch(std::function<bool()> go_on) { impl_->go_on = std::move(go_on); }
void BatchSim::require_idle() const { impl_->caller.require_idle(); }

void BatchSim::forward(const std::uint8_t* mask) {
  const auto turn = impl_->caller.enter();
  const std::vector<int> ids = impl_->selected(mask);
  if (!ids.empty()) impl_->forward(ids);
}

void BatchSim::reset(const std::uint8_t* mask, int key) {
  const auto turn = impl_->caller.enter();
  if (key < -1 || key >= impl_->model->nkey)
    throw std::invalid_argument("key: the model has " + std::to_string(impl_->model->nkey) +
                                " keyframes, got " + std::to_string(key));
  const std::vector<int> ids = impl_->selected(mask);
  if (ids.empty()) return;
  impl_->batch.reset(ids, std::vector<int>(impl_->options.num_envs, key));
  for (const int e : ids) {
    impl_->status[e] = EnvStatus::solved;
    impl_->residual[e] = 0;
    impl_->iterations[e] = impl_->num_contacts[e] = impl_->num_rows[e] = 0;
  }
}

Rows BatchSim::component(StateComponent c) const {
  mjBatch* b = impl_->batch.get();
  const int stride = mjb_nstate(b);
  if (c == StateComponent::integration) return {mjb_state(b), stride, stride};
  int size = 0;
  double* data = mjb_stateComponent(b, component_bit(c), &size);
  if (c == StateComponent::mocap_velocity) {
    if (impl_->options.mujoco_law) return {data, 0, stride};
    return {data + offset_of_mocap_velocity(impl_->model), kTwist * impl_->model->nmocap, stride};
  }
  return {data, size, stride};
}

Rows BatchSim::sensordata() const {
  const std::int64_t size = impl_->model->nsensordata;
  return {impl_->sensordata.data(), size, size};
}

Rows BatchSim::field(const std::string& name) const {
  Fields::Field* field = impl_->fields->find(name);
  if (!field) throw std::invalid_argument("field: expected one of those kept, got " + name);
  return {field->values.data(), field->size, field->size, field->columns};
}

const ContactSensors& BatchSim::contact_sensors() const { return *impl_->contact_sensors; }
const EnvStatus* BatchSim::status() const { return impl_->status.data(); }
const double* BatchSim::residual() const { return impl_->residual.data(); }
const std::int32_t* BatchSim::iterations() const { return impl_->iterations.data(); }
const Solver* BatchSim::solver() const { return impl_->solver.data(); }
const std::int32_t* BatchSim::num_contacts() const { return impl_->num_contacts.data(); }
const std::int32_t* BatchSim::num_rows() const { return impl_->num_rows.data(); }
const std::int32_t* BatchSim::position_rounds() const { return impl_->position_rounds.data(); }
const double* BatchSim::penetration() const { return impl_->penetration.data(); }
const std::int32_t* BatchSim::failures() const { return impl_->failures.data(); }
const mjModel& BatchSim::model() const { return *impl_->model; }
const SimOptions& BatchSim::options() const { return impl_->options; }
int BatchSim::threads() const { return mjb_nthread(impl_->batch.get()); }
const Timings& BatchSim::timings() const { return impl_->timings; }
const Statistics& BatchSim::statistics() const { return impl_->statistics; }
const std::vector<std::string>& BatchSim::warnings() const { return impl_->warnings; }
const std::vector<std::string>& BatchSim::ignored_fields() const { return impl_->ignored_fields; }

std::vector<ContactRecord> BatchSim::contacts(int env) const {
  const auto turn = impl_->caller.enter();
  return std::move(impl_->contacts({env})[env]);
}

std::vector<std::vector<ContactRecord>> BatchSim::contacts() const {
  const auto turn = impl_->caller.enter();
  std::vector<int> all(impl_->options.num_envs);
  std::iota(all.begin(), all.end(), 0);
  return impl_->contacts(all);
}

ProblemView BatchSim::problem(int env) const {
  const auto turn = impl_->caller.enter();
  auto& buffers = *impl_->buffers;
  int at = 0;
  const auto visit = [&](const mjModel*, const mjData*, const Passage& p) {
    at = p.slot;
    buffers.form_missing_delassus(at);
  };
  if (!impl_->revisit({env}, visit)) buffers.clear(at);
  const auto& result = buffers.results();
  const bool posed = buffers.rows(at) > 0;  // a problem without rows is not solved
  return {.slot = buffers.slot(at),
          .mechanism = buffers.mechanism(at),
          .W = buffers.problems().W(at),
          .ld_W = buffers.problems().max_rows(),
          .rows = buffers.rows(at),
          .nv = int(impl_->model->nv),
          .warm_start = buffers.problems().warm_start(at),
          .impulse = result.impulse(at),
          .status = posed ? result.status(at) : EnvStatus::solved,
          .residual = posed ? result.residual(at) : 0,
          .iterations = posed ? result.iterations(at) : 0,
          .solver = posed ? result.solver(at) : Solver::automatic};
}

}  // namespace stickslip::mujoco
