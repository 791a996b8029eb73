#include "ptx/checks/messages.hpp"

namespace gpu_emulator::ptx {
namespace {

std::string triple(u32 x, u32 y, u32 z) {
  return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
}

/// The file's name; those of a folder "kernels" with their path in it.
std::string short_name(const std::string& file) {
  const std::size_t kernels = file.rfind("/kernels/");
  const std::size_t cut = kernels != file.npos ? kernels : file.rfind('/');
  return cut == file.npos ? file : file.substr(cut + 1);
}

}  // namespace

std::string lane_ranges(u32 mask) {
  std::string s;
  for (u32 l = 0; l < 32; ++l) {
    if (!((mask >> l) & 1)) continue;
    u32 end = l;
    while (end + 1 < 32 && ((mask >> (end + 1)) & 1)) ++end;
    s += (s.empty() ? "" : ",") + std::to_string(l);
    if (end > l) s += "-" + std::to_string(end);
    l = end;
  }
  return s;
}

std::string Messages::kernel() const { return "kernel " + readable(entry_.name); }

std::string Messages::context() const {
  return kernel() + ", block " + triple(block.x, block.y, block.z);
}

std::string Messages::thread(u32 t) const {
  const u32 x = launch_.block.x, y = launch_.block.y;
  return triple(t % x, t / x % y, t / (x * y));
}

std::string Messages::line(Loc l) const {
  const bool known = l.file < module_.files.size();
  return (known ? short_name(module_.files[l.file]) : std::to_string(l.file)) + ":" +
         std::to_string(l.line);
}

/// The line of the PTX, and those of the source from the innermost inlined function outwards.
std::string Messages::where(const Function& f, const Instruction& ins) const {
  constexpr int kMostInlined = 8;
  const Place place = f.places[ins.place];
  std::string s = "PTX line " + std::to_string(place.line);
  u32 l = place.loc;
  for (int k = 0; l != 0 && k < kMostInlined; ++k, l = f.locs[l].parent) {
    if (f.locs[l].line != 0) s += (k == 0 ? ", " : " < ") + line(f.locs[l]);
  }
  return s;
}

void Messages::say(const std::string& text) {
  if (!full()) report_.errors.push_back(text);
}

void Messages::stop(const std::string& text) {
  if (full() && !report_.errors.empty()) report_.errors.pop_back();
  say(text);
  throw Abort{};
}

void Messages::complain(const Function& f, const Instruction& ins, u32 t, const std::string& text) {
  constexpr int kKinds = 100;  // below: of races
  if (!first_time(&ins, nullptr, kKinds + int(text.size()))) return;
  say(context() + ", thread " + thread(t) + ": " + text + " at " + where(f, ins));
}

}  // namespace gpu_emulator::ptx
