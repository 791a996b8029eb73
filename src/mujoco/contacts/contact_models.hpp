// The contact model of each contact: the simulation's, or what its geoms or its pair say.
#pragma once
#include <mujoco/mujoco.h>

#include <array>
#include <string>
#include <vector>

#include "src/mujoco/contacts/step_contacts.hpp"
#include "stickslip/contact_model.hpp"

namespace stickslip::mujoco {

/// MJCF has no field for them, so they are in tuples of the model (<custom>) with the names of
/// members of ContactModel: stickslip_restitution, _v_rest, _stiffness, _damping, _static_friction
/// and _v_stribeck, whose elements are geoms, materials (then: of all their geoms) and pairs, with
/// the number as `prm`. Each contact of two geoms has the model `mixed` of theirs, or that of the
/// geom with the higher priority; what its pair says comes first. What is not said is the
/// simulation's, also for flexes.
///
/// Also stickslip_friction_x, _y and _z: coefficients of sliding along the axes of a geom, instead
/// of those of `friction`, which stands for those that are not said. Of two geoms that have them,
/// the first one's count, or those of the higher priority. Pairs have their own `friction`.
class ContactModels {
 public:
  ContactModels() = default;
  /// Throws std::invalid_argument, naming tuple and element, for other elements and numbers.
  ContactModels(const mjModel& m, const ContactModel& common, int num_envs);

  /// The names of these tuples in a model. Throws std::invalid_argument for others that begin with
  /// stickslip_.
  static std::vector<std::string> tuples_of(const mjModel& m);

  /// Gives each environment its own values [num_envs][size] of "geom_restitution" and so on, or of
  /// "pair_restitution", ... False for other fields.
  bool vary(const std::string& field, const double* values, std::int64_t size);

  /// Sets the models of the contacts of an environment, and where friction has axes, their
  /// tangents and coefficients, of which mj_makeConstraint makes rows.
  void find(const mjModel* m, mjData* d, int env, StepContacts& contacts) const;

  double largest_restitution() const;  ///< in any environment

  /// Sets the coefficients of contacts with static friction, from their velocities before the step
  /// (efc_vel).
  static void set_friction(mjData* d, StepContacts& contacts);

 private:
  enum Owner { kGeom, kPair, kOwners };
  static constexpr int kNumbers = 9, kFrictionX = 6;  // those of ContactModel come first
  struct Values {
    int count = 0;                // of geoms or pairs
    std::vector<double> of_all;   // [count]; NaN: not said
    std::vector<double> of_each;  // [num_envs][count], or empty
    double of(int env, int i) const {
      return of_each.empty() ? of_all[i] : of_each[std::size_t(env) * count + i];
    }
  };
  void read_tuple(const mjModel& m, int tuple, int number, int type);
  void require_allowed(const std::string& what, int number, double value) const;
  void override_by(Owner owner, int env, int i, ContactModel& model) const;
  int pair_of(const mjContact& contact) const;  ///< -1: none
  ContactModel model_of(const mjModel* m, int env, const mjContact& contact) const;
  bool friction_by_axes(const mjModel* m, int env, int geom, double* mu) const;
  void take_axes(const mjModel* m, const mjData* d, int env, mjContact& contact) const;

  bool uniform_ = true;
  int num_envs_ = 0;
  ContactModel common_;
  std::array<std::array<Values, kNumbers>, kOwners> values_;
  std::vector<std::array<int, 3>> pairs_;  // the two geoms and the pair, sorted
};

}  // namespace stickslip::mujoco
