# stickslip_shared: the library as the extensions of the Python package share it. A wheel's has a name
# that tells which code fits: version and headers. The package stickslip-cuda13 (python/cuda13) brings
# the same library with kernels for GPUs; loaded first, it serves the extensions, because it has the
# same name (python/stickslip/_src/library.py).
file(WRITE "${PROJECT_BINARY_DIR}/no_source.cpp" "")  # a target needs one
add_library(stickslip_shared SHARED "${PROJECT_BINARY_DIR}/no_source.cpp")
target_link_libraries(stickslip_shared PUBLIC Threads::Threads
  PRIVATE "$<LINK_LIBRARY:WHOLE_ARCHIVE,stickslip>")
target_include_directories(stickslip_shared PUBLIC "${PROJECT_SOURCE_DIR}/include")
set_target_properties(stickslip_shared PROPERTIES OUTPUT_NAME stickslip)
if(SKBUILD_STATE STREQUAL "wheel")
  file(GLOB_RECURSE headers "${PROJECT_SOURCE_DIR}/include/*.hpp" "${PROJECT_SOURCE_DIR}/src/*.hpp"
    "${PROJECT_SOURCE_DIR}/kernels/*.hpp")
  set(hashes)
  foreach(header IN LISTS headers)
    file(SHA256 "${header}" hash)
    list(APPEND hashes "${hash}")
  endforeach()
  string(SHA256 hash "${hashes}")
  string(SUBSTRING "${hash}" 0 8 hash)
  set_target_properties(stickslip_shared PROPERTIES
    OUTPUT_NAME "stickslip-${PROJECT_VERSION}-${hash}")
endif()
# It calls what is linked into it: torch has its own libcudart, perhaps of another version, which would
# otherwise take the place of the one linked here where torch is imported first.
target_link_options(stickslip_shared PRIVATE "LINKER:-Bsymbolic")
install(TARGETS stickslip_shared LIBRARY DESTINATION stickslip COMPONENT python)
install(TARGETS stickslip_shared LIBRARY DESTINATION stickslip_cuda13 COMPONENT cuda13)
