#include "src/mujoco/contacts/contact_models.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace stickslip::mujoco {
namespace {

constexpr double kNotSaid = std::numeric_limits<double>::quiet_NaN();

struct Number {
  std::string_view name;
  double ContactModel::*member;
  const char* expected;
};

constexpr Number kNumber[] = {
    {"restitution", &ContactModel::restitution, "numbers in [0, 1]"},
    {"v_rest", &ContactModel::v_rest, "finite numbers >= 0, m/s"},
    {"stiffness", &ContactModel::stiffness, "numbers of at least 1e-100, N/m"},
    {"damping", &ContactModel::damping, "finite numbers >= 0, N s/m"},
    {"static_friction", &ContactModel::static_friction, "finite numbers >= 0"},
    {"v_stribeck", &ContactModel::v_stribeck, "finite numbers > 0, m/s"},
    {"friction_x", nullptr, "finite numbers >= 0, or NaN (none)"},
    {"friction_y", nullptr, "finite numbers >= 0, or NaN (none)"},
    {"friction_z", nullptr, "finite numbers >= 0, or NaN (none)"},
};
constexpr int kRestitution = 0, kStiffness = 2, kStribeck = 5, kAxes = 6;
constexpr std::string_view kTuple = "stickslip_";
constexpr std::string_view kOwner[] = {"geom_", "pair_"};

bool is_allowed(int number, double value) {
  if (number == kStiffness) return value >= 1e-100;  // 1/k is finite
  if (number == kStribeck && value == 0) return false;
  if (number >= kAxes && std::isnan(value)) return true;
  return value >= 0 && std::isfinite(value) && (number != kRestitution || value <= 1);
}

// The number that a tuple gives; -1 for those of others.
int number_of(const mjModel& m, int tuple) {
  std::string_view name = m.names + m.name_tupleadr[tuple];
  if (!name.starts_with(kTuple)) return -1;
  name.remove_prefix(kTuple.size());
  std::string known;
  for (const Number& number : kNumber) {
    if (number.name == name) return int(&number - kNumber);
    known.append(known.empty() ? "" : ", ").append(number.name);
  }
  throw std::invalid_argument("model: expected tuples stickslip_ of " + known + ", got " +
                              std::string(kTuple).append(name));
}

// As short as it can be: of 1e300, std::to_string writes all digits.
std::string text_of(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value);
  return std::string(text, end.ptr);
}

std::string name_of(const mjModel& m, int type, int id) {
  const char* name = mj_id2name(&m, type, id);
  const std::string own = name ? std::string("'").append(name).append("'") : std::to_string(id);
  return std::string(mju_type2Str(type)).append(" ").append(own);
}

// The side whose numbers alone count, or -1.
int prior_side(const mjModel* m, const mjContact& c) {
  int priority[2];
  for (int side = 0; side < 2; ++side)
    priority[side] =
        c.geom[side] < 0 ? m->flex_priority[c.flex[side]] : m->geom_priority[c.geom[side]];
  return priority[0] == priority[1] ? -1 : int(priority[0] < priority[1]);
}

// The pairs of geoms are in ascending order.
std::array<int, 3> key_of(int geom1, int geom2, int pair) {
  return {std::min(geom1, geom2), std::max(geom1, geom2), pair};
}

}  // namespace

std::vector<std::string> ContactModels::tuples_of(const mjModel& m) {
  std::vector<std::string> names;
  for (int i = 0; i < m.ntuple; ++i)
    if (number_of(m, i) >= 0) names.emplace_back(m.names + m.name_tupleadr[i]);
  return names;
}

ContactModels::ContactModels(const mjModel& m, const ContactModel& common, int num_envs)
    : num_envs_(num_envs), common_(common) {
  const std::array<int, kOwners> count = {int(m.ngeom), int(m.npair)};
  for (int owner = 0; owner < kOwners; ++owner)
    for (Values& values : values_[owner])
      values = {count[owner], std::vector<double>(count[owner], kNotSaid), {}};
  for (int i = 0; i < m.npair; ++i) pairs_.push_back(key_of(m.pair_geom1[i], m.pair_geom2[i], i));
  std::sort(pairs_.begin(), pairs_.end());
  for (const int type : {mjOBJ_MATERIAL, mjOBJ_GEOM, mjOBJ_PAIR})  // a geom's own comes last
    for (int tuple = 0; tuple < m.ntuple; ++tuple)
      if (const int number = number_of(m, tuple); number >= 0) read_tuple(m, tuple, number, type);
}

