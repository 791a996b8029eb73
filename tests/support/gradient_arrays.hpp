// Arrays of losses, changes and derivatives of a batch, in host or device memory.
#pragma once
#include <vector>

#include "stickslip/gradient.hpp"
#include "tests/support/random.hpp"

namespace stickslip::support {

/// Hands out the slots of one piece of memory, one array after the other.
template <class T>
class Slots {
 public:
  Slots(T* base, int envs) : base_(base), envs_(envs) {}
  EnvArray<T> take(int width) {
    T* const place = base_ + used_;
    used_ += std::size_t(envs_) * std::size_t(width);
    return {place, width};
  }

 private:
  T* base_;
  int envs_;
  std::size_t used_ = 0;
};

/// Sizes of a batch; every view is made of one piece of memory of `numbers()` numbers and one of
/// 2 envs doubles.
struct GradientSizes {
  int envs, rows, nv;

  std::size_t numbers() const {
    return std::size_t(envs) * std::size_t(rows * (6 + rows + nv) + nv * (3 + nv));
  }
  GradientReport report(double* reals, GradientStatus* status) const {
    return {status, reals, reals + envs};
  }
  template <class Scalar>
  StepGradient<Scalar> gradient(Scalar* base, double* reals, GradientStatus* status) const {
    Slots<Scalar> slots(base, envs);
    StepGradient<Scalar> out;
    out.contacts.b = slots.take(rows);
    out.contacts.W = slots.take(rows * rows);
    out.contacts.mu = slots.take(rows);
    out.contacts.R = slots.take(rows);
    out.contacts.lo = slots.take(rows);
    out.contacts.hi = slots.take(rows);
    out.contacts.report = report(reals, status);
    if (nv == 0) return out;
    out.adjoint = slots.take(nv);
    out.v_free = slots.take(nv);
    out.M = slots.take(nv * nv);
    out.J = slots.take(rows * nv);
    return out;
  }
  template <class Scalar>
  SolutionChange<Scalar> solution_change(Scalar* base, double* reals,
                                         GradientStatus* status) const {
    Slots<Scalar> slots(base, envs);
    const EnvArray<Scalar> impulse = slots.take(rows), velocity = slots.take(rows);
    return {impulse, velocity, report(reals, status)};
  }
  template <class Scalar>
  StepLoss<Scalar> loss(const Scalar* base) const {
    Slots<const Scalar> slots(base, envs);
    StepLoss<Scalar> loss;
    loss.contacts.impulse = slots.take(rows);
    loss.contacts.velocity = slots.take(rows);
    if (nv > 0) loss.v_next = slots.take(nv);
    return loss;
  }
  template <class Scalar>
  ChangeBatch<Scalar> change(const Scalar* base) const {
    Slots<const Scalar> slots(base, envs);
    ChangeBatch<Scalar> change;
    change.b = slots.take(rows);
    change.W = slots.take(rows * rows);
    change.mu = slots.take(rows);
    change.R = slots.take(rows);
    change.lo = slots.take(rows);
    change.hi = slots.take(rows);
    return change;
  }
};

/// Random numbers for a loss or a change.
template <class Scalar>
std::vector<Scalar> random_numbers(std::size_t count) {
  Random random(4711);
  std::vector<Scalar> numbers(count);
  for (Scalar& x : numbers) x = Scalar(random.uniform(-1.0, 1.0));
  return numbers;
}

/// All numbers that a call wrote.
template <class Scalar>
struct Written {
  std::vector<Scalar> numbers;
  std::vector<double> reals;
  std::vector<GradientStatus> status;

  explicit Written(const GradientSizes& s)
      : numbers(s.numbers()), reals(2 * std::size_t(s.envs)), status(std::size_t(s.envs)) {}
  bool operator==(const Written&) const = default;
};

}  // namespace stickslip::support
