#include "src/mujoco/step/ghost_search.hpp"

#include <algorithm>

#include "src/mujoco/contacts/inside_face.hpp"
#include "src/mujoco/contacts/polyhedron.hpp"
#include "src/mujoco/contacts/touching.hpp"
#include "src/mujoco/problem/row_map.hpp"
#include "src/mujoco/step/second_solve.hpp"

namespace stickslip::mujoco {
namespace {

constexpr int kMostRounds = 8, kMostGhostRounds = 3;

bool of_pair(const mjContact& c, const GeomPair& pair) {
  return c.geom[0] == pair.geom[0] && c.geom[1] == pair.geom[1];
}

// Whether contact i touches and does not approach by more.
bool rests(const mjModel* m, const mjData* d, const StepContacts& contacts, int i) {
  const int row = d->contact[i].efc_address;
  return contacts.gap[i] <= kTouching && row >= 0 &&
         -m->opt.timestep * d->efc_vel[row] <= kTouching;
}

// Whether the pair of contact i rests elsewhere with its normal: then its face is there.
bool rests_beside(const mjModel* m, const mjData* d, const StepContacts& contacts, int i) {
  constexpr double kSameFace = 1 - 1e-6;  // cosine
  const mjContact& c = d->contact[i];
  for (int k = 0; k < d->ncon; ++k) {
    if (k != i && same_pair(d->contact[k], c) && rests(m, d, contacts, k) &&
        mju_dot3(d->contact[k].frame, c.frame) > kSameFace)
      return true;
  }
  return false;
}

// Whether a spring bears its load: it is pressed, and hardly moves along its normal.
bool bears(const StepContext& step, int i) {
  constexpr double kShare = 0.1;  // of the overlap
  const int row = step.d->contact[i].efc_address;
  const double overlap = -step.contacts.gap[i];
  return row >= 0 && overlap > 0 && is_spring(step.contacts.model(i)) &&
         step.m->opt.timestep * std::abs(step.d->efc_vel[row]) <= kShare * overlap + kTouching;
}

// The way by which a geom's body is out of the springs that bear it, m; zero if there is none,
// as where it is squeezed. Seen from there, what it is sunk below is level with it.
void find_lift(const StepContext& step, int geom, double* lift) {
  constexpr double kMore = 1.25;  // they may sink further in the step
  const mjModel* m = step.m;
  mju_zero3(lift);
  if (step.contacts.own.empty() || geom < 0 || m->geom_bodyid[geom] == 0) return;
  const auto missing = [&](int i, double* out) {  // of the way, along `out`
    const mjContact& c = step.d->contact[i];
    const auto is_of = [&](int side) {
      return c.geom[side] >= 0 && m->geom_bodyid[c.geom[side]] == m->geom_bodyid[geom];
    };
    if (!bears(step, i) || is_of(0) == is_of(1)) return 0.0;
    mju_scl3(out, c.frame, is_of(1) ? 1.0 : -1.0);
    return -kMore * step.contacts.gap[i] - mju_dot3(out, lift);
  };
  double out[3];
  for (int i = 0; i < step.d->ncon; ++i)
    if (const double way = missing(i, out); way > 0) mju_addToScl3(lift, out, way);
  for (int i = 0; i < step.d->ncon; ++i)
    if (missing(i, out) > kTouching) return mju_zero3(lift);
}

// Whether an overlap is that of a body with something beside it, below whose surface springs let it
// sink: its normal is not that of what bears it.
bool is_beside(const StepContext& step, int i) {
  constexpr double kOtherSide = 0.5;  // cosine
  const mjContact& c = step.d->contact[i];
  if (!is_spring(step.contacts.model(i))) return false;
  for (int side = 0; side < 2; ++side) {
    double lift[3];
    find_lift(step, c.geom[side], lift);
    const double way = mju_norm3(lift), along = std::abs(mju_dot3(lift, c.frame));
    if (way > 0 && -step.contacts.gap[i] <= way && along < kOtherSide * way) return true;
  }
  return false;
}

// Whether contact i may be a ghost: it does not rest, nor does its face elsewhere. Contacts with a
// plane, which is infinite, never are; flexes belong to no pair.
bool may_be_ghost(const StepContext& step, int i) {
  const mjContact& c = step.d->contact[i];
  for (const int g : c.geom)
    if (g < 0 || step.m->geom_type[g] == mjGEOM_PLANE) return false;
  if (c.efc_address < 0) return false;
  if (step.contacts.gap[i] < -kTouching && !is_beside(step, i)) return false;
  return !rests(step.m, step.d, step.contacts, i) &&
         !rests_beside(step.m, step.d, step.contacts, i);
}

GeomPair pair_of(const StepContext& step, const mjContact& c) {
  const mjData* d = step.d;
  const StepContacts& contacts = step.contacts;
  GeomPair pair{};
  std::copy_n(c.geom, 2, pair.geom);
  for (int side = 0; side < 2; ++side) find_lift(step, c.geom[side], pair.lift[side]);
  for (int i = 0; i < d->ncon; ++i) {
    if (!of_pair(d->contact[i], pair)) continue;
    pair.margin = d->contact[i].dist - contacts.gap[i];
    pair.least_gap = std::min(pair.least_gap, contacts.gap[i]);
  }
  return pair;
}

// How far the surfaces of contact i may move along one another in the step, m: as fast as now,
// without impulses, or with them.
double travel_of(const StepContext& step, int i) {
  const double h = step.m->opt.timestep, *a_free = step.problem().a_free;
  const int row = step.d->contact[i].efc_address;
  double now[2], free[2], end[2];
  for (int k = 0; k < 2; ++k) {
    now[k] = step.d->efc_vel[row + 1 + k];
    free[k] = now[k] + h * row_velocity(step.d, row + 1 + k, a_free);
    end[k] = row_velocity(step.d, row + 1 + k, step.end_velocity.data());
  }
  return h * std::max({mju_norm(now, 2), mju_norm(free, 2), mju_norm(end, 2)});
}

// Whether geoms meet inside of a face at contact i, wherever they move along it in the step.
bool meets_face(const StepContext& step, int i) {
  constexpr double kReserve = 1e-4;  // m
  const mjContact& c = step.d->contact[i];
  if (c.dim == 1) return false;
  double away = travel_of(step, i) + kReserve, lift[3];
  for (const int geom : c.geom) {
    find_lift(step, geom, lift);
    away += mju_norm3(lift);
  }
  return is_inside_face(step.m, step.d, i, away);
}

// Adds the pairs of contacts that act, may be ghosts, and were not examined yet. Returns whether
// there are any.
bool find_suspects(StepContext& step) {
  const EnvSlot slot = step.problem();
  const double* r = step.impulse();
  const auto is_known = [&](const mjContact& c) {
    return std::any_of(step.pairs.begin(), step.pairs.end(),
                       [&](const GeomPair& pair) { return of_pair(c, pair); });
  };
  step.suspects.clear();
  for (int row = 0; row < step.rows(); ++row) {
    const mjContact* c = contact_of_normal(step.d, slot.efc_of[row]);
    if (!c || r[row] <= 0 || !may_be_ghost(step, int(c - step.d->contact))) continue;
    if (!is_known(*c)) step.suspects.push_back(int(c - step.d->contact));
  }
  if (step.suspects.empty()) return false;
  find_end_velocity(step);
  std::erase_if(step.suspects, [&](int i) { return meets_face(step, i); });
  step.poses.keep(step.m, step.d);
  drop_closed_contacts(step.m, step.d, step.end_velocity.data(), step.contacts.gap, step.suspects,
                       step.poses);
  for (const int i : step.suspects)
    if (!is_known(step.d->contact[i])) step.pairs.push_back(pair_of(step, step.d->contact[i]));
  return !step.suspects.empty();
}

// Whether the contact is one by which its pair touches; if no contact is, all are.
bool is_real(const mjData* d, const GeomPair& pair, const mjContact& contact) {
  if (!pair.touches || agrees(pair, contact.frame)) return pair.touches;
  for (int i = 0; i < d->ncon; ++i)
    if (of_pair(d->contact[i], pair) && agrees(pair, d->contact[i].frame)) return false;
  return true;
}

// The change of the linear gap in the step, m.
double approach_of(const StepContext& step, int i) {
  return step.m->opt.timestep *
         normal_velocity(step.m, step.d, step.d->contact[i].efc_address, step.end_velocity.data());
}

// Finds the linear gap that ends deepest.
void predict(const StepContext& step, GeomPair& pair) {
  pair.gap = pair.approach = 0;
  for (int i = 0; i < step.d->ncon; ++i) {
    if (!of_pair(step.d->contact[i], pair) || !may_be_ghost(step, i)) continue;
    const double gap = step.contacts.linear[i], approach = approach_of(step, i);
    if (gap + approach > pair.gap + pair.approach) continue;
    pair.gap = gap;
    pair.approach = approach;
  }
}

// Where a normal turns on the way, as that of a wheel that rolls over an edge, the linear gap ends
// far deeper than the pair does on its path. Sets the gap that ends as deep as the pair does, at
// the velocity of the path. Returns whether it is another one. The normals of faces do not turn:
// what is deep below an edge there met the side of a ledge, though the shortest way out is up.
bool correct_gap(StepContext& step, const GeomPair& pair, int i) {
  constexpr double kLedge = 1e-4;  // m; what is less high counts as level
  const bool of_faces = has_faces(step.m, pair.geom[0]) && has_faces(step.m, pair.geom[1]);
  if (of_faces && pair.deepest < -kLedge) return false;
  const double approach = approach_of(step, i), gap = pair.deepest - approach;
  if (gap - step.contacts.linear[i] <= most_excess(approach)) return false;
  step.contacts.linear[i] = gap;
  return true;
}

// Whether the normal of a contact turns on the way of a pair that hardly touches. It is left out,
// because normal and friction would have wrong directions; the next step finds the right ones.
bool grazes(const StepContacts& contacts, const GeomPair& pair, int i) {
  return contacts.linear[i] > contacts.gap[i] && pair.deepest > -kShallow;
}

// Marks all contacts of the pairs that may be ghosts. Returns whether gaps of real ones changed.
bool mark_pairs(StepContext& step) {
  bool corrected = false;
  for (int i = 0; i < step.d->ncon; ++i) {
    if (!may_be_ghost(step, i)) continue;
    for (const GeomPair& pair : step.pairs) {
      if (!of_pair(step.d->contact[i], pair)) continue;
      const bool real = is_real(step.d, pair, step.d->contact[i]);
      if (real && pair.is_new) corrected = correct_gap(step, pair, i) || corrected;
      step.contacts.use[i] = real && !grazes(step.contacts, pair, i) ? Use::included : Use::ghost;
    }
  }
  for (GeomPair& pair : step.pairs) pair.is_new = false;
  return corrected;
}

// Finds which left-out pairs touch on their paths; after a failed solve, all count as touching.
// Returns whether there are any.
bool trace(StepContext& step) {
  const auto touching = [&] {
    return std::count_if(step.pairs.begin(), step.pairs.end(),
                         [](const GeomPair& pair) { return pair.touches; });
  };
  const auto before = touching();
  if (!solved(step) && step.rows() > 0)
    for (GeomPair& pair : step.pairs) pair.touches = true;
  find_end_velocity(step);
  for (GeomPair& pair : step.pairs) predict(step, pair);
  trace_pairs(step.m, step.d, step.end_velocity.data(), step.pairs, step.poses);
  return touching() > before;
}

// Restores the problem with all contacts that may be ghosts.
void include_suspects(StepContext& step) {
  step.contacts.use = step.use_with_suspects;
  step.with_suspects.restore(*step.buffers, step.slot);
}

// Adds the pairs that touch without their suspect contacts, until the pairs still left out do not
// touch. If all are included again, as is usual, the problem with all of them is restored.
void take_in_real(StepContext& step) {
  bool corrected = false;
  while (!step.gives_up() && trace(step)) {
    corrected = mark_pairs(step) || corrected;
    if (!corrected && step.contacts.count(Use::ghost) == 0) return include_suspects(step);
    solve_marked(step);
    take_in_culled(step);
  }
}

// Solves the problem without the suspect contacts, and repeats until there are no new suspects,
// because a path past one ghost must not be deflected by another. Returns whether there were any.
bool leave_out_suspects(StepContext& step) {
  // Where the problem with them was hard, this one is tried briefly first: if it fails, ghosts act.
  const bool hard = step.buffers->results().rung(step.slot) > 0;
  const Effort effort = hard ? Effort::brief : Effort::full;
  int k = 0;
  for (; k < kMostRounds && !step.gives_up() && find_suspects(step); ++k) {
    if (k == 0) {
      step.with_suspects.keep(*step.buffers, step.slot);
      step.use_with_suspects = step.contacts.use;
    }
    mark_pairs(step);
    solve_marked(step, effort);
    if (hard && !solved(step) && step.rows() > 0 && !step.gives_up())
      solve_from(step, step.impulse(), Effort::full);
    if (!solved(step) && step.rows() > 0) return true;
    take_in_culled(step);
  }
  return k > 0;
}

}  // namespace

void leave_out_ghosts(StepContext& step) {
  step.pairs.clear();
  for (int round = 0; round < kMostGhostRounds && leave_out_suspects(step); ++round) {
    take_in_real(step);
    if (step.gives_up()) {
      include_suspects(step);
      break;
    }
  }
  step.verdict.ghosts = step.contacts.count(Use::ghost);
}

}  // namespace stickslip::mujoco
