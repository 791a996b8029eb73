// Frames of functions, used again where lanes have left them.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "ptx/machine/block.hpp"

namespace gpu_emulator::ptx {

/// Registers for a function, with its constants.
void prepare(Frame& frame, const Function& f);

class Frames {
 public:
  /// Of a function that is called from another frame.
  Frame& take(const Function& f);
  /// One part fewer uses it, and those that it was called from.
  void drop(Frame* frame);

 private:
  std::vector<std::unique_ptr<Frame>> all_;
  std::unordered_map<const Function*, std::vector<Frame*>> free_;
};

}  // namespace gpu_emulator::ptx
