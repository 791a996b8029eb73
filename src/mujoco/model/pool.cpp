#include "src/mujoco/model/pool.hpp"

#include <unistd.h>

#include <stdexcept>
#include <string>

#include "src/cpu/thread_pool.hpp"

namespace stickslip::mujoco {

// In a child it would wait for threads that do not exist, so it is not destroyed there.
void Pool::Delete::operator()(mjBatch* b) const {
  if (getpid() == home) mjb_deleteBatch(b);
}

Pool::Pool(const mjModel* m, int num_envs, int threads, bool persistent) {
  mjBatchConfig config;
  mjb_defaultConfig(&config);
  config.nthread = threads > 0 ? threads : usable_cores();
  config.persistent = persistent;
  char error[512] = "";
  mjBatch* batch = mjb_makeBatch(m, num_envs, &config, error, sizeof error);
  if (!batch && !config.persistent) {  // sleeping bodies need it
    config.persistent = true;
    batch = mjb_makeBatch(m, num_envs, &config, error, sizeof error);
  }
  if (!batch) throw std::runtime_error(std::string("MuJoCo cannot make the batch: ") + error);
  batch_ = {batch, Delete{getpid()}};
}

// MuJoCo runs a single environment on the calling thread.
template <class F>
int Pool::call(const std::vector<int>& ids, F&& f) {
  if (getpid() == batch_.get_deleter().home)
    return f(ids.empty() ? nullptr : ids.data(), int(ids.size()));
  const int count = ids.empty() ? mjb_nsim(get()) : int(ids.size());
  int failed = 0;
  for (int i = 0; i < count; ++i) {
    const int env = ids.empty() ? i : ids[i];
    failed += f(&env, 1);
  }
  return failed;
}

int Pool::apply(const std::vector<int>& ids, mjfBatchFunc function, void* arg, bool save) {
  return call(ids, [&](const int* which, int count) {
    return mjb_apply(get(), which, count, function, arg, save);
  });
}

int Pool::reset(const std::vector<int>& ids, const std::vector<int>& keys) {
  const int* key = keys.empty() ? nullptr : keys.data();
  return call(ids, [&](const int* which, int count) {
    return mjb_reset(get(), which, count, key, mjSTAGE_NONE);
  });
}

int Pool::set_const() {
  return call({}, [&](const int* which, int count) { return mjb_setConst(get(), which, count); });
}

}  // namespace stickslip::mujoco
