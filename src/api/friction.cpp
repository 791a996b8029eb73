#include "stickslip/friction.hpp"

#include "kernels/problem/contact_friction.hpp"
#include "src/api/check.hpp"

namespace stickslip {

template <class Scalar>
void check_friction(const ProblemBatch<Scalar>& p, const EnvArray<const Scalar>& from,
                    const EnvArray<Scalar>& to, const char* from_name, const char* to_name) {
  require(p.num_envs >= 0, "problem.num_envs", "a number >= 0", p.num_envs);
  if (p.num_envs == 0 || p.max_contacts == 0) return;
  require_array(p.counts, "problem.counts");
  require_array(from, from_name);
  require_array(to, to_name);
}

template <class Scalar>
void spread_friction(const ProblemBatch<Scalar>& problem, EnvArray<const Scalar> contacts,
                     EnvArray<Scalar> rows) {
  check_friction(problem, contacts, rows, "contacts", "rows");
  for (std::int64_t env = 0; env < problem.num_envs; ++env)
    kernels::spread_friction(problem, contacts, rows, env);
}

template <class Scalar>
void sum_friction(const ProblemBatch<Scalar>& problem, EnvArray<const Scalar> rows,
                  EnvArray<Scalar> contacts) {
  check_friction(problem, rows, contacts, "rows", "contacts");
  for (std::int64_t env = 0; env < problem.num_envs; ++env)
    kernels::sum_friction(problem, rows, contacts, env);
}

#define SS_INSTANTIATE(Scalar)                                                             \
  template void check_friction(const ProblemBatch<Scalar>&, const EnvArray<const Scalar>&, \
                               const EnvArray<Scalar>&, const char*, const char*);         \
  template void spread_friction(const ProblemBatch<Scalar>&, EnvArray<const Scalar>,       \
                                EnvArray<Scalar>);                                         \
  template void sum_friction(const ProblemBatch<Scalar>&, EnvArray<const Scalar>, EnvArray<Scalar>);
SS_INSTANTIATE(double)
SS_INSTANTIATE(float)
#undef SS_INSTANTIATE

}  // namespace stickslip
