#include "tests/support/families.hpp"

#include <algorithm>
#include <cmath>

#include "tests/support/random.hpp"

namespace stickslip::support {
namespace {

using Eigen::Vector3d;
constexpr double kStep = 0.01;     // s
constexpr double kGravity = 9.81;  // m/s^2

bool is_tower(Family family) {
  return family == Family::stack || family == Family::stackrest || family == Family::stackheavy;
}

Vector3d random_vector(Random& random, double low, double high) {
  const double x = random.uniform(low, high);
  const double y = random.uniform(low, high);
  return {x, y, random.uniform(low, high)};
}

void set_inertia(Scene& scene, int body, double mass, const Vector3d& half) {
  const Vector3d square = half.cwiseProduct(half);
  scene.inverse_mass.segment<3>(6 * body).setConstant(1.0 / mass);
  scene.inverse_mass.segment<3>(6 * body + 3) =
      Vector3d(3.0 / (mass * (square.y() + square.z())), 3.0 / (mass * (square.x() + square.z())),
               3.0 / (mass * (square.x() + square.y())));
}

void set_velocity(Scene& scene, int body, double speed, Random& random) {
  for (int i = 0; i < 6; ++i) scene.v_free[6 * body + i] = speed * random.normal();
}

void touch_floor(Scene& scene, int k, const Vector3d& half, Random& random) {
  Vector3d arm = random_vector(random, -1.0, 1.0).cwiseProduct(half);
  arm.z() = -half.z();
  add_contact(scene, k, Vector3d::UnitZ(), 0, arm, -1, arm);
}

void touch_cage(Scene& scene, int k, const Vector3d& half, Random& random) {
  const int axis = random.integer(3);
  const double side = random.chance(0.5) ? -1.0 : 1.0;
  Vector3d arm = random_vector(random, -1.0, 1.0).cwiseProduct(half);
  arm[axis] = side * half[axis];
  Vector3d normal;
  for (int i = 0; i < 3; ++i) normal[i] = i == axis ? -side : 0.3 * random.normal();
  add_contact(scene, k, normal / std::sqrt(normal.squaredNorm()), 0, arm, -1, arm);
}

Scene make_single(Family family, int contacts, Random& random) {
  Scene scene = empty_scene(1, contacts);
  const double mass = random.uniform(0.5, 2.0);
  const Vector3d half = random_vector(random, 0.2, 0.6);
  set_inertia(scene, 0, mass, half);
  if (family != Family::boxrest) {
    set_velocity(scene, 0, 1.0, random);
    scene.v_free[2] = 0.3 * scene.v_free[2] - 0.5;
  }
  for (int k = 0; k < contacts; ++k) {
    family == Family::cage ? touch_cage(scene, k, half, random)
                           : touch_floor(scene, k, half, random);
  }
  return scene;
}

Scene make_tower(Family family, int contacts, Random& random) {
  const int storeys = contacts / 4;
  Scene scene = empty_scene(storeys, contacts);
  Vector3d common = random_vector(random, 0.3, 0.6);
  common.z() = random.uniform(0.15, 0.4);
  const double mass = random.uniform(0.5, 2.0);
  const double decades = random.uniform(1.0, 3.0);
  Vector3d below = common;
  for (int body = 0; body < storeys; ++body) {
    Vector3d half = common;
    double own_mass = mass;
    if (family == Family::stack) {
      half = common.cwiseProduct(random_vector(random, 0.9, 1.1));
      own_mass = random.uniform(0.5, 2.0);
      set_velocity(scene, body, 0.3, random);
    } else if (family == Family::stackheavy && storeys > 1) {
      own_mass *= power_of_ten(decades * body / (storeys - 1));
    }
    set_inertia(scene, body, own_mass, half);
    const double x = body == 0 ? half.x() : std::min(half.x(), below.x());
    const double y = body == 0 ? half.y() : std::min(half.y(), below.y());
    for (int corner = 0; corner < 4; ++corner) {
      const Vector3d arm((corner & 1) != 0 ? x : -x, (corner & 2) != 0 ? y : -y, -half.z());
      add_contact(scene, 4 * body + corner, Vector3d::UnitZ(), body, arm, body - 1,
                  Vector3d(arm.x(), arm.y(), below.z()));
    }
    below = half;
  }
  return scene;
}

}  // namespace

const char* name(Family family) {
  constexpr std::array names = {"box", "boxrest", "cage", "stack", "stackrest", "stackheavy"};
  return names[std::size_t(family)];
}

bool exists(Family family, int contacts) { return !is_tower(family) || contacts % 4 == 0; }

Scene make_scene(Family family, int contacts, int index) {
  Random random((std::uint64_t(family) << 40) ^ (std::uint64_t(contacts) << 32) ^
                std::uint64_t(index));
  const double mu = random.uniform(0.1, 1.0);
  Scene scene = is_tower(family) ? make_tower(family, contacts, random)
                                 : make_single(family, contacts, random);
  scene.problem.mu.setConstant(mu);
  for (Eigen::Index z = 2; z < scene.v_free.size(); z += 6) scene.v_free[z] -= kStep * kGravity;
  form_problem(scene);
  return scene;
}

std::vector<Problem> make_problems(Family family, int contacts, int count) {
  std::vector<Problem> problems;
  for (int i = 0; i < count; ++i) problems.push_back(make_scene(family, contacts, i).problem);
  return problems;
}

}  // namespace stickslip::support
