// What identifies rows and problems from step to step.
#pragma once
#include "src/mujoco/problem/gather.hpp"

namespace stickslip::mujoco {

/// The pair of geoms or flexes of a contact.
mjtNum pair_of(const mjModel* m, const mjContact& c);

/// MuJoCo's row i by type and id. Frictionless contacts are rows like others; the number of a
/// contact does not identify it, its pair does.
mjtNum id_of(const mjModel* m, const mjData* d, int i);

inline int scalar_rows(const RowCounts& s) { return s.n_free + s.n_nonneg + s.n_box; }

/// MuJoCo's contact whose normal is row `row`; frictionless ones are nonneg rows.
inline const mjContact& contact_at(const mjData* d, const EnvSlot& slot, int row) {
  return d->contact[d->efc_id[slot.efc_of[row]]];
}

/// A problem in few numbers, none of which depends on the order of its rows: which rows it has, b
/// in some directions, its friction, compliance and M.
struct ProblemPrint {
  static constexpr int kDirections = 3;
  mjtNum rows;    ///< a hash; 0: no problem
  mjtNum size;    ///< max|b|, m/s
  mjtNum serves;  ///< until it has moved by this share; if negative: steps; 0: no more
  mjtNum wait;    ///< steps for which it has served since the search failed; or 0
  mjtNum law;     ///< of friction and compliance
  mjtNum mass;    ///< of the logarithms of M's diagonal
  mjtNum along_b[kDirections];  ///< m/s
};

ProblemPrint print_of(const mjModel* m, const mjData* d, const EnvSlot& slot, int rows);

/// Whether the problems have the same rows and hardly differ: b by no more than `share` of max|b|.
bool is_same(const ProblemPrint& a, const ProblemPrint& b, mjtNum share);

/// The hash of the rows alone.
mjtNum hash_of_rows(const mjModel* m, const mjData* d, const EnvSlot& slot);

}  // namespace stickslip::mujoco
