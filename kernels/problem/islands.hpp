// Islands: parts of an environment that do not act on each other, because the blocks of W between
// them are zero. Each is solved as a problem of its own; tolerance, residual and verdict remain
// those of the environment.
#pragma once
#include "kernels/group/arena.hpp"
#include "kernels/problem/env_problem.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Environments of more rows are divided. Below, a step costs little more than
/// what is linear in the rows, and on a GPU their scratch is shared memory, which has no room for
/// parts.
inline constexpr int kUndividedRows = 96;

/// Problems of a mechanism with at most so many rows are solved with their W, as dense ones.
inline constexpr int kDenseRows = 24;

/// The same where each body moves on its own: towers of boxes gain from 5 boxes on.
inline constexpr int kDenseRowsOfBodies = 48;

/// Whether a problem of a mechanism is solved without W, if it is sparse. Up to 96 rows that is
/// faster where joints have no rows, or where there are many more rows than degrees of freedom, as
/// of a box on many contacts: steps without W cost rows x dofs in the main, steps with W rows^3
/// (measured on robots).
SS_HD bool leaves_W(int rows, int of_joints, int dofs) {
  constexpr int kManyRows = 64;
  if (rows <= kDenseRows) return false;
  if (rows > kUndividedRows) return true;
  if (of_joints == 0 && rows > kDenseRowsOfBodies) return true;
  return rows >= (rows > kManyRows ? 3 : 6) * dofs;
}

/// What earlier passes of this call found.
/// `tried`: by all rungs without W, in vain; `left`: the same, and nothing else will be tried;
/// `infeasible`: proved.
enum class IslandState : std::int32_t {
  unknown,
  left,
  tried,
  unsolved,
  infeasible,
  solved,
  selected
};

/// Whether later passes have nothing to do.
SS_HD bool is_final(IslandState state) {
  return state == IslandState::left || state >= IslandState::infeasible;
}

/// The islands of one environment, their matrices, and the vectors of the one that is solved.
template <class Scalar>
struct Islands {
  int* island;          ///< [items] the island of each scalar row and contact
  int* order;           ///< [items] items by islands, each in the order of the environment
  int* begin;           ///< [items + 1] where each island begins in `order`
  int* rows;            ///< [items] of each island
  std::int64_t* W;      ///< [items] where its matrix begins in `matrices`
  std::int32_t* state;  ///< [items] IslandState of each
  double* residual;     ///< [items] of its impulse, if it has been solved or tried
  Scalar* matrices;     ///< [max_rows][max_rows] one after the other
  // Of the island that is solved:
  int* row;  ///< [max_rows] of the environment, for each of its rows
  ViewScratch<Scalar> view;
  Scalar *b, *mu, *R, *lo, *hi, *warm_start, *impulse;  ///< [max_rows]
  double* certificate;                                  ///< [max_rows]
  std::int32_t* dims;                                   ///< [max_contacts]
  EnvProblem<Scalar>* part;                             ///< [1]

  /// No memory where environments are not divided.
  SS_HD Islands(Arena& arena, int max_rows, int max_contacts)
      : island(arena.take<int>(max_rows)),
        order(arena.take<int>(max_rows)),
        begin(arena.take<int>(max_rows + 1)),
        rows(arena.take<int>(max_rows)),
        W(arena.take<std::int64_t>(max_rows)),
        state(arena.take<std::int32_t>(max_rows)),
        residual(arena.take<double>(max_rows)),
        matrices(arena.take<Scalar>(std::size_t(max_rows) * max_rows)),
        row(arena.take<int>(max_rows)),
        view(arena, max_rows, max_contacts),
        b(arena.take<Scalar>(max_rows)),
        mu(arena.take<Scalar>(max_rows)),
        R(arena.take<Scalar>(max_rows)),
        lo(arena.take<Scalar>(max_rows)),
        hi(arena.take<Scalar>(max_rows)),
        warm_start(arena.take<Scalar>(max_rows)),
        impulse(arena.take<Scalar>(max_rows)),
        certificate(arena.take<double>(max_rows)),
        dims(arena.take<std::int32_t>(max_contacts)),
        part(arena.take<EnvProblem<Scalar>>(1)) {}

  SS_HD Scalar* matrix(int i) const { return matrices + W[i]; }
};

template <class Scalar>
SS_HD int num_items(const EnvProblem<Scalar>& p) {
  return p.first_contact_row() + p.n_contacts;
}

