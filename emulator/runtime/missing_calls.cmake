# Writes OUT: functions that the library REAL has and SOURCES do not define.
cmake_minimum_required(VERSION 3.25)
foreach(source IN LISTS SOURCES)
  file(READ ${source} text)
  string(REGEX MATCHALL "(__)?cuda[A-Z][A-Za-z0-9]*\\(" calls "${text}")
  list(APPEND emulated ${calls})
endforeach()
set(symbols "")
if(EXISTS "${REAL}")
  execute_process(COMMAND ${NM} -D --defined-only ${REAL} OUTPUT_VARIABLE symbols ERROR_QUIET)
endif()
string(REGEX MATCHALL " T (__)?cuda[A-Za-z0-9_]*" symbols "${symbols}")
set(calls "")
foreach(symbol IN LISTS symbols)
  string(SUBSTRING "${symbol}" 3 -1 name)
  if(NOT "${name}(" IN_LIST emulated)
    string(APPEND calls "MISSING(${name})\n")
  endif()
endforeach()
set(head [[
#include <cstdio>
#define MISSING(name)                                                       \
  extern "C" __attribute__((visibility("default"))) int name() {           \
    std::fprintf(stderr, "[gpu-emulator] %s is not emulated\n", #name);     \
    return 801;                                                             \
  }
]])
file(WRITE ${OUT} "${head}${calls}")
