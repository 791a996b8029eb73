# MuJoCo from Python's `mujoco` package: defines mujoco::mujoco, MuJoCo_LIBRARY.
#
# The package's library has its full version in name and SONAME and has no plain symlink, so the
# file itself is linked, and programs find it at run time through their rpath.
set(MuJoCo_VERSION 4.0.0)  # also in pyproject.toml
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
    "pip install --force-reinstall mujoco==${MuJoCo_VERSION} mujoco-core==${MuJoCo_VERSION}")
endif()
set(MuJoCo_LIBRARY "${libraries}")
if(NOT libraries STREQUAL "${MuJoCo_ROOT}/libmujoco.so.${MuJoCo_VERSION}")
  set(MuJoCo_LIBRARY MuJoCo_LIBRARY-NOTFOUND)
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(MuJoCo REQUIRED_VARS MuJoCo_LIBRARY MuJoCo_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "(pip install mujoco==${MuJoCo_VERSION} to build the MuJoCo front end)")
if(MuJoCo_FOUND AND NOT TARGET mujoco::mujoco)
  add_library(mujoco::mujoco SHARED IMPORTED)
  set_target_properties(mujoco::mujoco PROPERTIES
    IMPORTED_LOCATION "${MuJoCo_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${MuJoCo_INCLUDE_DIR}")
endif()
