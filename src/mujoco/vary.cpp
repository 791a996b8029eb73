// Values of the model that each environment has for itself.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "src/mujoco/batch_impl.hpp"

namespace stickslip::mujoco {
namespace {

constexpr std::array<std::string_view, 4> kFloatFields = {"geom_rgba", "site_rgba", "mat_rgba",
                                                          "tendon_rgba"};

// What has a mass or an inertia in the model must have one in every environment.
void check_masses(const mjModel& m, const std::string& field, const double* values,
                  std::int64_t num_envs, std::int64_t size) {
  const mjtNum* own = field == "body_mass"      ? m.body_mass
                      : field == "body_inertia" ? m.body_inertia
                                                : nullptr;
  for (std::int64_t i = 0; own && i < num_envs * size; ++i) {
    if (!(own[i % size] > 0) || values[i] > 0) continue;
    throw std::invalid_argument("values: expected numbers > 0 for " + field + ", got " +
                                std::to_string(values[i]) + " in environment " +
                                std::to_string(i / size));
  }
}

}  // namespace

void BatchSim::vary(const std::string& field, const double* values, std::int64_t size) {
  const auto turn = impl_->caller.enter();
  mjBatch* b = impl_->batch.get();
  int expected = 0, bytes = 0;
  void* data = mjb_expand(b, field.c_str(), &expected, &bytes);
  const bool floats =
      std::find(kFloatFields.begin(), kFloatFields.end(), field) != kFloatFields.end();
  if (!data || bytes != int(floats ? sizeof(float) : sizeof(mjtNum)))
    throw std::invalid_argument(
        "field: expected an array of real numbers of mjModel that MuJoCo can vary, got " + field);
  if (size != expected)
    throw std::invalid_argument("values: expected " + std::to_string(expected) +
                                " numbers per environment for " + field + ", got " +
                                std::to_string(size));
  check_masses(*impl_->model, field, values, impl_->options.num_envs, size);
  const double* end = values + impl_->options.num_envs * size;
  floats ? void(std::copy(values, end, static_cast<float*>(data)))
         : void(std::copy(values, end, static_cast<mjtNum*>(data)));
  if (impl_->batch.set_const() > 0)
    throw std::invalid_argument("values: MuJoCo refuses them for " + field);
  impl_->begin_states.clear();  // the latest step cannot be repeated
}

}  // namespace stickslip::mujoco
