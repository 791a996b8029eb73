#include "src/mujoco/step/velocity_step.hpp"

#include <algorithm>

#include "src/mujoco/problem/row_map.hpp"
#include "src/mujoco/step/impacts.hpp"
#include "src/mujoco/step/passage.hpp"

namespace stickslip::mujoco {
namespace {

constexpr int kMostRounds = 8, kMostGhostRounds = 3;
constexpr double kShallow = 5e-5;  // m; an overlap that a step may leave to the next

bool solved(const SimBatch& sim, const Passage& p) {
  return sim.buffers->results().status(p.slot) == EnvStatus::solved;
}

void find_end_velocity(const SimBatch& sim, const mjModel* m, const mjData* d, Passage& p) {
  p.end_velocity.resize(m->nv);
  velocity_after(m, d, sim.buffers->slot(p.slot), sim.buffers->rows(p.slot),
                 sim.buffers->results().impulse(p.slot), p.end_velocity.data());
}

// The problem of the contacts that are marked now, solved from the last solution.
void solve_marked(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  PhaseTimer timer(p);
  p.saved.keep_solution(*sim.buffers, p.slot);
  pose_problem(sim, m, d, p);
  const int rows = sim.buffers->rows(p.slot);
  p.saved.start(sim.buffers->slot(p.slot), rows, sim.buffers->problems().warm_start(p.slot));
  p.warm = true;
  timer.mark(kGather);
  ++p.verdict.second_solves;
  if (sim.buffers->rows(p.slot) == 0) return;
  sim.buffers->form_delassus(p.slot);
  timer.mark(kDelassus);
  sim.buffers->solve(p.slot);
  take_solution(sim, p);
  timer.mark(kSolve);
}

// Repeats until the solution is that of all contacts except ghosts.
void take_in_culled(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  for (int round = 0; round < kMostRounds && !gives_up(p); ++round) {
    if (p.contacts.count(Use::culled) == 0) return;
    find_end_velocity(sim, m, d, p);
    const int taken = take_in_closed(m, d, p.end_velocity.data(), p.contacts);
    if (taken == 0) return;
    p.verdict.taken_in += taken;
    solve_marked(sim, m, d, p);
  }
}

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

// Whether contact i may be a ghost: it does not rest, nor does its face elsewhere. Contacts with a
// plane, which is infinite, never are; flexes belong to no pair.
bool may_be_ghost(const mjModel* m, const mjData* d, const Passage& p, int i) {
  const mjContact& c = d->contact[i];
  for (const int g : c.geom)
    if (g < 0 || m->geom_type[g] == mjGEOM_PLANE) return false;
  if (c.efc_address < 0 || p.contacts.gap[i] < -kTouching) return false;
  return !rests(m, d, p.contacts, i) && !rests_beside(m, d, p.contacts, i);
}

GeomPair pair_of(const mjData* d, const StepContacts& contacts, const mjContact& c) {
  GeomPair pair{};
  std::copy_n(c.geom, 2, pair.geom);
  for (int i = 0; i < d->ncon; ++i) {
    if (!of_pair(d->contact[i], pair)) continue;
    pair.margin = d->contact[i].dist - contacts.gap[i];
    pair.least_gap = std::min(pair.least_gap, contacts.gap[i]);
  }
  return pair;
}

// Adds the pairs of contacts that act, may be ghosts, and were not examined yet. Returns whether
// there are any.
bool find_suspects(const SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  const EnvSlot slot = sim.buffers->slot(p.slot);
  const double* r = sim.buffers->results().impulse(p.slot);
  const auto is_known = [&](const mjContact& c) {
    return std::any_of(p.pairs.begin(), p.pairs.end(),
                       [&](const GeomPair& pair) { return of_pair(c, pair); });
  };
  p.suspects.clear();
  for (int row = 0; row < sim.buffers->rows(p.slot); ++row) {
    const mjContact* c = contact_of_normal(d, slot.efc_of[row]);
    if (!c || r[row] <= 0 || !may_be_ghost(m, d, p, int(c - d->contact))) continue;
    if (!is_known(*c)) p.suspects.push_back(int(c - d->contact));
  }
  if (p.suspects.empty()) return false;
  find_end_velocity(sim, m, d, p);
  drop_closed_contacts(m, d, p.end_velocity.data(), p.contacts.gap, p.suspects, p.poses);
  for (const int i : p.suspects)
    if (!is_known(d->contact[i])) p.pairs.push_back(pair_of(d, p.contacts, d->contact[i]));
  return !p.suspects.empty();
}

// Whether the contact is one by which its pair touches; if no contact is, all are.
bool is_real(const mjData* d, const GeomPair& pair, const mjContact& contact) {
  if (!pair.touches || agrees(pair, contact.frame)) return pair.touches;
  for (int i = 0; i < d->ncon; ++i)
    if (of_pair(d->contact[i], pair) && agrees(pair, d->contact[i].frame)) return false;
  return true;
}

// The change of the linear gap in the step, m.
double way_of(const mjModel* m, const mjData* d, const Passage& p, int i) {
  return m->opt.timestep * normal_velocity(m, d, d->contact[i].efc_address, p.end_velocity.data());
}

// Finds the linear gap that ends deepest.
void predict(const mjModel* m, const mjData* d, const Passage& p, GeomPair& pair) {
  pair.gap = pair.way = 0;
  for (int i = 0; i < d->ncon; ++i) {
    if (!of_pair(d->contact[i], pair) || !may_be_ghost(m, d, p, i)) continue;
    const double gap = p.contacts.linear[i], way = way_of(m, d, p, i);
    if (gap + way > pair.gap + pair.way) continue;
    pair.gap = gap;
    pair.way = way;
  }
}

// Where a normal turns on the way, as that of a wheel that rolls over an edge, the linear gap ends
// far deeper than the pair does on its path. Sets the gap that ends as deep as the pair does, at
// the velocity of the path. Returns whether it is another one.
bool correct_gap(const mjModel* m, const mjData* d, Passage& p, const GeomPair& pair, int i) {
  const double way = way_of(m, d, p, i), gap = pair.deepest - way;
  if (gap - p.contacts.linear[i] <= most_excess(way)) return false;
  p.contacts.linear[i] = gap;
  return true;
}

// Whether the normal of a contact turns on the way of a pair that hardly touches. It is left out,
// because normal and friction would have wrong directions; the next step finds the right ones.
bool grazes(const StepContacts& contacts, const GeomPair& pair, int i) {
  return contacts.linear[i] > contacts.gap[i] && pair.deepest > -kShallow;
}

// Marks all contacts of the pairs that may be ghosts. Returns whether gaps of real ones changed.
bool mark_pairs(const mjModel* m, const mjData* d, Passage& p) {
  bool corrected = false;
  for (int i = 0; i < d->ncon; ++i) {
    if (!may_be_ghost(m, d, p, i)) continue;
    for (const GeomPair& pair : p.pairs) {
      if (!of_pair(d->contact[i], pair)) continue;
      const bool real = is_real(d, pair, d->contact[i]);
      if (real && pair.is_new) corrected = correct_gap(m, d, p, pair, i) || corrected;
      p.contacts.use[i] = real && !grazes(p.contacts, pair, i) ? Use::solved : Use::ghost;
    }
  }
  for (GeomPair& pair : p.pairs) pair.is_new = false;
  return corrected;
}

// Finds which left-out pairs touch on their paths; after a failed solve, all count as touching.
// Returns whether there are any.
bool trace(const SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  const auto touching = [&] {
    return std::count_if(p.pairs.begin(), p.pairs.end(),
                         [](const GeomPair& pair) { return pair.touches; });
  };
  const auto before = touching();
  if (!solved(sim, p) && sim.buffers->rows(p.slot) > 0)
    for (GeomPair& pair : p.pairs) pair.touches = true;
  find_end_velocity(sim, m, d, p);
  for (GeomPair& pair : p.pairs) predict(m, d, p, pair);
  trace_pairs(m, d, p.end_velocity.data(), p.pairs, p.poses);
  return touching() > before;
}

// Restores the problem with all contacts that may be ghosts.
void include_suspects(SimBatch& sim, Passage& p) {
  p.contacts.use = p.use_with_suspects;
  p.with_suspects.restore(*sim.buffers, p.slot);
}

// Adds the pairs that touch without their suspect contacts, until the pairs still left out do not
// touch. If all are included again, as is usual, the problem with all of them is restored.
void take_in_real(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  bool corrected = false;
  while (!gives_up(p) && trace(sim, m, d, p)) {
    corrected = mark_pairs(m, d, p) || corrected;
    if (!corrected && p.contacts.count(Use::ghost) == 0) return include_suspects(sim, p);
    solve_marked(sim, m, d, p);
    take_in_culled(sim, m, d, p);
  }
}

// Solves the problem without the suspect contacts, and repeats until there are no new suspects,
// because a path past one ghost must not be deflected by another. Returns whether there were any.
bool leave_out_suspects(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  int k = 0;
  for (; k < kMostRounds && !gives_up(p) && find_suspects(sim, m, d, p); ++k) {
    if (k == 0) {
      p.with_suspects.keep(*sim.buffers, p.slot);
      p.use_with_suspects = p.contacts.use;
    }
    mark_pairs(m, d, p);
    solve_marked(sim, m, d, p);
    take_in_culled(sim, m, d, p);
  }
  return k > 0;
}

void leave_out_ghosts(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  p.pairs.clear();
  for (int round = 0; round < kMostGhostRounds && leave_out_suspects(sim, m, d, p); ++round) {
    take_in_real(sim, m, d, p);
    if (gives_up(p)) {
      include_suspects(sim, p);
      break;
    }
  }
  p.verdict.ghosts = p.contacts.count(Use::ghost);
}

}  // namespace

void solve_from(SimBatch& sim, Passage& p, const double* r, Effort effort) {
  std::copy_n(r, sim.buffers->rows(p.slot), sim.buffers->problems().warm_start(p.slot));
  ++p.verdict.second_solves;
  p.warm = effort == Effort::full && solved(sim, p);  // else rest has been tried, or will not be
  sim.buffers->solve(p.slot, effort);
  take_solution(sim, p);
}

void finish_velocities(SimBatch& sim, const mjModel* m, mjData* d, Passage& p) {
  if (sim.buffers->rows(p.slot) == 0 || p.contacts.use.empty()) return;
  take_in_culled(sim, m, d, p);
  leave_out_ghosts(sim, m, d, p);
  if (p.failed || sim.buffers->rows(p.slot) == 0) return;
  if (sim.options.contact.restitution > 0 && sim.options.contact.compliance == 0) {
    limit_impacts(sim, m, d, p);
    if (p.bounce < 1) take_in_culled(sim, m, d, p);
  }
  if (!p.failed) soften_bursts(sim, m, d, p);
  if (!p.failed && !solved(sim, p)) shrink_unsolved(sim, d, p);
}

}  // namespace stickslip::mujoco
