// MuJoCo's Newton, CG and PGS (Google DeepMind, Apache 2.0; PyPI `mujoco`) on problems of the law
// `convex`. MuJoCo solves in joint space, so each problem is given a mechanism:
//
//   W = J J^T with M = I: J from the eigenvectors of W, one unit mass on a slider per column,
//
// no gravity, no velocity. Dummies of each kind make the rows (joint equalities, friction loss,
// contacts of dimension 1 and more); then J, R, aref = -b, bounds and friction are overwritten.
// mj_fwdConstraint is timed. The mechanism is smaller than the robots from which the problems may
// come (nv is the rank of W, M diagonal), but J is dense, which is MuJoCo's own choice for nv < 60.
//
// MuJoCo's solvers have no success flag: stopping before the last iteration counts as a claim.
#include <mujoco/mujoco.h>

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>

#include "bench/compare/peers/adapter.hpp"

namespace stickslip::bench {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct Settings {
  mjtSolver solver;
  int iterations;
  double tolerance;  ///< of costs; 0: the square of the problem's, as costs are quadratic
};

/// J [rows][rank] with J J^T = W, without eigenvalues of the size of rounding.
Matrix root_of(const PeerProblem& p) {
  const Eigen::Map<const Matrix> W(p.W, p.rows, p.rows);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(0.5 * (W + W.transpose()));
  const Eigen::VectorXd values = eigen.eigenvalues();
  const double least = 1e-14 * values.cwiseAbs().maxCoeff();
  const auto rank = (values.array() > least).count();
  return eigen.eigenvectors().rightCols(rank) *
         values.tail(rank).cwiseSqrt().asDiagonal().toDenseMatrix();
}

/// Whether MuJoCo can express it: W symmetric, R > 0 everywhere, symmetric bounds, and in a contact
/// the compliances of the tangents that match its friction (R_j mu_j^2 the same for all), as its
/// cone requires.
bool expressible(const PeerProblem& p) {
  if (p.law != Law::convex || p.rows == 0 || !symmetric(p)) return false;
  for (int i = 0; i < p.rows; ++i) {
    if (!(p.R[i] >= mjMINVAL)) return false;
  }
  for (int i = 0; i < p.counts.n_box; ++i) {
    if (!(p.hi[i] > 0 && p.lo[i] == -p.hi[i] && std::isfinite(p.hi[i]))) return false;
  }
  const double* mu = p.mu;
  const double* R = p.R + p.counts.n_free + p.counts.n_nonneg + p.counts.n_box;
  for (int c = 0; c < p.counts.n_contacts; ++c) {
    for (int j = 0; j < p.dims[c] - 1; ++j) {
      if (!(mu[j] >= mjMINMU)) return false;
      const double here = R[j + 1] * mu[j] * mu[j], first = R[1] * mu[0] * mu[0];
      if (!(std::abs(here - first) <= 1e-9 * first)) return false;
    }
    mu += p.dims[c] - 1;
    R += p.dims[c];
  }
  return true;
}

/// Unit masses on sliders along z; as many joint equalities and friction losses as needed.
mjModel* make_model(int nv, const RowCounts& counts, const Settings& settings, double tolerance) {
  mjSpec* spec = mj_makeSpec();
  spec->option.gravity[2] = 0;
  spec->option.cone = mjCONE_ELLIPTIC;
  spec->option.jacobian = mjJAC_DENSE;
  spec->option.solver = settings.solver;
  spec->option.iterations = settings.iterations;
  spec->option.tolerance = settings.tolerance > 0 ? settings.tolerance : tolerance * tolerance;
  spec->option.disableflags |= mjDSBL_WARMSTART | mjDSBL_ISLAND;
  for (int i = 0; i < nv; ++i) {
    mjsBody* body = mjs_addBody(mjs_findBody(spec, "world"), nullptr);
    body->mass = 1;
    body->explicitinertial = 1;
    std::fill_n(body->inertia, 3, 1.0);
    mjsJoint* joint = mjs_addJoint(body, nullptr);
    joint->type = mjJNT_SLIDE;
    joint->frictionloss = i < counts.n_box ? 1.0 : 0.0;
    mjs_setName(joint->element, std::to_string(i).c_str());
    if (i > 0) continue;  // the contacts' geom
    mjsGeom* geom = mjs_addGeom(body, nullptr);
    geom->size[0] = 0.1;
  }
  mjs_addGeom(mjs_findBody(spec, "world"), nullptr)->size[0] = 0.1;
  for (int i = 0; i < counts.n_free; ++i) {
    mjsEquality* equality = mjs_addEquality(spec, nullptr);
    equality->type = mjEQ_JOINT;
    mjs_setString(equality->name1, std::to_string(i % nv).c_str());
  }
  mjModel* model = mj_compile(spec, nullptr);
  mj_deleteSpec(spec);
  return model;
}

class MujocoLoaded : public Loaded {
 public:
  MujocoLoaded(const PeerProblem& p, const Settings& settings) : rows_(p.rows) {
    Matrix J = root_of(p);
    const auto rank = J.cols();
    const int nv = std::max({1, int(rank), p.counts.n_box});  // friction loss: one per joint
    J.conservativeResize(Eigen::NoChange, nv);
    J.rightCols(nv - rank).setZero();
    m_ = make_model(nv, p.counts, settings, p.tolerance);
    d_ = m_ == nullptr ? nullptr : mj_makeData(m_);
    if (d_ == nullptr) return;
    make_rows(p);
    ok_ = d_->nefc == p.rows;
    if (!ok_) return;
    overwrite(p, J);
    mj_projectConstraint(m_, d_);
  }
  ~MujocoLoaded() override {
    if (d_ != nullptr) mj_deleteData(d_);
    if (m_ != nullptr) mj_deleteModel(m_);
  }
  bool ok() const { return ok_; }

