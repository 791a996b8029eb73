// Forces and slip between bodies or geoms, kept for all environments.
#pragma once
#include <mujoco/mujoco.h>

#include <string>
#include <utility>
#include <vector>

namespace stickslip::mujoco {

class ContactSensors {
 public:
  /// What each sensor measures: contacts of the first with the second, "" for everything else.
  /// Names of bodies (their own geoms) or geoms; "body:" or "geom:" before a name says which.
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  /// Throws std::invalid_argument for names that the model does not have or that are ambiguous.
  ContactSensors(const mjModel* m, int num_envs, const Pairs& pairs);

  /// Measures after a step: forces of the step, velocities at its end. Zero where there was no
  /// step. `gap`: of each contact, m; null: none is open.
  void keep(const mjModel* m, mjData* d, const double* gap, int env);
  void clear(int env);
  void clear_means(int env);
  void clear_means();  ///< of all environments
  /// Adds what was kept last to the means of `steps` steps.
  void add_to_means(int env, int steps);

  int count() const { return int(sensors_.size()); }
  // World frame, [num_envs][count][3], on the first of each pair:
  std::vector<double> force;                      ///< N, all of it
  std::vector<double> friction;                   ///< N, its part along the surfaces
  std::vector<double> mean_force, mean_friction;  ///< N, of the steps of the latest call
  /// m/s, of the first relative to the second, along the surfaces, which may move by themselves
  /// (`surfacevel`); the mean of the contacts that press, weighted by their normal forces without
  /// adhesion; without those of flexes.
  std::vector<double> slip;

 private:
  using Geoms = std::vector<char>;  ///< [ngeom] 1: belongs to it
  struct Sensor {
    Geoms first, second;
    bool everything;  ///< `second` is everything else, flexes included
    bool is_second(int geom) const { return geom < 0 ? everything : second[std::size_t(geom)]; }
    bool is_first(int geom) const { return geom >= 0 && first[std::size_t(geom)]; }
  };

  /// Adds a contact to the values at `to`; returns the weight of its slip, N.
  double add(const mjModel* m, mjData* d, int contact, double gap, double sign, std::int64_t to);
  static Geoms geoms_of(const mjModel* m, const std::string& name);

  /// Of the first number of an environment.
  std::int64_t at(int env) const { return 3 * std::int64_t(sensors_.size()) * env; }

  std::vector<Sensor> sensors_;
};

}  // namespace stickslip::mujoco
