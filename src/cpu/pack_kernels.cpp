#include "src/cpu/pack_kernels.hpp"

#include "kernels/cpu/pack_batch.hpp"

namespace stickslip::kernels::inline SS_ISA {

namespace {

constexpr int kLanes = 16;

template <class Scalar>
std::size_t sweep_bytes(int max_rows, int max_contacts) {
  const std::size_t in_float = pack_bytes<float, Scalar, kLanes>(max_rows, max_contacts);
  if constexpr (sizeof(Scalar) == 4) {
    return in_float;
  } else {
    return max(in_float, pack_bytes<double, Scalar, kLanes>(max_rows, max_contacts));
  }
}

}  // namespace

template <class Scalar>
void add_pack_kernels(TypedKernels<Scalar>& table) {
  if constexpr (sizeof(Scalar) == 8) {
    table.sweep[int(Precision::float64)] =
        sweep_range<double, Scalar, kLanes, typename TypedKernels<Scalar>::Solve>;
    table.sweep[int(Precision::mixed)] =
        sweep_range<double, Scalar, kLanes, typename TypedKernels<Scalar>::Solve>;
  }
  table.sweep[int(Precision::float32)] =
      sweep_range<float, Scalar, kLanes, typename TypedKernels<Scalar>::Solve>;
  table.sweep_bytes = sweep_bytes<Scalar>;
}

template void add_pack_kernels(TypedKernels<double>&);
template void add_pack_kernels(TypedKernels<float>&);

}  // namespace stickslip::kernels::inline SS_ISA
