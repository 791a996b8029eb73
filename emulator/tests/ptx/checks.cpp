// What the checks find, and that they find nothing in what is right.
#include <algorithm>
#include <stdexcept>

#include "support.hpp"
#include "tests.hpp"

namespace gpu_emulator::tests {
namespace {

void bounds() {
  std::vector<int> out(256);
  ptx::Checks c;
  const auto from = reinterpret_cast<std::uintptr_t>(out.data()), to = from + 64 * sizeof(int);
  c.may_touch = [=](std::uintptr_t a, std::size_t n, bool) { return a >= from && a + n <= to; };
  must_say("out_of_bounds", "invalid global write of 4 bytes", 64, c, out.data(), 1);
  must_be_silent("out_of_bounds", 64, c, out.data(), 0);
  std::fill(out.begin(), out.end(), 0);
  launch("out_of_bounds", {{1}, {64}, 0, c, 0}, out.data(), 8);
  check(out[64] == 0 && out[63] == 1, "a forbidden write is not done");
  must_say("out_of_shared", "invalid shared read", 32, {}, out.data(), 1);
  must_be_silent("out_of_shared", 32, {}, out.data(), 0);
  int in[17] = {};
  const int* const constant = in;
  in[16] = 1 << 20;
  must_say("out_of_local", "invalid local", 32, {}, constant, out.data());
  in[16] = 3;
  must_be_silent("out_of_local", 32, {}, constant, out.data());
  alignas(8) char bytes[64] = {};
  must_say("misaligned", "misaligned", 1, {}, bytes, out.data());
}

void unwritten() {
  std::vector<int> out(256);
  const ptx::Checks c = all_checks();
  must_say("unwritten", "uninitialised read", 64, c, out.data());
  must_be_silent("unwritten_fixed", 64, c, out.data());
  int in[17] = {3, 4};
  const int* const constant = in;
  must_say("unwritten_local", "uninitialised read", 1, c, constant, out.data());
  in[1] = 3;
  must_be_silent("unwritten_local", 1, c, constant, out.data());
  must_be_silent("unwritten_copied", 1, c, out.data());
}

void stops() {
  std::vector<int> out(256);
  must_say("deadlock_warp", "deadlock", 32, {}, out.data());
  must_say("deadlock_block", "deadlock", 64, {}, out.data());
  must_say("wrong_mask", "is not in the mask", 32, {}, out.data());
  must_say("traps", "trap", 32, {}, out.data());
  ptx::Checks soon;
  soon.most_warp_instructions = 100000;
  std::fill(out.begin(), out.end(), 0);
  must_say("hang", "hang", 32, soon, out.data());
  float x[32] = {2};
  must_say("f_approx", "approximate", 32, {}, x, x, x, x, 32);
}

}  // namespace

void races() {
  std::vector<int> out(256), scratch(256);
  const ptx::Checks c = all_checks();
  must_say("race_block", "race", 128, c, out.data());
  must_be_silent("race_block_fixed", 128, c, out.data());
  must_say("race_reuse", "race", 64, c, out.data());
  must_be_silent("race_reuse_fixed", 64, c, out.data());
  must_say("race_warp", "race", 32, c, out.data());
  must_be_silent("race_warp_fixed", 32, c, out.data());
  must_say("race_shuffle", "race", 32, c, out.data());
  must_say("race_groups", "race", 32, c, out.data());
  must_be_silent("race_groups_fixed", 32, c, out.data());
  must_say("race_same_write", "the same value", 32, c, out.data());
  must_be_silent("race_bytes_fixed", 64, c, out.data());
  must_say("race_atomic", "race", 64, c, out.data());
  must_say("race_atomic_write", "race", 64, c, out.data());
  must_be_silent("race_atomic_fixed", 64, c, out.data());
  must_say("race_global", "race", 64, c, out.data(), scratch.data());
  must_be_silent("race_global_fixed", 64, c, out.data(), scratch.data());
}

void errors() {
  bounds();
  unwritten();
  stops();
}

/// Code that is right only in lockstep: some seed shows it, and none the repaired one.
void schedules() {
  std::vector<int> out(32);
  const auto is_wrong = [&](const char* name, u64 seed) {
    launch(name, {{1}, {32}, 0, {}, seed}, out.data());
    return wrong(out, 0, 32, [](int i) { return 31 - i; }) != 0;
  };
  int found = 0;
  for (u64 seed = 0; seed < 64; ++seed) {
    found += is_wrong("in_step", seed);
    check(!is_wrong("in_step_fixed", seed), "in_step_fixed");
  }
  std::printf("  in_step goes wrong in %d of 64 schedules\n", found);
  check(found > 4, "lockstep is not exposed");
}

void transactions() {
  std::vector<int> out(4096);
  const auto counts = [&](int stride) {
    return launch("conflicts", {{1}, {32}, 0, {}, 0}, out.data(), stride);
  };
  auto r = counts(1);
  check(r.shared_accesses == 2 && r.shared_transactions == 1 + 2, "no conflicts");
  check(r.global_accesses == 1 && (r.global_sectors == 4 || r.global_sectors == 5), "sectors");
  r = counts(2);
  check(r.shared_transactions == 2 + 4, "stride 2: " + std::to_string(r.shared_transactions));
  r = counts(32);
  check(r.shared_transactions == 32 + 32, "stride 32: " + std::to_string(r.shared_transactions));
  check(r.global_sectors == 32, "stride 32: " + std::to_string(r.global_sectors));
}

void refusals() {
  const std::string head = ".version 9.0\n.target sm_80\n.address_size 64\n.entry k() {\n";
  for (const char* body :
       {" .reg .b32 %r<3>;\n frobnicate.b32 %r1, %r2;\n ret;\n}\n",
        " .reg .b32 %r<3>;\n add.s32 %r1, %r2, %r7;\n ret;\n}\n",
        " .reg .b64 %r<3>;\n add.s32 %r1, %r2, %r2;\n ret;\n}\n", " bra nowhere;\n}\n"}) {
    std::string said;
    try {
      ptx::Module::parse(head + body);
    } catch (const std::runtime_error& e) {
      said = e.what();
    }
    check(said.find("PTX line") == 0, "bad PTX is refused: " + said);
  }
}

}  // namespace gpu_emulator::tests
