// Size classes and shared memory of the CUDA launches, as far as no device is needed.
#include <gtest/gtest.h>

#include "kernels/launch/solve_env.hpp"
#include "src/cuda/plan.hpp"

namespace stickslip::cuda {
namespace {

constexpr std::size_t kShared90 = 227 * 1024;  ///< most a block gets on sm_90, bytes
constexpr std::size_t kShared80 = 163 * 1024;

const int kNarrow = 0, kWide = 0, kGlobal = 0;  // stand for the kernels

using kernels::Program;

template <class Real, class Factor, Program kProgram = Program::iterative>
kernels::SolveKernels with_scratch_of() {
  return {&kNarrow, &kWide, &kGlobal, &kernels::EnvScratch<Real, Factor, double, kProgram>::bytes};
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
  const LaunchPlan small = plan_class(k, 12, 100, kShared90);
  EXPECT_EQ(small.kernel, &kNarrow);
  EXPECT_EQ(small.groups(), 4);
  EXPECT_EQ(small.max_contacts, 4);  // more do not fit into 12 rows
  EXPECT_EQ(small.shared_bytes, 4 * small.group_bytes);
  EXPECT_EQ(plan_class(k, 13, 100, kShared90).kernel, &kWide);
  EXPECT_EQ(plan_class(k, 13, 100, kShared90).groups(), 1);
}

TEST(CudaPlan, ninety_six_rows_in_double_fit_the_shared_memory_of_sm_90) {
  const auto k = with_scratch_of<double, double>();
  for (const auto& program : {k, with_scratch_of<double, double, Program::pivoting>()}) {
    const LaunchPlan fits = plan_class(program, 96, 32, kShared90);
    EXPECT_EQ(fits.kernel, &kWide);
    EXPECT_EQ(fits.global_bytes(), 0U);
  }
  LaunchPlan large = plan_class(k, 96, 32, kShared80);
  EXPECT_EQ(large.kernel, &kGlobal);
  EXPECT_EQ(large.shared_bytes, 0U);
  large.blocks = 3;
  EXPECT_EQ(large.global_bytes(), 3 * large.group_bytes);
}

TEST(CudaPlan, scratch_keeps_its_alignment_from_group_to_group) {
  for (int rows : {0, 1, 12, 31, 64, 97}) {
    const std::size_t bytes = with_scratch_of<double, float>().bytes(rows, rows / 3);
    EXPECT_EQ(bytes % kernels::Arena::kAlignment, 0U) << rows;
    RecordProperty("bytes_" + std::to_string(rows), std::to_string(bytes));
  }
}

}  // namespace
}  // namespace stickslip::cuda
