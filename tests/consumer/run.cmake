# cmake -D BUILD=<build tree> -D SOURCE=<this folder> -P run.cmake
# Installs the library to a temporary prefix, builds a program that uses it, and runs the program.
set(scratch "${BUILD}/consumer")
file(REMOVE_RECURSE "${scratch}")
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
run("${CMAKE_COMMAND}" --install "${BUILD}" --component library --prefix "${scratch}/prefix")
run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${scratch}/build" -G "${GENERATOR}"
  "-DCMAKE_PREFIX_PATH=${scratch}/prefix" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${FLAGS}"
  "-DCUDAToolkit_ROOT=${CUDA_ROOT}")
run("${CMAKE_COMMAND}" --build "${scratch}/build")
run("${scratch}/build/consumer")
