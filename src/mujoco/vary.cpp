// Values of the model that each environment has for itself.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>

#include "src/mujoco/batch_sim.hpp"
#include "src/mujoco/step/sim_batch.hpp"

namespace stickslip::mujoco {
namespace {

constexpr std::array<std::string_view, 4> kFloatFields = {"geom_rgba", "site_rgba", "mat_rgba",
                                                          "tendon_rgba"};

// Fields of which no number may be negative, and those of which numbers that are positive in the
// model must be so in every environment.
constexpr std::array<std::string_view, 7> kNotNegative = {
    "geom_friction", "pair_friction",    "geom_margin",        "pair_margin",
    "dof_armature",  "dof_frictionloss", "tendon_frictionloss"};
constexpr std::array<std::string_view, 3> kPositive = {"body_mass", "body_inertia", "geom_size"};

bool is_in(const auto& names, std::string_view field) {
  return std::find(names.begin(), names.end(), field) != names.end();
}

// What is expected instead of values[i], or null. `before`: the model's own value, or that of an
// earlier call.
const char* expected_instead(std::string_view field, double before, const double* values,
                             std::int64_t i) {
  if (!std::isfinite(values[i])) return "finite numbers for ";
  if (is_in(kPositive, field) && before > 0 && values[i] <= 0) return "numbers > 0 for ";
  if (is_in(kNotNegative, field) && values[i] < 0) return "numbers >= 0 for ";
  if (field.ends_with("_quat") && i % 4 == 3 &&
      std::all_of(values + i - 3, values + i + 1, [](double x) { return x == 0; }))
    return "quaternions other than 0 for ";
  if (field == "body_inertia" && i % 3 == 2) {
    const double *I = values + i - 2, most = std::max({I[0], I[1], I[2]});
    if (2 * most > (I[0] + I[1] + I[2]) * (1 + 1e-9)) return "A + B >= C for ";
  }
  return nullptr;
}

template <class Real>
void check_values(const std::string& field, const Real* before, const double* values,
                  std::int64_t num_envs, std::int64_t size) {
  for (std::int64_t i = 0; i < num_envs * size; ++i) {
    const char* expected = expected_instead(field, before[i], values, i);
    if (!expected) continue;
    throw std::invalid_argument("values: expected " + (expected + field) + ", got " +
                                std::to_string(values[i]) + " in environment " +
                                std::to_string(i / size));
  }
}

// For the message about an unknown field: mjModel's structs have a dot in front of their fields.
std::string spelling(const std::string& field) {
  return field.starts_with("opt_") ? " (write opt." + field.substr(4) + ")" : "";
}

}  // namespace

void BatchSim::vary(const std::string& field, const double* values, std::int64_t size) {
  const auto turn = impl_->caller.enter();
  if (impl_->contact_models.vary(field, values, size)) {
    impl_->begin_states.clear();  // the latest step cannot be repeated
    return;
  }
  mjBatch* b = impl_->batch.get();
  int expected = 0, bytes = 0;
  void* data = mjb_expand(b, field.c_str(), &expected, &bytes);
  const bool floats = is_in(kFloatFields, field);
  if (!data || bytes != int(floats ? sizeof(float) : sizeof(mjtNum)))
    throw std::invalid_argument(
        "field: expected an array of real numbers of mjModel that MuJoCo can vary, got " + field +
        spelling(field));
  if (size != expected)
    throw std::invalid_argument("values: expected " + std::to_string(expected) +
                                " numbers per environment for " + field + ", got " +
                                std::to_string(size));
  const std::int64_t num_envs = impl_->options.num_envs;
  const auto assign = [&](auto* own) {
    check_values(field, own, values, num_envs, size);
    std::copy(values, values + num_envs * size, own);
  };
  floats ? assign(static_cast<float*>(data)) : assign(static_cast<mjtNum*>(data));
  if (impl_->batch.set_const() > 0)
    throw std::invalid_argument("values: MuJoCo refuses them for " + field);
  for (Separations& known : impl_->separations) known.forget();
  impl_->begin_states.clear();  // the latest step cannot be repeated
}

}  // namespace stickslip::mujoco
