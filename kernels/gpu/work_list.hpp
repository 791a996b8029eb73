// The work list to which an environment belongs, and its place there.
#pragma once
#include "kernels/gpu/gpu_kernels.hpp"
#include "kernels/problem/env_problem.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Whether rung 0 has left an environment to the later rungs.
SS_HD bool wants_later_rungs(EnvStatus status) { return status == EnvStatus::not_converged; }

/// The smallest class for so many rows.
SS_HD int size_class(const SizeClasses& classes, int rows) {
  int place = 0;
  while (place + 1 < classes.count && rows > classes.rows[place]) ++place;
  return place;
}

/// A guess of the work of an environment, for comparisons only: each iteration treats the rows that
/// carry an impulse, and does some work for all of them.
SS_HD std::int32_t guessed_work(int iterations, int loaded_rows) {
  constexpr std::int64_t kOwn = 6, kMost = 0x7fffffff;
  return std::int32_t(clamp(iterations * (kOwn + loaded_rows), std::int64_t(0), kMost));
}

/// After a solve of `env`: guesses what the next one will cost, and lists `env` for the later rungs
/// if it needs them. `add(end)` takes a place at the end of a list.
template <class G, class Scalar, class Add>
SS_HD void note_result(const G& g, const WorkList& work, const ProblemBatch<Scalar>& p,
                       const ResultBatch<Scalar>& result, int env, Add&& add) {
  if (work.work != nullptr) {
    const Scalar* impulse = slot(result.impulse, env);
    const int loaded =
        g.sum(usable_rows(p, env), [&](int i) { return impulse[i] != Scalar(0.0) ? 1 : 0; });
    g.once([&] { work.work[env] = guessed_work(result.iterations[env], loaded); });
  }
  if (work.unsolved == nullptr) return;
  g.once([&] {
    if (wants_later_rungs(result.status[env])) work.unsolved[add(work.unsolved_end)] = env;
  });
}

/// Before the first solve: as if those contacts and nonnegative rows would close that approach. The
/// counts are not yet checked, so no row beyond the slot may be read.
template <class Scalar>
SS_HD std::int32_t first_guess(const ProblemBatch<Scalar>& p, std::int64_t env) {
  const int rows = usable_rows(p, env);
  const Scalar* b = slot(p.b, env);
  if (rows == 0 || b == nullptr) return 0;
  const RowCounts s = *slot(p.counts, env);
  const std::int32_t* dims = slot(p.dims, env);
  const std::int64_t first_box = std::int64_t(s.n_free) + s.n_nonneg;
  int loaded = 0;
  for (std::int64_t i = s.n_free; i < first_box && i < rows; ++i)
    loaded += b[i] < Scalar(0.0) ? 1 : 0;
  std::int64_t row = first_box + s.n_box;
  for (int k = 0; k < s.n_contacts && row < rows; ++k) {
    const int dim = dims == nullptr ? 3 : clamp(dims[k], 3, 6);
    loaded += b[row] < Scalar(0.0) ? dim : 0;
    row += dim;
  }
  return guessed_work(1, loaded);
}

/// Parts of a key: the class, levels of rows within it, levels of work. As few bits as possible:
/// radix sorts take two passes for up to 12.
inline constexpr int kRowLevels = 5, kWorkLevels = 128, kKeyBits = 12;
inline constexpr int kKeysOfClass = kRowLevels * kWorkLevels;
static_assert(SizeClasses::kCapacity * kKeysOfClass < 1 << kKeyBits);  // one more: no environment

/// A level for each number up to 15; above, those whose four leading binary digits are equal share
/// one.
SS_HD int level_of(std::int32_t work) {
  int shift = 0;
  while ((work >> shift) >= 16) ++shift;
  return min(8 * shift + (work >> shift), kWorkLevels - 1);
}

/// Lists are sorted by this number. Those that take longest come first, so that no group begins
/// with one of them when the others are about to end. Any `work` >= 0 is valid.
SS_HD std::uint32_t list_key(const SizeClasses& classes, int rows, std::int32_t work) {
  const int c = size_class(classes, rows);
  const int below = c > 0 ? classes.rows[c - 1] : -1;
  const int row_level = kRowLevels * (classes.rows[c] - rows) / (classes.rows[c] - below);
  return std::uint32_t(c * kKeysOfClass + (row_level + 1) * kWorkLevels - 1 - level_of(work));
}

template <class Scalar>
SS_HD std::uint32_t list_key(const SizeClasses& classes, const ProblemBatch<Scalar>& p,
                             std::int64_t env, std::int32_t work) {
  return list_key(classes, usable_rows(p, env), work == kUnknownWork ? first_guess(p, env) : work);
}

SS_HD int class_of_key(std::uint32_t key) { return int(key) / kKeysOfClass; }

/// Where the class of the environment at place i of a sorted list begins or ends there.
SS_HD void mark_ends(const std::uint32_t* keys, int num_envs, int i, const ListEnds& at) {
  const int own = class_of_key(keys[i]);
  if (i == 0 || class_of_key(keys[i - 1]) != own) {
    at.next[own] = at.unsolved_next[own] = at.unsolved_end[own] = i;
  }
  if (i + 1 == num_envs || class_of_key(keys[i + 1]) != own) at.end[own] = i + 1;
}

}  // namespace stickslip::kernels::inline SS_ISA
