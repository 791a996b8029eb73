// Our own solvers, as a caller with one problem and a workspace uses them, including the checks.
#include <algorithm>

#include "bench/compare/contest.hpp"
#include "stickslip/stickslip.hpp"

namespace stickslip::compare {
namespace {

class OurLoaded : public Loaded {
 public:
  OurLoaded(const PeerProblem& p, const SolveOptions& options)
      : problems_(1, p.rows, p.counts.n_contacts),
        results_(1, p.rows),
        workspace_(p.rows, p.counts.n_contacts, /*threads=*/1),
        options_(options) {
    const auto n = std::size_t(p.rows);
    std::size_t coefficients = 0;
    for (int c = 0; c < p.counts.n_contacts; ++c) coefficients += std::size_t(p.dims[c] - 1);
    problems_.counts(0) = p.counts;
    std::copy_n(p.dims, p.counts.n_contacts, problems_.dims(0));
    std::copy_n(p.W, n * n, problems_.W(0));
    std::copy_n(p.b, n, problems_.b(0));
    std::copy_n(p.R, n, problems_.R(0));
    std::copy_n(p.mu, coefficients, problems_.mu(0));
    std::copy_n(p.lo, p.counts.n_box, problems_.lo(0));
    std::copy_n(p.hi, p.counts.n_box, problems_.hi(0));
    problem_ = problems_.view();
    result_ = results_.view();
  }

  bool solve(double* impulse) override {
    stickslip::solve(problem_, result_, options_, workspace_);
    std::copy_n(results_.impulse(0), problem_.max_rows, impulse);
    return results_.status(0) == EnvStatus::solved;
  }

 private:
  HostProblems<double> problems_;
  HostResults<double> results_;
  Workspace workspace_;
  SolveOptions options_;
  ProblemBatch<double> problem_;
  ResultBatch<double> result_;
};

class Ours : public Peer {
 public:
  Ours(std::string name, SolveOptions options) : name_(std::move(name)), options_(options) {}
  std::string name() const override { return name_; }
  std::string about() const override {
    return std::string("stickslip ") + version() + ", " + cpu_isa() + ", one thread";
  }
  std::unique_ptr<Loaded> load(const PeerProblem& problem) const override {
    return std::make_unique<OurLoaded>(problem, options_);
  }

 private:
  std::string name_;
  SolveOptions options_;
};

}  // namespace

void Contest::enter_ours(std::string name, SolveOptions options) {
  options.law = law_;
  options.atol = options.rtol = tolerance_;
  enter(std::make_unique<Ours>(std::move(name), options));
}

}  // namespace stickslip::compare
