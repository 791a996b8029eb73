#include "src/mujoco/batch_sim.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>

#include "src/api/check.hpp"
#include "src/mujoco/contacts/mocap.hpp"
#include "src/mujoco/derivative/step_fields.hpp"
#include "src/mujoco/step/sim_batch.hpp"

namespace stickslip::mujoco {
namespace {

int component_bit(StateComponent c) {
  static constexpr std::array kBits = {
      mjSTATE_INTEGRATION,  mjSTATE_TIME,      mjSTATE_QPOS,      mjSTATE_QVEL,
      mjSTATE_ACT,          mjSTATE_CTRL,      mjSTATE_WARMSTART, mjSTATE_QFRC_APPLIED,
      mjSTATE_XFRC_APPLIED, mjSTATE_EQ_ACTIVE, mjSTATE_MOCAP_POS, mjSTATE_MOCAP_QUAT,
      mjSTATE_USERDATA};
  return kBits[std::size_t(c)];
}

}  // namespace

BatchSim::BatchSim(LoadedModel model, const SimOptions& options)
    : impl_(std::make_unique<SimBatch>(std::move(model), options)) {}
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
    impl_->clear_sensors(e);
    impl_->contact_sensors->clear_means(e);
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
  const auto visit = [&](const StepContext& step) {
    at = step.slot;
    if (buffers.rows(at) > 0) buffers.require_delassus(at);
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
          .solver = posed ? result.solver(at) : Solver::automatic,
          .selected = posed ? result.selected(at) : Selected::no,
          .start_selected = posed ? buffers.start_selected(at) : 0};
}

std::vector<std::string> BatchSim::differentiable_fields() { return field_names(); }

std::int64_t BatchSim::size_of_differentiable(const std::string& field) const {
  return find_field(field).size(impl_->model);
}

void BatchSim::step_vjp(const double* state, const NextState<const double>& loss,
                        const StepInputs<double>& gradient, const StepReport& report) {
  const auto turn = impl_->caller.enter();
  mujoco::step_vjp(*impl_, state, loss, gradient, report);
}

void BatchSim::step_jvp(const double* state, const StepInputs<const double>& change,
                        const NextState<double>& result, const StepReport& report) {
  const auto turn = impl_->caller.enter();
  mujoco::step_jvp(*impl_, state, change, result, report);
}

void BatchSim::step_transition(const double* state, const Transition& result,
                               const StepReport& report) {
  const auto turn = impl_->caller.enter();
  mujoco::step_transition(*impl_, state, result, report);
}

}  // namespace stickslip::mujoco
