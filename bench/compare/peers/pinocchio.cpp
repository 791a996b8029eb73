// Pinocchio 4 (INRIA and others, BSD 2-clause; PyPI `pin` ships headers and libraries): its ADMM
// and projected Gauss-Seidel on a dense Delassus matrix. Contacts of dimension 3 only, with rows in
// the order (t1, t2, n).
#include <pinocchio/algorithm/delassus-operator.hpp>
#include <pinocchio/algorithm/solvers/admm-solver.hpp>
#include <pinocchio/algorithm/solvers/pgs-solver.hpp>
#include <pinocchio/constraints.hpp>
#include <pinocchio/multibody.hpp>

#include "bench/compare/peers/adapter.hpp"

namespace stickslip::bench {
namespace {

using pinocchio::PointContactConstraintModel;
using Data = PointContactConstraintModel::ConstraintData;
using Vector = Eigen::VectorXd;

constexpr int kOrder[3] = {2, 0, 1};  ///< positions of our n, t1, t2 in a block of Pinocchio's

int theirs(int row) { return 3 * (row / 3) + kOrder[row % 3]; }

/// Input of its solvers: G, g, R and one constraint per contact.
struct Given {
  Eigen::MatrixXd G;
  Vector g, R;
  std::vector<PointContactConstraintModel> models;
  std::vector<Data> data;

  explicit Given(const PeerProblem& p) : G(p.rows, p.rows), g(p.rows), R(p.rows) {
    for (int i = 0; i < p.rows; ++i) {
      g[theirs(i)] = p.b[i];
      R[theirs(i)] = p.R[i];
      for (int j = 0; j < p.rows; ++j) G(theirs(i), theirs(j)) = p.W[i * p.rows + j];
    }
    const pinocchio::Model nothing;  // the solvers need only the cone of a constraint
    for (int c = 0; c < p.counts.n_contacts; ++c) {
      models.emplace_back(nothing, 0);
      models.back().setFriction(p.mu[2 * c]);
      data.push_back(models.back().createData());
    }
  }
};

template <class Solver, class Settings, class Result>
class Run : public Loaded {
 public:
  Run(const PeerProblem& p, const Settings& settings)
      : given_(p),
        delassus_(given_.G),
        settings_(settings),
        solver_(std::size_t(p.rows)),
        impulse_(p.rows) {
    settings_.absolute_feasibility_tol = settings_.absolute_complementarity_tol = p.tolerance;
    settings_.relative_feasibility_tol = settings_.relative_complementarity_tol = p.tolerance;
    settings_.solve_ncp = p.law == Law::coulomb;
    delassus_.updateCompliance(given_.R);
  }

  bool solve(double* impulse) override {
    result_.reset();
    const bool success =
        solver_.solve(delassus_, given_.g, given_.models, given_.data, settings_, result_);
    result_.retrieveConstraintImpulses(impulse_);
    for (int i = 0; i < impulse_.size(); ++i) impulse[i] = impulse_[theirs(i)];
    return success;
  }

 private:
  Given given_;
  pinocchio::DelassusOperatorDense delassus_;
  Settings settings_;
  Solver solver_;
  Result result_;
  Vector impulse_;
};

using Admm = Run<pinocchio::ADMMConstraintSolver, pinocchio::ADMMSolverSettings,
                 pinocchio::ADMMSolverResult>;
using Pgs =
    Run<pinocchio::PGSConstraintSolver, pinocchio::PGSSolverSettings, pinocchio::PGSSolverResult>;

class Pinocchio : public Peer {
 public:
  Pinocchio(const char* name, const char* method) : name_(name), method_(method) {}
  std::string name() const override { return name_; }
  std::string about() const override {
    return std::string("Pinocchio ") + PINOCCHIO_VERSION + ", " + method_;
  }

 protected:
  static bool takes(const PeerProblem& p) {
    return p.rows > 0 && only_isotropic_contacts(p) && symmetric(p);
  }

 private:
  const char *name_, *method_;
};

class PinocchioAdmm : public Pinocchio {
 public:
  PinocchioAdmm(const char* name, const char* method, pinocchio::ADMMUpdateRule rule, int anderson)
      : Pinocchio(name, method) {
    settings_.max_iterations = 10000;
    settings_.admm_update_rule = rule;
    settings_.anderson_capacity = std::size_t(anderson);
  }
  std::unique_ptr<Loaded> load(const PeerProblem& p) const override {
    if (!takes(p)) return nullptr;
    if (p.law != Law::coulomb && p.law != Law::convex) return nullptr;
    return std::make_unique<Admm>(p, settings_);
  }

 private:
  pinocchio::ADMMSolverSettings settings_;
};

class PinocchioPgs : public Pinocchio {
 public:
  using Pinocchio::Pinocchio;
  // It projects normal and tangents separately: Coulomb's law, not the convex one.
  std::unique_ptr<Loaded> load(const PeerProblem& p) const override {
    if (!takes(p) || p.law != Law::coulomb) return nullptr;
    pinocchio::PGSSolverSettings settings;
    settings.max_iterations = 10000;
    return std::make_unique<Pgs>(p, settings);
  }
};

}  // namespace
}  // namespace stickslip::bench

extern "C" void stickslip_peers(stickslip::compare::Peers* out) {
  using namespace stickslip::bench;
  using Rule = pinocchio::ADMMUpdateRule;
  out->push_back(std::make_unique<PinocchioAdmm>(
      "pinocchio_admm", "ADMM as by default, at most 10,000 iterations", Rule::OSQP, 0));
  out->push_back(std::make_unique<PinocchioAdmm>(
      "pinocchio_admm_aa", "ADMM, spectral rule, Anderson 10, at most 10,000 iterations",
      Rule::SPECTRAL, 10));
  out->push_back(std::make_unique<PinocchioPgs>("pinocchio_pgs", "PGS, at most 10,000 sweeps"));
}
