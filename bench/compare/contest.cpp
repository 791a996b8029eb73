#include "bench/compare/contest.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <optional>
#include <random>

#include "bench/compare/pinned.hpp"
#include "src/cpu/thread_pool.hpp"

namespace stickslip::compare {
namespace {

constexpr double kLong = 0.01;   ///< s; a solve that takes longer is timed twice
constexpr double kShort = 1e-3;  ///< s; before a shorter solve, one solve runs that is not timed

/// Some peers print text for every problem, which costs time: it is redirected to /dev/null.
class Silent {
 public:
  Silent() {
    std::fflush(nullptr);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (int i = 0; i < 2; ++i) {
      saved_[i] = dup(kStreams[i]);
      dup2(nowhere, kStreams[i]);
    }
    close(nowhere);
  }
  ~Silent() {
    std::fflush(nullptr);
    for (int i = 0; i < 2; ++i) {
      dup2(saved_[i], kStreams[i]);
      close(saved_[i]);
    }
  }
  Silent(const Silent&) = delete;
  Silent& operator=(const Silent&) = delete;

 private:
  static constexpr int kStreams[2] = {STDOUT_FILENO, STDERR_FILENO};
  int saved_[2];
};

std::unique_ptr<Loaded> load(const Peer& peer, const reference::Problem& p, Law law,
                             double tolerance) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const RowMajor W = p.W;
  const std::vector<std::int32_t> dims(p.dims.begin(), p.dims.end());
  return peer.load({law, p.counts, int(p.b.size()), dims.data(), W.data(), p.b.data(), p.mu.data(),
                    p.R.data(), p.lo.data(), p.hi.data(), tolerance});
}

/// One problem and all solvers.
struct Match {
  const reference::Problem* problem;
  double bound;  ///< m/s
  std::vector<std::unique_ptr<Loaded>> loaded;
  std::vector<reference::Vector> impulse;
  std::vector<Score> score;

  Match(const Peers& peers, const reference::Problem& p, Law law, double tolerance,
        double peer_tolerance)
      : problem(&p) {
    const double scale = 1.0 + (p.b.size() > 0 ? p.b.lpNorm<Eigen::Infinity>() : 0.0);
    bound = tolerance * scale;
    for (const auto& peer : peers) {
      loaded.push_back(load(*peer, p, law, peer_tolerance * scale));
      impulse.push_back(reference::Vector::Zero(p.b.size()));
      score.push_back({.able = loaded.back() != nullptr});
    }
  }

  void play(std::size_t i, bool warm_up) {
    Score& s = score[i];
    // The minimum, because any round may have been interrupted.
    const auto least = std::min_element(s.seconds.begin(), s.seconds.end());
    const double usual = s.seconds.empty() ? 0.0 : *least;
    if (!s.able || (s.seconds.size() > 1 && usual > kLong)) return;
    if (!warm_up && usual < kShort) loaded[i]->solve(impulse[i].data());
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    s.claimed = loaded[i]->solve(impulse[i].data());
    const double time = std::chrono::duration<double>(Clock::now() - start).count();
    if (!warm_up || time > kLong) s.seconds.push_back(time);
  }

  void judge(Law law) {
    for (std::size_t i = 0; i < score.size(); ++i) {
      if (!score[i].able) continue;
      score[i].finite = impulse[i].allFinite();
      score[i].residual = reference::residual(*problem, impulse[i], law);
      score[i].solved = score[i].residual <= bound;
    }
  }
};

}  // namespace

void Contest::add(reference::Problem problem) { problems_.push_back(std::move(problem)); }

std::vector<Outcome> Contest::run_on(std::span<const reference::Problem> problems, int rounds,
                                     const std::function<bool()>& go_on) const {
  const Pinned pinned;
  const Silent silent;
  std::vector<Match> matches;
  for (const auto& problem : problems)
    matches.emplace_back(peers_, problem, law_, tolerance_, peer_tolerance_);
  std::vector<std::size_t> order(peers_.size());
  std::iota(order.begin(), order.end(), 0);
  std::minstd_rand random;
  CancellationToken watch(go_on, true);
  for (int round = 0; round <= rounds; ++round) {
    for (Match& match : matches) {
      const bool large = match.problem->b.size() > 128;  // small ones would be slowed down
      std::optional<CancellationToken::Scope> asks_inside;
      if (large) asks_inside.emplace(watch);
      for (const std::size_t i : order) {
        match.play(i, round == 0);
        if (watch.ask()) watch.finish();
      }
    }
    std::shuffle(order.begin(), order.end(), random);
  }
  std::vector<Outcome> outcomes;
  for (const auto& peer : peers_) outcomes.push_back({peer->name(), peer->about(), {}});
  for (Match& match : matches) {
    match.judge(law_);
    for (std::size_t i = 0; i < outcomes.size(); ++i) outcomes[i].scores.push_back(match.score[i]);
  }
  return outcomes;
}

}  // namespace stickslip::compare
