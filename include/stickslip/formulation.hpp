// Ways to write a contact problem as a linear complementarity problem: Stewart and Trinkle's
// matrices for articulated systems, and mixed problems as standard ones (docs/mathematics.md §16).
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "stickslip/host_lcp.hpp"

namespace stickslip {

/// Mixed LCPs without their free variables. A mixed problem, its free rows first,
///
///   D z_f + C x + r = 0,    0 <= B z_f + F x + a ⟂ x >= 0
///
/// is the standard problem 0 <= A x + q ⟂ x >= 0 with A = F - B D^-1 C and q = a - B D^-1 r, whose
/// solution gives the free variables z_f = T x + t, T = -D^-1 C and t = -D^-1 r. D need not be
/// symmetric. Free rows that repeat others (redundant joints) are dropped; their z_f stays 0.
class StandardForm {
 public:
  /// Eliminates the free variables. Throws std::invalid_argument (naming argument and environment)
  /// for bounds, for numbers that are not finite, and if D is singular and this affects the
  /// solution. `threads` 0: all cores. `go_on`: as in Workspace::watch.
  explicit StandardForm(const LcpBatch<double>& mixed, int threads = 0,
                        std::function<bool()> go_on = {});

  const HostLcp& problem() const { return problem_; }  ///< A and q
  HostLcp& problem() { return problem_; }
  std::int32_t n_free(int env) const { return n_free_[std::size_t(env)]; }
  std::int32_t max_free() const { return max_free_; }
  /// [n_free][problem().max_rows()] row-major; only the first problem().rows(env) columns are used.
  const double* T(int env) const { return t_slot(T_, env, problem_.max_rows()); }
  const double* t(int env) const { return t_slot(t_, env, 1); }

  /// Back-substitution: z = (T x + t, x) of every environment's mixed problem. Further entries of z
  /// are left unchanged; x and z must not overlap.
  void restore(EnvArray<const double> x, EnvArray<double> z) const;

 private:
  const double* t_slot(const std::vector<double>& array, int env, std::int32_t cols) const {
    return array.data() + std::size_t(env) * std::size_t(max_free_) * std::size_t(cols);
  }
  std::int32_t max_free_;
  HostLcp problem_;
  std::vector<std::int32_t> n_free_;
  std::vector<double> T_, t_;
};

/// Articulated systems in contact: one time step of M qdot+ = tau* + dt (N f_n + B f_d), tau* = M
/// qdot - dt (C - tau) (Tan, Siu & Liu, eq. 5 to 9). Matrices are row-major.
struct ContactSystems {
  std::int32_t num_envs = 0;
  std::int32_t nv = 0;            ///< degrees of freedom
  std::int32_t max_contacts = 0;  ///< p
  std::int32_t directions = 4;    ///< d: 2 (planar problems), 4, 8, 16, 32 or 64
  double dt = 0.0;                ///< s, > 0
  /// Scales E, in both places, and mu by dt, so that entries have similar sizes; the forces are the
  /// same, lambda / dt.
  bool scaled = false;
  EnvArray<const std::int32_t> n_contacts{};  ///< contacts in use; absent: max_contacts
  EnvArray<const double> M{};                 ///< [nv][nv] kg (translational)
  EnvArray<const double> tau{};               ///< [nv] tau*, N s
  EnvArray<const double> N{};   ///< [nv][max_contacts] column j: J_j^T n_j, n into the first body
  EnvArray<const double> B{};   ///< [nv][max_contacts d] columns j d + k: J_j^T d_k
  EnvArray<const double> mu{};  ///< [max_contacts] >= 0
};

/// Their mixed LCP (eq. 12) in z = (qdot+, f_n, f_d, lambda), qdot+ free; forces in N. StandardForm
/// converts it to eq. 14; `LcpOptions::cfm` on that is the CFM of section 5. Throws
/// std::invalid_argument for missing arrays, impossible sizes, mu < 0 and numbers that are not
/// finite.
HostLcp stewart_trinkle(const ContactSystems& systems);

/// N and B of a batch, computed from Jacobians of the contacts.
struct ContactColumns {
  std::vector<double> N;  ///< [num_envs][nv][max_contacts]
  std::vector<double> B;  ///< [num_envs][nv][max_contacts directions]
};

/// J [max_contacts * 3][nv] has rows (n, t1, t2) per contact; d = 2 directions use only t1; d
/// directions lie at 2 pi k / d from t1 towards t2. Throws std::invalid_argument as above.
ContactColumns contact_columns(std::int32_t num_envs, std::int32_t nv, std::int32_t max_contacts,
                               std::int32_t directions, EnvArray<const double> J);

/// One of several articulated systems that touch each other.
struct System {
  std::int32_t nv = 0;
  EnvArray<const double> M{};    ///< [nv][nv]
  EnvArray<const double> tau{};  ///< [nv] tau*
  /// [rows][nv] Jacobian of every contact of the stack: that of the system's point if the normal
  /// points into it, its negative if the normal points out, zero if the system does not touch.
  EnvArray<const double> J{};
};

/// Systems stacked in one problem (eq. 7): M is block diagonal.
struct StackedSystems {
  std::int32_t nv = 0;
  std::vector<double> M, tau, J;  ///< [num_envs][nv][nv], [num_envs][nv], [num_envs][rows][nv]
};

/// Throws std::invalid_argument for negative sizes and missing arrays.
StackedSystems stack(std::int32_t num_envs, std::int32_t rows, const std::vector<System>& systems);

}  // namespace stickslip
