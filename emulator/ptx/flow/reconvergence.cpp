// Where lanes that parted meet again: at the immediate post-dominator of the branch.
#include "ptx/flow/graph.hpp"

namespace gpu_emulator::ptx {
namespace {

/// Whether lanes that part elsewhere meet at the beginning of a block.
std::vector<char> meeting_blocks(const std::vector<Instruction>& code, const Graph& g,
                                 const std::vector<u32>& dom) {
  std::vector<char> meets(g.blocks() + 1, 0);
  for (u32 b = 0; b < g.blocks(); ++b) {
    const Instruction& last = code[g.start[b + 1] - 1];
    const bool guarded = last.kind == Kind::branch && last.guard != kNone;
    if ((guarded || last.kind == Kind::brx) && dom[b] != kNone) meets[dom[b]] = 1;
  }
  return meets;
}

/// How many post-dominators a block has: those who wait at the deepest go on first.
class Depths {
 public:
  Depths(const std::vector<u32>& dom, u32 exit) : dom_(dom), depth_(exit + 1, -1) {
    depth_[exit] = 0;
  }
  i64 of(u32 b) {
    std::vector<u32> path;
    u32 at = b;
    for (; at != kNone && depth_[at] < 0; at = dom_[at]) path.push_back(at);
    i64 d = at == kNone ? 0 : depth_[at];
    for (auto i = path.rbegin(); i != path.rend(); ++i) depth_[*i] = ++d;
    return depth_[b];
  }

 private:
  const std::vector<u32>& dom_;
  std::vector<i64> depth_;
};

}  // namespace

void Function::finish() {
  const Graph g = graph_of(parsed, tables);
  const std::vector<u32> dom = post_dominators(g);
  const std::vector<char> meets = meeting_blocks(parsed, g, dom);
  Depths depths(dom, g.blocks());
  std::vector<Instruction> out;
  std::vector<u32> moved(parsed.size() + 1);
  for (u32 b = 0; b < g.blocks(); ++b) {
    const u32 first = g.start[b];
    moved[first] = u32(out.size());
    if (meets[b]) {
      Instruction meeting;
      meeting.kind = Kind::reconv;
      meeting.imm = depths.of(b);
      meeting.place = parsed[first].place;
      out.push_back(meeting);
    }
    out.insert(out.end(), parsed.begin() + first, parsed.begin() + g.start[b + 1]);
  }
  for (Instruction& i : out) {
    if (i.kind == Kind::branch) i.imm = moved[std::size_t(i.imm)];
  }
  for (auto& t : tables) {
    for (u32& x : t) x = moved[x];
  }
  parsed = std::move(out);
}

}  // namespace gpu_emulator::ptx
