# Finds the build dependencies, or unpacks their source: from STICKSLIP_BUNDLE (made by `make
# gpu-bundle`) or, for GoogleTest, from third_party/.
include(FetchContent)
find_package(Threads REQUIRED)

# stickslip_archive(<variable> <pattern>): the archive of a dependency's source, if there is one.
function(stickslip_archive variable pattern)
  file(GLOB found "${STICKSLIP_BUNDLE}/${pattern}" "${PROJECT_SOURCE_DIR}/third_party/${pattern}")
  list(POP_FRONT found first)
  set(${variable} "${first}" PARENT_SCOPE)
endfunction()

if(STICKSLIP_REFERENCE)
  find_package(Eigen3 3.4 QUIET NO_MODULE)
  if(NOT TARGET Eigen3::Eigen)
    stickslip_archive(archive "eigen*.tar.*")
    if(archive)
      # Headers only: Eigen's own CMake files would configure its whole test suite.
      FetchContent_Declare(eigen URL "${archive}" SOURCE_SUBDIR headers-only
        DOWNLOAD_EXTRACT_TIMESTAMP ON)
      FetchContent_MakeAvailable(eigen)
      add_library(Eigen3::Eigen INTERFACE IMPORTED)
      target_include_directories(Eigen3::Eigen INTERFACE "${eigen_SOURCE_DIR}")
    elseif(STICKSLIP_TESTS)
      message(FATAL_ERROR "Eigen 3.4 not found; the tests need it. Debian: "
        "apt install libeigen3-dev; else: pip install cmeel-eigen and pass its prefix in "
        "CMAKE_PREFIX_PATH (`make setup` does this). The C++ library alone: -DSTICKSLIP_TESTS=OFF")
    endif()
  endif()
endif()

if(STICKSLIP_TESTS)
  find_package(GTest QUIET)
  if(NOT TARGET GTest::gtest)
    stickslip_archive(archive "googletest*.tar.*")
    set(INSTALL_GTEST OFF)
    FetchContent_Declare(googletest URL "${archive}" DOWNLOAD_EXTRACT_TIMESTAMP ON)
    FetchContent_MakeAvailable(googletest)
  endif()
  include(GoogleTest)
endif()

if(STICKSLIP_BENCH)
  find_package(benchmark QUIET)
  stickslip_archive(archive "benchmark*.tar.*")
  if(NOT TARGET benchmark::benchmark AND archive)
    set(BENCHMARK_ENABLE_TESTING OFF)
    set(BENCHMARK_ENABLE_INSTALL OFF)
    set(BENCHMARK_ENABLE_WERROR OFF)
    FetchContent_Declare(benchmark URL "${archive}" DOWNLOAD_EXTRACT_TIMESTAMP ON)
    FetchContent_MakeAvailable(benchmark)
  endif()
endif()

if(NOT Python_EXECUTABLE AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python")  # made by `make setup`
endif()
if(STICKSLIP_PYTHON OR STICKSLIP_MUJOCO)
  # Stable-ABI modules need Python 3.12; before, nanobind builds for the one version.
  find_package(Python 3.10 COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module
    Development.SABIModule)
endif()
if(STICKSLIP_MUJOCO AND Python_EXECUTABLE)
  find_package(MuJoCo)
endif()
if(STICKSLIP_PYTHON AND NOT MuJoCo_FOUND)
  message(FATAL_ERROR "The Python package needs MuJoCo: pip install \"mujoco>=3.17,<4.1\"")
endif()
if(STICKSLIP_PYTHON)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
    OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT COMMAND_ERROR_IS_FATAL ANY)
  find_package(nanobind CONFIG REQUIRED)
endif()
