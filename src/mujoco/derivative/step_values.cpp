// Nothing here has a destructor, because MuJoCo's errors jump over it.
#include "src/mujoco/derivative/step_values.hpp"

#include <algorithm>
#include <cmath>

#include "src/mujoco/problem/row_map.hpp"

namespace stickslip::mujoco {
namespace {

RowKey key_of(const StepContext& step, int i) {
  RowKey key{};
  key.type = step.d->efc_type[i];
  key.id = step.d->efc_id[i];
  if (!is_contact_row(step.d, i)) {
    for (int k = 0; k < i; ++k)
      key.part += step.d->efc_type[k] == key.type && step.d->efc_id[k] == key.id;
    return key;
  }
  const mjContact& c = step.d->contact[key.id];
  key.part = i - c.efc_address;
  std::copy_n(c.geom, 2, key.geom);
  std::copy_n(c.flex, 2, key.flex);
  std::copy_n(c.elem, 2, key.elem);
  std::copy_n(c.vert, 2, key.vert);
  key.dim = c.dim;
  std::copy_n(c.pos, 3, key.position);
  key.normal = key.part == 0;
  key.rigid = step.sim->formulation.level == Level::velocity &&
              !(key.normal && step.sim->formulation.model_softness);
  key.open = step.sim->rigid() && key.normal && step.contacts.gap[key.id] > -kClosed;
  return key;
}

bool same_pair(const mjContact& c, const RowKey& key) {
  return std::equal(c.geom, c.geom + 2, key.geom) && std::equal(c.flex, c.flex + 2, key.flex) &&
         std::equal(c.elem, c.elem + 2, key.elem) && std::equal(c.vert, c.vert + 2, key.vert) &&
         c.dim == key.dim;
}

// The nearest contact of the same pair that is not taken yet; -1: none.
int find_contact(const mjData* d, const RowKey& key, const std::vector<char>& taken) {
  int best = -1;
  double nearest = mjMAXVAL;
  for (int k = 0; k < d->ncon; ++k) {
    const mjContact& c = d->contact[k];
    if (c.efc_address < 0 || taken[k] || !same_pair(c, key)) continue;
    const double distance = mju_dist3(c.pos, key.position);
    if (distance >= nearest) continue;
    nearest = distance;
    best = k;
  }
  return best;
}

int find_other(const mjData* d, const RowKey& key) {
  int part = 0;
  for (int i = 0; i < d->nefc; ++i)
    if (d->efc_type[i] == key.type && d->efc_id[i] == key.id && part++ == key.part) return i;
  return -1;
}

// The bias of a rigid contact (gather.hpp), or of one that recovers (position.hpp).
double bias_of(const StepContext& step, const RowKey& key, bool recovers, int i) {
  const int contact = step.d->efc_id[i];
  const ContactModel& model = step.contacts.model(contact);
  const double gap = step.contacts.gap[contact], h = step.m->opt.timestep;
  if (is_soft(model)) return contact_bias(model, gap, step.d->efc_vel[i], h);
  if (recovers) return std::max(gap / h, -model.v_max);
  return key.open ? gap / h : 0.0;
}

// s of the row i of MuJoCo, for the impulse r.
double row_value(const StepContext& step, const RowKey& key, bool recovers, int i, double r,
                 const double* velocity, const double* acceleration) {
  const double soft = step.d->efc_R[i] * r;
  if (step.sim->formulation.level == Level::acceleration)
    return row_velocity(step.d, i, acceleration) - step.d->efc_aref[i] + soft;
  const double h = step.m->opt.timestep;
  const double after = row_velocity(step.d, i, velocity),
               before = row_velocity(step.d, i, step.d->qvel);
  if (!key.rigid) return after - before - h * step.d->efc_aref[i] + soft;
  const double s = after + (step.d->efc_vel[i] - before);
  if (!key.normal) return s;
  const double R = normal_compliance(step.contacts.model(step.d->efc_id[i]), h);
  return s + bias_of(step, key, recovers, i) + R * r;
}

// Whether the row i, which is none of the problem, would act. The normal of an elliptic contact of
// the law convex stands for all its rows: some force in the cone opposes s unless it is in the
// dual cone, so a contact that opens and slides acts too.
bool would_act(const StepContext& step, const double* velocity, const double* acceleration, int i) {
  const auto value = [&](int row) {
    return row_value(step, key_of(step, row), false, row, 0.0, velocity, acceleration);
  };
  double slip = 0;
  if (step.sim->formulation.level == Level::acceleration &&
      step.d->efc_type[i] == mjCNSTR_CONTACT_ELLIPTIC) {
    const mjContact& c = step.d->contact[step.d->efc_id[i]];
    for (int axis = 1; axis < c.dim; ++axis)
      slip = std::hypot(slip, c.friction[axis - 1] * value(i + axis));
  }
  return value(i) < slip;
}

void find_limits(const StepContext& step, const std::vector<RowKey>& keys, const int* efc_of,
                 StepValues& values) {
  const bool impulses = step.sim->formulation.level == Level::velocity;
  const double bound_scale = impulses ? step.m->opt.timestep : 1.0;
  values.mu.clear();
  values.hi.clear();
  for (std::size_t row = 0; row < keys.size(); ++row) {
    const int i = efc_of[row], type = step.d->efc_type[i], axis = keys[row].part;
    if (type == mjCNSTR_CONTACT_ELLIPTIC && axis > 0)
      values.mu.push_back(
          friction_of(step.d->contact[step.d->efc_id[i]], axis, step.sim->formulation.level));
    if (type == mjCNSTR_FRICTION_DOF || type == mjCNSTR_FRICTION_TENDON)
      values.hi.push_back(bound_scale * step.d->efc_frictionloss[i]);
  }
}

}  // namespace

void name_rows(const StepContext& step, std::vector<RowKey>& keys) {
  const int* efc_of = step.problem().efc_of;
  keys.clear();
  for (int row = 0; row < step.rows(); ++row) keys.push_back(key_of(step, efc_of[row]));
}

bool find_rows(const mjData* d, const std::vector<RowKey>& keys, ValueScratch& scratch) {
  scratch.taken.assign(d->ncon, 0);
  scratch.efc_of.resize(keys.size());
  int contact = -1;
  for (std::size_t row = 0; row < keys.size(); ++row) {
    const RowKey& key = keys[row];
    int& i = scratch.efc_of[row];
    if (key.type < mjCNSTR_CONTACT_FRICTIONLESS) {
      i = find_other(d, key);
      if (i < 0) return false;
      continue;
    }
    if (key.part == 0) {  // the other rows of the contact follow
      contact = find_contact(d, key, scratch.taken);
      if (contact < 0) return false;
      scratch.taken[contact] = 1;
    }
    i = d->contact[contact].efc_address + key.part;
  }
  return true;
}

void add_forces(const mjData* d, const ValueScratch& scratch, const double* r, double* x) {
  for (std::size_t row = 0; row < scratch.efc_of.size(); ++row) {
    const int i = scratch.efc_of[row];
    for (int k = d->efc_J_rowadr[i]; k < d->efc_J_rowadr[i] + d->efc_J_rownnz[i]; ++k)
      x[d->efc_J_colind[k]] += d->efc_J[k] * r[row];
  }
}

bool evaluate(const StepContext& step, const std::vector<RowKey>& keys,
              const KnownSolution& solution, ValueScratch& scratch, StepValues& values) {
  const int nv = int(step.m->nv);
  const std::vector<double>& r = solution.impulse;
  scratch.M.resize(step.m->nC);
  scratch.a_free.resize(nv);
  scratch.acceleration.resize(nv);
  values.velocity.assign(nv, 0.0);
  add_forces(step.d, scratch, r.data(), values.velocity.data());
  if (step.sim->formulation.level == Level::acceleration) {
    mj_solveM(step.m, step.d, scratch.acceleration.data(), values.velocity.data(), 1);
    mju_addTo(scratch.acceleration.data(), step.d->qacc_smooth, nv);
  }
  MassFactor factor;
  if (!integrator_matrix(step.m, step.d, scratch.M.data(), factor, scratch.a_free.data()))
    return false;
  velocity_response(step, false, values.velocity.data());
  mju_addToScl(values.velocity.data(), scratch.a_free.data(), step.m->opt.timestep, nv);
  mju_addTo(values.velocity.data(), step.d->qvel, nv);
  values.rows.resize(keys.size());
  for (std::size_t row = 0; row < keys.size(); ++row)
    values.rows[row] = row_value(step, keys[row], solution.recovers, scratch.efc_of[row], r[row],
                                 values.velocity.data(), scratch.acceleration.data());
  find_limits(step, keys, scratch.efc_of.data(), values);
  return true;
}

int count_left_out(const StepContext& step, ValueScratch& scratch, const double* velocity) {
  scratch.known.assign(step.d->nefc, 0);
  for (const int i : scratch.efc_of) scratch.known[i] = 1;
  int count = 0;
  for (int i = 0; i < step.d->nefc; ++i) {
    const int type = step.d->efc_type[i];
    // Each edge of a pyramid is a row of its own.
    const bool single = type == mjCNSTR_LIMIT_JOINT || type == mjCNSTR_LIMIT_TENDON ||
                        type == mjCNSTR_CONTACT_PYRAMIDAL;
    if (scratch.known[i] || !(single || contact_of_normal(step.d, i))) continue;
    count += would_act(step, velocity, scratch.acceleration.data(), i);
  }
  return count;
}

void velocity_response(const StepContext& step, bool transposed, double* x) {
  if (step.sim->formulation.level == Level::velocity)
    return solve_integrator_matrix(step.m, step.d, x);
  solve_smooth_matrix(step.m, step.d, transposed, x);
  mju_scl(x, x, step.m->opt.timestep, int(step.m->nv));
}

}  // namespace stickslip::mujoco
