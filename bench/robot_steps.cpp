// The solver's part of a robot's step: MuJoCo's Newton, warm-started and configured by the model's
// file, compared with law `convex` of this library on the same states, and with law `coulomb` on
// its own states.
//
//   stickslip_robot_steps NAME=FILE...      one JSON object a line per robot and solver
//
// States come from a run of mj_step under random controls. For each of them MuJoCo's stages before
// the solver run untimed. Then the timed part runs: mj_fwdConstraint, or everything that replaces
// it here, from MuJoCo's rows to qacc (gather, W if it is formed, solve, verdict, forces). Solvers
// alternate in an order that changes from round to round; each runs once untimed just before.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>

#include "src/mujoco/model/model.hpp"
#include "src/mujoco/problem/gather.hpp"
#include "src/mujoco/problem/problem_buffers.hpp"
#include "src/mujoco/problem/row_map.hpp"
#include "src/mujoco/step/sim_options.hpp"
#include "src/mujoco/step/stages.hpp"

namespace stickslip::bench {
namespace {

using mujoco::Level;
using mujoco::ModelPtr;

constexpr int kStates = 100, kRounds = 7, kState = mjSTATE_INTEGRATION;

struct DataDeleter {
  void operator()(mjData* d) const { mj_deleteData(d); }
};
using DataPtr = std::unique_ptr<mjData, DataDeleter>;
using State = std::vector<mjtNum>;

/// States with constraints, 50 ms apart, after a second of settling.
std::vector<State> run_states(const mjModel* m) {
  const DataPtr d(mj_makeData(m));
  if (m->nkey > 0) mj_resetDataKeyframe(m, d.get(), 0);
  std::mt19937 generator(0);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const int apart = std::max(1, int(0.05 / m->opt.timestep)), settle = int(1 / m->opt.timestep);
  std::vector<State> states;
  for (int step = 0; step < settle + 100 * kStates * apart; ++step) {
    for (int i = 0; i < m->nu; ++i) {
      const double* range = m->actuator_ctrlrange + 2 * i;
      const double u = uniform(generator);
      d->ctrl[i] = m->actuator_ctrllimited[i]
                       ? 0.5 * (range[0] + range[1]) + 0.5 * u * (range[1] - range[0])
                       : u;
    }
    State state(std::size_t(mj_stateSize(m, kState)));
    mj_getState(m, d.get(), state.data(), kState);
    mj_step(m, d.get());
    if (step >= settle && step % apart == 0 && d->nefc > 0) states.push_back(std::move(state));
    if (states.size() == kStates) break;
  }
  return states;
}

/// The replacement of MuJoCo's solver.
class Contender {
 public:
  Contender(const char* name, ModelPtr model)
      : name_(name), model_(std::move(model)), data_(mj_makeData(model_.get())) {}
  virtual ~Contender() = default;
  const char* name() const { return name_; }
  int rows() const { return data_->nefc; }
  virtual bool solved() const { return true; }

  double seconds(const State& state) {
    run(state);
    return run(state);
  }

 protected:
  virtual void solve() = 0;
  virtual Level level() const { return Level::acceleration; }
  virtual void find_contacts() { mj_fwdPosition(model_.get(), data_.get()); }
  double run(const State& state) {
    mj_setState(model_.get(), data_.get(), state.data(), kState);
    find_contacts();
    mujoco::forward_velocities(model_.get(), data_.get(), level(), false);
    const auto start = std::chrono::steady_clock::now();
    solve();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  const char* name_;
  ModelPtr model_;
  DataPtr data_;
};

class MujocoNewton : public Contender {
 public:
  explicit MujocoNewton(ModelPtr model) : Contender("mujoco", std::move(model)) {}
  void solve() override { mj_fwdConstraint(model_.get(), data_.get()); }
};

class Ours : public Contender {
 public:
  Ours(ModelPtr model, Law law)
      : Contender(law == Law::convex ? "convex" : "coulomb", prepared(std::move(model), law)),
        formulation_{.level = law == Law::convex ? Level::acceleration : Level::velocity},
        look_ahead_(model_.get(), -1),
        buffers_(model_.get(), 1, 1, SolveOptions{.law = law},
                 mujoco::SimOptions{}.position_tolerance, watch_) {}
  bool solved() const override { return buffers_.rows(0) == 0 || status_ == EnvStatus::solved; }

  void solve() override {
    const mjModel* m = model_.get();
    mjData* d = data_.get();
    buffers_.reserve(d->nefc, mujoco::counts_of(d).n_contacts);
    buffers_.set_rows(0, d->nefc);
    const auto slot = buffers_.slot(0);
    mujoco::gather_motion(m, d, level(), slot);
    if (d->nefc > 0) {
      if (rigid()) mujoco::cull(m, d, slot.a_free, contacts_);
      const int rows =
          mujoco::gather_rows(m, d, formulation_, rigid() ? &contacts_ : nullptr, slot);
      if (rigid()) mujoco::write_biases(m, d, contacts_, 1.0, slot);
      buffers_.set_rows(0, rows);
      if (rows > 0) {
        buffers_.form_delassus(0);
        buffers_.solve(0);
        status_ = buffers_.results().status(0);
      }
      mujoco::scatter(m, d, level(), slot.efc_of, rows, buffers_.results().impulse(0));
    }
    mujoco::apply_forces(m, d, level());
  }

