#include "src/bindings/workspaces.hpp"

#include <pthread.h>

#include <mutex>
#include <tuple>
#include <vector>

#include "src/bindings/signals.hpp"
#include "src/cpu/thread_pool.hpp"

namespace stickslip::bindings {

namespace {

constexpr std::size_t kMostIdle = 8;
constexpr std::int32_t kMostRows = 256;  ///< above, making a workspace takes little of the time

template <class W>
using Workspaces = std::vector<std::unique_ptr<W>>;

/// Idle workspaces, those returned last at the end.
struct Idle {
  std::mutex mutex;
  std::tuple<Workspaces<Workspace>, Workspaces<LcpWorkspace>> all;
};

Idle& idle = *new Idle;  // never destroyed: Python objects outlive statics

/// No thread but the forking one exists in the child, so that one holds the mutex during the fork.
[[maybe_unused]] const int forks =
    pthread_atfork([] { idle.mutex.lock(); },  //
                   [] { idle.mutex.unlock(); }, [] { idle.mutex.unlock(); });

template <class W>
void give_back(W* given) {
  std::unique_ptr<W> workspace(given), oldest;  // destroyed after the mutex is released
  if (workspace->max_rows() > kMostRows) return;
  const std::lock_guard lock(idle.mutex);
  auto& all = std::get<Workspaces<W>>(idle.all);
  if (all.size() == kMostIdle) {
    oldest = std::move(all.front());
    all.erase(all.begin());
  }
  all.push_back(std::move(workspace));
}

/// An idle workspace that fits; null if there is none.
template <class W, class Fits>
std::unique_ptr<W> find(int threads, Fits&& fits) {
  const std::lock_guard lock(idle.mutex);
  auto& all = std::get<Workspaces<W>>(idle.all);
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    if ((*at)->threads() != threads || !fits(**at)) continue;
    std::unique_ptr<W> found = std::move(*at);
    all.erase(std::next(at).base());
    return found;
  }
  return nullptr;
}

template <class W, class Fits, class Make>
std::shared_ptr<W> take(int threads, Caller caller, Fits&& fits, Make&& make) {
  if (threads == 0) threads = usable_cores();
  std::unique_ptr<W> found = find<W>(threads, fits);
  if (found == nullptr) found = std::make_unique<W>(make(threads));
  found->watch(caller == Caller::python ? &handle_signals : nullptr);
  return {found.release(), &give_back<W>};
}

}  // namespace

std::shared_ptr<Workspace> take_workspace(std::int32_t max_rows, std::int32_t max_contacts,
                                          int threads, Caller caller) {
  return take<Workspace>(
      threads, caller,
      [&](const Workspace& w) {
        return w.max_rows() >= max_rows && w.max_contacts() >= max_contacts;
      },
      [&](int count) { return Workspace(max_rows, max_contacts, count); });
}

std::shared_ptr<LcpWorkspace> take_lcp_workspace(std::int32_t max_rows, bool boxed, int threads) {
  return take<LcpWorkspace>(
      threads, Caller::python,
      [&](const LcpWorkspace& w) { return w.max_rows() >= max_rows && w.boxed() >= boxed; },
      [&](int count) {
        return LcpWorkspace({.max_rows = max_rows, .boxed = boxed, .threads = count});
      });
}

}  // namespace stickslip::bindings
