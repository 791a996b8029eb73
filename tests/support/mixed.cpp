#include "tests/support/mixed.hpp"

#include "tests/support/random.hpp"

namespace stickslip::support {
namespace {

void draw_shape(Problem& p, const MixedOptions& options, Random& random) {
  p.counts.n_free = random.integer(options.max_rows_per_kind + 1);
  p.counts.n_nonneg = random.integer(options.max_rows_per_kind + 1);
  p.counts.n_box = random.integer(options.max_rows_per_kind + 1);
  p.counts.n_contacts = random.integer(options.max_contacts + 1);
  for (int k = 0; k < p.counts.n_contacts; ++k) {
    constexpr int dims[] = {3, 4, 6};
    p.dims.push_back(dims[random.integer(3)]);
  }
  if (!options.contacts_alone) return;
  p.counts.n_free = p.counts.n_nonneg = p.counts.n_box = 0;
  p.dims.assign(p.dims.size(), 3);
}

/// Sliding coefficients of the order of 1, torsion and rolling in metres.
void draw_friction(Problem& p, Random& random) {
  std::vector<double> mu;
  for (int dim : p.dims) {
    const bool smooth = random.chance(0.1);
    const double slide = random.uniform(0.1, 1.0);
    const double other = random.chance(0.5) ? slide : random.uniform(0.1, 1.0);
    for (int j = 1; j < dim; ++j) {
      const double value = j == 1 ? slide : j == 2 ? other : random.uniform(0.01, 0.1);
      mu.push_back(smooth || random.chance(0.1) ? 0.0 : value);
    }
  }
  p.mu = Eigen::Map<Vector>(mu.data(), Eigen::Index(mu.size()));
}

void draw_bounds(Problem& p, Random& random) {
  p.lo.resize(p.counts.n_box);
  p.hi.resize(p.counts.n_box);
  for (int i = 0; i < p.counts.n_box; ++i) {
    p.hi[i] = random.uniform(-0.2, 1.0);
    p.lo[i] = p.hi[i] - (random.chance(0.1) ? 0.0 : random.uniform(0.0, 1.5));
  }
}

/// Adds a gap velocity to the rows that may open: then v = 0 satisfies every row strictly, which is
/// enough for a solution to exist (Acary, Cadoux, Lemarechal, Malick 2011).
void open_gaps(Problem& p, Random& random) {
  int row = p.counts.n_free;
  for (int i = 0; i < p.counts.n_nonneg; ++i) p.b[row + i] += random.uniform(0.01, 0.5);
  row += p.counts.n_nonneg + p.counts.n_box;
  for (int dim : p.dims) {
    p.b[row] += random.uniform(0.01, 0.5);
    row += dim;
  }
}

}  // namespace

Scene make_mixed(int index, const MixedOptions& options) {
  Random random(0x6d69786564ULL + std::uint64_t(index));
  Scene scene;
  Problem& p = scene.problem;
  draw_shape(p, options, random);
  draw_friction(p, random);
  draw_bounds(p, random);
  const int n = reference::rows(p);
  const int nv = options.full_rank ? 2 * n + 1 : 1 + random.integer(n + 4);
  scene.inverse_mass.resize(nv);
  scene.v_free.resize(nv);
  scene.J.resize(n, nv);
  for (double& x : scene.inverse_mass) x = random.uniform(0.5, 2.0);
  for (double& x : scene.v_free) x = random.normal();
  for (int i = 0; i < n; ++i) {
    const double size = random.chance(0.2) ? 0.05 : 1.0;
    for (int j = 0; j < nv; ++j) scene.J(i, j) = random.chance(0.3) ? 0.0 : size * random.normal();
  }
  p.R = Vector::Zero(n);
  for (double& x : p.R) {
    if (random.chance(options.compliant)) x = random.uniform(0.0, 0.5);
  }
  form_problem(scene);
  open_gaps(p, random);
  return scene;
}

std::vector<Problem> make_mixed_problems(int count, const MixedOptions& options) {
  std::vector<Problem> problems;
  for (int i = 0; i < count; ++i) problems.push_back(make_mixed(i, options).problem);
  return problems;
}

}  // namespace stickslip::support
