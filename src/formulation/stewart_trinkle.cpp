#include <cmath>
#include <string>

#include "kernels/cone/directions.hpp"
#include "src/api/check.hpp"
#include "stickslip/formulation.hpp"

namespace stickslip {

namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& expected, double got,
                         int env) {
  throw std::invalid_argument(name + ": expected " + expected + ", got " + std::to_string(got) +
                              " in environment " + std::to_string(env));
}

/// Numbers [first, first + size) of an environment; throws if one is not finite.
const double* finite(const EnvArray<const double>& array, int env, std::int64_t first,
                     std::int64_t size, const char* name) {
  const double* values = array.data + env * array.stride + first;
  for (std::int64_t i = 0; i < size; ++i) {
    if (!std::isfinite(values[i])) refuse(name, "finite numbers", values[i], env);
  }
  return values;
}

bool is_supported(std::int32_t directions) {
  return directions >= 2 && directions <= 64 && (directions & (directions - 1)) == 0;
}

void check_sizes(std::int32_t num_envs, std::int32_t nv, std::int32_t max_contacts,
                 std::int32_t directions) {
  require(num_envs >= 0, "num_envs", "a number >= 0", num_envs);
  require(nv >= 0, "nv", "a number >= 0", nv);
  require(max_contacts >= 0, "max_contacts", "a number >= 0", max_contacts);
  require(is_supported(directions), "directions", "2, 4, 8, 16, 32 or 64", directions);
}

void check_systems(const ContactSystems& s) {
  check_sizes(s.num_envs, s.nv, s.max_contacts, s.directions);
  if (!(s.dt > 0.0 && std::isfinite(s.dt))) {
    require(false, "dt", "a number > 0", s.dt);
  }
  if (s.num_envs == 0 || s.nv == 0) return;
  require_array(s.M, "M");
  require_array(s.tau, "tau");
  if (s.max_contacts == 0) return;
  require_array(s.N, "N");
  require_array(s.B, "B");
  require_array(s.mu, "mu");
}

/// One environment of eq. 12. Rows and columns: qdot+, f_n, f_d, lambda.
class Equation12 {
 public:
  Equation12(const ContactSystems& s, int env, int contacts, HostLcp& lcp)
      : s_(s), env_(env), p_(contacts), d_(s.directions), lcp_(lcp) {
    normal_ = s.nv;
    tangent_ = normal_ + p_;
    lambda_ = tangent_ + p_ * d_;
    lcp.rows(env) = lambda_ + p_;
    lcp.n_free(env) = s.nv;
  }

  void write() {
    write_dynamics();
    write_friction();
  }

 private:
  double& at(int i, int j) { return lcp_.M(env_)[std::int64_t(i) * lcp_.max_rows() + j]; }

  /// [M, -dt N, -dt B, 0], [N^T, 0, 0, 0], [B^T, 0, 0, .] and -tau*.
  void write_dynamics() {
    const int nv = s_.nv;
    const double* M = finite(s_.M, env_, 0, std::int64_t(nv) * nv, "M");
    const double* tau = finite(s_.tau, env_, 0, nv, "tau");
    for (int i = 0; i < nv; ++i) {
      for (int j = 0; j < nv; ++j) at(i, j) = M[i * nv + j];
      lcp_.q(env_)[i] = -tau[i];
    }
    const auto couple = [&](const EnvArray<const double>& block, const char* name, int row,
                            int first, int count, int columns) {
      const double* values = finite(block, env_, row * columns, count, name);
      for (int j = 0; j < count; ++j) {
        at(row, first + j) = -s_.dt * values[j];
        at(first + j, row) = values[j];
      }
    };
    for (int i = 0; i < nv; ++i) {
      couple(s_.N, "N", i, normal_, p_, s_.max_contacts);
      couple(s_.B, "B", i, tangent_, p_ * d_, s_.max_contacts * d_);
    }
  }

  /// E of eq. 10, -E^T and mu, scaled as section 5 proposes.
  void write_friction() {
    const double* mu = finite(s_.mu, env_, 0, p_, "mu");
    const double scale = s_.scaled ? s_.dt : 1.0;
    for (int j = 0; j < p_; ++j) {
      if (mu[j] < 0.0) refuse("mu", "numbers >= 0", mu[j], env_);
      at(lambda_ + j, normal_ + j) = scale * mu[j];
      for (int k = 0; k < d_; ++k) {
        at(tangent_ + j * d_ + k, lambda_ + j) = scale;
        at(lambda_ + j, tangent_ + j * d_ + k) = -scale;
      }
    }
  }

