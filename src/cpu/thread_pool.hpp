// Threads of CPU solves: one pool for the whole process, which sleeps while there is no work.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>

#include "kernels/group/stop.hpp"

namespace stickslip {

/// Cores that this process may use.
int usable_cores();

/// Asks a caller during long work whether to continue, about every 50 ms. Only the thread that made
/// the token asks; the others read the last answer.
class CancellationToken {
 public:
  CancellationToken() = default;  ///< never asks
  /// Also never asks if `go_on` is empty. `inside`: environments ask too, between the steps of a
  /// solve; for small environments this would cost more than it saves.
  CancellationToken(const std::function<bool()>& go_on, bool inside);
  CancellationToken(const CancellationToken&) = delete;
  CancellationToken& operator=(const CancellationToken&) = delete;

  /// Starts again, for the calling thread.
  void begin(const std::function<bool()>& go_on, bool inside);
  bool wanted() const { return go_on_ != nullptr; }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  /// Whether it is time to ask.
  bool due() const;
  /// Whether the work must end. On the caller's thread: asks, if it is time to.
  bool ask();
  /// Does not ask from now on. Throws Interrupted if the work was stopped.
  void finish();

  /// During its lifetime, the environments of this thread ask.
  class Scope {
   public:
    explicit Scope(CancellationToken& token);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    bool asks_;
    kernels::Stop stop_;
    const kernels::Stop* before_ = nullptr;
  };

 private:
  const std::function<bool()>* go_on_ = nullptr;
  bool inside_ = false;
  std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<std::int64_t> next_{0};  ///< ns of the steady clock
  std::atomic<bool> stopped_{false};
};

namespace thread_pool {

/// Work for several threads.
struct Job {
  void (*call)(void* work, int thread);
  void* work;
  int wanted;       ///< threads, including the caller's
  int begun = 1;    ///< threads that have started
  int running = 0;  ///< threads that run, without the caller's
  Job* next = nullptr;
};

/// Makes threads, so that a later `run` with this many makes none.
void prepare(int threads);

/// Calls the work on the calling thread (thread 0) and on others when they wake up; returns when
/// all threads that started are done. The work must be complete when the calls that started have
/// returned: `run` does not wait for threads that still sleep, so a busy machine causes no delay.
/// The work must not throw. In the child of a fork, which has no threads of the parent, new ones
/// are made.
void run(Job& job, CancellationToken& token);

}  // namespace thread_pool

/// Calls f(begin, end, thread) over chunks of [0, count), on up to `threads` threads; the
/// assignment of chunks to threads is not deterministic. A chunk is a quarter of an equal share of
/// what remains, and at most `largest`, so that the hard items at the end are not left to one
/// thread. Chunks that have not started when the token stops the work are left out.
template <class F>
void for_chunks_on_threads(int threads, std::int64_t count, std::int64_t largest,
                           CancellationToken& token, F&& f) {
  threads = int(std::min<std::int64_t>(threads, count));
  if (threads <= 1 && !token.wanted()) {
    if (count > 0) f(std::int64_t{0}, count, 0);
    return;
  }
  std::atomic<std::int64_t> next{0};
  auto take = [&](int thread) {
    const CancellationToken::Scope environments_ask(token);
    for (std::int64_t begin = next; begin < count && !token.stopped(); begin = next) {
      const std::int64_t share = threads > 1 ? (count - begin) / (4 * threads) : largest;
      const std::int64_t end = std::min(count, begin + std::clamp<std::int64_t>(share, 1, largest));
      if (next.compare_exchange_strong(begin, end)) f(begin, end, thread);
      token.ask();
    }
  };
  if (threads <= 1) return take(0);
  thread_pool::Job job{
      [](void* work, int thread) { (*static_cast<decltype(take)*>(work))(thread); }, &take,
      threads};
  thread_pool::run(job, token);
}

}  // namespace stickslip
