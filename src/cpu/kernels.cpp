// The CPU kernels, compiled once per instruction set (SS_ISA names it).
#include <utility>

#include "kernels/cpu/cpu_batch.hpp"
#include "src/cpu/gradient_kernels.hpp"
#include "src/cpu/kernel_table.hpp"
#include "src/cpu/lcp_kernels.hpp"
#include "src/cpu/mechanism_kernels.hpp"
#include "src/cpu/pack_kernels.hpp"
#include "src/cpu/solve_kernels.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class In>
std::size_t solve_bytes(int max_rows, int max_contacts, int directions, MatrixKind matrix) {
  using Double = EnvScratch<double, double, In>;
  using Mixed = EnvScratch<double, float, In>;
  return max(Double::bytes(max_rows, max_contacts, directions, matrix),
             Mixed::bytes(max_rows, max_contacts, directions, matrix));
}

template <class In>
TypedKernels<In> make_table() {
  TypedKernels<In> t{};
  if constexpr (sizeof(In) == 8) {
    t.solve[int(Precision::fp64)] = solve_kernel<double, double, In>();
    t.solve[int(Precision::mixed)] = solve_kernel<double, float, In>();
  }
  t.solve[int(Precision::fp32)] = solve_kernel<float, float, In>();
  t.measure = measure_range<In>;
  t.certify = certify_range<In>;
  t.delassus = delassus_range<In>;
  t.apply = apply_range<In>;
  t.solve_bytes = solve_bytes<In>;
  t.delassus_bytes = DelassusScratch<In>::bytes;
  add_lcp_kernels(t);
  add_pack_kernels(t);
  return t;
}

const KernelTable& table() {
#if defined(__AVX512F__)
  const char* isa = "x86-64-v4";
#else
  const char* isa = "x86-64-v3";
#endif
  static const KernelTable instance = [isa] {
    KernelTable t{};
    t.isa = isa;
    t.f64 = make_table<double>();
    t.f32 = make_table<float>();
    add_mechanism_kernels(t);
    add_gradient_kernels(t);
    add_formulation_kernels(t);
    t.set_stop = [](const Stop* stop) { return std::exchange(current_stop, stop); };
    return t;
  }();
  return instance;
}

}  // namespace stickslip::kernels::inline SS_ISA
