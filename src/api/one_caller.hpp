// One call at a time: an object that two threads use at once throws instead of mixing their work.
#pragma once
#include <atomic>
#include <stdexcept>
#include <string>

namespace stickslip {

class OneCaller {
 public:
  /// `object`: its name in the message.
  explicit OneCaller(const char* object) : object_(object) {}

  /// A call in progress, during the lifetime of this object.
  class Turn {
   public:
    explicit Turn(OneCaller& owner) : owner_(owner) {
      if (owner.busy_.exchange(true, std::memory_order_acquire)) owner.refuse();
    }
    ~Turn() { owner_.busy_.store(false, std::memory_order_release); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    OneCaller& owner_;
  };

  /// Throws std::runtime_error while another call is in progress.
  [[nodiscard]] Turn enter() { return Turn(*this); }

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
