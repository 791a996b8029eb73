#include "src/mujoco/derivative/tangent_space.hpp"

namespace stickslip::mujoco {
namespace {

struct Quaternion {
  mjtNum T[9], S[9];
};

// Calls single(i) for dofs that are lengths or angles, rotation(i, quaternion) for the first of
// three that are a rotation.
template <class F, class G>
void for_dofs(const mjModel* m, const double* v, F single, G rotation) {
  for (int j = 0; j < m->njnt; ++j) {
    const int type = m->jnt_type[j], first = m->jnt_dofadr[j];
    const int singles = type == mjJNT_FREE ? 3 : type == mjJNT_BALL ? 0 : 1;
    for (int i = first; i < first + singles; ++i) single(i);
    if (type != mjJNT_FREE && type != mjJNT_BALL) continue;
    Quaternion of{};
    mjd_quatIntegrate(v + first + singles, m->opt.timestep, of.T, of.S, nullptr);
    rotation(first + singles, of);
  }
}

void add_transposed(const mjtNum* A, double scale, const double* x, double* y) {
  mjtNum product[3];
  mju_mulMatTVec(product, A, x, 3, 3);
  mju_addToScl(y, product, scale, 3);
}

}  // namespace

void add_velocity_part_transposed(const mjModel* m, const double* v, const double* g_q,
                                  double* g_v) {
  const double h = m->opt.timestep;
  for_dofs(
      m, v, [&](int i) { g_v[i] += h * g_q[i]; },
      [&](int i, const Quaternion& of) { add_transposed(of.S, h, g_q + i, g_v + i); });
}

void add_position_part_transposed(const mjModel* m, const double* v, const double* g_q, double* g) {
  for_dofs(
      m, v, [&](int i) { g[i] += g_q[i]; },
      [&](int i, const Quaternion& of) { add_transposed(of.T, 1.0, g_q + i, g + i); });
}

void move_positions(const mjModel* m, const double* v, const double* dq, const double* dv,
                    double* to) {
  const double h = m->opt.timestep;
  for_dofs(
      m, v, [&](int i) { to[i] = (dq ? dq[i] : 0.0) + h * dv[i]; },
      [&](int i, const Quaternion& of) {
        mjtNum turned[3] = {0, 0, 0};
        if (dq) mju_mulMatVec3(turned, of.T, dq + i);
        mju_mulMatVec3(to + i, of.S, dv + i);
        for (int k = 0; k < 3; ++k) to[i + k] = turned[k] + h * to[i + k];
      });
}

}  // namespace stickslip::mujoco
