// Compares our solver with the prototype's on the same problems in one run: every problem is solved
// by both, in an order that alternates from round to round, on one core.
//
//   stickslip_compare [OUT.json] [coulomb | pyramid | sweeps]
//
// Per family and number of contacts: the median time over the problems in each round, and the ratio
// ours / prototype of the two medians, minimum and median over the rounds. Sweeps, for whole
// batches, run only on request (sweeps.hpp).
#include <cstdio>

#include "bench/compare/prototype.hpp"
#include "bench/compare/sweeps.hpp"
#include "bench/problems.hpp"
#include "src/compare/pinned.hpp"

namespace stickslip::bench {
namespace {

constexpr int kProblems = 100;
constexpr int kRounds = 11;

/// Microseconds per problem of one round, and how many were solved.
struct Round {
  std::vector<double> ours, prototype;
  int ours_solved = 0, prototype_solved = 0;
};

struct Contest {
  HostProblems<double> problems;
  HostResults<double> results;
  SingleSolve<double> solve_one;
  std::vector<std::unique_ptr<Prototype>> prototypes;  ///< one per problem: loading is not timed
  std::vector<double> impulse;

  Contest(const Case& c, const SolveOptions& options)
      : problems(make_batch<double>(c, kProblems)),
        results(kProblems, problems.max_rows()),
        solve_one(problems, results, options),
        impulse(std::size_t(problems.max_rows())) {
    for (int env = 0; env < kProblems; ++env) {
      prototypes.push_back(options.law == Law::pyramid ? make_lemke_prototype(c.contacts)
                                                       : make_newton_prototype(c.contacts));
      const double* mu = problems.mu(env);  // two equal coefficients per contact
      std::vector<double> isotropic;
      for (int k = 0; k < c.contacts; ++k) isotropic.push_back(mu[2 * k]);
      prototypes.back()->load(problems.W(env), problems.b(env), isotropic.data());
    }
  }

  Round run(bool ours_first) {
    Round round;
    for (int env = 0; env < kProblems; ++env) {
      const auto run_ours = [&] {
        round.ours.push_back(1e6 * seconds([&] { solve_one(env); }));
        round.ours_solved += results.status(env) == EnvStatus::solved;
      };
      const auto run_prototype = [&] {
        bool solved = false;
        auto& solver = *prototypes[std::size_t(env)];
        round.prototype.push_back(1e6 * seconds([&] { solved = solver.solve(impulse.data()); }));
        round.prototype_solved += solved;
      };
      if (ours_first) run_ours();
      run_prototype();
      if (!ours_first) run_ours();
    }
    return round;
  }
};

void compare(const Case& c, Law law, std::FILE* out, bool last) {
  SolveOptions options;
  options.law = law;
  Contest contest(c, options);
  std::vector<double> ours, prototype, ratio, mean_ratio;
  Round round;
  for (int i = 0; i <= kRounds; ++i) {
    round = contest.run(i % 2 == 0);
    if (i == 0) continue;  // warm-up
    ours.push_back(quantile(round.ours, 0.5));
    prototype.push_back(quantile(round.prototype, 0.5));
    ratio.push_back(ours.back() / prototype.back());
    double total_ours = 0, total_prototype = 0;
    for (const double t : round.ours) total_ours += t;
    for (const double t : round.prototype) total_prototype += t;
    mean_ratio.push_back(total_ours / total_prototype);
  }
  std::fprintf(stderr, "%-8s %-16s ours %8.2f us  prototype %8.2f us  ratio %.2f (least %.2f)\n",
               name(law), name(c).c_str(), quantile(ours, 0.5), quantile(prototype, 0.5),
               quantile(ratio, 0.5), quantile(ratio, 0.0));
  std::fprintf(out,
               "  {\"law\": \"%s\", \"case\": \"%s\", \"ours_us\": %.3f, \"prototype_us\": %.3f, "
               "\"ratio_median\": %.3f, \"ratio_min\": %.3f, \"ratio_max\": %.3f, "
               "\"ratio_of_means\": %.3f, \"ours_solved\": %.3f, \"prototype_solved\": %.3f}%s\n",
               name(law), name(c).c_str(), quantile(ours, 0.5), quantile(prototype, 0.5),
               quantile(ratio, 0.5), quantile(ratio, 0.0), quantile(ratio, 1.0),
               quantile(mean_ratio, 0.5), double(round.ours_solved) / kProblems,
               double(round.prototype_solved) / kProblems, last ? "" : ",");
}

}  // namespace
}  // namespace stickslip::bench

int main(int argc, char** argv) {
  using namespace stickslip::bench;
  const stickslip::compare::Pinned pinned;
  std::FILE* out = argc > 1 ? std::fopen(argv[1], "w") : stdout;
  if (out == nullptr) {
    std::perror(argv[1]);
    return 1;
  }
  const auto cases = all_cases({2, 4, 8, 16, 32});
  std::fprintf(out, "[\n");
  std::vector<stickslip::Law> laws;
  for (const auto law : {stickslip::Law::coulomb, stickslip::Law::pyramid}) {
    if (argc < 3 || std::string(argv[2]) == name(law)) laws.push_back(law);
  }
  if (argc > 2 && std::string(argv[2]) == "sweeps") compare_sweeps(out);
  for (const auto law : laws) {
    for (const Case& c : cases) {
      compare(c, law, out, law == laws.back() && &c == &cases.back());
    }
  }
  std::fprintf(out, "]\n");
  if (out != stdout) std::fclose(out);
  return 0;
}
