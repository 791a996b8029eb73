// Logic, shifts, and searches in the bits of a register.
#include <algorithm>

#include "ptx/operations/bit_functions.hpp"
#include "ptx/operations/each_lane.hpp"
#include "ptx/operations/integers.hpp"
#include "ptx/operations/operations.hpp"
#include "ptx/program/names.hpp"

namespace gpu_emulator::ptx {
namespace {

using namespace bit;

template <template <class> class F>
Handler logic(const Opcode& op, Instruction&) {
  if (op.type[0] == Type::pred) return &binary_predicate<F<u32>>;
  return for_width<F>(op.type[0], []<class G, class T>() { return handler_of<G, T, 2>(); });
}
template <template <class> class F>
Handler complement(const Opcode& op, Instruction&) {
  if (op.type[0] == Type::pred) return &unary_predicate<F<u32>>;
  return for_width<F>(op.type[0], []<class G, class T>() { return handler_of<G, T, 1>(); });
}

// By 32 bits, whatever the type.
constexpr auto kShift = []<class F, class T>() -> Handler { return &binary<F, T, T, u32>; };
Handler shift_left(const Opcode& op, Instruction&) { return for_width<Shl>(op.type[0], kShift); }
Handler shift_right(const Opcode& op, Instruction&) { return for_signed<Shr>(op.type[0], kShift); }

template <bool left>
Handler funnel(bool wraps) {
  return wraps ? handler_of<FunnelShift<left, true>, u32, 3>()
               : handler_of<FunnelShift<left, false>, u32, 3>();
}
Handler pick_shf(const Opcode& op, Instruction&) {
  return op.has("l") ? funnel<true>(op.has("wrap")) : funnel<false>(op.has("wrap"));
}

/// The result has 32 bits.
template <template <class> class F>
Handler count(const Opcode& op, Instruction&) {
  return width(op.type[0]) == 4 ? Handler(&unary<F<u32>, u32, u32>) : &unary<F<u64>, u32, u64>;
}
Handler reverse(const Opcode& op, Instruction&) {
  return width(op.type[0]) == 4 ? handler_of<Reverse<u32>, u32, 1>()
                                : handler_of<Reverse<u64>, u64, 1>();
}

template <bool shift>
struct FindOf {
  template <class T>
  using F = Find<T, shift>;
};
constexpr auto kFind = []<class F, class T>() -> Handler { return &unary<F, u32, T>; };
Handler pick_bfind(const Opcode& op, Instruction&) {
  if (width(op.type[0]) < 4) return nullptr;
  return op.has("shiftamt") ? for_signed<FindOf<true>::F>(op.type[0], kFind)
                            : for_signed<FindOf<false>::F>(op.type[0], kFind);
}

Handler pick_bmsk(const Opcode& op, Instruction&) {
  return op.has("wrap") ? handler_of<Mask<true>, u32, 2>() : handler_of<Mask<false>, u32, 2>();
}

constexpr auto kExtract = []<class F, class T>() -> Handler { return &ternary<F, T, T, u32, u32>; };
Handler pick_bfe(const Opcode& op, Instruction&) {
  return width(op.type[0]) < 4 ? nullptr : for_signed<Extract>(op.type[0], kExtract);
}

template <class T>
void insert(Lanes& c, const Instruction& ins, u32 m) {
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const T a = at<T>(c, ins.o[1])[l];
    T r = at<T>(c, ins.o[2])[l];
    const u32 pos = at<u32>(c, ins.o[3])[l] & 0xff, len = at<u32>(c, ins.o[4])[l] & 0xff;
    for (u32 i = 0; i < len && pos + i < 8 * sizeof(T); ++i)
      r = T((r & ~(T(1) << (pos + i))) | (((a >> i) & 1) << (pos + i)));
    at<T>(c, ins.o[0])[l] = r;
  }
}
Handler pick_bfi(const Opcode& op, Instruction&) {
  return width(op.type[0]) == 4 ? &insert<u32> : width(op.type[0]) == 8 ? &insert<u64> : nullptr;
}

constexpr Named<u8> kPermutations[] = {{"f4e", kForward4},   {"b4e", kBackward4},
                                       {"rc8", kReplicate8}, {"ecl", kEdgeLeft},
                                       {"ecr", kEdgeRight},  {"rc16", kReplicate16}};
void permute(Lanes& c, const Instruction& ins, u32 m) {
  for (; m; m &= m - 1) {
    const int l = std::countr_zero(m);
    const u64 both = u64(at<u32>(c, ins.o[2])[l]) << 32 | at<u32>(c, ins.o[1])[l];
    at<u32>(c, ins.o[0])[l] = permuted(both, at<u32>(c, ins.o[3])[l], ins.mode);
  }
}
Handler pick_prmt(const Opcode& op, Instruction& ins) {
  for (const auto modifier : op.modifiers) {
    if (const auto found = find_named(kPermutations, modifier)) ins.mode = *found;
  }
  return &permute;
}

/// imm: the table of the result for each of eight combinations.
void lop3(Lanes& c, const Instruction& ins, u32 m) {
  alignas(64) u32 r[32] = {};
  const u32 *a = at<u32>(c, ins.o[1]), *b = at<u32>(c, ins.o[2]), *e = at<u32>(c, ins.o[3]);
  for (u32 k = 0; k < 8; ++k) {
    if (!((ins.imm >> k) & 1)) continue;
    const u32 x = k & 4 ? 0 : kAll, y = k & 2 ? 0 : kAll, z = k & 1 ? 0 : kAll;
    for (int l = 0; l < 32; ++l) r[l] |= (a[l] ^ x) & (b[l] ^ y) & (e[l] ^ z);
  }
  blend(c, m, at<u32>(c, ins.o[0]), r);
}
Handler pick_lop3(const Opcode&, Instruction&) { return &lop3; }
Handler pick_select_by_sign(const Opcode& op, Instruction&) { return pick_slct(op); }

using Pick = Handler (*)(const Opcode&, Instruction&);
constexpr Named<Pick> kList[] = {{"and", &logic<And>},
                                 {"or", &logic<Or>},
                                 {"xor", &logic<Xor>},
                                 {"not", &complement<Not>},
                                 {"cnot", &complement<IsZero>},
                                 {"shl", &shift_left},
                                 {"shr", &shift_right},
                                 {"shf", &pick_shf},
                                 {"popc", &count<CountOnes>},
                                 {"clz", &count<CountZeros>},
                                 {"brev", &reverse},
                                 {"bfind", &pick_bfind},
                                 {"bmsk", &pick_bmsk},
                                 {"bfe", &pick_bfe},
                                 {"bfi", &pick_bfi},
                                 {"prmt", &pick_prmt},
                                 {"lop3", &pick_lop3},
                                 {"slct", &pick_select_by_sign}};

}  // namespace

Handler pick_bits(const Opcode& op, Instruction& ins) {
  const auto pick = find_named(kList, op.base);
  return pick ? (*pick)(op, ins) : nullptr;
}

}  // namespace gpu_emulator::ptx
