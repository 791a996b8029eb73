// Passes of a solve on a GPU, their variants, and the lists of environments, without a device.
#include <gtest/gtest.h>

#include <limits>

#include "kernels/gpu/work_list.hpp"
#include "kernels/ladder/kernel_variant.hpp"
#include "src/cuda/plan.hpp"
#include "tests/support/cases.hpp"

namespace stickslip::cuda {
namespace {

using kernels::KernelVariant;

TEST(CudaLists, a_second_pass_runs_where_there_are_later_rungs) {
  SolveOptions options;
  EXPECT_EQ(passes_of(options, 0).count, 2);
  EXPECT_EQ(passes_of(options, 0).variants[0], KernelVariant::rung0);
  EXPECT_EQ(passes_of(options, 0).variants[1], KernelVariant::later);
  options.max_rung = 0;
  EXPECT_EQ(passes_of(options, 0).count, 1);
  for (const auto& [law, solver] :
       {std::pair(Law::coulomb, Solver::pgs), std::pair(Law::coulomb, Solver::newton)}) {
    const SolveOptions one_rung{.law = law, .solver = solver};
    EXPECT_EQ(passes_of(one_rung, 0).count, 1);
    EXPECT_EQ(passes_of(one_rung, 0).variants[0],
              solver == Solver::newton ? KernelVariant::rung0 : KernelVariant::sweeping);
  }
  const SolveOptions box{.law = Law::box};
  EXPECT_EQ(passes_of(box, 0).count, 2);
  EXPECT_EQ(passes_of(box, 0).variants[0], KernelVariant::sweeping);
  EXPECT_EQ(passes_of(box, 0).variants[1], KernelVariant::later);
  const SolveOptions pyramid{.law = Law::pyramid};
  EXPECT_EQ(passes_of(pyramid, 0).count, 1);
  EXPECT_EQ(passes_of(pyramid, 0).variants[0], KernelVariant::pivoting);
  EXPECT_EQ(passes_of(pyramid, 4).count, 2);
  EXPECT_EQ(passes_of(pyramid, 4).variants[1], KernelVariant::general);
  const SolveOptions round{.law = Law::pyramid, .directions = 16};
  EXPECT_EQ(passes_of(round, 16).count, 1);
  EXPECT_EQ(passes_of(round, 16).variants[0], KernelVariant::general);
}

// A stage that its variant lacks would be skipped without an error.
TEST(CudaLists, the_programs_have_every_stage_of_every_ladder) {
  int stages = 0;
  for (const support::Case& c : support::supported_cases()) {
    const kernels::Ladder ladder(c.options());
    for (int i = 0;; ++i, ++stages) {
      const kernels::Stage stage = ladder.stage(i);
      if (stage.method == kernels::Method::none) break;
      const bool later = ladder.variant != KernelVariant::pivoting && stage.rung > 0;
      const KernelVariant variant = later ? KernelVariant::later : ladder.variant;
      EXPECT_TRUE(kernels::variant_has(variant, stage)) << support::name(c) << ", stage " << i;
    }
  }
  EXPECT_GT(stages, 100);
}

TEST(CudaLists, environments_go_to_the_smallest_class_that_holds_them) {
  const auto classes = size_classes(64);  // 12, 32, 64
  const RowCounts shapes[] = {{0, 0, 0, 4},  {1, 0, 0, 4},  {0, 0, 0, 11},
                              {32, 0, 0, 0}, {0, 0, 0, 0},  {60, 4, 0, 0},
                              {60, 5, 0, 0}, {-1, 0, 0, 0}, {0, 0, 0, 30}};
  const int expected[] = {0, 1, 2, 1, 0, 2, 0, 0, 0};
  const auto class_of = [&](EnvArray<const RowCounts> counts, EnvArray<const std::int32_t> dims,
                            int env, int max_contacts) {
    ProblemBatch<double> batch;
    batch.max_rows = 64;
    batch.max_contacts = max_contacts;
    batch.counts = counts;
    batch.dims = dims;
    return kernels::size_class(classes, kernels::usable_rows(batch, env));
  };
  for (int env = 0; env < 9; ++env) {
    EXPECT_EQ(class_of({shapes, 1}, {}, env, 21), expected[env]) << env;
  }
  const std::int32_t dims[] = {6, 6, 3};  // 15 rows instead of 9
  EXPECT_EQ(class_of({shapes, 1}, {dims, 0}, 0, 3), 0) << "over capacity";
  const RowCounts three{0, 0, 0, 3};
  EXPECT_EQ(class_of({&three, 0}, {}, 0, 3), 0);
  EXPECT_EQ(class_of({&three, 0}, {dims, 0}, 0, 3), 1);
}

TEST(CudaLists, the_work_of_an_environment_decides_its_place_in_a_list) {
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
