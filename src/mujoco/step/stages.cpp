#include "src/mujoco/step/stages.hpp"

#include <algorithm>

#include "src/mujoco/contacts/far_contacts.hpp"
#include "src/mujoco/contacts/mocap.hpp"
#include "src/mujoco/contacts/touching.hpp"

namespace stickslip::mujoco {
void forward_position_ahead(const mjModel* m, mjData* d, int env, const LookAhead& look_ahead,
                            const ContactModels& models, Separations& separations, Margins& margins,
                            StepContacts& contacts) {
  d->flg_energypos = 0;  // as in mj_fwdPosition
  mj_fwdKinematics(m, d);
  mj_makeM(m, d);  // its factor: see smooth_forces
  mj_comVel(m, d);
  move_mocap_bodies(m, d);
  look_ahead.collide(m, d, separations, margins);
  leave_out_far_contacts(m, d, margins, contacts);
  limit_adhesion(d, contacts);
  models.find(m, d, env, contacts);
  mj_makeConstraint(m, d);
  for (int i = 0; i < d->ncon; ++i)  // MuJoCo may make no rows for a contact
    if (d->contact[i].efc_address < 0) contacts.use[i] = Use::culled;
  hide_ahead(d, contacts);
  mj_island(m, d);
  mj_transmission(m, d);  // mj_projectConstraint is for dual solvers only: see prepare_model
}

void smooth_forces(const mjModel* m, mjData* d, Level level) {
  if (level == Level::acceleration) return mj_fwdAcceleration(m, d);
  const int nv = int(m->nv);
  mju_sub(d->qfrc_smooth, d->qfrc_passive, d->qfrc_bias, nv);
  mju_addTo(d->qfrc_smooth, d->qfrc_applied, nv);
  mju_addTo(d->qfrc_smooth, d->qfrc_actuator, nv);
  for (int b = 1; b < m->nbody; ++b) {
    const mjtNum* force = d->xfrc_applied + 6 * b;
    if (!mju_isZero(force, 6))
      mj_applyFT(m, d, force, force + 3, d->xipos + 3 * b, b, d->qfrc_smooth);
  }
}

void forward_velocities(const mjModel* m, mjData* d, Level level, bool sensors) {
  const bool energy = m->opt.enableflags & mjENBL_ENERGY;
  if (sensors) mj_sensorPos(m, d);
  if (!d->flg_energypos) {
    if (energy)
      mj_energyPos(m, d);
    else
      d->energy[0] = d->energy[1] = 0;
  }
  mj_fwdVelocity(m, d);
  move_mocap_bodies(m, d);
  move_mocap_contacts(m, d);
  if (sensors) mj_sensorVel(m, d);
  if (energy && !d->flg_energyvel) mj_energyVel(m, d);
  if (mjcb_control && !(m->opt.disableflags & mjDSBL_ACTUATION)) mjcb_control(m, d);
  mj_fwdActuation(m, d);
  smooth_forces(m, d, level);
}

void after_solver(const mjModel* m, mjData* d) {
  d->flg_rnepost = 0;  // forces changed: sensors must recompute this
  mj_sensorAcc(m, d);
  if (m->opt.enableflags & mjENBL_FWDINV) mj_compareFwdInv(m, d);
}

int reported_islands(const mjData* d) { return std::clamp(d->nisland, 1, int(mjNISLAND)); }

double reported_residual(const mjModel* m, const mjData* d) {
  const bool has_gradient = m->opt.solver != mjSOL_PGS && m->opt.noslip_iterations == 0;
  double largest = 0;
  for (int i = 0; i < reported_islands(d); ++i) {
    const int iterations = std::min(d->solver_niter[i], int(mjNSOLVER));
    if (iterations == 0) continue;
    const mjSolverStat& last = d->solver[i * mjNSOLVER + iterations - 1];
    largest = std::max(largest, has_gradient ? last.gradient : std::abs(last.improvement));
  }
  return largest;
}

}  // namespace stickslip::mujoco
