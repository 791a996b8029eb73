// Impulses of one step as a start for the solve of the next step. A contact is identified by its
// pair of geoms and the nearest position, any other row by MuJoCo's type and id.
//
// They are stored in mjData's userdata, after the model's own data, and so are part of MuJoCo's
// state: a restart from a saved state has the same bits, and a reset clears them.
#pragma once
#include "src/mujoco/problem/gather.hpp"

namespace stickslip::mujoco {

/// Offset of the storage; without room nothing is kept.
class ImpulseStore {
 public:
  ImpulseStore() = default;
  /// Makes room in the model, before it has any mjData: for all of its rows that are not contacts,
  /// and for 16 contacts of each tree of bodies (a robot, or a body of a pile).
  explicit ImpulseStore(mjModel& m);

  /// Writes a start r [rows] for the problem in `slot`, 0 where nothing is known. Returns whether
  /// anything is known.
  bool recall(const mjModel* m, const mjData* d, const EnvSlot& slot, int rows, double* r) const;

  /// Keeps the impulses r [rows].
  void keep(const mjModel* m, mjData* d, const EnvSlot& slot, int rows, const double* r) const;

 private:
  bool recall_rows(const mjModel* m, const mjData* d, const EnvSlot& slot, double* r) const;
  bool recall_contacts(const mjModel* m, const mjData* d, const EnvSlot& slot, int rows,
                       double* r) const;
  mjtNum* kept_rows(const mjData* d) const { return d->userdata + begin_ + 2; }
  mjtNum* kept_contacts(const mjData* d) const { return kept_rows(d) + 2 * max_rows_; }

  int begin_ = 0, max_rows_ = 0, max_contacts_ = 0, contact_size_ = 0;
};

}  // namespace stickslip::mujoco
