// Memory of the problems of one step: one slot per environment, all as large as the largest.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "src/mujoco/gather.hpp"
#include "stickslip/delassus.hpp"
#include "stickslip/host_batch.hpp"
#include "stickslip/solve.hpp"

namespace stickslip::mujoco {

enum class Backend { cpu, cuda };

class ProblemBuffers {
 public:
  ProblemBuffers(int num_envs, int nv, int threads, Backend backend);

  bool fits(int rows, int contacts) const { return rows <= max_rows_ && contacts <= max_contacts_; }
  /// Makes room, if there is too little; the contents are lost then.
  void reserve(int rows, int contacts);

  EnvSlot slot(int env);
  /// Leaves the environment without rows.
  void clear(int env) { problems_->shape(env) = {}; }
  int rows(int env) const { return rows_[env]; }
  void set_rows(int env, int rows) { rows_[env] = rows; }

  void form_delassus();
  void solve(const SolveOptions& options);

  HostProblems<double>& problems() { return *problems_; }
  HostResults<double>& results() { return *results_; }

 private:
  int num_envs_, nv_, threads_, max_rows_ = 0, max_contacts_ = 0;
  Backend backend_;
  std::unique_ptr<HostProblems<double>> problems_;
  std::unique_ptr<HostResults<double>> results_;
  std::unique_ptr<Workspace> workspace_;
  std::vector<double> J_, M_, a_free_;
  std::vector<std::int32_t> rows_, efc_of_, ok_;
};

}  // namespace stickslip::mujoco