/// Rows of a scalar row or block: item_row(p, item) ... item_row(p, item + 1) - 1.
template <class Scalar>
SS_HD int item_row(const EnvProblem<Scalar>& p, int item) {
  const int scalars = p.first_contact_row();
  return item < scalars ? item : p.block[item - scalars];
}

/// Whether W has an entry between two items.
template <class Scalar>
SS_HD bool are_coupled(const EnvProblem<Scalar>& p, int a, int b) {
  const int a_end = item_row(p, a + 1), b_begin = item_row(p, b), b_end = item_row(p, b + 1);
  for (int i = item_row(p, a); i < a_end; ++i) {
    for (int j = b_begin; j < b_end; ++j) {
      if (p.W[std::int64_t(i) * p.ld_W + j] != Scalar(0)) return true;
      if (!p.symmetric && p.W[std::int64_t(j) * p.ld_W + i] != Scalar(0)) return true;
    }
  }
  return false;
}

/// Numbers the items' islands, by the first item of each: a search through the entries of W that
/// are not zero, which ends as soon as all items are found. Returns how many islands there are.
template <class G, class Scalar>
SS_HD int find_islands(const G& g, const EnvProblem<Scalar>& p, const Islands<Scalar>& s) {
  const int items = num_items(p);
  g.for_each(items, [&](int item) { s.island[item] = -1; });
  int* const found = s.order;
  int count = 0, num_found = 0;
  for (int seed = 0; num_found < items; ++seed) {
    if (s.island[seed] >= 0) continue;
    int next = num_found;
    g.once([&] {
      found[next] = seed;
      s.island[seed] = count;
    });
    ++num_found;
    for (; next < num_found && num_found < items; ++next) {
      const int item = found[next];
      const auto joins = [&](int other) {
        return s.island[other] < 0 && are_coupled(p, item, other);
      };
      const int more =
          g.list(items, joins, [&](int other, int place) { found[num_found + place] = other; });
      g.for_each(more, [&](int i) { s.island[found[num_found + i]] = count; });
      num_found += more;
    }
    ++count;
  }
  return count;
}

/// Lists the items of each of `count` islands, and finds place for their matrices.
template <class G, class Scalar>
SS_HD void list_islands(const G& g, const EnvProblem<Scalar>& p, int count,
                        const Islands<Scalar>& s) {
  g.once([&] {
    const int items = num_items(p);
    for (int i = 0; i <= count; ++i) s.begin[i] = 0;
    for (int i = 0; i < count; ++i) {
      s.rows[i] = 0;
      s.state[i] = std::int32_t(IslandState::unknown);
      s.residual[i] = Limits<double>::infinity;
    }
    for (int item = 0; item < items; ++item) {
      ++s.begin[s.island[item] + 1];
      s.rows[s.island[item]] += item_row(p, item + 1) - item_row(p, item);
    }
    std::int64_t next = 0;
    for (int i = 0; i < count; ++i) {
      s.begin[i + 1] += s.begin[i];
      s.W[i] = next;
      next += std::int64_t(s.rows[i]) * s.rows[i];
    }
    for (int item = 0; item < items; ++item) s.order[s.begin[s.island[item]]++] = item;
    for (int i = count; i > 0; --i) s.begin[i] = s.begin[i - 1];
    s.begin[0] = 0;
  });
}

/// Calls f(row of island i, row of the environment), in increasing order.
template <class Scalar, class F>
SS_HD void for_island_rows(const EnvProblem<Scalar>& p, const Islands<Scalar>& s, int i, F&& f) {
  int row = 0;
  for (int at = s.begin[i]; at < s.begin[i + 1]; ++at) {
    const int item = s.order[at];
    for (int of_env = item_row(p, item); of_env < item_row(p, item + 1); ++of_env) f(row++, of_env);
  }
}

