// The CPU batch loop for a rung 0 of sweeps only: environments [begin, end) of a batch on one
// thread, those of equal layout together in packs.
#pragma once
#include "kernels/env/solve_pack.hpp"

namespace stickslip::kernels::inline SS_ISA {

/// Most rows of an environment in a pack: with more, the matrices of a pack exceed the caches.
inline constexpr int kMostPackRows = 96;
/// Number of layouts whose packs can be open (partly filled) at the same time.
inline constexpr int kOpenPacks = 64;
/// A pack takes the time of all its lanes, even empty ones, so packs of large environments are only
/// faster if enough lanes are filled: one for every 16 rows.
SS_HD bool pays_in_pack(int envs, int rows) { return rows <= kMostPackRows && 16 * envs >= rows; }

/// Scratch of `sweep_range`, in the same memory as that of single environments: only one of the two
/// is in use at a time.
template <class Real, class Scalar, int N>
SS_HD std::size_t pack_bytes(int max_rows, int max_contacts) {
  return PackScratch<Real, Scalar, N>::bytes(min(max_rows, kMostPackRows),
                                             min(max_contacts, kMostPackRows / 3));
}

/// Walks over a range of environments and fills packs. `Single` solves an environment by itself.
template <class Real, class Scalar, int N, class Single>
class SweepRange {
 public:
  SweepRange(const ProblemBatch<Scalar>& batch, const ResultBatch<Scalar>& result,
             const Ladder& ladder, Single single, void* memory)
      : batch_(batch),
        result_(result),
        ladder_(ladder),
        single_(single),
        memory_(memory),
        pack_(Arena(memory), min(batch.max_rows, kMostPackRows),
              min(batch.max_contacts, kMostPackRows / 3)) {}

  void run(std::int64_t begin, std::int64_t end) {
    for (std::int64_t env = begin; env < end; ++env) add(env);
    for (PackedEnvs<N>& pack : open_) flush(pack);
  }

 private:
  void add(std::int64_t env) {
    int free = -1;
    for (int i = 0; i < used_; ++i) {
      PackedEnvs<N>& pack = open_[i];
      if (pack.count == 0) free = i;
      if (pack.count == 0 || !same_layout(batch_, pack.env[0], env)) continue;
      pack.env[pack.count++] = env;
      if (pack.count == N) flush(pack);
      return;
    }
    if (free < 0 && used_ < kOpenPacks) free = used_++;
    if (free < 0) {
      free = next_;
      next_ = (next_ + 1) % kOpenPacks;
      flush(open_[free]);
    }
    open_[free].count = 1;
    open_[free].env[0] = env;
  }

  void flush(PackedEnvs<N>& pack) {
    unsigned alone = unsigned((std::uint64_t(1) << pack.count) - 1U);
    int rows = 0;
    if (pack.count > 0 && open_problem(HostGroup{}, batch_, pack.env[0], pack_.first_view,
                                       pack_.first, rows) == EnvStatus::solved) {
      if (rows > 0 && pays_in_pack(pack.count, rows)) {
        alone = solve_pack<Real>(batch_, result_, ladder_, pack, pack_);
      }
    }
    for (int l = 0; l < pack.count; ++l) {
      if (((alone >> l) & 1U) == 0U) continue;
      single_(batch_, result_, ladder_, {}, pack.env[l], pack.env[l] + 1, memory_, Rungs::opening,
              nullptr);
    }
    pack.count = 0;
  }

  const ProblemBatch<Scalar>& batch_;
  const ResultBatch<Scalar>& result_;
  const Ladder& ladder_;
  Single single_;
  void* memory_;
  PackScratch<Real, Scalar, N> pack_;
  PackedEnvs<N> open_[kOpenPacks];
  int used_ = 0;  ///< packs that have been opened
  int next_ = 0;  ///< the next pack to be closed if all are open
};

template <class Real, class Scalar, int N, class Single>
void sweep_range(const ProblemBatch<Scalar>& batch, const ResultBatch<Scalar>& result,
                 const Ladder& ladder, std::int64_t begin, std::int64_t end, void* memory,
                 Single single) {
  SweepRange<Real, Scalar, N, Single>(batch, result, ladder, single, memory).run(begin, end);
}

}  // namespace stickslip::kernels::inline SS_ISA
