// MuJoCo's batch with its threads, which do not exist in the child of a fork.
#pragma once
#include <mujoco/mjbatch.h>
#include <sys/types.h>

#include <memory>
#include <vector>

namespace stickslip::mujoco {

class Pool {
 public:
  Pool() = default;
  /// `threads`: 0 means all cores. `persistent`: every environment keeps its own data; if the model
  /// needs this, it is always so. Throws std::runtime_error with MuJoCo's message.
  Pool(const mjModel* m, int num_envs, int threads, bool persistent);

  mjBatch* get() const { return batch_.get(); }

  // The functions of mjbatch.h with these names, for the environments `ids`, or for all. In the
  // child of a fork the calling thread runs the environments one after another. They return the
  // number of failures.
  int apply(const std::vector<int>& ids, mjfBatchFunc function, void* arg, bool save);
  int reset(const std::vector<int>& ids, const std::vector<int>& keys);
  int set_const();

 private:
  template <class F>
  int call(const std::vector<int>& ids, F&& f);

  struct Delete {
    pid_t home;  ///< the process that owns the threads
    void operator()(mjBatch* b) const;
  };
  std::unique_ptr<mjBatch, Delete> batch_{nullptr, {0}};
};

}  // namespace stickslip::mujoco
