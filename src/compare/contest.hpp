// Solvers against each other on the same problems, judged by the oracle.
#pragma once
#include <string>
#include <vector>

#include "src/compare/peer.hpp"
#include "src/reference/reference.hpp"

namespace stickslip::compare {

/// What a solver did with a problem.
struct Score {
  bool able = false;     ///< the solver could express the problem; if not, the rest means nothing
  bool claimed = false;  ///< the solver's own verdict
  bool finite = false;   ///< no NaN or infinity in the impulse
  bool solved = false;   ///< residual <= tolerance * (1 + max|b|): the truth
  double residual = 0;   ///< the oracle's, m/s; infinite where the impulse is not finite
  std::vector<double> seconds = {};  ///< of each round; fewer than asked for where one takes long
};

struct Outcome {
  std::string name, about;
  std::vector<Score> scores;  ///< one per problem
};

class Contest {
 public:
  /// `tolerance`: solved means residual <= tolerance * (1 + max|b|). Peers, who measure by other
  /// formulas, are asked for `peer_tolerance` instead.
  Contest(Law law, double tolerance, double peer_tolerance)
      : law_(law), tolerance_(tolerance), peer_tolerance_(peer_tolerance) {}
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;

  /// Adds one of our solvers; atol, rtol and law are the contest's.
  void enter_ours(std::string name, SolveOptions options);
  void enter(std::unique_ptr<Peer> peer) { peers_.push_back(std::move(peer)); }
  /// Adds the solvers of a module (a shared library) and returns their names. Throws
  /// std::runtime_error, with the loader's reason, for one that cannot be used here.
  std::vector<std::string> enter_module(const std::string& path);

  void add(reference::Problem problem);

  /// Every problem by every solver, one right after the other on one core, in an order that is
  /// drawn anew in each of the `rounds` rounds after one to warm up. A quick solver's timed solve
  /// follows one that is not timed: fetching what others drove from the caches would take longer
  /// than the solve. The impulse judged is that of the last round.
  std::vector<Outcome> run(int rounds);

 private:
  Law law_;
  double tolerance_, peer_tolerance_;
  Peers peers_;
  std::vector<reference::Problem> problems_;
};

}  // namespace stickslip::compare
