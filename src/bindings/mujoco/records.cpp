#include "src/bindings/mujoco/records.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "stickslip/info.hpp"

namespace stickslip::bindings {

using mujoco::BatchSim;

namespace {

template <class T>
nb::object copy(const T* data, std::initializer_list<std::size_t> shape) {
  return view(data, shape, nb::handle()).attr("copy")();
}

int checked_env(const BatchSim& sim, int env) {
  if (env < 0 || env >= sim.options().num_envs)
    throw nb::index_error(("env: expected 0 ... " + std::to_string(sim.options().num_envs - 1) +
                           ", got " + std::to_string(env))
                              .c_str());
  return env;
}

nb::object dense_J(const SparseMechanism& m) {
  const std::size_t n = m.rows, nv = m.tree.n;
  std::vector<double> J(n * nv);
  for (std::size_t i = 0; i < n; ++i)
    for (int k = m.J_row[i]; k < m.J_row[i + 1]; ++k) J[i * nv + m.J_col[k]] = m.J[k];
  return copy(J.data(), {n, nv});
}

nb::object dense_M(const SparseMechanism& m) {
  const std::size_t nv = m.tree.n;
  std::vector<double> M(nv * nv);
  for (std::size_t i = 0; i < nv; ++i)
    for (int c = 0; c < m.tree.row_nnz[i]; ++c) {
      const int k = m.tree.row_adr[i] + c, j = m.tree.col[k];
      M[i * nv + j] = M[j * nv + i] = m.M[k];
    }
  return copy(M.data(), {nv, nv});
}

}  // namespace

nb::list contacts(const BatchSim& sim, int env) {
  nb::list records;
  for (const auto& c : sim.contacts(checked_env(sim, env))) {
    nb::dict r;
    r["position"] = copy(c.position.data(), {3});
    r["frame"] = copy(c.frame.data(), {3, 3});
    r["force"] = copy(c.force.data(), {6});
    r["gap"] = c.gap;
    r["active"] = c.active;
    r["dim"] = c.dim;
    r["geoms"] = nb::make_tuple(c.geom[0], c.geom[1]);
    r["friction"] = copy(c.friction.data(), {std::size_t(c.dim - 1)});
    records.append(r);
  }
  return records;
}

nb::dict contact_arrays(const BatchSim& sim) {
  const auto all = sim.contacts();
  const std::size_t n = all.size();
  std::vector<std::int32_t> counts;
  for (const auto& records : all) counts.push_back(std::int32_t(records.size()));
  const std::size_t most = *std::max_element(counts.begin(), counts.end());
  std::vector<double> position(3 * n * most), frame(9 * n * most), force(6 * n * most),
      gap(n * most), friction(5 * n * most);
  std::vector<std::int32_t> dim(n * most), geoms(2 * n * most, -1);
  std::vector<std::uint8_t> active(n * most);
  for (std::size_t e = 0; e < n; ++e)
    for (std::size_t k = 0; k < all[e].size(); ++k) {
      const mujoco::ContactRecord& c = all[e][k];
      const std::size_t to = e * most + k;
      std::copy(c.position.begin(), c.position.end(), position.begin() + 3 * to);
      std::copy(c.frame.begin(), c.frame.end(), frame.begin() + 9 * to);
      std::copy(c.force.begin(), c.force.end(), force.begin() + 6 * to);
      std::copy_n(c.friction.begin(), c.dim - 1, friction.begin() + 5 * to);
      std::copy(c.geom.begin(), c.geom.end(), geoms.begin() + 2 * to);
      gap[to] = c.gap;
      dim[to] = c.dim;
      active[to] = c.active;
    }
  nb::dict d;
  d["count"] = copy(counts.data(), {n});
  d["active"] = copy(active.data(), {n, most}).attr("astype")("bool");
  d["position"] = copy(position.data(), {n, most, 3});
  d["frame"] = copy(frame.data(), {n, most, 3, 3});
  d["force"] = copy(force.data(), {n, most, 6});
  d["gap"] = copy(gap.data(), {n, most});
  d["dim"] = copy(dim.data(), {n, most});
  d["geoms"] = copy(geoms.data(), {n, most, 2});
  d["friction"] = copy(friction.data(), {n, most, 5});
  return d;
}

nb::dict problem(const BatchSim& sim, int env) {
  const auto p = sim.problem(checked_env(sim, env));
  const RowCounts s = *p.slot.counts;
  const std::size_t n = p.rows, nv = p.nv, ld = p.ld_W;
  std::size_t n_mu = 0;
  for (int c = 0; c < s.n_contacts; ++c) n_mu += p.slot.dims[c] - 1;
  nb::dict d;
  d["n_free"] = s.n_free;
  d["n_nonneg"] = s.n_nonneg;
  d["n_box"] = s.n_box;
  d["W"] = view(p.W, {n, n}, nb::handle(), {std::int64_t(ld), 1}).attr("copy")();
  d["b"] = copy(p.slot.b, {n});
  d["R"] = copy(p.slot.R, {n});
  d["mu"] = copy(p.slot.mu, {n_mu});
  d["dims"] = copy(p.slot.dims, {std::size_t(s.n_contacts)});
  d["lo"] = copy(p.slot.lo, {std::size_t(s.n_box)});
  d["hi"] = copy(p.slot.hi, {std::size_t(s.n_box)});
  d["warm_start"] = copy(p.warm_start, {n});
  d["selected"] = p.selected;
  d["start_selected"] = p.start_selected;
  d["impulse"] = copy(p.impulse, {n});
  d["status"] = p.status;
  d["residual"] = p.residual;
  d["iterations"] = p.iterations;
  d["solver"] = p.solver;
  d["J"] = dense_J(p.mechanism);
  d["M"] = dense_M(p.mechanism);
  d["a_free"] = copy(p.slot.a_free, {nv});
  d["efc_of"] = copy(p.slot.efc_of, {n});
  return d;
}

nb::dict timings(const BatchSim& sim) {
  const auto& t = sim.timings();
  nb::dict d;
  d["mujoco"] = t.mujoco;
  d["gather"] = t.gather;
  d["delassus"] = t.delassus;
  d["solve"] = t.solve;
  d["apply"] = t.apply;
  d["scatter"] = t.scatter;
  d["steps"] = t.steps;
  if (sim.options().backend == mujoco::Backend::cuda) {
    d["gpu_busy"] = t.gpu_busy;
    d["gpu_idle_share"] = t.gpu_steps > 0 ? std::max(0.0, 1.0 - t.gpu_busy / t.gpu_steps) : 0.0;
  }
  return d;
}

nb::dict statistics(const BatchSim& sim) {
  const auto& s = sim.statistics();
  nb::dict d;
  for (int i = 0; i < int(s.by_status.size()); ++i) d[name(EnvStatus(i))] = s.by_status[i];
  d["rungs"] = std::vector<std::int64_t>(s.by_rung.begin(), s.by_rung.end());
  d["second_solves"] = s.second_solves;
  d["repositioned"] = s.repositioned;
  d["ghosts"] = s.ghosts;
  d["culled"] = s.culled;
  d["taken_in"] = s.taken_in;
  return d;
}

}  // namespace stickslip::bindings
