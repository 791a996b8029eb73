# MuJoCo from Python's `mujoco` package: defines mujoco::mujoco, mujoco::headers, MuJoCo_LIBRARY,
# MuJoCo_SERIES, as 4_0 for 4.0.0; of the packages STICKSLIP_MUJOCO_ALSO, the list of
# the other series MuJoCo_ALSO and the headers MuJoCo_<series>_INCLUDE_DIR.
#
# The package's library has its full version in name and SONAME and has no plain symlink, so the
# file itself is linked, and programs find it at run time through their rpath. Python modules have
# the headers alone: they work with any version of a series (python/stickslip/_src/mujoco_part.py).
set(MuJoCo_KNOWN_SERIES 3_17 4_0)  # also in pyproject.toml and mujoco_part.py

# stickslip_mujoco_series(<variable> <package folder>): the series of its headers.
function(stickslip_mujoco_series variable package)
  file(STRINGS "${package}/include/mujoco/mujoco.h" line REGEX "^#define mjVERSION_HEADER")
  string(REGEX MATCH "([0-9]+)([0-9][0-9][0-9])[0-9][0-9][0-9]$" version "${line}")
  math(EXPR minor "1${CMAKE_MATCH_2} - 1000")  # not octal
  set(series "${CMAKE_MATCH_1}_${minor}")
  if(NOT series IN_LIST MuJoCo_KNOWN_SERIES)
    set(series "")
  endif()
  set(${variable} "${series}" PARENT_SCOPE)
endfunction()

if(NOT MuJoCo_ROOT)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c
      "import importlib.util as u; s = u.find_spec('mujoco'); print(s.submodule_search_locations[0] if s else '')"
    OUTPUT_VARIABLE MuJoCo_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
find_path(MuJoCo_INCLUDE_DIR mujoco/mujoco.h PATHS "${MuJoCo_ROOT}/include" NO_DEFAULT_PATH)
file(GLOB libraries "${MuJoCo_ROOT}/libmujoco.so.*")
list(LENGTH libraries count)
if(count GREATER 1)
  message(FATAL_ERROR "Two versions of libmujoco in ${MuJoCo_ROOT}. Mend with: "
    "pip install --force-reinstall mujoco mujoco-core")
endif()
set(MuJoCo_LIBRARY MuJoCo_LIBRARY-NOTFOUND)
if(MuJoCo_INCLUDE_DIR AND libraries)
  stickslip_mujoco_series(MuJoCo_SERIES "${MuJoCo_ROOT}")
  if(MuJoCo_SERIES)
    set(MuJoCo_LIBRARY "${libraries}")
  endif()
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MuJoCo REQUIRED_VARS MuJoCo_LIBRARY MuJoCo_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "(to build the MuJoCo front end: pip install \"mujoco>=3.17,<4.1\")")
if(MuJoCo_FOUND AND NOT TARGET mujoco::mujoco)
  add_library(mujoco::headers INTERFACE IMPORTED)
  target_include_directories(mujoco::headers INTERFACE "${MuJoCo_INCLUDE_DIR}")
  add_library(mujoco::mujoco SHARED IMPORTED)
  set_target_properties(mujoco::mujoco PROPERTIES IMPORTED_LOCATION "${MuJoCo_LIBRARY}")
  target_link_libraries(mujoco::mujoco INTERFACE mujoco::headers)
endif()
set(MuJoCo_ALSO)
foreach(package IN LISTS STICKSLIP_MUJOCO_ALSO)
  if(NOT EXISTS "${package}/include/mujoco/mujoco.h")
    message(FATAL_ERROR "STICKSLIP_MUJOCO_ALSO: no folder of a package mujoco: ${package}")
  endif()
  stickslip_mujoco_series(series "${package}")
  if(NOT series)
    message(FATAL_ERROR "STICKSLIP_MUJOCO_ALSO: neither MuJoCo 3.17 nor 4.0: ${package}")
  endif()
  if(NOT series STREQUAL MuJoCo_SERIES)
    list(APPEND MuJoCo_ALSO ${series})
    set(MuJoCo_${series}_INCLUDE_DIR "${package}/include")
  endif()
endforeach()
