#include "src/cpu/pack_kernels.hpp"

#include "kernels/cpu/pack_batch.hpp"

namespace stickslip::kernels::inline SS_ISA {

namespace {

constexpr int kLanes = 16;

template <class In>
std::size_t sweep_bytes(int max_rows, int max_contacts) {
  const std::size_t in_float = pack_bytes<float, In, kLanes>(max_rows, max_contacts);
  if constexpr (sizeof(In) == 4) {
    return in_float;
  } else {
    return max(in_float, pack_bytes<double, In, kLanes>(max_rows, max_contacts));
  }
}

}  // namespace

template <class In>
void add_pack_kernels(TypedKernels<In>& table) {
  if constexpr (sizeof(In) == 8) {
    table.sweep[int(Precision::fp64)] =
        sweep_range<double, In, kLanes, typename TypedKernels<In>::Solve>;
    table.sweep[int(Precision::mixed)] =
        sweep_range<double, In, kLanes, typename TypedKernels<In>::Solve>;
  }
  table.sweep[int(Precision::fp32)] =
      sweep_range<float, In, kLanes, typename TypedKernels<In>::Solve>;
  table.sweep_bytes = sweep_bytes<In>;
}

template void add_pack_kernels(TypedKernels<double>&);
template void add_pack_kernels(TypedKernels<float>&);

}  // namespace stickslip::kernels::inline SS_ISA
