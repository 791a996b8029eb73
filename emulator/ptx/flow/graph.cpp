#include "ptx/flow/graph.hpp"

#include <utility>

namespace gpu_emulator::ptx {
namespace {

bool leaves(const Instruction& i) {
  return i.kind == Kind::exit || i.kind == Kind::ret || i.kind == Kind::trap;
}
bool ends_block(const Instruction& i) {
  return i.kind == Kind::branch || i.kind == Kind::brx || leaves(i);
}

/// Blocks in an order in which each comes after those that it leads to, where there are no cycles.
std::vector<u32> from_exit(const std::vector<std::vector<u32>>& back, u32 exit) {
  std::vector<u32> order;
  std::vector<std::pair<u32, u32>> stack{{exit, 0}};  // block, the next of those before it
  std::vector<char> seen(exit + 1, 0);
  seen[exit] = 1;
  while (!stack.empty()) {
    auto& [b, k] = stack.back();
    if (k == back[b].size()) {
      order.push_back(b);
      stack.pop_back();
      continue;
    }
    const u32 p = back[b][k++];
    if (seen[p]) continue;
    seen[p] = 1;
    stack.emplace_back(p, 0);
  }
  return order;
}

/// Where the ways from both to the exit meet.
u32 meeting(u32 a, u32 b, const std::vector<u32>& dom, const std::vector<u32>& number) {
  while (a != b) {
    while (number[a] < number[b]) a = dom[a];
    while (number[b] < number[a]) b = dom[b];
  }
  return a;
}

}  // namespace

Graph graph_of(const std::vector<Instruction>& code, const std::vector<std::vector<u32>>& tables) {
  const u32 n = u32(code.size());
  std::vector<char> leader(n + 1, 0);
  leader[0] = 1;
  for (u32 i = 0; i < n; ++i) {
    if (code[i].kind == Kind::branch) leader[std::size_t(code[i].imm)] = 1;
    if (code[i].kind == Kind::brx) {
      for (const u32 t : tables[std::size_t(code[i].imm)]) leader[t] = 1;
    }
    if (ends_block(code[i])) leader[i + 1] = 1;
  }
  Graph g;
  g.block_of.assign(n + 1, 0);
  for (u32 i = 0; i < n; ++i) {
    if (leader[i]) g.start.push_back(i);
    g.block_of[i] = u32(g.start.size() - 1);
  }
  const u32 blocks = u32(g.start.size());
  g.start.push_back(n);
  g.block_of[n] = blocks;
  g.next.resize(blocks + 1);
  for (u32 b = 0; b < blocks; ++b) {
    const Instruction& last = code[g.start[b + 1] - 1];
    auto& s = g.next[b];
    if (last.kind == Kind::branch) s.push_back(g.block_of[std::size_t(last.imm)]);
    if (last.kind == Kind::brx) {
      for (const u32 t : tables[std::size_t(last.imm)]) s.push_back(g.block_of[t]);
    }
    if (leaves(last)) s.push_back(blocks);
    // The last block ends in exit or ret.
    if (!ends_block(last) || last.guard != kNone) s.push_back(b + 1);
  }
  return g;
}

std::vector<u32> post_dominators(const Graph& g) {
  const u32 exit = g.blocks();
  std::vector<std::vector<u32>> back(exit + 1);
  for (u32 b = 0; b < exit; ++b) {
    for (const u32 s : g.next[b]) back[s].push_back(b);
  }
  const std::vector<u32> order = from_exit(back, exit);
  std::vector<u32> number(exit + 1, kNone), dom(exit + 1, kNone);
  for (u32 k = 0; k < order.size(); ++k) number[order[k]] = k;
  dom[exit] = exit;
  for (bool changed = true; changed;) {
    changed = false;
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      const u32 b = *i;
      if (b == exit) continue;
      u32 d = kNone;
      for (const u32 s : g.next[b]) {
        if (dom[s] == kNone) continue;
        d = d == kNone ? s : meeting(s, d, dom, number);
      }
      changed = changed || d != dom[b];
      dom[b] = d;
    }
  }
  return dom;
}

}  // namespace gpu_emulator::ptx