  bool solve(double* impulse) override {
    mj_fwdConstraint(m_, d_);
    for (int i = 0; i < rows_; ++i) impulse[i] = d_->efc_force[theirs_[std::size_t(i)]];
    return d_->solver_niter[0] < m_->opt.iterations;
  }

 private:
  void make_rows(const PeerProblem& p) {
    mj_kinematics(m_, d_);
    mj_comPos(m_, d_);
    mj_makeM(m_, d_);
    mj_factorM(m_, d_);
    mjContact contact = {};
    contact.dist = -0.01;
    contact.frame[2] = contact.frame[3] = contact.frame[7] = 1;  // normal along the slider
    contact.geom[0] = contact.geom1 = 0;
    contact.geom[1] = contact.geom2 = 1;
    std::fill_n(contact.flex, 2, -1);
    std::fill_n(contact.elem, 2, -1);
    std::fill_n(contact.vert, 2, -1);
    mju_copy(contact.solref, m_->opt.o_solref, mjNREF);
    mju_copy(contact.solimp, m_->opt.o_solimp, mjNIMP);
    contact.dim = 1;
    for (int i = 0; i < p.counts.n_nonneg; ++i) mj_addContact(m_, d_, &contact);
    const double* mu = p.mu;
    for (int c = 0; c < p.counts.n_contacts; ++c) {
      contact.dim = p.dims[c];
      std::copy_n(mu, contact.dim - 1, contact.friction);
      mj_addContact(m_, d_, &contact);
      mu += contact.dim - 1;
    }
    mj_makeConstraint(m_, d_);
    // Order in MuJoCo: equalities, friction loss, contacts; ours: free, nonneg, box, blocks.
    const auto [n_free, n_nonneg, n_box, n_contacts] = p.counts;
    for (int i = 0; i < p.rows; ++i) {
      const bool nonneg = i >= n_free && i < n_free + n_nonneg;
      const bool box = i >= n_free + n_nonneg && i < n_free + n_nonneg + n_box;
      theirs_.push_back(nonneg ? i + n_box : box ? i - n_nonneg : i);
    }
  }

  void overwrite(const PeerProblem& p, const Matrix& J) {
    const int first_box = p.counts.n_free + p.counts.n_nonneg;
    for (int i = 0; i < rows_; ++i) {
      const int k = theirs_[std::size_t(i)];
      std::copy_n(J.row(i).data(), m_->nv, d_->efc_J + std::ptrdiff_t(k) * m_->nv);
      d_->efc_aref[k] = -p.b[i];
      d_->efc_R[k] = p.R[i];
      d_->efc_D[k] = 1 / p.R[i];
      if (i >= first_box && i < first_box + p.counts.n_box)
        d_->efc_frictionloss[k] = p.hi[i - first_box];
    }
    for (int c = p.counts.n_nonneg; c < d_->ncon; ++c) {
      mjContact& contact = d_->contact[c];
      const double* R = d_->efc_R + contact.efc_address;
      contact.mu = contact.friction[0] * std::sqrt(R[1] / R[0]);
    }
    mju_zero(d_->qacc_smooth, int(m_->nv));
    mju_zero(d_->qfrc_smooth, int(m_->nv));
  }

  int rows_;
  mjModel* m_ = nullptr;
  mjData* d_ = nullptr;
  bool ok_ = false;
  std::vector<int> theirs_;  ///< MuJoCo's index of our row
};

class Mujoco : public Peer {
 public:
  Mujoco(const char* name, const char* method, Settings settings)
      : name_(name), method_(method), settings_(settings) {}
  std::string name() const override { return name_; }
  std::string about() const override {
    return std::string("MuJoCo ") + mj_versionString() + ", " + method_;
  }
  std::unique_ptr<Loaded> load(const PeerProblem& p) const override {
    if (!expressible(p)) return nullptr;
    auto loaded = std::make_unique<MujocoLoaded>(p, settings_);
    if (!loaded->ok()) return nullptr;
    return loaded;
  }

 private:
  const char *name_, *method_;
  Settings settings_;
};

}  // namespace
}  // namespace stickslip::bench

extern "C" void stickslip_peers(stickslip::compare::Peers* out) {
  using stickslip::bench::Mujoco;
  const auto add = [&](const char* name, const char* method, stickslip::bench::Settings settings) {
    out->push_back(std::make_unique<Mujoco>(name, method, settings));
  };
  add("mujoco_newton_default", "Newton, tolerance 1e-8, 100 iterations", {mjSOL_NEWTON, 100, 1e-8});
  add("mujoco_newton", "Newton, tolerance squared, 100 iterations", {mjSOL_NEWTON, 100, 0});
  add("mujoco_cg", "CG, tolerance squared, 10,000 iterations", {mjSOL_CG, 10000, 0});
  add("mujoco_pgs", "PGS, tolerance squared, 10,000 sweeps", {mjSOL_PGS, 10000, 0});
}
