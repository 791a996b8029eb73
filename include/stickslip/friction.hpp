// Friction that is given with one coefficient per contact, which all of its tangential rows get.
#pragma once
#include "stickslip/batch.hpp"

namespace stickslip {

/// Writes ProblemBatch::mu of all environments, `rows` [sum(dims - 1)], from `contacts`
/// [max_contacts]. Of `problem`, counts and dims are read. An environment that does not fit its
/// slot gets nothing. Throws std::invalid_argument, naming the argument.
template <class Scalar>
void spread_friction(const ProblemBatch<Scalar>& problem, EnvArray<const Scalar> contacts,
                     EnvArray<Scalar> rows);

/// The transpose, for derivatives: `contacts` [max_contacts] are sums over their tangential rows, 0
/// for contacts that an environment does not have.
template <class Scalar>
void sum_friction(const ProblemBatch<Scalar>& problem, EnvArray<const Scalar> rows,
                  EnvArray<Scalar> contacts);

}  // namespace stickslip
