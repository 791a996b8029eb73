# Compiler flags as interface targets.

# For host and device code: warnings are errors.
add_library(stickslip_warnings INTERFACE)
target_compile_options(stickslip_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Werror>
  $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Wall,-Wextra>)

# Arithmetic of the kernels: every fused multiply-add is written explicitly, so that CPU and GPU
# give the same bits. -fno-trapping-math lets loops vectorise and changes no value.
add_library(stickslip_arithmetic INTERFACE)
target_compile_options(stickslip_arithmetic INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;-fno-math-errno;-fno-trapping-math>
  $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;-Xcompiler=-ffp-contract=off>)

# Kernel bodies instantiated on the CPU for one instruction set. SS_ISA names the inline namespace
# that separates the copies of a body.
foreach(isa IN ITEMS a64 v3 v4)
  add_library(stickslip_kernels_${isa} INTERFACE)
  target_link_libraries(stickslip_kernels_${isa} INTERFACE stickslip_arithmetic)
  target_compile_definitions(stickslip_kernels_${isa} INTERFACE SS_ISA=${isa})
endforeach()
target_compile_options(stickslip_kernels_v3 INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v3>)
target_compile_options(stickslip_kernels_v4 INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v4;-mprefer-vector-width=512>)
# The instruction sets for which the library has kernels. Every aarch64 has NEON.
set(STICKSLIP_ISAS v3 v4)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(STICKSLIP_ISAS a64)
elseif(STICKSLIP_CPU MATCHES "^(native|runnable)$")
  include(CheckCXXSourceRuns)
  check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"x86-64-v4\") ? 0 : 1; }"
    STICKSLIP_HOST_HAS_V4)
  if(NOT STICKSLIP_HOST_HAS_V4)
    set(STICKSLIP_ISAS v3)
  elseif(STICKSLIP_CPU STREQUAL "native")
    set(STICKSLIP_ISAS v4)
  endif()
elseif(NOT STICKSLIP_CPU STREQUAL "portable")
  message(FATAL_ERROR "STICKSLIP_CPU: expected portable, runnable or native, got ${STICKSLIP_CPU}")
endif()

# No GPU kernel may spill registers or use local memory: ptxas rejects one that does. Exempt is what
# src/CMakeLists.txt names, where it was measured that more warps are worth it. This check is part
# of the build, because ptxas takes most of its time. The limits are those of
# architecture 90, so only builds for it alone (the preset `cuda`, of `make test-all`) have the
# check.
set(STICKSLIP_PTXAS_GATE OFF)
if(CMAKE_CUDA_ARCHITECTURES STREQUAL "90-real")
  set(STICKSLIP_PTXAS_GATE -Xptxas=--warn-on-spills,--warn-on-local-memory-usage,-Werror)
endif()

if(STICKSLIP_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${STICKSLIP_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${STICKSLIP_SANITIZE})
endif()
