# Host code takes most of the time of a build, and is the same with and without CUDA, in every wheel,
# and on the emulated GPU: STICKSLIP_OBJECTS names a build folder whose objects are linked instead.

# stickslip_sources(<variable> <target> <build>): replaces the sources of a target of this folder, in
# <variable>, by the objects that the build folder, if one is given, has of them.
function(stickslip_sources variable target build)
  if(NOT build)
    return()
  endif()
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  set(objects)
  foreach(source IN LISTS ${variable})
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    file(RELATIVE_PATH source "${CMAKE_CURRENT_SOURCE_DIR}" "${source}")
    string(REPLACE "../" "__/" source "${source}")  # as CMake names objects
    list(APPEND objects "${build}/${folder}/CMakeFiles/${target}.dir/${source}.o")
  endforeach()
  set(${variable} "${objects}" PARENT_SCOPE)
endfunction()

# stickslip_host_library(<target> <sources>...): a static library, built where something needs it.
function(stickslip_host_library target)
  set(sources ${ARGN})
  stickslip_sources(sources ${target} "${STICKSLIP_OBJECTS}")
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${sources})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)  # objects do not tell
endfunction()