void ContactModels::read_tuple(const mjModel& m, int tuple, int number, int type) {
  const std::string name = std::string("model: ").append(m.names + m.name_tupleadr[tuple]);
  uniform_ = false;
  for (int k = m.tuple_adr[tuple]; k < m.tuple_adr[tuple] + m.tuple_size[tuple]; ++k) {
    const int given = m.tuple_objtype[k], id = m.tuple_objid[k];
    const bool of_pair = given == mjOBJ_PAIR && number < kFrictionX;
    if (given != mjOBJ_GEOM && given != mjOBJ_MATERIAL && !of_pair)
      throw std::invalid_argument(name + ": expected elements that are geoms" +
                                  (number < kFrictionX ? ", materials or pairs" : " or materials") +
                                  ", got " + name_of(m, given, id));
    if (given != type) continue;
    const double value = m.tuple_objprm[k];
    require_allowed(name + " of " + name_of(m, type, id), number, value);
    if (type == mjOBJ_PAIR) values_[kPair][number].of_all[id] = value;
    if (type == mjOBJ_GEOM) values_[kGeom][number].of_all[id] = value;
    for (int g = 0; type == mjOBJ_MATERIAL && g < m.ngeom; ++g)
      if (m.geom_matid[g] == id) values_[kGeom][number].of_all[g] = value;
  }
}

void ContactModels::require_allowed(const std::string& what, int number, double value) const {
  if (!is_allowed(number, value))
    throw std::invalid_argument(what + ": expected " + kNumber[number].expected + ", got " +
                                text_of(value));
  if (number == kStiffness && std::isfinite(value) && common_.compliance > 0)
    throw std::invalid_argument("compliance: expected 0 where contacts have a stiffness, got " +
                                text_of(common_.compliance));
}

bool ContactModels::vary(const std::string& field, const double* values, std::int64_t size) {
  for (int owner = 0; owner < kOwners; ++owner)
    for (int number = 0; number < (owner == kPair ? kFrictionX : kNumbers); ++number) {
      if (field != std::string(kOwner[owner]).append(kNumber[number].name)) continue;
      if (num_envs_ == 0)
        throw std::invalid_argument(
            "field: " + field + " is of the rigid laws' contacts, which this law does not have");
      Values& own = values_[owner][number];
      if (size != own.count)
        throw std::invalid_argument("values: expected " + std::to_string(own.count) +
                                    " numbers per environment for " + field + ", got " +
                                    std::to_string(size));
      for (std::int64_t i = 0; i < num_envs_ * size; ++i)
        require_allowed("values of " + field + " in environment " + std::to_string(i / size),
                        number, values[i]);
      own.of_each.assign(values, values + num_envs_ * size);
      uniform_ = false;
      return true;
    }
  return false;
}

double ContactModels::largest_restitution() const {
  double largest = common_.restitution;
  for (const auto& of_owner : values_) {
    const Values& values = of_owner[kRestitution];
    for (const double e : values.of_each.empty() ? values.of_all : values.of_each)
      if (e > largest) largest = e;  // not what is not said
  }
  return largest;
}

void ContactModels::override_by(Owner owner, int env, int i, ContactModel& model) const {
  for (int number = 0; number < kNumbers; ++number) {
    const double value = values_[owner][number].of(env, i);
    if (kNumber[number].member && !std::isnan(value)) model.*kNumber[number].member = value;
  }
}

int ContactModels::pair_of(const mjContact& contact) const {
  const auto key = key_of(contact.geom[0], contact.geom[1], 0);  // no pair has flexes
  const auto found = std::lower_bound(pairs_.begin(), pairs_.end(), key);
  const bool is_pair =
      found != pairs_.end() && std::equal(key.begin(), key.begin() + 2, found->begin());
  return is_pair ? (*found)[2] : -1;
}

