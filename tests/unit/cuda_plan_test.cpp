// Size classes and shared memory of the CUDA launches, as far as no device is needed.
#include <gtest/gtest.h>

#include <limits>

#include "kernels/launch/solve_env.hpp"
#include "kernels/launch/work_list.hpp"
#include "src/cuda/plan.hpp"
#include "tests/support/cases.hpp"

namespace stickslip::cuda {
namespace {

constexpr std::size_t kShared90 = 227 * 1024;  ///< most a block gets on sm_90, bytes
constexpr std::size_t kShared80 = 163 * 1024;

const int kNarrow = 0, kWide = 0, kPair = 0, kBlock = 0, kGlobal = 0;  // stand for the kernels

using kernels::Program;

/// Scratch of an environment as a GPU has it: there a factorisation is kept in the matrix, while
/// here it has an array of its own.
template <class Real, class Factor, Program kProgram>
std::size_t gpu_bytes(int rows, int contacts, int directions, int nv) {
  const std::size_t kept = contents_of(kProgram).newton
                               ? sizeof(Factor) * std::size_t(rows) * kernels::leading(rows)
                               : 0;
  return kernels::EnvScratch<Real, Factor, double, kProgram>::bytes(rows, contacts, directions,
                                                                    nv) -
         kept / kernels::Arena::kAlignment * kernels::Arena::kAlignment;
}

template <class Real, class Factor, Program kProgram = Program::first>
kernels::SolveKernels with_scratch_of() {
  return {&kNarrow,
          &kWide,
          &kPair,
          &kBlock,
          &kGlobal,
          &gpu_bytes<Real, Factor, kProgram>,
          kernels::narrow_rows_of(kProgram)};
}

TEST(CudaPlan, warps_meet_where_a_block_of_them_fits) {
  auto k = with_scratch_of<double, double>();
  const auto plan = [&](int rows) {
    return plan_class(k, rows, 100, 0, kernels::kGivenMatrix, kShared90);
  };
  EXPECT_EQ(plan_meeting(k, plan(24), kShared90).kernel, nullptr) << "without such a kernel";
  const int meeting = 0;
  k.meeting = &meeting;
  const LaunchPlan wide = plan(24), block = plan_meeting(k, wide, kShared90);
  EXPECT_EQ(block.kernel, &meeting);
  EXPECT_EQ(block.threads(), 128);
  EXPECT_EQ(block.groups(), 4);
  EXPECT_EQ(block.shared_bytes, 4 * wide.shared_bytes);
  EXPECT_EQ(plan_meeting(k, plan(12), kShared90).kernel, nullptr) << "narrow groups";
  EXPECT_EQ(plan_meeting(k, wide, 4 * wide.shared_bytes - 1).kernel, nullptr) << "no room";
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
  const LaunchPlan small = plan_class(k, 12, 100, 0, kernels::kGivenMatrix, kShared90);
  EXPECT_EQ(small.kernel, &kNarrow);
  EXPECT_EQ(small.groups(), 4);
  EXPECT_EQ(small.max_contacts, 4);  // more do not fit into 12 rows
  EXPECT_EQ(small.shared_bytes, 4 * small.group_bytes);
  const LaunchPlan wide = plan_class(k, 13, 100, 0, kernels::kGivenMatrix, kShared90);
  EXPECT_EQ(wide.kernel, &kWide);
  EXPECT_EQ(wide.groups(), 1);
  kernels::SolveKernels few = k;  // of later rungs: a hard environment gets all lanes
  few.narrow = nullptr;
  EXPECT_EQ(plan_class(few, 12, 100, 0, kernels::kGivenMatrix, kShared90).kernel, &kWide);
  // With a mechanism's matrices, too few environments fit to fill narrow groups.
  EXPECT_EQ(plan_class(k, 12, 100, 0, 40, kShared90).kernel, &kWide);
}

TEST(CudaPlan, neighbours_in_a_warp_use_other_banks) {
  for (std::size_t bytes = 0; bytes < 1000; bytes += 16) {
    const std::size_t placed = in_other_banks(bytes);
    EXPECT_EQ(placed % 128, 64U) << bytes;
    EXPECT_TRUE(bytes <= placed && placed < bytes + 128) << bytes;
  }
}

TEST(CudaPlan, sweeps_alone_need_little_and_stay_narrow_for_longer) {
  const auto sweeps = with_scratch_of<float, float, Program::sweeping>();
  EXPECT_EQ(plan_class(sweeps, 32, 10, 0, kernels::kGivenMatrix, kShared90).kernel, &kNarrow);
  EXPECT_EQ(plan_class(sweeps, 64, 21, 0, kernels::kGivenMatrix, kShared90).kernel, &kWide);
  const auto both = with_scratch_of<float, float>();
  EXPECT_LT(sweeps.bytes(32, 10, 0, kernels::kGivenMatrix),
            both.bytes(32, 10, 0, kernels::kGivenMatrix));
}

// sm_90 holds four environments of 48 rows in double: four warps, or eight as pairs.
TEST(CudaPlan, pairs_of_warps_take_problems_of_which_four_fit) {
  const auto k = with_scratch_of<double, double>();
  const LaunchPlan plan = plan_class(k, 48, 16, 0, kernels::kGivenMatrix, kShared90);
  EXPECT_EQ(plan.kernel, &kPair);
  EXPECT_EQ(plan.threads(), 64);
  EXPECT_EQ(plan.groups(), 1);
  kernels::SolveKernels none = k;
  none.pair = nullptr;
  EXPECT_EQ(plan_class(none, 48, 16, 0, kernels::kGivenMatrix, kShared90).kernel, &kBlock);
}

TEST(CudaPlan, neighbouring_narrow_groups_use_different_banks) {
  const auto k = with_scratch_of<double, double>();
  for (int rows : {3, 6, 9, 12}) {
    const LaunchPlan plan = plan_class(k, rows, 4, 0, kernels::kGivenMatrix, kShared90);
    EXPECT_EQ(plan.group_bytes % 128, 64U) << rows;
  }
}

// sm_90 holds two environments of 64 rows in double: two warps, or two blocks of four.
TEST(CudaPlan, blocks_take_problems_of_which_few_fit) {
  const auto k = with_scratch_of<double, double>();
  EXPECT_EQ(plan_class(k, 32, 10, 0, kernels::kGivenMatrix, kShared90).kernel, &kWide);
  const LaunchPlan plan = plan_class(k, 64, 21, 0, kernels::kGivenMatrix, kShared90);
  EXPECT_EQ(plan.kernel, &kBlock);
  EXPECT_EQ(plan.threads(), 128);
  EXPECT_EQ(plan.groups(), 1);
  EXPECT_EQ(plan.shared_bytes, plan.group_bytes);
}

TEST(CudaPlan, ninety_six_rows_in_double_fit_the_shared_memory_of_sm_90) {
  const auto k = with_scratch_of<double, double>();
  for (const auto& program : {k, with_scratch_of<double, double, Program::pivoting>()}) {
    const LaunchPlan fits = plan_class(program, 96, 32, 0, kernels::kGivenMatrix, kShared90);
    EXPECT_EQ(fits.kernel, &kBlock);
    EXPECT_EQ(fits.global_bytes(), 0U);
  }
  LaunchPlan large = plan_class(k, 96, 32, 0, kernels::kGivenMatrix, kShared80);
  EXPECT_EQ(large.kernel, &kGlobal);
  EXPECT_EQ(large.shared_bytes, 0U);
  large.blocks = 3;
  EXPECT_EQ(large.global_bytes(), 3 * large.group_bytes);
}

TEST(CudaPlan, scratch_keeps_its_alignment_from_group_to_group) {
  for (int rows : {0, 1, 12, 31, 64, 97}) {
    for (int nv : {kernels::kGivenMatrix, 0, 7, 35}) {
      const std::size_t bytes = with_scratch_of<double, float>().bytes(rows, rows / 3, 0, nv);
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
    const std::size_t given = k.bytes(rows, rows / 3, 0, kernels::kGivenMatrix);
    EXPECT_GE(k.bytes(rows, rows / 3, 0, 0), given + std::size_t(rows * rows) * sizeof(double));
    EXPECT_GT(plan_class(k, rows, rows / 3, 0, 35, kShared90).shared_bytes, 0U) << rows;
  }
}

// The later rungs of `mixed` factorise in double: rung 0 does not need memory for that.
TEST(CudaPlan, later_rungs_cost_rung_0_no_memory) {
  const auto first = with_scratch_of<double, float>();
  const auto later = with_scratch_of<double, double, Program::later>();
  for (int rows : {12, 32, 64, 96}) {
    const int given = kernels::kGivenMatrix;
    EXPECT_LT(first.bytes(rows, rows / 3, 0, given), later.bytes(rows, rows / 3, 0, given)) << rows;
  }
}

TEST(CudaPlan, a_second_pass_runs_where_there_are_later_rungs) {
  SolveOptions options;
  EXPECT_EQ(passes_of(options, 0).count, 2);
  EXPECT_EQ(passes_of(options, 0).programs[0], Program::first);
  EXPECT_EQ(passes_of(options, 0).programs[1], Program::later);
  options.max_rung = 0;
  EXPECT_EQ(passes_of(options, 0).count, 1);
  for (const auto& [law, solver] :
       {std::pair(Law::coulomb, Solver::pgs), std::pair(Law::coulomb, Solver::newton)}) {
    const SolveOptions one_rung{.law = law, .solver = solver};
    EXPECT_EQ(passes_of(one_rung, 0).count, 1);
    EXPECT_EQ(passes_of(one_rung, 0).programs[0],
              solver == Solver::newton ? Program::first : Program::sweeping);
  }
  const SolveOptions box{.law = Law::box};
  EXPECT_EQ(passes_of(box, 0).count, 2);
  EXPECT_EQ(passes_of(box, 0).programs[0], Program::sweeping);
  EXPECT_EQ(passes_of(box, 0).programs[1], Program::later);
  const SolveOptions pyramid{.law = Law::pyramid};
  EXPECT_EQ(passes_of(pyramid, 0).count, 1);
  EXPECT_EQ(passes_of(pyramid, 0).programs[0], Program::pivoting);
  EXPECT_EQ(passes_of(pyramid, 4).count, 2);
  EXPECT_EQ(passes_of(pyramid, 4).programs[1], Program::general);
  const SolveOptions round{.law = Law::pyramid, .directions = 16};
  EXPECT_EQ(passes_of(round, 16).count, 1);
  EXPECT_EQ(passes_of(round, 16).programs[0], Program::general);
}

// Memory for the law `pyramid` as an LCP is not part of the scratch of the other laws.
TEST(CudaPlan, only_the_general_program_has_room_for_an_lcp) {
  const int given = kernels::kGivenMatrix;
  const auto pivoting = with_scratch_of<double, double, Program::pivoting>();
  const auto general = with_scratch_of<double, double, Program::general>();
  EXPECT_EQ(pivoting.bytes(24, 8, 0, given), pivoting.bytes(24, 8, 8, given));
  EXPECT_LT(general.bytes(24, 8, 4, given), general.bytes(24, 8, 8, given));
  kernels::SolveKernels few = general;
  few.narrow = few.wide = few.pair = few.block = nullptr;
  EXPECT_EQ(plan_class(few, 12, 4, 4, given, kShared90).kernel, &kGlobal);
}

// A stage that its program lacks would be skipped without an error.
TEST(CudaPlan, the_programs_have_every_stage_of_every_ladder) {
  int stages = 0;
  for (const support::Case& c : support::supported_cases()) {
    const kernels::Ladder ladder(c.options());
    for (int i = 0;; ++i, ++stages) {
      const kernels::Stage stage = ladder.stage(i);
      if (stage.method == kernels::Method::none) break;
      const bool later = ladder.program != Program::pivoting && stage.rung > 0;
      const Program program = later ? Program::later : ladder.program;
      EXPECT_TRUE(kernels::program_has(program, stage)) << support::name(c) << ", stage " << i;
    }
  }
  EXPECT_GT(stages, 100);
}

TEST(CudaPlan, environments_go_to_the_smallest_class_that_holds_them) {
  const auto classes = size_classes(64);  // 12, 32, 64
  const EnvShape shapes[] = {{0, 0, 0, 4},  {1, 0, 0, 4},  {0, 0, 0, 11},
                             {32, 0, 0, 0}, {0, 0, 0, 0},  {60, 4, 0, 0},
                             {60, 5, 0, 0}, {-1, 0, 0, 0}, {0, 0, 0, 30}};
  const int expected[] = {0, 1, 2, 1, 0, 2, 0, 0, 0};
  const auto class_of = [&](EnvArray<const EnvShape> shape, EnvArray<const std::int32_t> dims,
                            int env, int max_contacts) {
    ProblemBatch<double> batch;
    batch.max_rows = 64;
    batch.max_contacts = max_contacts;
    batch.shape = shape;
    batch.dims = dims;
    return kernels::size_class(classes, kernels::listed_rows(batch, env));
  };
  for (int env = 0; env < 9; ++env) {
    EXPECT_EQ(class_of({shapes, 1}, {}, env, 21), expected[env]) << env;
  }
  const std::int32_t dims[] = {6, 6, 3};  // 15 rows instead of 9
  EXPECT_EQ(class_of({shapes, 1}, {dims, 0}, 0, 3), 0) << "over capacity";
  const EnvShape three{0, 0, 0, 3};
  EXPECT_EQ(class_of({&three, 0}, {}, 0, 3), 0);
  EXPECT_EQ(class_of({&three, 0}, {dims, 0}, 0, 3), 1);
}

TEST(CudaPlan, the_work_of_an_environment_decides_its_place_in_a_list) {
  using kernels::list_key;
  for (const int most : {0, 9, 12, 64, 96, 1000}) {
    const auto classes = size_classes(most);
    for (int rows = 0; rows <= most; ++rows) {
      const std::uint32_t key = list_key(classes, rows, 7);
      EXPECT_EQ(kernels::class_of_key(key), kernels::size_class(classes, rows)) << rows;
      EXPECT_LT(key, (1U << kernels::kKeyBits) - 1U);
      if (rows < most &&
          kernels::class_of_key(list_key(classes, rows + 1, 0)) == kernels::class_of_key(key)) {
        EXPECT_LE(list_key(classes, rows + 1, 7), key) << "more rows come first, " << rows;
      }
    }
  }
  const auto classes = size_classes(12);
  constexpr int kMost = std::numeric_limits<std::int32_t>::max();
  std::uint32_t before = list_key(classes, 12, 0);
  for (const int work : {1, 2, 15, 16, 18, 30, 100, 1000, kMost}) {
    const std::uint32_t key = list_key(classes, 12, work);
    EXPECT_EQ(kernels::class_of_key(key), 0);
    EXPECT_LT(key, before) << "more work comes first, " << work;
    before = key;
  }
  EXPECT_LT(list_key(classes, 12, 0), list_key(classes, 9, kMost)) << "rows decide first";
  EXPECT_EQ(kernels::guessed_work(kMost, 100), kMost);
  EXPECT_EQ(kernels::guessed_work(-1, 100), 0) << "any number is valid";
}

}  // namespace
}  // namespace stickslip::cuda
