#include "ptx/flow/liveness.hpp"

#include <algorithm>
#include <bit>

namespace gpu_emulator::ptx {
namespace {

template <class Use, class Define>
void visit(const Instruction& i, Use use, Define define) {
  if (i.guard != kNone) use(i.guard);
  for (unsigned k = i.ndst; k < i.nops; ++k) use(i.o[k]);
  for (unsigned k = 0; k < i.ndst; ++k) {
    if (i.guard != kNone) use(i.o[k]);  // keeps its value where the guard is false
    define(i.o[k]);
  }
}

class Liveness {
 public:
  Liveness(const std::vector<Instruction>& code, const std::vector<Value>& values, const Graph& g)
      : code_(code), values_(values), g_(g), global_id_(values.size(), kNone) {
    find_globals();
    words_ = (globals_.size() + 63) / 64;
    const std::size_t size = words_ * g.blocks();
    in_.assign(size, 0);
    used_.assign(size, 0);
    defined_.assign(size, 0);
    summarise_blocks();
    iterate();
  }

  std::vector<Interval> intervals();

 private:
  bool is_register(u32 v) const { return values_[v].kind == Value::reg && !values_[v].pinned; }
  template <class Use, class Define>
  void visit_block(u32 b, Use use, Define define) const {
    for (u32 i = g_.start[b]; i < g_.start[b + 1]; ++i) visit(code_[i], use, define);
  }
  template <class Each>
  void each_global(const u64* set, Each each) const {
    for (std::size_t w = 0; w < words_; ++w) {
      for (u64 x = set[w]; x; x &= x - 1) each(globals_[w * 64 + std::size_t(std::countr_zero(x))]);
    }
  }
  void find_globals();
  void summarise_blocks();
  void iterate();
  void live_out(u32 b, std::vector<u64>& out) const;

  const std::vector<Instruction>& code_;
  const std::vector<Value>& values_;
  const Graph& g_;
  // Registers that more than one block uses: the others need no sets of bits.
  std::vector<u32> globals_, global_id_;
  std::size_t words_ = 0;
  std::vector<u64> in_, used_, defined_;  // per block, a bit per global
};

void Liveness::find_globals() {
  std::vector<u32> home(values_.size(), kNone);
  const auto make_global = [&](u32 v) {
    if (global_id_[v] != kNone) return;
    global_id_[v] = u32(globals_.size());
    globals_.push_back(v);
  };
  for (u32 b = 0; b < g_.blocks(); ++b) {
    visit_block(
        b,
        [&](u32 v) {
          if (!is_register(v) || home[v] == b) return;
          make_global(v);
          home[v] = b;
        },
        [&](u32 v) {
          if (!is_register(v)) return;
          if (home[v] != kNone && home[v] != b) make_global(v);
          home[v] = b;
        });
  }
}

void Liveness::summarise_blocks() {
  const auto mask = [](u32 id) { return u64(1) << (id % 64); };
  for (u32 b = 0; b < g_.blocks(); ++b) {
    u64 *used = used_.data() + words_ * b, *defined = defined_.data() + words_ * b;
    visit_block(
        b,
        [&](u32 v) {
          const u32 id = global_id_[v];
          if (id != kNone && !(defined[id / 64] & mask(id))) used[id / 64] |= mask(id);
        },
        [&](u32 v) {
          const u32 id = global_id_[v];
          if (id != kNone) defined[id / 64] |= mask(id);
        });
  }
}

void Liveness::live_out(u32 b, std::vector<u64>& out) const {
  std::fill(out.begin(), out.end(), 0);
  for (const u32 s : g_.next[b]) {
    if (s == g_.blocks()) continue;
    for (std::size_t w = 0; w < words_; ++w) out[w] |= in_[words_ * s + w];
  }
}

void Liveness::iterate() {
  std::vector<u64> out(words_);
  for (bool changed = true; changed;) {
    changed = false;
    for (u32 b = g_.blocks(); b-- > 0;) {
      live_out(b, out);
      for (std::size_t w = 0; w < words_; ++w) {
        const std::size_t k = words_ * b + w;
        const u64 x = used_[k] | (out[w] & ~defined_[k]);
        changed = changed || x != in_[k];
        in_[k] = x;
      }
    }
  }
}

std::vector<Interval> Liveness::intervals() {
  const u32 count = u32(values_.size());
  std::vector<u32> from(count, kNone), to(count, 0);
  const auto extend = [&](u32 v, u32 p) {
    if (!is_register(v)) return;
    from[v] = std::min(from[v], p);
    to[v] = std::max(to[v], p);
  };
  std::vector<u64> out(words_);
  for (u32 b = 0; b < g_.blocks(); ++b) {
    live_out(b, out);
    each_global(in_.data() + words_ * b, [&](u32 v) { extend(v, 2 * g_.start[b]); });
    each_global(out.data(), [&](u32 v) { extend(v, 2 * g_.start[b + 1]); });
    for (u32 i = g_.start[b]; i < g_.start[b + 1]; ++i) {
      visit(
          code_[i], [&](u32 v) { extend(v, 2 * i); }, [&](u32 v) { extend(v, 2 * i + 1); });
    }
  }
  std::vector<Interval> list;
  for (u32 v = 0; v < count; ++v) {
    if (from[v] != kNone) list.push_back({v, from[v], to[v]});
  }
  return list;
}

}  // namespace

std::vector<Interval> live_intervals(const std::vector<Instruction>& code,
                                     const std::vector<Value>& values, const Graph& g) {
  return Liveness(code, values, g).intervals();
}

void mark_copies(std::vector<Instruction>& code, std::size_t values) {
  std::vector<bool> used(values, false);
  for (const Instruction& i : code) {
    const bool keeps = i.store && (i.space == Space::local || i.space == Space::param);
    if (i.guard != kNone) used[i.guard] = true;
    for (unsigned k = i.ndst; k < i.nops; ++k) {
      if (!keeps || k == 0) used[i.o[k]] = true;  // operand 0: the address
    }
  }
  for (Instruction& i : code) {
    const auto* const to = &i.o[0];
    i.copy = i.load && std::none_of(to, to + i.ndst, [&](u32 v) { return used[v]; });
  }
}

}  // namespace gpu_emulator::ptx
