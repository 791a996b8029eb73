#include "src/bindings/workspaces.hpp"

#include <vector>

#include "src/bindings/signals.hpp"
#include "src/cpu/team.hpp"

namespace stickslip::bindings {

namespace {

constexpr std::size_t kMostIdle = 8;
constexpr std::int32_t kMostRows = 256;  ///< above, making a workspace takes little of the time

/// Idle workspaces, the last returned first. Never destroyed: Python objects outlive statics.
template <class W>
std::vector<std::unique_ptr<W>>& idle() {
  static auto& all = *new std::vector<std::unique_ptr<W>>;
  return all;
}

template <class W>
void give_back(W* given) {
  std::unique_ptr<W> workspace(given);
  auto& all = idle<W>();
  if (workspace->max_rows() > kMostRows) return;
  if (all.size() == kMostIdle) all.erase(all.begin());
  all.push_back(std::move(workspace));
}

template <class W, class Fits, class Make>
std::shared_ptr<W> take(int threads, Fits&& fits, Make&& make) {
  if (threads == 0) threads = usable_cores();
  auto& all = idle<W>();
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    if ((*at)->threads() != threads || !fits(**at)) continue;
    std::shared_ptr<W> found(at->release(), &give_back<W>);
    all.erase(std::next(at).base());
    return found;
  }
  std::shared_ptr<W> made(new W(make(threads)), &give_back<W>);
  made->watch(&handle_signals);
  return made;
}

}  // namespace

std::shared_ptr<Workspace> take_workspace(std::int32_t max_rows, std::int32_t max_contacts,
                                          int threads) {
  return take<Workspace>(
      threads,
      [&](const Workspace& w) {
        return w.max_rows() >= max_rows && w.max_contacts() >= max_contacts;
      },
      [&](int count) { return Workspace(max_rows, max_contacts, count); });
}

std::shared_ptr<LcpWorkspace> take_lcp_workspace(std::int32_t max_rows, bool boxed, int threads) {
  return take<LcpWorkspace>(
      threads,
      [&](const LcpWorkspace& w) { return w.max_rows() >= max_rows && w.boxed() >= boxed; },
      [&](int count) { return LcpWorkspace(max_rows, boxed, count); });
}

}  // namespace stickslip::bindings
