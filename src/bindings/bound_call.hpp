// What is bound to its arrays and called often.
#pragma once
#include <functional>
#include <vector>

#include "stickslip/cuda.hpp"

namespace stickslip::bindings {

/// A call on a stream; in host memory the stream is not used.
using Call = std::function<void(cuda::Stream)>;

/// One after the other; those that are empty are left out.
inline Call in_turn(std::vector<Call> calls) {
  std::erase_if(calls, [](const Call& call) { return call == nullptr; });
  if (calls.size() == 1) return calls.front();
  return [calls = std::move(calls)](cuda::Stream stream) {
    for (const Call& call : calls) call(stream);
  };
}

}  // namespace stickslip::bindings