/// The counts of island i, its rows and the first row of each of its contacts.
template <class G, class Scalar>
SS_HD void lay_out_island(const G& g, const EnvProblem<Scalar>& p, const Islands<Scalar>& s,
                          int i) {
  const Wide<Scalar> b_max = g.max(p.n, [&](int row) { return abs(Wide<Scalar>(p.b[row])); });
  g.once([&] {
    EnvProblem<Scalar> q = p;
    q.n_free = q.n_nonneg = q.n_box = q.n_contacts = 0;
    const int scalars = p.first_contact_row();
    for (int at = s.begin[i]; at < s.begin[i + 1]; ++at) {
      const int item = s.order[at];
      if (item < p.n_free)
        ++q.n_free;
      else if (item < p.n_free + p.n_nonneg)
        ++q.n_nonneg;
      else if (item < scalars)
        ++q.n_box;
      else
        s.dims[q.n_contacts++] = item_row(p, item + 1) - item_row(p, item);
    }
    q.n = s.rows[i];
    int row = q.first_contact_row();
    for (int k = 0; k < q.n_contacts; row += s.dims[k++]) s.view.block[k] = row;
    s.view.block[q.n_contacts] = row;
    q.W = s.matrix(i);
    q.ld_W = q.n;
    q.rows_elsewhere = p.n - q.n;
    q.b_elsewhere = b_max;
    q.b = s.b;
    q.mu = s.mu;
    q.R = p.R == nullptr ? nullptr : s.R;
    q.lo = s.lo;
    q.hi = s.hi;
    q.warm_start = p.warm_start == nullptr ? nullptr : s.warm_start;
    q.dims = s.dims;
    s.view.place(q);
    *s.part = q;
    for_island_rows(p, s, i, [&](int of_island, int of_env) { s.row[of_island] = of_env; });
  });
}

/// The matrix of island i: its rows and columns of W.
template <class G, class Scalar>
SS_HD void copy_island_matrix(const G& g, const EnvProblem<Scalar>& p, const Islands<Scalar>& s,
                              int i) {
  const int n = s.rows[i];
  g.for_each_2d(n, n, [&](int a, int b) {
    s.matrix(i)[std::int64_t(a) * n + b] = p.W[std::int64_t(s.row[a]) * p.ld_W + s.row[b]];
  });
}

/// Makes `part` the problem of island i, whose matrix is complete; `impulse`: of the environment.
template <class G, class Scalar>
SS_HD void enter_island(const G& g, const EnvProblem<Scalar>& p, const Islands<Scalar>& s, int i,
                        const Scalar* impulse) {
  lay_out_island(g, p, s, i);
  EnvProblem<Scalar>& q = *s.part;
  const bool symmetric = p.symmetric || !g.any(q.n, [&](int a) {
    bool differs = false;
    for (int b = 0; b < a; ++b) differs = differs || q.w(a, b) != q.w(b, a);
    return differs;
  });
  g.once([&] { q.symmetric = symmetric; });
  g.for_each(q.n, [&](int a) {
    const int row = s.row[a];
    s.b[a] = p.b[row];
    if (p.R != nullptr) s.R[a] = p.R[row];
    if (p.warm_start != nullptr) s.warm_start[a] = p.warm_start[row];
    s.impulse[a] = impulse[row];
    s.certificate[a] = 0.0;
    s.view.circular[a] = p.circular[row];
    s.view.circular_inverse[a] = p.circular_inverse[row];
  });
  const int scalars = p.first_contact_row(), first = s.begin[i], own = q.first_contact_row();
  const int box = p.n_free + p.n_nonneg, own_box = q.n_free + q.n_nonneg;
  g.for_each(own + q.n_contacts, [&](int at) {
    const int item = s.order[first + at];
    s.view.inverse_rho[at] = p.inverse_rho[item];
    if (at < own) {
      if (at < own_box) return;
      s.lo[at - own_box] = p.lo[item - box];
      s.hi[at - own_box] = p.hi[item - box];
      return;
    }
    const int k = at - own, from = item - scalars;
    s.view.slope[k] = p.slope[from];
    // One coefficient for each row but the normal.
    const Scalar* mu = p.mu + (p.block[from] - scalars - from);
    Scalar* const to = s.mu + (q.block[k] - own - k);
    for (int j = 0; j + 1 < s.dims[k]; ++j) to[j] = mu[j];
  });
}

/// Writes the impulse and the proof of the island entered last to the environment's.
template <class G, class Scalar>
SS_HD void leave_island(const G& g, const Islands<Scalar>& s, Scalar* impulse,
                        double* certificate) {
  g.for_each(s.part->n, [&](int a) {
    impulse[s.row[a]] = s.impulse[a];
    if (certificate != nullptr) certificate[s.row[a]] = s.certificate[a];
  });
}

}  // namespace stickslip::kernels::inline SS_ISA
