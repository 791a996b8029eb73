// One call at a time: an object that two threads use at once throws instead of mixing their work.
#pragma once
#include <atomic>
#include <stdexcept>
#include <string>

namespace stickslip {

class ExclusiveUse {
 public:
  /// `object`: its name in the message.
  explicit ExclusiveUse(const char* object) : object_(object) {}

  /// A call in progress, during the lifetime of this object.
  class Call {
   public:
    explicit Call(ExclusiveUse& owner) : owner_(owner) {
      if (owner.busy_.exchange(true, std::memory_order_acquire)) owner.refuse();
    }
    ~Call() { owner_.busy_.store(false, std::memory_order_release); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    ExclusiveUse& owner_;
  };

  /// Throws std::runtime_error while another call is in progress.
  [[nodiscard]] Call enter() { return Call(*this); }

  /// The same check, without starting a call.
  void require_idle() const {
    if (busy_.load(std::memory_order_acquire)) refuse();
  }

 private:
  [[noreturn]] void refuse() const {
    throw std::runtime_error(std::string(object_) +
                             ": a call is under way in another thread; use one " + object_ +
                             " per thread");
  }

  const char* object_;
  std::atomic<bool> busy_{false};
};

}  // namespace stickslip
