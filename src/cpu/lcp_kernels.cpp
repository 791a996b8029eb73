#include "src/cpu/lcp_kernels.hpp"

#include "kernels/env/lcp_env.hpp"
#include "kernels/env/mncp_env.hpp"

namespace stickslip::kernels::inline SS_ISA {

template <class In>
std::size_t lcp_bytes(int max_rows, bool boxed) {
  return LcpScratch<double, In>::bytes(max_rows, standard_rows(max_rows, boxed));
}

template <class In>
void add_lcp_kernels(TypedKernels<In>& table) {
  if constexpr (sizeof(In) == 8)
    table.solve_lcp[int(Precision::fp64)] = solve_lcp_range<double, In>;
  table.solve_lcp[int(Precision::fp32)] = solve_lcp_range<float, In>;
  table.lcp_bytes = lcp_bytes<In>;
}

template void add_lcp_kernels(TypedKernels<double>&);
template void add_lcp_kernels(TypedKernels<float>&);

void add_formulation_kernels(KernelTable& table) {
  table.eliminate = eliminate_range<Elimination>;
  table.solve_mncp = solve_mncp_range<MncpCallback>;
  table.mncp_bytes = NonlinearScratch::bytes;
}

}  // namespace stickslip::kernels::inline SS_ISA
