// Rods and towers, made of free bodies; grasps and humanoids are in hard_linked.cpp.
#include "tests/support/hard_families.hpp"

#include <cmath>
#include <stdexcept>

namespace stickslip::support {
namespace {

constexpr double kWeight = 0.01 * 9.81;  // velocity that gravity adds in a step, m/s

void fall(const Mechanism& m, Vector& v_free) {
  for (int z = 2; z < m.dofs(); z += 6) v_free[z] -= kWeight;
}

/// A rod: its length is much more than its radius of gyration, as if the mass were in the middle.
struct Rod {
  Vector3d direction, top;
  double half;
  int body;
  Vector3d at(double s) const { return top - (1.0 - s) * half * direction; }  // s in [-1, 1]
};

Eigen::Matrix3d frame_along(const Vector3d& axis) {
  const Vector3d aside = std::abs(axis.x()) > 0.9 ? Vector3d::UnitY() : Vector3d::UnitX();
  Eigen::Matrix3d frame;
  frame.col(0) = axis;
  frame.col(1) = axis.cross(aside) / std::sqrt(axis.cross(aside).squaredNorm());
  frame.col(2) = axis.cross(frame.col(1));
  return frame;
}

int add_rod(Mechanism& m, const Vector3d& direction, const Vector3d& centre, double half,
            double slenderness, double mass) {
  const double inertia = mass * half * half / slenderness;
  const int body = m.add_body(-1, mass, centre, Vector3d(0.01 * inertia, inertia, inertia),
                              frame_along(direction));
  m.set_free(body);
  return body;
}

/// For a rod whose tip is at distance l from the centre and whose radius of gyration is k, the
/// coupling |W_nt| / W_nn of a tip on the floor is a c s / (1 + a c^2), a = l^2/k^2, c and s the
/// rod's parts along and across the floor: largest, sqrt(a)/2, near c = 1/sqrt(a), more than 1 for
/// a > 5.
Rod lean(Mechanism& m, const Vector3d& top, Random& random) {
  const double slenderness = random.uniform(8.0, 40.0);
  const double aside = random.uniform(0.7, 1.4) / std::sqrt(1.0 + slenderness);
  Vector3d flat = random_direction(random);
  flat.z() = 0.0;
  flat *= aside / std::sqrt(flat.squaredNorm());
  Rod rod;
  rod.direction = Vector3d(flat.x(), flat.y(), std::sqrt(1.0 - aside * aside));
  rod.top = top;
  rod.half = 0.5 * top.z() / rod.direction.z();
  rod.body =
      add_rod(m, rod.direction, rod.at(0.0), rod.half, slenderness, random.uniform(0.2, 2.0));
  return rod;
}

}  // namespace

const char* name(HardFamily family) {
  constexpr std::array names = {"grasp", "rods", "towers", "humanoid"};
  return names[std::size_t(family)];
}

Vector3d random_direction(Random& random) {
  for (;;) {
    const double x = random.uniform(-1.0, 1.0), y = random.uniform(-1.0, 1.0);
    const Vector3d v(x, y, random.uniform(-1.0, 1.0));
    const double square = v.squaredNorm();
    if (square > 0.01 && square < 1.0) return v / std::sqrt(square);
  }
}

Vector3d box_inertia(double mass, const Vector3d& half) {
  const Vector3d s = half.cwiseProduct(half) * (mass / 3.0);
  return {s.y() + s.z(), s.x() + s.z(), s.x() + s.y()};
}

// Half of the contacts are tips on the floor, half are upper tips against a wall or the previous
// rod. Gaps are open, so that standing still satisfies them: there is a solution. In every tenth
// problem the last rod stands between two walls that are closer than it is long.
HardScene make_rods(int contacts, Random& random) {
  Mechanism m;
  const bool jammed = random.chance(0.1);
  const double mu = random.uniform(0.8, 2.0);
  const auto gap = [&] { return random.chance(0.5) ? 1e-3 : random.uniform(1e-3, 0.1); };
  const int leaning = contacts / 2 - (jammed ? 1 : 0);
  Rod before{};
  // All bodies first: a row has entries for the degrees of freedom that exist when it is made.
  std::vector<Rod> rods;
  for (int k = 0; k < leaning; ++k) {
    const Vector3d top =
        k == 0 ? Vector3d(0.0, 0.0, random.uniform(0.5, 1.5)) : before.at(random.uniform(0.6, 1.0));
    rods.push_back(before = lean(m, top, random));
  }
  const Vector3d along = random_direction(random);
  const int squeezed =
      jammed ? add_rod(m, along, Vector3d(3.0, 0.0, 1.0), 0.5, random.uniform(3.0, 40.0), 1.0) : -1;
  for (int k = 0; k < leaning; ++k) {
    const Rod& rod = rods[std::size_t(k)];
    m.add_contact(rod.body, -1, rod.at(-1.0), Vector3d::UnitZ(), mu, gap());
    Vector3d normal = -rod.direction;
    if (k == 0) normal.z() = 0.0;
    if (k > 0)
      normal += rod.direction.dot(rods[std::size_t(k - 1)].direction) *
                rods[std::size_t(k - 1)].direction;
    m.add_contact(rod.body, k == 0 ? -1 : rods[std::size_t(k - 1)].body, rod.top, normal, mu,
                  gap());
  }
  if (jammed) {
    const Vector3d end = 0.5 * along;
    m.add_contact(squeezed, -1, m.centre(squeezed) + end, -along, mu, -random.uniform(0.02, 0.3));
    m.add_contact(squeezed, -1, m.centre(squeezed) - end, along, mu, random.uniform(-0.1, 0.01));
  }
  Vector v_free(m.dofs());
  for (double& v : v_free) v = random.normal();
  fall(m, v_free);
  HardScene scene{m.scene(v_free), Vector::Zero(m.dofs()), {}};
  if (jammed) {
    scene.opening.resize(0);
    scene.jam = Vector::Zero(3 * contacts);
    scene.jam[3 * contacts - 6] = scene.jam[3 * contacts - 3] = 1.0;
  }
  return scene;
}

HardScene make_heavy_tower(int contacts, Random& random) {
  Mechanism m;
  const int storeys = contacts / 4;
  const int order = random.integer(4);
  const double decades = random.uniform(2.0, 4.0), mu = random.uniform(0.1, 1.0);
  const bool rests = random.chance(0.5);
  std::vector<Vector3d> halves;
  double z = 0.0;
  for (int k = 0; k < storeys; ++k) {
    const double up = double(k) / (storeys - 1);
    const double place[] = {up, 1.0 - up, double(k % 2), random.uniform()};
    const double mass = 0.1 * power_of_ten(decades * place[order]);
    const double x = random.uniform(0.3, 0.6), y = random.uniform(0.3, 0.6);
    halves.emplace_back(x, y, random.uniform(0.1, 0.4));
    const int body = m.add_body(-1, mass, Vector3d(0.0, 0.0, z + halves.back().z()),
                                box_inertia(mass, halves.back()));
    m.set_free(body);
    z += 2.0 * halves.back().z();
  }
  for (int k = 0; k < storeys; ++k) {
    const Vector3d& own = halves[std::size_t(k)];
    const Vector3d half = k == 0 ? own : own.cwiseMin(halves[std::size_t(k - 1)]);
    for (int corner = 0; corner < 4; ++corner) {
      const Vector3d point((corner & 1) != 0 ? half.x() : -half.x(),
                           (corner & 2) != 0 ? half.y() : -half.y(), m.centre(k).z() - own.z());
      const double gap = rests ? 0.0 : random.uniform(-0.05, 0.05);
      m.add_contact(k, k - 1, point, Vector3d::UnitZ(), mu, gap);
    }
  }
  Vector v_free = Vector::Zero(m.dofs());
  if (!rests) {
    for (double& v : v_free) v = 0.3 * random.normal();
  }
  fall(m, v_free);
  HardScene scene{m.scene(v_free), Vector::Zero(m.dofs()), {}};
  for (int k = 0; k < storeys; ++k) scene.opening[6 * k + 2] = k + 1.0;  // each lifted off the last
  return scene;
}

bool find_opening(HardScene& scene) {
  const RowCounts& counts = scene.problem.counts;
  const int rows = int(scene.J.rows()), boxes = counts.n_free + counts.n_nonneg;
  Vector wish = Vector::Zero(rows);
  wish.segment(counts.n_free, counts.n_nonneg).setOnes();
  for (int k = 0; k < counts.n_contacts; ++k) wish[boxes + counts.n_box + 3 * k] = 1.0;
  Matrix J = scene.J;
  J.middleRows(boxes, counts.n_box).setZero();
  const Vector v = J.completeOrthogonalDecomposition().solve(wish);
  scene.opening = (2.0 + 4.0 * scene.gap.lpNorm<Eigen::Infinity>()) * v;
  return proves_solvable(scene, scene.opening);
}

HardScene make_hard_scene(HardFamily family, int contacts, int index) {
  Random random(0x68617264ULL + (std::uint64_t(family) << 40) + (std::uint64_t(contacts) << 48) +
                std::uint64_t(index));
  switch (family) {
    case HardFamily::rods:
      return make_rods(contacts, random);
    case HardFamily::towers:
      return make_heavy_tower(contacts, random);
    default:
      break;
  }
  for (int attempt = 0; attempt < 50; ++attempt) {  // most have an opening at the first attempt
    HardScene scene = family == HardFamily::grasp ? make_grasp(contacts, random)
                                                  : make_humanoid(contacts, random);
    if (find_opening(scene)) return scene;
  }
  throw std::runtime_error("no scene of this family has a solution by construction");
}

}  // namespace stickslip::support
