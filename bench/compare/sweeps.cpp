#include "bench/compare/sweeps.hpp"

#include "bench/compare/prototype.hpp"
#include "bench/problems.hpp"

namespace stickslip::bench {
namespace {

constexpr int kProblems = 256;
constexpr int kRounds = 21;
constexpr int kSweeps = 50;
constexpr int kLanes = SweepsPrototype::kLanes;

struct SweepsContest {
  HostProblems<float> problems;
  HostResults<float> results;
  Workspace workspace;
  SolveOptions options;
  std::vector<std::unique_ptr<SweepsPrototype>> prototypes;  ///< one per 16 problems
  float sum = 0.0F;

  explicit SweepsContest(const Case& c)
      : problems(make_batch<float>(c, kProblems)),
        results(kProblems, problems.max_rows()),
        workspace(problems.max_rows(), problems.max_contacts(), 1) {
    options.solver = Solver::pgs;
    options.precision = Precision::fp32;
    options.max_sweeps = kSweeps;
    options.exact_sweeps = true;
    for (int env = 0; env < kProblems; ++env) {
      if (env % kLanes == 0) prototypes.push_back(make_sweeps_prototype(c.contacts));
      std::vector<float> isotropic;
      for (int k = 0; k < c.contacts; ++k) isotropic.push_back(problems.mu(env)[2 * k]);
      prototypes.back()->load(env % kLanes, problems.W(env), problems.b(env), isotropic.data());
    }
  }

  double ours() {
    const auto p = problems.view();
    const auto r = results.view();
    return 1e6 / kProblems * seconds([&] { solve(p, r, options, workspace); });
  }
  double prototype() {
    return 1e6 / kProblems * seconds([&] {
             for (auto& lanes : prototypes) sum += lanes->solve(kSweeps);
           });
  }
};

}  // namespace

void compare_sweeps(std::FILE* out) {
  const auto cases = all_cases({1, 2, 4, 8, 16});
  for (const Case& c : cases) {
    SweepsContest contest(c);
    std::vector<double> ours, prototype, ratio;
    for (int round = 0; round <= kRounds; ++round) {
      const double first = round % 2 == 0 ? contest.ours() : contest.prototype();
      const double second = round % 2 == 0 ? contest.prototype() : contest.ours();
      if (round == 0) continue;  // warm-up
      ours.push_back(round % 2 == 0 ? first : second);
      prototype.push_back(round % 2 == 0 ? second : first);
      ratio.push_back(ours.back() / prototype.back());
    }
    const double solved = solved_share(contest.results, kProblems);
    std::fprintf(stderr, "%-8s %-16s ours %8.3f us  prototype %8.3f us  ratio %.2f (least %.2f)\n",
                 "sweeps", name(c).c_str(), quantile(ours, 0.5), quantile(prototype, 0.5),
                 quantile(ratio, 0.5), quantile(ratio, 0.0));
    std::fprintf(out,
                 "  {\"law\": \"sweeps\", \"case\": \"%s\", \"ours_us\": %.4f, "
                 "\"prototype_us\": %.4f, \"ratio_median\": %.3f, \"ratio_min\": %.3f, "
                 "\"ratio_max\": %.3f, \"ours_solved\": %.3f}%s\n",
                 name(c).c_str(), quantile(ours, 0.5), quantile(prototype, 0.5),
                 quantile(ratio, 0.5), quantile(ratio, 0.0), quantile(ratio, 1.0), solved,
                 &c == &cases.back() ? "" : ",");
  }
}

}  // namespace stickslip::bench
