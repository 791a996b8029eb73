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

template <class Scalar>
std::size_t solve_bytes(int max_rows, int max_contacts, int directions, MatrixKind matrix) {
  using Double = EnvScratch<double, double, Scalar>;
  using Mixed = EnvScratch<double, float, Scalar>;
  const bool sparse = matrix.has_tree && max_rows > kEngineRows;
  return max(max(Double::bytes(max_rows, max_contacts, directions, matrix),
                 Mixed::bytes(max_rows, max_contacts, directions, matrix)),
             sparse ? sparse_env_bytes(matrix.nv, max_rows, max_contacts) : 0);
}

template <class Scalar>
TypedKernels<Scalar> make_table() {
  TypedKernels<Scalar> t{};
  if constexpr (sizeof(Scalar) == 8) {
    t.solve[int(Precision::float64)] = solve_kernel<double, double, Scalar>();
    t.solve[int(Precision::mixed)] = solve_kernel<double, float, Scalar>();
  }
  t.solve[int(Precision::float32)] = solve_kernel<float, float, Scalar>();
  t.measure = measure_range<Scalar>;
  t.certify = certify_range<Scalar>;
  t.delassus = delassus_range<Scalar>;
  t.apply = apply_range<Scalar>;
  t.solve_bytes = solve_bytes<Scalar>;
  t.delassus_bytes = DelassusScratch<Scalar>::bytes;
  add_lcp_kernels(t);
  add_pack_kernels(t);
  return t;
}

const KernelTable& table() {
#if defined(__aarch64__)
  const char* isa = "aarch64";
#elif defined(__AVX512F__)
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
