#include "src/cpu/thread_pool.hpp"

#include <pthread.h>
#include <sched.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "src/cpu/kernel_table.hpp"
#include "stickslip/solve.hpp"

namespace stickslip {

namespace {

constexpr std::chrono::nanoseconds kBetweenLooks = std::chrono::milliseconds(50);

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

}  // namespace

int usable_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  const bool known = sched_getaffinity(0, sizeof cores, &cores) == 0;  // fails beyond 1,024 cores
  return known ? CPU_COUNT(&cores) : std::max(1, int(std::thread::hardware_concurrency()));
}

CancellationToken::CancellationToken(const std::function<bool()>& go_on, bool inside) {
  begin(go_on, inside);
}

void CancellationToken::begin(const std::function<bool()>& go_on, bool inside) {
  caller_ = std::this_thread::get_id();
  stopped_ = false;
  if (!go_on) return;
  go_on_ = &go_on;
  inside_ = inside;
  next_ = now() + kBetweenLooks.count();
}

bool CancellationToken::due() const {
  return wanted() && now() >= next_.load(std::memory_order_relaxed);
}

bool CancellationToken::ask() {
  if (!wanted() || stopped() || std::this_thread::get_id() != caller_ || !due()) return stopped();
  if (!(*go_on_)()) stopped_.store(true, std::memory_order_relaxed);
  next_.store(now() + kBetweenLooks.count(), std::memory_order_relaxed);
  return stopped();
}

void CancellationToken::finish() {
  go_on_ = nullptr;
  if (stopped_.exchange(false))
    throw Interrupted("interrupted by the function that watches the call");
}

CancellationToken::Scope::Scope(CancellationToken& token)
    : asks_(token.wanted() && token.inside_),
      stop_{[](void* w) { return static_cast<CancellationToken*>(w)->ask(); }, &token} {
  if (asks_) before_ = kernels::kernel_table().set_stop(&stop_);
}

CancellationToken::Scope::~Scope() {
  if (asks_) kernels::kernel_table().set_stop(before_);
}

namespace thread_pool {
namespace {

class ThreadPool {
 public:
  void grow(int threads) {
    const std::lock_guard<std::mutex> lock(mutex_);
    make(threads);
  }

  void run(Job& job, CancellationToken& token) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      make(job.wanted);
      job.next = jobs_;
      jobs_ = &job;
    }
    job.wanted == 2 ? wake_.notify_one() : wake_.notify_all();
    job.call(job.work, 0);
    std::unique_lock<std::mutex> lock(mutex_);
    withdraw(job);
    while (job.running > 0) {
      if (!token.wanted()) {
        done_.wait(lock);
      } else if (done_.wait_for(lock, kBetweenLooks) == std::cv_status::timeout) {
        lock.unlock();
        token.ask();
        lock.lock();
      }
    }
  }

 private:
  void make(int threads) {
    for (; threads_ < threads - 1; ++threads_) std::thread([this] { serve(); }).detach();
  }

  [[noreturn]] void serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return jobs_ != nullptr; });
      Job& job = *jobs_;
      const int thread = job.begun++;
      if (job.begun == job.wanted) jobs_ = job.next;
      ++job.running;
      lock.unlock();
      job.call(job.work, thread);
      lock.lock();
      if (--job.running == 0) done_.notify_all();
    }
  }

  void withdraw(const Job& job) {
    for (Job** at = &jobs_; *at != nullptr; at = &(*at)->next) {
      if (*at != &job) continue;
      *at = job.next;
      return;
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Job* jobs_ = nullptr;  ///< jobs that need more threads
  int threads_ = 0;      ///< without those of the callers
};

std::atomic<ThreadPool*> the_pool{nullptr};

/// Never destroyed: its threads sleep on it until the process ends. A child of a fork has none of
/// the threads and does not use the parent's pool, whose locks may be held.
ThreadPool& pool() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { the_pool.store(nullptr, std::memory_order_relaxed); });
  static_cast<void>(registered);
  ThreadPool* present = the_pool.load(std::memory_order_acquire);
  if (present != nullptr) return *present;
  auto* made = new ThreadPool;
  if (the_pool.compare_exchange_strong(present, made)) return *made;
  delete made;  // another thread was first
  return *present;
}

}  // namespace

void prepare(int threads) {
  if (threads > 1) pool().grow(threads);
}

void run(Job& job, CancellationToken& token) { pool().run(job, token); }

}  // namespace thread_pool
}  // namespace stickslip
