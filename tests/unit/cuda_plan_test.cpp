// Size classes and shared memory of the CUDA launches, as far as no device is needed.
#include <gtest/gtest.h>

#include "kernels/env/solve_env.hpp"
#include "src/cuda/plan.hpp"

namespace stickslip::cuda {
namespace {

constexpr std::size_t kShared90 = 227 * 1024;  ///< most a block gets on sm_90, bytes
constexpr std::size_t kShared80 = 163 * 1024;

using kernels::KernelVariant;

/// Stand for the kernels.
void narrow_kernel() {}
void wide_kernel() {}
void pair_kernel() {}
void block_kernel() {}
void global_kernel() {}
using Kernels = kernels::GroupKernels<void (*)()>;
using Plan = LaunchPlan<void (*)()>;

/// Scratch of an environment as a GPU has it: there a factorisation is kept in the matrix, while
/// here it has an array of its own.
template <class Real, class Factor, KernelVariant kVariant>
std::size_t gpu_bytes(int rows, int contacts, int directions, kernels::MatrixKind matrix) {
  const std::size_t kept = contents_of(kVariant).newton
                               ? sizeof(Factor) * std::size_t(rows) * kernels::leading(rows)
                               : 0;
  return kernels::EnvScratch<Real, Factor, double, kVariant>::bytes(rows, contacts, directions,
                                                                    matrix) -
         kept / kernels::Arena::kAlignment * kernels::Arena::kAlignment;
}

template <class Real, class Factor, KernelVariant kVariant = KernelVariant::rung0>
Kernels with_scratch_of() {
  return {.narrow = &narrow_kernel,
          .wide = &wide_kernel,
          .pair = &pair_kernel,
          .block = &block_kernel,
          .block_global = &global_kernel,
          .bytes = &gpu_bytes<Real, Factor, kVariant>,
          .narrow_rows = kernels::narrow_rows_of(kVariant),
          .narrow_envs = kernels::narrow_envs_of(kVariant),
          .most_warps = kernels::most_warps(kVariant, sizeof(Real))};
}

constexpr int kProcessors = 132, kLarge = 16384;
constexpr std::size_t kScratch = std::size_t(10) << 30;  ///< bytes

Plan plan_of(const Kernels& k, int rows, int contacts = 100, kernels::MatrixKind matrix = {},
             int num_envs = kLarge, std::size_t shared = kShared90) {
  return plan_class(k, rows, contacts, 0, matrix, num_envs, {kProcessors, shared, kScratch});
}

TEST(CudaPlan, warps_of_a_block_are_those_of_a_multiprocessor) {
  const auto k = with_scratch_of<double, double>();
  const Plan wide = plan_of(k, 24);
  EXPECT_EQ(wide.warps, 8);
  EXPECT_EQ(wide.threads(), 256);
  EXPECT_EQ(wide.groups(), 8);
  EXPECT_EQ(wide.shared_bytes, 8 * wide.group_bytes);
  EXPECT_EQ(plan_of(k, 6).groups(), 32) << "narrow groups";
  const Plan few = plan_of(k, 24, 100, {}, kLarge, 6 * wide.group_bytes);
  EXPECT_EQ(few.warps, 6) << "for more there is no room";
  const auto in_float = with_scratch_of<float, float>();
  EXPECT_EQ(plan_of(in_float, 48).kernel, &wide_kernel);
  EXPECT_EQ(plan_of(in_float, 48).warps, 1) << "long loops";
  const auto sweeping = with_scratch_of<double, double, KernelVariant::sweeping>();
  EXPECT_EQ(plan_of(sweeping, 24).warps, 1) << "short loops";
  const auto pivoting = with_scratch_of<double, double, KernelVariant::pivoting>();
  EXPECT_EQ(plan_of(pivoting, 24).warps, 12);
  const auto later = with_scratch_of<double, double, KernelVariant::later>();
  EXPECT_EQ(plan_of(later, 24).warps, 1) << "the few environments of later rungs are spread";
}

TEST(CudaPlan, small_batches_are_spread_over_the_multiprocessors) {
  const auto k = with_scratch_of<double, double>();
  const auto warps = [&](int num_envs) { return plan_of(k, 24, 100, {}, num_envs).warps; };
  EXPECT_EQ(warps(1), 1);
  EXPECT_EQ(warps(kProcessors), 1);
  EXPECT_EQ(warps(kProcessors + 1), 2);
  EXPECT_EQ(warps(8 * kProcessors), 8);
  EXPECT_EQ(warps(9 * kProcessors), 8);
  EXPECT_EQ(plan_of(k, 12, 100, {}, 32 * kProcessors - 1).kernel, &wide_kernel);
  EXPECT_EQ(plan_of(k, 12, 100, {}, 32 * kProcessors).kernel, &narrow_kernel);
}

TEST(CudaPlan, classes_grow_up_to_the_capacity) {
  const auto small = size_classes(9);
  ASSERT_EQ(small.count, 1);
  EXPECT_EQ(small.rows[0], 9);
  const auto large = size_classes(200);
  ASSERT_EQ(large.count, kernels::SizeClasses::kCapacity);
  for (int c = 1; c < large.count; ++c) EXPECT_LT(large.rows[c - 1], large.rows[c]);
  EXPECT_EQ(large.rows[large.count - 1], 200);
  EXPECT_EQ(size_classes(96).count, 4);
  EXPECT_EQ(size_classes(0).count, 1);
}

TEST(CudaPlan, groups_are_narrow_where_the_problems_are_small) {
  const auto k = with_scratch_of<double, double>();
  const Plan small = plan_of(k, 12);
  EXPECT_EQ(small.kernel, &narrow_kernel);
  EXPECT_EQ(small.lanes, 8);
  EXPECT_EQ(small.max_contacts, 4);  // more do not fit into 12 rows
  EXPECT_EQ(small.shared_bytes, std::size_t(small.groups()) * small.group_bytes);
  const Plan wide = plan_of(k, 13);
  EXPECT_EQ(wide.kernel, &wide_kernel);
  EXPECT_EQ(wide.lanes, 32);
  Kernels few = k;  // of later rungs: a hard environment gets all lanes
  few.narrow = nullptr;
  EXPECT_EQ(plan_of(few, 12).kernel, &wide_kernel);
  // With a mechanism's matrices, too few environments fit to fill narrow groups.
  EXPECT_EQ(plan_of(k, 12, 100, {40}).kernel, &wide_kernel);
}

TEST(CudaPlan, neighbours_in_a_warp_use_other_banks) {
  for (std::size_t bytes = 0; bytes < 1000; bytes += 16) {
    const std::size_t placed = in_other_banks(bytes);
    EXPECT_EQ(placed % 128, 64U) << bytes;
    EXPECT_TRUE(bytes <= placed && placed < bytes + 128) << bytes;
  }
}

TEST(CudaPlan, sweeps_alone_need_little_and_stay_narrow_for_longer) {
  const auto sweeps = with_scratch_of<float, float, KernelVariant::sweeping>();
  EXPECT_EQ(plan_of(sweeps, 32, 10).kernel, &narrow_kernel);
  EXPECT_EQ(plan_of(sweeps, 64, 21).kernel, &wide_kernel);
  const auto both = with_scratch_of<float, float>();
  EXPECT_LT(sweeps.bytes(32, 10, 0, {}), both.bytes(32, 10, 0, {}));
}

// sm_90 holds four environments of 48 rows in double: four warps, or eight as pairs.
TEST(CudaPlan, pairs_of_warps_take_problems_of_which_four_fit) {
  const auto k = with_scratch_of<double, double>();
  const Plan plan = plan_of(k, 48, 16);
  EXPECT_EQ(plan.kernel, &pair_kernel);
  EXPECT_EQ(plan.threads(), 64);
  EXPECT_EQ(plan.groups(), 1);
  Kernels none = k;
  none.pair = nullptr;
  EXPECT_EQ(plan_of(none, 48, 16).kernel, &block_kernel);
}

TEST(CudaPlan, neighbouring_narrow_groups_use_different_banks) {
  const auto k = with_scratch_of<double, double>();
  for (int rows : {3, 6, 9, 12}) {
    const Plan plan = plan_of(k, rows, 4);
    EXPECT_EQ(plan.group_bytes % 128, 64U) << rows;
  }
}

// sm_90 holds two environments of 64 rows in double: two warps, or two blocks of four.
TEST(CudaPlan, blocks_take_problems_of_which_few_fit) {
  const auto k = with_scratch_of<double, double>();
  EXPECT_EQ(plan_of(k, 32, 10).kernel, &wide_kernel);
  const Plan plan = plan_of(k, 64, 21);
  EXPECT_EQ(plan.kernel, &block_kernel);
  EXPECT_EQ(plan.threads(), 128);
  EXPECT_EQ(plan.groups(), 1);
  EXPECT_EQ(plan.shared_bytes, plan.group_bytes);
}

TEST(CudaPlan, ninety_six_rows_in_double_fit_the_shared_memory_of_sm_90) {
  const auto k = with_scratch_of<double, double>();
  for (const auto& variant : {k, with_scratch_of<double, double, KernelVariant::pivoting>()}) {
    const Plan fits = plan_of(variant, 96, 32);
    EXPECT_EQ(fits.kernel, &block_kernel);
    EXPECT_EQ(fits.global_bytes(), 0U);
  }
  Plan large = plan_of(k, 96, 32, {}, kLarge, kShared80);
  EXPECT_EQ(large.kernel, &global_kernel);
  EXPECT_EQ(large.shared_bytes, 0U);
  large.blocks = 3;
  EXPECT_EQ(large.global_bytes(), 3 * large.group_bytes);
}

TEST(CudaPlan, blocks_are_as_many_as_memory_has_scratch_for) {
  const auto k = with_scratch_of<double, double, KernelVariant::general>();
  Plan plan = plan_class(k, 600, 200, 8, {}, kLarge, {kProcessors, kShared90, kScratch});
  EXPECT_EQ(plan.kernel, &global_kernel);
  constexpr int kResident = 2;
  const auto with = [&](std::size_t scratch, int envs) {
    return blocks_of(plan, kResident, envs, {kProcessors, kShared90, scratch});
  };
  EXPECT_EQ(with(400 * plan.group_bytes, kLarge), kResident * kProcessors);
  EXPECT_EQ(with(400 * plan.group_bytes, 3), 3);
  EXPECT_EQ(with(100 * plan.group_bytes + 1, kLarge), 100);
  EXPECT_EQ(with(plan.group_bytes - 1, kLarge), 1) << "an environment needs its scratch";
  Plan shared = plan_of(k, 12, 4);
  EXPECT_EQ(blocks_of(shared, kResident, kLarge, {kProcessors, kShared90, 0}),
            kResident * kProcessors);
}

TEST(CudaPlan, scratch_keeps_its_alignment_from_group_to_group) {
  for (int rows : {0, 1, 12, 31, 64, 97}) {
    for (int nv : {kernels::kGivenMatrix, 0, 7, 35}) {
      const std::size_t bytes = with_scratch_of<double, float>().bytes(rows, rows / 3, 0, {nv});
      EXPECT_EQ(bytes % kernels::Arena::kAlignment, 0U) << rows;
      RecordProperty("bytes_" + std::to_string(rows) + "_" + std::to_string(nv),
                     std::to_string(bytes));
    }
  }
}

// If the matrix is formed from a mechanism, it is kept in addition to the scratch of the solve.
TEST(CudaPlan, the_matrix_of_a_mechanism_fits_beside_its_solve) {
  for (int rows : {12, 32, 64}) {
    const auto k = with_scratch_of<double, float>();
    const std::size_t given = k.bytes(rows, rows / 3, 0, {});
    EXPECT_GE(k.bytes(rows, rows / 3, 0, {0}), given + std::size_t(rows * rows) * sizeof(double));
    EXPECT_GT(plan_of(k, rows, rows / 3, {35}).shared_bytes, 0U) << rows;
  }
}

// The later rungs of `mixed` factorise in double: rung 0 does not need memory for that.
TEST(CudaPlan, later_rungs_cost_rung_0_no_memory) {
  const auto first = with_scratch_of<double, float>();
  const auto later = with_scratch_of<double, double, KernelVariant::later>();
  for (int rows : {12, 32, 64, 96}) {
    const kernels::MatrixKind given;
    EXPECT_LT(first.bytes(rows, rows / 3, 0, given), later.bytes(rows, rows / 3, 0, given)) << rows;
  }
}

// Memory for the law `pyramid` as an LCP is not part of the scratch of the other laws.
TEST(CudaPlan, only_the_general_variant_has_room_for_an_lcp) {
  const kernels::MatrixKind given;
  const auto pivoting = with_scratch_of<double, double, KernelVariant::pivoting>();
  const auto general = with_scratch_of<double, double, KernelVariant::general>();
  EXPECT_EQ(pivoting.bytes(24, 8, 0, given), pivoting.bytes(24, 8, 8, given));
  EXPECT_LT(general.bytes(24, 8, 4, given), general.bytes(24, 8, 8, given));
  Kernels few = general;
  few.narrow = few.wide = few.pair = few.block = nullptr;
  EXPECT_EQ(plan_class(few, 12, 4, 4, given, kLarge, {kProcessors, kShared90, kScratch}).kernel,
            &global_kernel);
}

}  // namespace
}  // namespace stickslip::cuda
