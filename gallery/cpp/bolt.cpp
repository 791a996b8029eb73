// A bolt falls on a hole with a conical mouth and slides into the correct orientation. Document
// 004, Hotz et al., "Calculation of Contact Forces"; docs/gallery/bolt.md. Forces f follow from the
// gaps delta at the end of the step, s' = sigma(f), by its three methods (gallery/rigid/newton.cpp:
// eq. 3 to 5, gallery/rigid/velocity.cpp: eq. 6, 7) or to first order.
#include "gallery/cpp/bolt.hpp"

#include "gallery/cpp/gallery.hpp"

namespace stickslip::gallery {
namespace {

using Eigen::MatrixXd;
using rigid::Method;

constexpr double kEpsilon = 1e-10, kStep = 1e-3, kTime = 0.3;          // m, of gaps; s; s
constexpr double kSteps[] = {2e-3, 1e-3, 5e-4, 2.5e-4}, kEarly = 0.1;  // s, to compare motions
const std::string kName[] = {"linearised", "release", "Fischer", "fixpoint"};

// Of the tip, m; rad; J/kg, without the work of gap corrections; m; 1; largest pull so far, m/s.
enum Quantity { rho, z, tilt, energy, balance, penetration, solves, pull };
constexpr const char* kQuantity[] = {"rho",     "z",           "tilt",   "energy",
                                     "balance", "penetration", "solves", "pull"};

/// Results of one method: a row is a bolt, a column a time.
struct Fall {
  std::array<MatrixXd, std::size(kQuantity)> of;
  Largest unmet = {}, growth = {};   // eq. 4, m; of energy, J/kg
  double unsolved = 0., pulls = 0.;  // steps
};

void look(const rigid::Sim& sim, const rigid::System& system, double dt, int i, int t, Fall& fall) {
  const rigid::Body& b = sim.bodies(i)[0];
  const rigid::Energy e = sim.energy(i);
  const Vector3d axis = axis_of(b), tip = vec(b.pose.position) - (kHalf + kRound) * axis;
  fall.of[rho](i, t) = tip.head<2>().norm();
  fall.of[z](i, t) = tip.z();
  fall.of[tilt](i, t) = std::atan2(axis.head<2>().norm(), axis.z());
  fall.of[energy](i, t) = (e.kinetic + e.potential) / b.mass;
  fall.of[balance](i, t) = fall.of[energy](i, t) - e.correction / b.mass;
  fall.of[solves](i, t) = sim.rounds(i);
  fall.unsolved += sim.status(i) != EnvStatus::solved;
  // Eq. 4: 0 <= f, delta >= 0, one of them 0; f as dt f / m.
  double force = 0.;
  for (int k = 0; k < int(system.contacts.size()); ++k) {
    const double f = sim.contact_impulse(i, k)[0] / b.mass;
    const double delta = system.contacts[k].gap({}, b.pose).distance;
    fall.unmet(std::min(dt * std::abs(f), std::abs(delta)));
    fall.of[penetration](i, t) = std::max(fall.of[penetration](i, t), -delta);
    force = std::max(force, -f);
  }
  fall.of[pull](i, t) = std::max(force, t > 0 ? fall.of[pull](i, t - 1) : 0.);
  fall.pulls += force > 0.;
}

Fall run(Method method, const std::vector<rigid::System>& systems, double dt, double time) {
  const int n = int(systems.size()), steps = int(std::round(time / dt));
  rigid::SimOptions options{.time_step = dt, .method = method, .gap_tolerance = kEpsilon};
  options.solve = {.law = Law::pyramid, .solver = Solver::lemke, .atol = 1e-11, .rtol = 1e-11};
  rigid::Sim sim(systems, options);
  Fall fall;
  fall.of.fill(MatrixXd::Zero(n, steps + 1));
  for (int i = 0; i < n; ++i) look(sim, systems[i], dt, i, 0, fall);
  for (int t = 1; t <= steps; ++t) {
    std::vector<rigid::Body> before;
    for (int i = 0; i < n; ++i) before.push_back(sim.bodies(i)[0]);
    sim.step();
    for (int i = 0; i < n; ++i) {
      look(sim, systems[i], dt, i, t, fall);
      fall.growth(fall.of[balance](i, t) - fall.of[balance](i, t - 1) -
                  gyroscopic_work(before[i], sim.bodies(i)[0], dt));
    }
  }
  return fall;
}

void report(Method method, const Fall& fall, Record& record) {
  const std::string name = kName[int(method)] + ": ";
  const auto check = [&](const char* what, double value, double bound) {
    record.checks.push_back({name + what, value, bound});
  };
  const auto number = [&](const char* what, double x) {
    record.numbers.emplace_back(name + what, x);
  };
  const double steps = double(fall.of[solves].size() - fall.of[solves].rows());
  check("energy won in a step, J/kg", fall.growth, kEpsilon / kStep);
  if (method == Method::linearised) {
    number("penetration, mm", 1e3 * fall.of[penetration].maxCoeff());
  } else {
    check("steps not solved", fall.unsolved, 0.);
    check("penetration, m", fall.of[penetration].maxCoeff(), kEpsilon);
    check("dt f / m or delta, the smaller, m", fall.unmet, kEpsilon);
  }
  if (method == Method::release) {
    number("steps with a pull, %", 100. * fall.pulls / steps);
    number("largest pull, m/s", fall.of[pull].maxCoeff());
    number("bolts left in the cone", double((fall.of[z].rightCols<1>().array() > -kBore).count()));
  } else {
    check("pull, m/s", fall.of[pull].maxCoeff(), 0.);
    check("tilt at the end, rad", fall.of[tilt].rightCols<1>().maxCoeff(), kLoose / kHalf);
    check("tip from the axis at the end, m", fall.of[rho].rightCols<1>().maxCoeff(), kLooseTip);
    check("tip above the floor at the end, m", fall.of[z].rightCols<1>().maxCoeff() + kDepth, 1e-6);
  }
  number("solves per step", fall.of[solves].sum() / steps);
  for (int q = 0; q < pull; ++q) record.series.push_back(series(name + kQuantity[q], fall.of[q]));
}

/// Compares tips with those of the fixed-point method, for smaller and smaller steps.
void compare(const std::vector<rigid::System>& systems, Record& record) {
  MatrixXd median(3, std::size(kSteps));  // m, rows: methods
  Largest fischer, release;               // over the bound; release: before a contact pulled
  for (int d = 0; d < median.cols(); ++d) {
    const Fall right = run(Method::fixpoint, systems, kSteps[d], kEarly);
    for (const Method method : {Method::linearised, Method::release, Method::fischer}) {
      const Fall fall = run(method, systems, kSteps[d], kEarly);
      const Eigen::ArrayXXd apart =
          ((fall.of[rho] - right.of[rho]).cwiseAbs2() + (fall.of[z] - right.of[z]).cwiseAbs2())
              .cwiseSqrt();
      Eigen::ArrayXd far = apart.rowwise().maxCoeff();
      std::sort(far.begin(), far.end());
      median(int(method), d) = far[far.size() / 2];
      const double bound = kEpsilon * std::pow(kEarly / kSteps[d], 2);
      if (method == Method::fischer) fischer(far.maxCoeff() / bound);
      if (method == Method::release)
        release((fall.of[pull].array() == 0.).select(apart, 0.).maxCoeff() / bound);
    }
  }
  record.checks.push_back({"Fischer against fixpoint, over eps (T / dt)^2", fischer, 1.});
  record.checks.push_back({"release against fixpoint before a pull, over it", release, 1.});
  record.checks.push_back({"linearised against fixpoint, 0.25 ms over 2 ms",
                           median(0, 3) / median(0, 0), kSteps[3] / kSteps[0]});
  record.numbers.emplace_back("release against fixpoint at 2 ms, mm", 1e3 * median(1, 0));
  record.numbers.emplace_back("release against fixpoint at 0.25 ms, mm", 1e3 * median(1, 3));
  record.series.push_back(series("apart", median));
}

}  // namespace

Record bolt(int variations) {
  std::vector<rigid::System> systems;
  for (int i = 0; i < variations; ++i) systems.push_back(vary_bolt(i));
  Record record;
  for (const Method method :
       {Method::linearised, Method::release, Method::fischer, Method::fixpoint})
    report(method, run(method, systems, kStep, kTime), record);
  systems.resize(std::min(variations, 32));
  compare(systems, record);
  return record;
}

}  // namespace stickslip::gallery
