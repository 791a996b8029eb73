// Grasps and humanoids: chains of bodies.
#include <algorithm>
#include <cmath>

#include "tests/support/hard_families.hpp"

namespace stickslip::support {
namespace {

constexpr double kWeight = 0.01 * 9.81;  // velocity that gravity adds in a step, m/s

/// A unit vector perpendicular to `axis`.
Vector3d across(const Vector3d& axis, Random& random) {
  const Vector3d v = axis.cross(random_direction(random));
  const double length = std::sqrt(v.squaredNorm());
  return length > 0.1 ? Vector3d(v / length) : across(axis, random);
}

/// A direction near `axis`.
Vector3d near(const Vector3d& axis, double distance, Random& random) {
  const Vector3d v = axis + distance * random_direction(random);
  return v / std::sqrt(v.squaredNorm());
}

/// A slender body from one point to another; its inertia is that of a ball of a third of its
/// length.
int add_link(Mechanism& m, int parent, const Vector3d& from, const Vector3d& to, double mass) {
  const double inertia = mass * (to - from).squaredNorm() / 12.0;
  return m.add_body(parent, mass, 0.5 * (from + to), Vector3d::Constant(inertia));
}

/// A point of the patch around `centre` perpendicular to `normal`.
Vector3d on_patch(const Vector3d& centre, const Vector3d& normal, double size, Random& random) {
  return centre + size * random.uniform() * across(normal, random);
}

struct Finger {
  int tip;
  Vector3d point, normal;  ///< of the contact, into the object
};

/// Three links and four hinges from a palm to the contact.
Finger add_finger(Mechanism& m, const Vector3d& point, const Vector3d& normal, Random& random) {
  const double rotor = random.chance(0.3) ? 1e-2 : random.uniform(1e-5, 1e-3);  // kg m^2
  const double mass = random.uniform(0.02, 0.06);
  const Vector3d aside = across(normal, random);
  const Vector3d hinge = normal.cross(aside);
  const Vector3d knuckle = point - 0.03 * normal + 0.09 * near(aside, 0.3, random);
  const Vector3d middle =
      point - random.uniform(0.03, 0.05) * normal + 0.05 * near(aside, 0.3, random);
  const Vector3d last = point - 0.025 * near(normal, 0.5, random) + 0.01 * aside;
  const int lower = add_link(m, -1, knuckle, middle, mass);
  m.add_hinge(lower, near(aside, 0.2, random), knuckle, rotor);
  m.add_hinge(lower, near(hinge, 0.2, random), knuckle, rotor);
  const int upper = add_link(m, lower, middle, last, mass);
  m.add_hinge(upper, near(hinge, 0.2, random), middle, rotor);
  const int tip = add_link(m, upper, last, point, 0.5 * mass);
  m.add_hinge(tip, near(hinge, 0.2, random), last, rotor);
  return {tip, point, normal};
}

/// The parts of a humanoid's limb.
struct Limb {
  int end;                  ///< foot or hand
  Vector3d point, normal;   ///< of its sole or palm; the normal points into it
  std::vector<int> joints;  ///< degrees of freedom
};

/// Three hinges at the root, one at the knee or elbow, two at the end.
Limb add_limb(Mechanism& m, int torso, const Vector3d& root, const Vector3d& reach, double length,
              double mass, const Vector3d& normal, Random& random) {
  const Vector3d knee = root + 0.5 * length * near(reach, 0.6, random);
  const Vector3d ankle = knee + 0.5 * length * near(reach, 0.6, random);
  const Vector3d bend = across(reach, random);
  const double rotor = random.chance(0.5) ? 0.0 : random.uniform(1e-3, 1e-1);
  Limb limb{0, ankle - 0.08 * normal, normal, {}};
  const int thigh = add_link(m, torso, root, knee, 0.6 * mass);
  for (int i = 0; i < 3; ++i) {
    limb.joints.push_back(m.add_hinge(thigh, near(Vector3d::Unit(i), 0.2, random), root, rotor));
  }
  const int shin = add_link(m, thigh, knee, ankle, 0.3 * mass);
  limb.joints.push_back(m.add_hinge(shin, bend, knee, rotor));
  limb.end = add_link(m, shin, ankle, limb.point, 0.1 * mass);
  limb.joints.push_back(m.add_hinge(limb.end, bend, ankle, rotor));
  limb.joints.push_back(m.add_hinge(limb.end, normal.cross(bend) + 0.1 * normal, ankle, rotor));
  return limb;
}

/// Limits, dry friction and locks of the joints.
void constrain_joints(Mechanism& m, const std::vector<Limb>& limbs, Random& random) {
  const bool gentle = random.chance(0.5);
  for (const Limb& limb : limbs) {
    for (int joint : limb.joints) {
      const Vector turn = Vector::Unit(m.dofs(), joint);
      if (random.chance(gentle ? 0.1 : 0.2)) {
        m.constrain_nonneg(random.chance(0.5) ? turn : Vector(-turn), random.uniform(-0.2, 0.5));
      }
      if (random.chance(0.4)) m.constrain_box(turn, random.uniform(0.0, 0.05));
    }
  }
  if (random.chance(0.3)) {
    m.constrain_free(Vector::Unit(m.dofs(), limbs[0].joints[3]), 0.0);  // a knee is locked
  }
  if (random.chance(0.3)) {  // both hands hold a tool
    const Vector3d tool = 0.5 * (limbs[2].point + limbs[3].point);
    for (int i = 0; i < 3; ++i) {
      m.constrain_free(m.row(limbs[2].end, tool, Vector3d::Unit(i)) -
                           m.row(limbs[3].end, tool, Vector3d::Unit(i)),
                       0.0);
    }
  }
}

}  // namespace

HardScene make_grasp(int contacts, Random& random) {
  std::vector<int> counts;
  for (int f = 4; f <= 8; ++f) {
    if (contacts % f == 0 && contacts / f <= 4) counts.push_back(f);
  }
  const int fingers = counts[std::size_t(random.integer(int(counts.size())))];
  const double mass = random.uniform(0.05, 1.0), mu = random.uniform(0.3, 1.2);
  const Vector3d half(random.uniform(0.02, 0.06), random.uniform(0.02, 0.06), 0.04);
  Mechanism m;
  const int object = m.add_body(-1, mass, Vector3d::Zero(), box_inertia(mass, half));
  m.set_free(object);
  std::vector<Finger> hand;
  Vector3d around = across(Vector3d::UnitZ(), random);
  for (int f = 0; f < fingers; ++f) {  // each opposes the previous one, so that they squeeze
    around = f % 2 == 0 ? random_direction(random) : near(-around, 0.3, random);
    hand.push_back(add_finger(m, around.cwiseProduct(half), near(-around, 0.2, random), random));
  }
  Vector v_free = Vector::Zero(m.dofs());
  for (int i = 0; i < 6; ++i) v_free[i] = 0.1 * random.normal();
  v_free[2] -= kWeight;
  for (const Finger& finger : hand) {
    const double depth = random.chance(0.5) ? random.uniform(-0.3, 0.0) : random.uniform(0.0, 0.1);
    const double uneven = random.chance(0.5) ? 0.0 : 0.01;
    for (int k = 0; k < contacts / fingers; ++k) {
      const Vector3d at = on_patch(finger.point, finger.normal, k == 0 ? 0.0 : 0.008, random);
      m.add_contact(object, finger.tip, at, finger.normal, mu, depth + uneven * random.uniform());
    }
    // The command: the tip moves inwards by its own joints.
    const Vector inwards = m.row(finger.tip, finger.point, finger.normal);
    v_free += random.uniform(0.1, 2.0) / inwards.squaredNorm() * inwards;
  }
  return {m.scene(v_free), {}, {}};
}

HardScene make_humanoid(int contacts, Random& random) {
  Mechanism m;
  const double mass = random.uniform(30.0, 90.0), mu = random.uniform(0.3, 1.0);
  const Vector3d half(0.1, 0.18, 0.3);
  const int torso = m.add_body(-1, 0.5 * mass, Vector3d::Zero(), box_inertia(0.5 * mass, half));
  m.set_free(torso);
  std::vector<Limb> limbs;
  for (double side : {-1.0, 1.0}) {
    limbs.push_back(add_limb(m, torso, Vector3d(0.0, 0.1 * side, -0.3), -Vector3d::UnitZ(), 0.8,
                             0.17 * mass, near(Vector3d::UnitZ(), 0.2, random), random));
  }
  for (double side : {-1.0, 1.0}) {
    limbs.push_back(add_limb(m, torso, Vector3d(0.0, 0.2 * side, 0.25), Vector3d::UnitX(), 0.6,
                             0.08 * mass, near(-Vector3d::UnitX(), 0.3, random), random));
  }
  constrain_joints(m, limbs, random);
  const int per_hand = std::max(1, contacts / 8), per_foot = contacts / 2 - per_hand;
  const bool rests = random.chance(0.5);
  for (std::size_t i = 0; i < limbs.size(); ++i) {
    for (int k = 0; k < (i < 2 ? per_foot : per_hand); ++k) {
      const Vector3d at = on_patch(limbs[i].point, limbs[i].normal, i < 2 ? 0.1 : 0.04, random);
      const double gap = rests || random.chance(0.5) ? 0.0 : random.uniform(-0.1, 0.1);
      m.add_contact(limbs[i].end, -1, at, limbs[i].normal, mu, gap);
    }
  }
  Vector v_free(m.dofs());
  for (double& v : v_free) v = (rests ? 1e-3 : 0.5) * random.normal();
  v_free[2] -= rests ? kWeight : kWeight + random.uniform(0.0, 0.5);
  return {m.scene(v_free), {}, {}};
}

}  // namespace stickslip::support