 private:
  static ModelPtr prepared(ModelPtr m, Law law) {
    std::vector<std::string> warnings;
    mujoco::override_options(*m, "implicitfast", 0);
    mujoco::prepare_model(*m, law != Law::convex, warnings);
    return m;
  }
  Level level() const override { return formulation_.level; }
  bool rigid() const { return level() == Level::velocity; }
  void find_contacts() override {
    if (!rigid()) return Contender::find_contacts();
    mujoco::forward_position_ahead(model_.get(), data_.get(), 0, look_ahead_, models_, separations_,
                                   margins_, contacts_);
  }

  mujoco::Formulation formulation_;
  mujoco::LookAhead look_ahead_;
  mujoco::ContactModels models_;
  mujoco::Separations separations_;
  mujoco::Margins margins_;
  mujoco::StepContacts contacts_;
  CancellationToken watch_;  // never asks
  mujoco::ProblemBuffers buffers_;
  EnvStatus status_{};
};

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, std::size_t(q * double(values.size())))];
}
double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return sum / double(values.size());
}

struct Times {
  std::vector<std::vector<double>> rounds;  ///< [round][state] microseconds
  double rows = 0, solved = 0;
};

Times measure(Contender& contender, const std::vector<State>& states, Times times, bool reverse) {
  auto& round = times.rounds.emplace_back(states.size());
  times.rows = times.solved = 0;
  for (std::size_t k = 0; k < states.size(); ++k) {
    const std::size_t i = reverse ? states.size() - 1 - k : k;
    round[i] = 1e6 * contender.seconds(states[i]);
    times.rows += contender.rows() / double(states.size());
    times.solved += contender.solved() / double(states.size());
  }
  return times;
}

void report(const char* robot, const Contender& contender, const Times& times, const Times& peer) {
  std::vector<double> ratio, ratio_of_means, each(times.rounds[0].size());
  for (std::size_t r = 0; r < times.rounds.size(); ++r) {
    ratio.push_back(quantile(times.rounds[r], 0.5) / quantile(peer.rounds[r], 0.5));
    ratio_of_means.push_back(mean(times.rounds[r]) / mean(peer.rounds[r]));
  }
  for (std::size_t i = 0; i < each.size(); ++i) {
    std::vector<double> of_state;
    for (const auto& round : times.rounds) of_state.push_back(round[i]);
    each[i] = quantile(of_state, 0.5);
  }
  std::printf(
      "{\"model\": \"%s\", \"solver\": \"%s\", \"states\": %zu, \"rows\": %.1f, \"solved\": %.3f, "
      "\"us_median\": %.3f, \"us_mean\": %.3f, \"us_p95\": %.3f, \"us_max\": %.3f, "
      "\"ratio_median\": %.3f, \"ratio_min\": %.3f, \"ratio_of_means\": %.3f}\n",
      robot, contender.name(), each.size(), times.rows, times.solved, quantile(each, 0.5),
      mean(each), quantile(each, 0.95), quantile(each, 1), quantile(ratio, 0.5), quantile(ratio, 0),
      quantile(ratio_of_means, 0.5));
  std::fflush(stdout);
}

void compare(const char* robot, const char* file) {
  const auto load = [&] {
    ModelPtr m = mujoco::load_model_file(file).model;
    m->opt.solver = mjSOL_NEWTON;  // humanoid.xml of Gymnasium sets PGS
    return m;
  };
  const std::vector<State> states = run_states(load().get());
  MujocoNewton newton(load());
  Ours convex(load(), Law::convex), coulomb(load(), Law::coulomb);
  Contender* const contenders[] = {&newton, &convex, &coulomb};
  Times times[3];
  for (int round = 0; round < kRounds; ++round)
    for (int k = 0; k < 3; ++k) {
      const int i = (k + round) % 3;
      times[i] = measure(*contenders[i], states, std::move(times[i]), round % 2 == 1);
    }
  for (int i = 0; i < 3; ++i) report(robot, *contenders[i], times[i], times[0]);
}

}  // namespace
}  // namespace stickslip::bench

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    char* file = std::strchr(argv[i], '=');
    if (file == nullptr) {
      std::fprintf(stderr, "stickslip_robot_steps: expected NAME=FILE, got %s\n", argv[i]);
      return 2;
    }
    *file++ = '\0';
    try {
      stickslip::bench::compare(argv[i], file);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "stickslip_robot_steps: %s\n", e.what());
      return 1;
    }
  }
}
