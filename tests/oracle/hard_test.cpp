// Grasps, jammed rods, towers with mass ratios up to 1e4, humanoids: how many are solved, every one
// of them judged by the oracle.
#include <array>

#include "tests/support/count.hpp"
#include "tests/support/hard_families.hpp"
#include "tests/support/judging.hpp"

namespace stickslip {
namespace {

using support::HardFamily;
using support::HardScene;
using support::kHardSizes;

class Hard : public testing::TestWithParam<HardFamily> {
 protected:
  static std::vector<HardScene> scenes(int contacts) {
    std::vector<HardScene> all;
    for (int i = 0; i < support::test_count(200); ++i) {
      all.push_back(make_hard_scene(GetParam(), contacts, i));
    }
    return all;
  }
};

struct Tally {
  int solvable = 0, solved = 0, jammed = 0;
};

/// No verdict may contradict the oracle's residual or the problem's own proof.
void judge(const std::vector<HardScene>& scenes, const SolveOptions& options, Tally& tally) {
  std::vector<reference::Problem> problems;
  for (const HardScene& scene : scenes) problems.push_back(scene.problem);
  const auto batch = support::to_batch<double>(problems);
  const auto results = support::solve_batch(batch, options, 2);
  for (int env = 0; env < batch.num_envs(); ++env) {
    SCOPED_TRACE(testing::Message() << "problem " << env);
    const bool solved = support::expect_honest(batch, results, env, options);
    const bool solvable = scenes[std::size_t(env)].jam.size() == 0;
    (solvable ? tally.solvable : tally.jammed) += 1;
    if (solvable) {
      tally.solved += solved ? 1 : 0;
      EXPECT_NE(results.status(env), EnvStatus::no_solution_found) << "it has one";
      if (!solved) std::printf("UNSOLVED env %d status %d res %g\n", env, int(results.status(env)), results.residual(env));
    } else {
      EXPECT_FALSE(solved) << "it has none";
    }
  }
}

TEST_P(Hard, proofs_hold) {
  int jammed = 0;
  for (int contacts : kHardSizes) {
    if (!exists(GetParam(), contacts)) continue;
    SCOPED_TRACE(testing::Message() << "contacts " << contacts);
    for (const HardScene& scene : scenes(contacts)) {
      EXPECT_EQ(scene.problem.shape.n_contacts, contacts);
      EXPECT_TRUE(scene.jam.size() == 0 ? proves_solvable(scene, scene.opening)
                                        : proves_unsolvable(scene, scene.jam));
      jammed += scene.jam.size() != 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(jammed > 0, GetParam() == HardFamily::rods);
}

// W = J M^-1 J^T by the oracle's own formula.
TEST_P(Hard, is_what_the_mechanism_leads_to) {
  for (int contacts : kHardSizes) {
    if (!exists(GetParam(), contacts)) continue;
    const HardScene s = make_hard_scene(GetParam(), contacts, 1);
    const double size = s.problem.W.lpNorm<Eigen::Infinity>();
    EXPECT_LE((s.problem.W - reference::delassus(s.M, s.J)).lpNorm<Eigen::Infinity>(), 1e-11 * size);
    EXPECT_LE((s.problem.b - s.J * s.v_free - s.gap).lpNorm<Eigen::Infinity>(), 1e-11);
  }
}

TEST_P(Hard, coulomb_by_the_ladder) {
  Tally all;
  for (int contacts : kHardSizes) {
    if (!exists(GetParam(), contacts)) continue;
    SCOPED_TRACE(testing::Message() << "contacts " << contacts);
    Tally here;
    judge(scenes(contacts), SolveOptions{}, here);
    std::printf("%s p=%d solvable %d solved %d jammed %d\n", name(GetParam()), contacts, here.solvable, here.solved, here.jammed);
    all.solvable += here.solvable; all.solved += here.solved; all.jammed += here.jammed;
  }
  RecordProperty("solved", all.solved);
  RecordProperty("solvable", all.solvable);
  EXPECT_GE(all.solved, 0.999 * all.solvable) << all.solved << " of " << all.solvable;
}

TEST_P(Hard, pyramid_by_lemke) {
  SolveOptions options;
  options.law = Law::pyramid;
  for (int contacts : kHardSizes) {
    if (!exists(GetParam(), contacts)) continue;
    SCOPED_TRACE(testing::Message() << "contacts " << contacts);
    Tally all;
    judge(scenes(contacts), options, all);
    std::printf("pyramid %s p=%d solvable %d solved %d jammed %d\n", name(GetParam()), contacts, all.solvable, all.solved, all.jammed);
    EXPECT_EQ(all.solved, all.solvable);
  }
}

INSTANTIATE_TEST_SUITE_P(families, Hard, testing::ValuesIn(support::kHardFamilies),
                         [](const auto& info) { return std::string(name(info.param)); });

}  // namespace
}  // namespace stickslip