ContactModel ContactModels::model_of(const mjModel* m, int env, const mjContact& contact) const {
  ContactModel of_side[2] = {common_, common_};
  for (int side = 0; side < 2; ++side)
    if (contact.geom[side] >= 0) override_by(kGeom, env, contact.geom[side], of_side[side]);
  const int prior = prior_side(m, contact);
  ContactModel model = prior < 0 ? mixed(of_side[0], of_side[1]) : of_side[prior];
  if (const int pair = pair_of(contact); pair >= 0) override_by(kPair, env, pair, model);
  return model;
}

bool ContactModels::friction_by_axes(const mjModel* m, int env, int geom, double* mu) const {
  constexpr double kNone = 1e-9;  // of no friction
  bool any = false;
  for (int axis = 0; geom >= 0 && axis < 3; ++axis) {
    const double own = values_[kGeom][kFrictionX + axis].of(env, geom);
    any |= !std::isnan(own);
    mu[axis] = std::max(std::isnan(own) ? m->geom_friction[3 * geom] : own, kNone);
  }
  return any;
}

// The friction of a geom by its axes is the ellipsoid of the forces f with sum (f_k / mu_k)^2 <= 1;
// a contact has its section with the tangent plane, an ellipse, whose axes become the tangents.
void ContactModels::take_axes(const mjModel* m, const mjData* d, int env, mjContact& c) const {
  double of_geom[2][3];
  const bool has[2] = {friction_by_axes(m, env, c.geom[0], of_geom[0]),
                       friction_by_axes(m, env, c.geom[1], of_geom[1])};
  const int prior = prior_side(m, c), side = prior < 0 ? !has[0] : prior;
  if (c.dim < 3 || !has[side] || pair_of(c) >= 0) return;
  const double* const frame = d->geom_xmat + 9 * c.geom[side];
  // x D y, with D the sum of a_k a_k^T / mu_k^2.
  const auto form = [&](const double* x, const double* y) {
    double sum = 0;
    for (int axis = 0; axis < 3; ++axis) {
      const double a[3] = {frame[axis], frame[3 + axis], frame[6 + axis]};
      const double mu = of_geom[side][axis];
      sum += mju_dot3(a, x) / mu * (mju_dot3(a, y) / mu);
    }
    return sum;
  };
  double *const t1 = c.frame + 3, *const t2 = c.frame + 6;
  const double first = form(t1, t1), second = form(t2, t2), both = form(t1, t2);
  const bool is_circle = std::hypot(first - second, 2 * both) <= 1e-12 * (first + second);
  const double angle = is_circle ? 0.0 : 0.5 * std::atan2(2 * both, first - second);
  mju_scl3(t1, t1, std::cos(angle));
  mju_addToScl3(t1, t2, std::sin(angle));
  mju_cross(t2, c.frame, t1);
  c.friction[0] = std::max(1 / std::sqrt(form(t1, t1)), mjMINMU);
  c.friction[1] = std::max(1 / std::sqrt(form(t2, t2)), mjMINMU);
}

void ContactModels::find(const mjModel* m, mjData* d, int env, StepContacts& contacts) const {
  contacts.common = common_;
  contacts.own.clear();
  if (uniform_) return;
  for (int i = 0; i < d->ncon; ++i) {
    mjContact& c = d->contact[i];
    take_axes(m, d, env, c);
    contacts.own.push_back({model_of(m, env, c), {c.friction[0], c.friction[1]}});
  }
}

void ContactModels::set_friction(mjData* d, StepContacts& contacts) {
  contacts.friction_falls = false;
  for (std::size_t i = 0; i < contacts.own.size(); ++i) {
    mjContact& c = d->contact[i];
    const auto& [model, friction] = contacts.own[i];
    if (c.efc_address < 0 || c.dim < 3 || model.static_friction == 0) continue;
    const double* velocity = d->efc_vel + c.efc_address;
    const double slip = std::hypot(velocity[1], velocity[2]);
    for (int k = 0; k < 2; ++k) c.friction[k] = friction_at(model, friction[k], slip);
    contacts.friction_falls |= slip > 0 && slip < model.v_stribeck;
  }
}

}  // namespace stickslip::mujoco
