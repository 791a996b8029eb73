// Host addresses of what lanes load and store, and checks of whether they may.
#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/checks/traffic.hpp"
#include "ptx/machine/machine.hpp"

namespace gpu_emulator::ptx {
namespace {

constexpr u64 kPage = 4096;

const char* read_or_write(Access kind) { return kind == Access::read ? "read" : "write"; }
const char* name_of(Access kind) { return kind == Access::atomic ? "atomic" : read_or_write(kind); }
std::string size_of(unsigned bytes) { return std::to_string(bytes) + " bytes"; }

template <class Each>
inline void each_lane(u32 m, Each each) {
  for (; m; m &= m - 1) each(u32(std::countr_zero(m)));
}

inline void place(char** p, u32 m, char* base, const u64* a) {
  if (m == kAll) {
    for (int l = 0; l < 32; ++l) p[l] = reinterpret_cast<char*>(u64(base) + a[l]);
  } else {
    each_lane(m, [&](u32 l) { p[l] = reinterpret_cast<char*>(u64(base) + a[l]); });
  }
}

}  // namespace

u32 Machine::resolve(const Instruction& ins, u32 m, u32 operand, unsigned bytes, Access kind,
                     char** p, const char* values, const Instruction* whole) {
  alignas(64) u64 a[32];
  if (ins.reg_size2 == 4) {
    const u32* r = at<u32>(*this, operand);
    for (int l = 0; l < 32; ++l) a[l] = u32(r[l] + u32(ins.imm));
  } else {
    const u64* r = at<u64>(*this, operand);
    for (int l = 0; l < 32; ++l) a[l] = r[l] + u64(ins.imm);
  }
  const Request r{whole != nullptr ? *whole : ins, bytes, kind, values, p};
  switch (ins.space) {
    case Space::shared:
      return resolve_shared(r, m, a);
    case Space::local:
      ++report.local_accesses;
      return resolve_local(r, m, a);
    case Space::param:
      return resolve_parameters(r, m, a);
    case Space::constant:
    case Space::global:
      return resolve_global(r, m, a);
    default:
      return resolve_generic(r, m, a);
  }
}

u32 Machine::resolve_generic(const Request& r, u32 m, const u64* a) {
  u64 high = 0;
  each_lane(m, [&](u32 l) { high |= a[l] >> 47; });
  if (high == 0) return resolve_global(r, m, a);
  u32 in_shared = 0, in_local = 0;
  each_lane(m, [&](u32 l) {
    if (a[l] - kSharedWindow < kWindowSize)
      in_shared |= 1U << l;
    else if (a[l] - kLocalWindow < kWindowSize)
      in_local |= 1U << l;
  });
  u64 b[32];
  for (int l = 0; l < 32; ++l) b[l] = a[l] - ((in_shared >> l) & 1 ? kSharedWindow : kLocalWindow);
  u32 ok = 0;
  if (in_shared != 0) ok |= resolve_shared(r, in_shared, b);
  if (in_local != 0) {
    ++report.local_accesses;
    ok |= resolve_local(r, in_local, b);
  }
  const u32 rest = m & ~(in_shared | in_local);
  return rest != 0 ? ok | resolve_global(r, rest, a) : ok;
}

/// Of the kernel, or of a call: those lie in the frame.
u32 Machine::resolve_parameters(const Request& r, u32 m, const u64* a) {
  u32 ok = 0, in_frame = 0;
  each_lane(m, [&](u32 l) {
    if (a[l] < kWindowSize) {
      in_frame |= 1U << l;
    } else if (!is_parameter(a[l], r.bytes)) {
      fault(r.ins, l, "read outside the parameters, at +" + hex(a[l] - u64(parameters)));
    } else {
      r.p[l] = reinterpret_cast<char*>(a[l]);
      ok |= 1U << l;
    }
  });
  return in_frame != 0 ? ok | resolve_local(r, in_frame, a) : ok;
}

/// Lanes whose access lies in the block's memory; the others complain.
u32 Machine::inside_shared(const Request& r, u32 m, const u64* a) {
  u64 worst = 0, odd = 0;
  each_lane(m, [&](u32 l) {
    worst = std::max(worst, a[l]);
    odd |= a[l];
  });
  if (worst + r.bytes <= shared_bytes && (odd & (r.bytes - 1)) == 0) return m;
  u32 ok = m;
  each_lane(m, [&](u32 l) {
    const bool over = a[l] + r.bytes > shared_bytes || a[l] > shared_bytes;
    if (!over && (a[l] & (r.bytes - 1)) == 0) return;
    fault(r.ins, l,
          std::string(over ? "invalid" : "misaligned") + " shared " + read_or_write(r.kind) +
              " of " + size_of(r.bytes) + " at shared+" + hex(a[l]) + ", of " +
              size_of(shared_bytes));
    ok &= ~(1U << l);
  });
  return ok;
}

u32 Machine::resolve_shared(const Request& r, u32 m, const u64* a) {
  const u32 ok = inside_shared(r, m, a);
  if (ok == 0) return 0;
  if (checks.traffic) count_shared(report, ok, a, r.bytes);
  place(r.p, ok, block->shared, a);
  if (checks.races) check_races(r, ok, a, true);
  if (checks.uninitialised) {
    each_lane(ok,
              [&](u32 l) { check_written(r, l, &block->shared_written[a[l]], "shared+", a[l]); });
  }
  return ok;
}

u32 Machine::resolve_local(const Request& r, u32 m, const u64* a) {
  u32 ok = m;
  each_lane(m, [&](u32 l) {
    if (a[l] + r.bytes > local_stride || a[l] > local_stride || (a[l] & (r.bytes - 1)) != 0) {
      fault(r.ins, l, "invalid local access of " + size_of(r.bytes) + " at local+" + hex(a[l]));
      ok &= ~(1U << l);
      return;
    }
    r.p[l] = local_of(*warp, l, a[l]);
    if (!checks.uninitialised || r.ins.copy) return;
    check_written(r, l, &warp->local_written[local_stride * l + a[l]], "local+", a[l]);
  });
  return ok;
}

u32 Machine::resolve_global(const Request& r, u32 m, const u64* a) {
  const u32 ok = allowed(r, m, a);
  if (ok == 0) return 0;
  if (checks.traffic) count_global(report, ok, a);
  place(r.p, ok, nullptr, a);
  if (checks.global_races) check_races(r, ok, a, false);
  return ok;
}

/// Lanes of m whose global access is allowed; the others complain.
u32 Machine::allowed(const Request& r, u32 m, const u64* a) {
  const bool write = r.kind != Access::read;
  Pages& pages = write ? write_pages_ : read_pages_;
  u32 ok = m;
  each_lane(m, [&](u32 l) {
    const u64 page = a[l] / kPage;
    u64& known = pages[page % pages.size()];
    if ((a[l] & (r.bytes - 1)) != 0) {
      fault(r.ins, l,
            std::string("misaligned ") + (write ? "write" : "read") + " of " + size_of(r.bytes) +
                " at global " + hex(a[l]));
      ok &= ~(1U << l);
      return;
    }
    // A kernel may read its own parameters by a generic address; nobody else knows them.
    if (known == page || (!write && is_parameter(a[l], r.bytes))) return;
    if (a[l] >= kPage && may_touch(a[l], r.bytes, write, known)) return;
    fault(r.ins, l,
          std::string("invalid global ") + name_of(r.kind) + " of " + size_of(r.bytes) + " at " +
              hex(a[l]));
    ok &= ~(1U << l);
  });
  return ok;
}

/// Notes the page if all of it may be touched.
bool Machine::may_touch(u64 address, unsigned bytes, bool write, u64& known) {
  const u64 page = address / kPage;
  if (!checks.may_touch) {
    known = page;
    return true;
  }
  if (!checks.may_touch(address, bytes, write)) return module.holds(address, bytes);
  if (checks.may_touch(page * kPage, kPage, write)) known = page;
  return true;
}

void Machine::check_races(const Request& r, u32 m, const u64* a, bool shared) {
  each_lane(m, [&](u32 l) {
    const Touch t{*function, r.ins, warp->index * 32 + l, r.kind, shared, r.values};
    block->races->touch(t, a[l], r.bytes);
  });
}

/// marks: of each byte, whether it was written.
void Machine::check_written(const Request& r, u32 lane, char* marks, const char* space,
                            u64 address) {
  unsigned written = 0;
  while (written < r.bytes && marks[written] != 0) ++written;
  if (written < r.bytes && r.kind != Access::write) {
    complain(r.ins, 1U << lane,
             "uninitialised read of " + size_of(r.bytes) + " at " + space + hex(address));
  }
  if (r.kind != Access::read) std::memset(marks, 1, r.bytes);
}

}  // namespace gpu_emulator::ptx