  const ContactSystems& s_;
  int env_, p_, d_;
  HostLcp& lcp_;
  int normal_, tangent_, lambda_;
};

}  // namespace

HostLcp stewart_trinkle(const ContactSystems& s) {
  check_systems(s);
  HostLcp lcp(s.num_envs, s.nv + s.max_contacts * (s.directions + 2));
  for (int env = 0; env < s.num_envs; ++env) {
    const int contacts = s.n_contacts.data == nullptr
                             ? s.max_contacts
                             : s.n_contacts.data[env * s.n_contacts.stride];
    if (contacts < 0 || contacts > s.max_contacts) {
      refuse("n_contacts", "0 to " + std::to_string(s.max_contacts), contacts, env);
    }
    Equation12(s, env, contacts, lcp).write();
  }
  return lcp;
}

ContactColumns contact_columns(std::int32_t num_envs, std::int32_t nv, std::int32_t max_contacts,
                               std::int32_t directions, EnvArray<const double> J) {
  check_sizes(num_envs, nv, max_contacts, directions);
  const std::int64_t size = std::int64_t(nv) * max_contacts;
  ContactColumns out{std::vector<double>(std::size_t(num_envs * size)),
                     std::vector<double>(std::size_t(num_envs * size * directions))};
  if (num_envs * size == 0) return out;
  require_array(J, "J");
  for (int env = 0; env < num_envs; ++env) {
    const double* rows = finite(J, env, 0, 3 * size, "J");
    double* N = &out.N[std::size_t(env * size)];
    double* B = &out.B[std::size_t(env * size * directions)];
    for (int j = 0; j < max_contacts; ++j) {
      const double *n = rows + 3 * j * nv, *t1 = n + nv, *t2 = t1 + nv;
      for (int i = 0; i < nv; ++i) {
        N[i * max_contacts + j] = n[i];
        for (int k = 0; k < directions; ++k) {
          const auto v = directions == 2 ? kernels::Direction{k == 0 ? 1.0 : -1.0, 0.0}
                                         : kernels::pyramid_direction(k, directions);
          B[(i * max_contacts + j) * directions + k] = v.c * t1[i] + v.s * t2[i];
        }
      }
    }
  }
  return out;
}

StackedSystems stack(std::int32_t num_envs, std::int32_t rows, const std::vector<System>& systems) {
  require(num_envs >= 0, "num_envs", "a number >= 0", num_envs);
  require(rows >= 0, "rows", "a number >= 0", rows);
  StackedSystems out;
  for (const System& s : systems) {
    require(s.nv >= 0, "systems.nv", "a number >= 0", s.nv);
    if (s.nv > 0 && num_envs > 0) {
      require_array(s.M, "systems.M");
      require_array(s.tau, "systems.tau");
      if (rows > 0) require_array(s.J, "systems.J");
    }
    out.nv += s.nv;
  }
  const std::size_t envs = std::size_t(num_envs), nv = std::size_t(out.nv);
  out.M.resize(envs * nv * nv);
  out.tau.resize(envs * nv);
  out.J.resize(envs * std::size_t(rows) * nv);
  for (int env = 0; env < num_envs; ++env) {
    std::size_t first = 0;  // degree of freedom
    const auto copy = [&](const EnvArray<const double>& from, int n_rows, int n, double* to) {
      const double* values = from.data + env * from.stride;
      for (int i = 0; i < n_rows; ++i) {
        std::copy(values + i * n, values + (i + 1) * n, to + std::size_t(i) * nv);
      }
    };
    for (const System& s : systems) {
      copy(s.M, s.nv, s.nv, out.M.data() + (std::size_t(env) * nv + first) * nv + first);
      copy(s.tau, s.nv > 0 ? 1 : 0, s.nv, out.tau.data() + std::size_t(env) * nv + first);
      copy(s.J, s.nv > 0 ? rows : 0, s.nv, out.J.data() + std::size_t(env * rows) * nv + first);
      first += std::size_t(s.nv);
    }
  }
  return out;
}

}  // namespace stickslip
