#include "ptx/parse/values.hpp"

namespace gpu_emulator::ptx {

u32 Values::add(Register r, u32 count) {
  const u32 first = u32(f_.values.size());
  Value v;
  v.size = r;
  f_.values.resize(first + count, v);
  return first;
}

u32 Values::constant(Register r, u64 bits) {
  if (r == Register::half) bits &= 0xffff;
  if (r == Register::word) bits &= 0xffffffff;
  const auto [found, is_new] = constants_.try_emplace({bits, r}, 0);
  if (is_new) {
    found->second = add(r);
    f_.values.back().kind = Value::constant;
    f_.values.back().bits = bits;
  }
  return found->second;
}

u32 Values::special(Special s, Register r, u64 added) {
  const auto [found, is_new] = specials_.try_emplace({s, added, r}, 0);
  if (is_new) {
    found->second = add(r);
    Value& v = f_.values.back();
    v.kind = Value::special;
    v.special_id = s;
    v.bits = added;
  }
  return found->second;
}

u32 Values::carry() {
  if (!carry_) {
    carry_ = add(Register::pred);
    f_.values.back().pinned = true;
  }
  return *carry_;
}

}  // namespace gpu_emulator::ptx
