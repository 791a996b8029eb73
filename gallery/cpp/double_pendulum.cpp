// Two rods, one hanging from the other, in maximal coordinates: ten rows C(q) = 0 on twelve
// velocities. Document 001 "How LCPs are used in physics simulation";
// docs/gallery/double_pendulum.md.
#include <Eigen/Core>

#include "gallery/cpp/gallery.hpp"
#include "gallery/cpp/linkage.hpp"
#include "gallery/cpp/support.hpp"

namespace stickslip::gallery {
namespace {

using Eigen::MatrixXd;
using enum rigid::Level;

constexpr double kTime = 1.5;  // s
constexpr int kTimes = 75;     // that are stored
constexpr int kFew = 50;       // variations that are repeated with half the step

struct Double {
  double m_1, m_2, L_1, L_2, theta_1, theta_2;  // kg, m, rad from the vertical
  rigid::System system() const {
    return {.bodies = {bar(m_1, L_1, {}, theta_1), bar(m_2, L_2, along(theta_1, L_1), theta_2)},
            .joints = {hinge_y(rigid::kWorld, {}, 0, L_1 / 2.),
                       hinge_y(0, {0., 0., -L_1 / 2.}, 1, L_2 / 2.)}};
  }
};

Double vary_double(int i) {
  return {.m_1 = vary_log(i, 0, 0.2, 5.),
          .m_2 = vary_log(i, 1, 0.2, 5.),
          .L_1 = vary(i, 2, 0.3, 1.),
          .L_2 = vary(i, 3, 0.3, 1.),
          .theta_1 = vary(i, 4, -2.5, 2.5),
          .theta_2 = vary(i, 5, -2.5, 2.5)};
}

void add_motion(const std::vector<Double>& all, rigid::Level level, int steps,
                const std::string& name, Kept& kept, Record& record) {
  const int n = int(all.size());
  Run run(all, level, kTime / steps, kept);
  MatrixXd theta_1(n, kTimes), theta_2(n, kTimes);
  for (int t = 0; t < steps; ++t) {
    run.step();
    if ((t + 1) % (steps / kTimes) != 0) continue;
    for (int i = 0; i < n; ++i) {
      theta_1(i, t / (steps / kTimes)) = run.sim.coordinate(i, 0);
      theta_2(i, t / (steps / kTimes)) = run.sim.coordinate(i, 1);
    }
  }
  record.series.push_back(series(name + "theta_1", theta_1));
  record.series.push_back(series(name + "theta_2 - theta_1", theta_2));
}

}  // namespace

Record double_pendulum(int variations) {
  std::vector<Double> all;
  MatrixXd parameters(variations, 6);
  for (int i = 0; i < variations; ++i) {
    all.push_back(vary_double(i));
    parameters.row(i) << all[i].m_1, all[i].m_2, all[i].L_1, all[i].L_2, all[i].theta_1,
        all[i].theta_2;
  }
  Record record;
  Kept kept;
  record.series.push_back(series("m_1, m_2, L_1, L_2, theta_1, theta_2", parameters));
  const std::vector<Double> few(all.begin(), all.begin() + std::min(kFew, variations));
  for (const auto level : {acceleration, velocity}) {
    const std::string name = level == acceleration ? "acceleration, " : "velocity, ";
    add_motion(all, level, 150, name + "10 ms: ", kept, record);
    add_motion(few, level, 300, name + "5 ms: ", kept, record);
    add_motion(few, level, 600, name + "2.5 ms: ", kept, record);
    add_minute(all, 20, level, kept, record);
  }
  kept.check(record);
  return record;
}

}  // namespace stickslip::gallery
