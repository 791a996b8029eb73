// Friction of a bound problem with one coefficient per contact: kernels read one per tangential
// row.
#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "src/bindings/any_array.hpp"
#include "src/bindings/bound_call.hpp"
#include "stickslip/friction.hpp"
#include "stickslip/gradient.hpp"

namespace stickslip::bindings {

/// Memory of the host, with zeros, or of a GPU.
template <class Scalar>
std::shared_ptr<Scalar> memory_at(Place place, std::size_t count) {
  if (place.on_host()) {
    const auto numbers = std::make_shared<std::vector<Scalar>>(count);
    return {numbers, numbers->data()};
  }
  const cuda::DeviceScope device(place.gpu);
  const auto buffer = std::make_shared<cuda::Buffer>(count * sizeof(Scalar));
  return {buffer, static_cast<Scalar*>(buffer->data())};
}

/// The coefficients of rows and the derivatives by them, in memory of their own.
template <class Scalar>
class ContactFriction {
 public:
  /// Of a problem that has the coefficients of rows: there is nothing to do.
  ContactFriction() = default;
  /// `problem.mu` has those of contacts, and becomes the memory of those of `rows` rows.
  ContactFriction(ProblemBatch<Scalar>& problem, std::int64_t rows, Place place)
      : place_(place), contacts_(problem.mu) {
    const std::int64_t count = problem.num_envs * rows;
    memory_ = memory_at<Scalar>(place, std::size_t(2 * count));
    rows_ = {memory_.get(), rows};
    derivatives_ = {memory_.get() + count, rows};
    problem.mu = {rows_.data, rows};
    problem_ = problem;
  }

  /// To call before what reads `problem.mu`.
  Call spread() const {
    if (memory_ == nullptr) return {};
    return [*this](cuda::Stream stream) {
      if (place_.on_host()) return spread_friction(problem_, contacts_, rows_);
      const cuda::DeviceScope current(place_.gpu);
      cuda::spread_friction(problem_, contacts_, rows_, stream);
    };
  }
  /// `gradient.mu` becomes the memory of the derivatives by rows. To call after they are written:
  /// their sums go where it was.
  Call sum_of(GradientBatch<Scalar>& gradient) const {
    if (memory_ == nullptr) return {};
    const EnvArray<Scalar> to = std::exchange(gradient.mu, derivatives_);
    const EnvArray<const Scalar> from{derivatives_.data, derivatives_.stride};
    return [*this, to, from](cuda::Stream stream) {
      if (place_.on_host()) return sum_friction(problem_, from, to);
      const cuda::DeviceScope current(place_.gpu);
      cuda::sum_friction(problem_, from, to, stream);
    };
  }

 private:
  Place place_;
  std::shared_ptr<Scalar> memory_;
  ProblemBatch<Scalar> problem_;
  EnvArray<const Scalar> contacts_;
  EnvArray<Scalar> rows_, derivatives_;
};

}  // namespace stickslip::bindings
