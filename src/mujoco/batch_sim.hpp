// N simulations of one MuJoCo model that step together: MuJoCo's own batch pool runs its stages,
// and this library forms and solves the contact problems between them.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/mujoco/contacts/contact_record.hpp"
#include "src/mujoco/contacts/contact_sensors.hpp"
#include "src/mujoco/derivative/step_gradient.hpp"
#include "src/mujoco/model/model.hpp"
#include "src/mujoco/problem/problem_buffers.hpp"
#include "src/mujoco/step/sim_options.hpp"
#include "src/mujoco/step/statistics.hpp"
#include "stickslip/types.hpp"

namespace stickslip::mujoco {

struct SimBatch;

/// A quantity of all environments: environment e's `size` numbers begin at data + e * stride, in
/// groups of `columns`.
struct Rows {
  double* data;
  std::int64_t size, stride;
  int columns = 1;
};

enum class StateComponent {
  integration,
  time,
  qpos,
  qvel,
  act,
  ctrl,
  qacc,  ///< of the latest step, the warm start of MuJoCo
  qfrc_applied,
  xfrc_applied,
  eq_active,
  mocap_pos,
  mocap_quat,
  mocap_velocity  ///< not with the law mujoco
};

/// The problem of one environment in the latest solve (docs/mathematics.md §1) and its verdict; in
/// a Runge-Kutta step, that of the last solve. Pointers are valid until the next call.
struct ProblemView {
  EnvSlot slot;
  SparseMechanism mechanism;
  const double* W;
  int ld_W, rows, nv;
  const double *warm_start, *impulse;
  EnvStatus status;
  double residual;
  int iterations;
  Solver solver;
  Selected selected;
  std::int32_t start_selected;  ///< as in ProblemBatch
};

/// The child of a fork can continue to use it, on one thread.
class BatchSim {
 public:
  /// The environments start in the model's initial state. Throws std::invalid_argument, naming the
  /// option, for invalid numbers and for models that the law cannot step.
  BatchSim(LoadedModel model, const SimOptions& options);
  ~BatchSim();
  BatchSim(BatchSim&&) noexcept;
  BatchSim& operator=(BatchSim&&) noexcept;

  /// Advances every environment by `substeps` time steps under the controls in `component(ctrl)`;
  /// the result has the same bits as that many calls. The verdict is the worst of them. An
  /// environment whose state, controls, problem or acceleration is not finite (or beyond MuJoCo's
  /// limit of 1e10) does not advance: it gets status bad_input and is reset to the model's initial
  /// state, or keeps its state if the model switches `autoreset` off. If a step needs more memory
  /// than the model fixes (<size memory=...>), the status is over_capacity; the environment keeps
  /// its state if MuJoCo cannot make the step at all. The other environments are not affected.
  /// Throws Interrupted if `watch` ended it.
  void step(int substeps = 1);

  /// Long steps call `go_on` about every 50 ms on the calling thread. If it returns false, `step`
  /// throws Interrupted; each environment is then at the end of one of the substeps, not all at the
  /// same one (see `component(time)`). With an empty function, nothing is called.
  void watch(std::function<bool()> go_on);

  /// Throws std::runtime_error while another call is in progress, as all modifying calls do: only
  /// one thread at a time may use the object.
  void require_idle() const;

  /// Computes the fields of the environments with mask[e] != 0 for their present state, without a
  /// step; read them with `field`. With the law mujoco this is mj_forward, warm start included.
  void forward(const std::uint8_t* mask);

  /// Resets the environments with mask[e] != 0 to keyframe `key`, or to the initial state (-1).
  void reset(const std::uint8_t* mask, int key);

  /// Gives each environment its own values of a field of MuJoCo's model (mjb_expand), for example
  /// "geom_friction": values [num_envs][size], size as in mjModel. Constants that MuJoCo derives
  /// (mj_setConst) are updated. Also the fields of contact_models.hpp. Throws std::invalid_argument
  /// for another size and for fields that are not arrays of real numbers.
  void vary(const std::string& field, const double* values, std::int64_t size);

  /// Derivatives of a loss of the next state by the inputs of the step from `state`, rows of
  /// component(integration) with the controls in them; null: the last step made. The step is made
  /// again, and its contact problem is differentiated (stickslip/gradient.hpp). Throws
  /// std::invalid_argument where steps have no derivatives: the law mujoco, integrators other than
  /// Euler and implicitfast, restitution, position_iterations, the backend cuda, plugins.
  void step_vjp(const double* state, const NextState<const double>& loss,
                const StepInputs<double>& gradient, const StepReport& report);

  /// Names of the fields of the model by which steps have derivatives.
  static std::vector<std::string> differentiable_fields();

  /// Numbers per environment of such a field. Throws std::invalid_argument for other names.
  std::int64_t size_of_differentiable(const std::string& field) const;

  /// The change of the next state with the inputs.
  void step_jvp(const double* state, const StepInputs<const double>& change,
                const NextState<double>& result, const StepReport& report);

  /// The matrices of the step, as of mjd_transitionFD; zero where the status is `unsolved`. Throws
  /// also for models with activations.
  void step_transition(const double* state, const Transition& result, const StepReport& report);

  /// Live views of the state: what is written there is used from the next step on. `integration` is
  /// everything that a bitwise restart needs.
  Rows component(StateComponent c) const;
  Rows sensordata() const;

  /// A field of SimOptions::fields as mj_step leaves it in mjData: positions and what depends on
  /// them belong to the state in which the latest step began (with Runge-Kutta, to its last stage),
  /// forces to that step. cacc, cfrc_int, cfrc_ext are those of mj_rnePostConstraint, and zero
  /// after `forward`. Throws std::invalid_argument for fields that are not kept.
  Rows field(const std::string& name) const;
  const ContactSensors& contact_sensors() const;  ///< of the latest step

  // Verdicts on the latest step, one per environment. In Runge-Kutta steps: the worst status and
  // residual of the stages. With the law mujoco: residual NaN, status solved, bad_input or
  // over_capacity.
  const EnvStatus* status() const;
  const double* residual() const;
  const std::int32_t* iterations() const;
  const Solver* solver() const;
  const std::int32_t* num_contacts() const;  ///< active ones (ContactRecord)
  const std::int32_t* num_rows() const;
  const std::int32_t* position_rounds() const;
  /// Deepest penetration at the end of the step among the geoms of its contacts, m; NaN if
  /// `position_iterations` is 0, because it is then not measured.
  const double* penetration() const;
  const std::int32_t* failures() const;  ///< steps with bad_input since construction

  // Of the latest step, which is repeated to obtain them; empty if there was no step since the last
  // `vary`. Contacts are in the order of the problem.
  std::vector<ContactRecord> contacts(int env) const;
  std::vector<std::vector<ContactRecord>> contacts() const;  ///< of all environments
  ProblemView problem(int env) const;

  const mjModel& model() const;  ///< with the options of the law applied
  const SimOptions& options() const;
  int threads() const;
  const Timings& timings() const;
  const Statistics& statistics() const;
  const std::vector<std::string>& warnings() const;
  /// What the model sets and its contacts do not use: solref and solimp, where they are rigid; else
  /// the tuples of contact_models.hpp.
  const std::vector<std::string>& ignored_fields() const;

 private:
  std::unique_ptr<SimBatch> impl_;
};

}  // namespace stickslip::mujoco
