// Of all kernels here: each is small and for one feature. The tests know what must come out.
#pragma once

#define KERNEL extern "C" __global__ void
using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;
using i16 = short;
using i32 = int;
using i64 = long long;
