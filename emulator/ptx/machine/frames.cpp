#include "ptx/machine/frames.hpp"

#include <cstring>

namespace gpu_emulator::ptx {

void prepare(Frame& frame, const Function& f) {
  constexpr u64 kAlign = 64;
  std::call_once(f.once, [&] { f.allocate(); });
  if (frame.function == &f && !frame.storage.empty()) return;
  frame.function = &f;
  frame.storage.assign(f.frame_bytes + kAlign, 0);
  frame.registers = reinterpret_cast<char*>(align_up(u64(frame.storage.data()), kAlign));
  std::memcpy(frame.registers, f.frame_template.data(), f.frame_bytes);
}

Frame& Frames::take(const Function& f) {
  auto& pool = free_[&f];
  if (pool.empty()) {
    all_.push_back(std::make_unique<Frame>());
    pool.push_back(all_.back().get());
  }
  Frame& frame = *pool.back();
  pool.pop_back();
  prepare(frame, f);
  return frame;
}

void Frames::drop(Frame* frame) {
  while (--frame->refs == 0 && frame->parent != nullptr) {
    Frame* const parent = frame->parent;
    frame->parent = nullptr;
    free_[frame->function].push_back(frame);
    frame = parent;
  }
}

}  // namespace gpu_emulator::ptx
