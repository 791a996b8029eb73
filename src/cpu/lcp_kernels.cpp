#include "src/cpu/lcp_kernels.hpp"

#include "kernels/env/lcp_env.hpp"
#include "kernels/env/mncp_env.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class Scalar>
std::size_t lcp_bytes(int max_rows, bool boxed) {
  return LcpScratch<double, Scalar>::bytes(max_rows, standard_rows(max_rows, boxed));
}

template <class Scalar>
void add_lcp_kernels(TypedKernels<Scalar>& table) {
  if constexpr (sizeof(Scalar) == 8)
    table.solve_lcp[int(Precision::float64)] = solve_lcp_range<double, Scalar>;
  table.solve_lcp[int(Precision::float32)] = solve_lcp_range<float, Scalar>;
  table.lcp_bytes = lcp_bytes<Scalar>;
}

template void add_lcp_kernels(TypedKernels<double>&);
template void add_lcp_kernels(TypedKernels<float>&);

void add_formulation_kernels(KernelTable& table) {
  table.eliminate = eliminate_range<Elimination>;
  table.solve_mncp = solve_mncp_range<MncpCallback>;
  table.mncp_bytes = NonlinearScratch::bytes;
}

}  // namespace stickslip::kernels::inline SS_ISA
