// Compilation context of the kernel bodies: host or device, and which instruction set.
#pragma once

// Every function that a body calls runs on both sides. On a GPU all are inlined into their launch
// function: a call would spill the caller's registers to local memory. On a CPU the compiler
// decides: with everything inlined, compiling takes four times as long and nothing is faster; and
// where SS_CALLS is defined (`make gpu-emulate EMULATE=quick`, whose kernels compile faster).
// Except SS_INNER, always inlined: arithmetic of groups, packs, cones and sweeps, a few
// instructions each.
#if defined(__CUDACC__)
#pragma nv_diag_suppress 1675  // `#pragma GCC unroll`, `ivdep`: for g++ alone
#if defined(SS_CALLS)
#define SS_HD __host__ __device__ inline
#else
#define SS_HD __host__ __device__ __forceinline__
#endif
#define SS_INNER __host__ __device__ __forceinline__
#else
#define SS_HD inline
#define SS_INNER inline __attribute__((always_inline))
#endif

// A part of a large body. On a CPU it remains a function: a body of thousands of instructions runs
// out of registers, also in the loops of its parts. On a GPU only where SS_CALL_PARTS is defined:
// in the kernels of the later rungs, which few environments need, and of piles. Newton alone would
// stand there three times.
#if !defined(__CUDACC__)
#define SS_PART __attribute__((noinline))
#elif defined(SS_CALL_PARTS)
#define SS_PART __host__ __device__ __noinline__
#else
#define SS_PART SS_HD
#endif

// A function that several places of a body use and that is large: on a GPU it is called, because a
// copy in each place would not fit the instruction cache. Not where SS_NO_CALLS is defined: what
// lives across a call may need registers that a kernel does not have.
#if defined(__CUDACC__) && !defined(SS_NO_CALLS)
#define SS_SHARED_CODE __host__ __device__ __noinline__
#else
#define SS_SHARED_CODE SS_HD
#endif

// Before a loop of a large body that must not be unrolled: unrolled copies would need more
// registers, and more of the instruction cache. Before a loop that waits for memory: four loads are
// under way at once; ptxas alone would unroll it by 16, with three loops for the rest.
#if defined(__CUDA_ARCH__)
#define SS_ROLLED _Pragma("unroll 1")
#define SS_BY_FOUR _Pragma("unroll 4")
#else
#define SS_ROLLED
#define SS_BY_FOUR
#endif

// A condition that mostly holds: a compiler puts the other code elsewhere, and an instruction cache
// loads less of it.
#define SS_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)

// Lambdas that must be inlined for speed.
#define SS_INLINE __attribute__((always_inline))

// The CPU kernels are compiled once per instruction set. The inline namespace separates their
// symbols, so that the linker never replaces AVX2 code by AVX-512 code of the same name.
#ifndef SS_ISA
#define SS_ISA portable
#endif

namespace stickslip::kernels::inline SS_ISA {

/// Whether these bodies are those of a GPU, also in host code that computes their scratch.
#if defined(__CUDACC__)
inline constexpr bool kOnGpu = true;
#else
inline constexpr bool kOnGpu = false;
#endif

}  // namespace stickslip::kernels::inline SS_ISA
