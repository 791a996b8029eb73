// Kernels of one instruction: out[i] = op(a[i], b[i], c[i]).
#pragma once
#include "kernel.cuh"

#define OP1(name, D, d, A, ac, text)                               \
  KERNEL name(const A* a, const void*, const void*, D* o, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;           \
    if (i >= n) return;                                            \
    D r;                                                           \
    asm volatile(text : "=" d(r) : ac(a[i]));                      \
    o[i] = r;                                                      \
  }
#define OP2(name, D, d, A, ac, B, bc, text)                       \
  KERNEL name(const A* a, const B* b, const void*, D* o, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;          \
    if (i >= n) return;                                           \
    D r;                                                          \
    asm volatile(text : "=" d(r) : ac(a[i]), bc(b[i]));           \
    o[i] = r;                                                     \
  }
#define OP3(name, D, d, A, ac, B, bc, C, cc, text)                \
  KERNEL name(const A* a, const B* b, const C* c, D* o, int n) {  \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;          \
    if (i >= n) return;                                           \
    D r;                                                          \
    asm volatile(text : "=" d(r) : ac(a[i]), bc(b[i]), cc(c[i])); \
    o[i] = r;                                                     \
  }
#define F2(name, text) OP2(name, float, "f", float, "f", float, "f", text)
#define D2(name, text) OP2(name, double, "d", double, "d", double, "d", text)
#define F1(name, text) OP1(name, float, "f", float, "f", text)
#define D1(name, text) OP1(name, double, "d", double, "d", text)
#define F3(name, text) OP3(name, float, "f", float, "f", float, "f", float, "f", text)
#define D3(name, text) OP3(name, double, "d", double, "d", double, "d", double, "d", text)
