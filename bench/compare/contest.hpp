// Comparison of solvers on the same problems, judged by the oracle.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/compare/peer.hpp"
#include "tests/reference/reference.hpp"

namespace stickslip::compare {

/// Result of a solver on a problem.
struct Score {
  bool able = false;     ///< the solver can express the problem; if not, the rest has no meaning
  bool claimed = false;  ///< the solver's own verdict
  bool finite = false;   ///< no NaN or infinity in the impulse
  bool solved = false;   ///< residual <= tolerance * (1 + max|b|): the oracle's verdict
  double residual = 0;   ///< by the oracle, m/s; infinite if the impulse is not finite
  std::vector<double> seconds = {};  ///< of each round; fewer than requested if one takes long
};

struct Outcome {
  std::string name, about;
  std::vector<Score> scores;  ///< one per problem
};

class Contest {
 public:
  /// `tolerance`: solved means residual <= tolerance * (1 + max|b|). Peers measure by other
  /// formulas; they get `peer_tolerance` instead.
  Contest(Law law, double tolerance, double peer_tolerance)
      : law_(law), tolerance_(tolerance), peer_tolerance_(peer_tolerance) {}
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;

  /// Adds one of our solvers; atol, rtol and law are those of the contest.
  void enter_ours(std::string name, SolveOptions options);
  void enter(std::unique_ptr<Peer> peer) { peers_.push_back(std::move(peer)); }
  /// Adds the solvers of a module (a shared library) and returns their names. Throws
  /// std::runtime_error, with the loader's reason, if it cannot be used here.
  std::vector<std::string> enter_module(const std::string& path);

  void add(reference::Problem problem);

  /// Solves every problem with every solver, one after another on one core, in a new random order
  /// in each of the `rounds` rounds, after one warm-up round. Before a fast solver's timed solve,
  /// one solve runs that is not timed: reloading data that other solvers evicted from the caches
  /// would take longer than the solve. The impulse of the last round is judged. `go_on`: see
  /// Workspace::watch.
  std::vector<Outcome> run(int rounds, const std::function<bool()>& go_on = {}) {
    return run_on(problems_, rounds, go_on);
  }
  /// The same with one of the problems, by its number.
  std::vector<Outcome> run_one(std::size_t problem, int rounds,
                               const std::function<bool()>& go_on = {}) {
    return run_on({&problems_.at(problem), 1}, rounds, go_on);
  }

 private:
  std::vector<Outcome> run_on(std::span<const reference::Problem> problems, int rounds,
                              const std::function<bool()>& go_on) const;

  Law law_;
  double tolerance_, peer_tolerance_;
  Peers peers_;
  std::vector<reference::Problem> problems_;
};

}  // namespace stickslip::compare
