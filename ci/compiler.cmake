# SPDX-License-Identifier: MIT
# Choose the compiler of a preset: ci/compiler finds one of the kind O2_COMPILER (gcc, clang or afl).  Include this file before
# project().  -DCMAKE_C_COMPILER=... has precedence; without O2_COMPILER, CMake chooses.
set(O2_COMPILER "" CACHE STRING "kind of the compiler that ci/compiler looks for: gcc, clang, afl; empty: CMake's own choice")

# Set a cache variable to the compiler of a kind, or to NOTFOUND.  A variable that is already in the cache is not changed.
function(o2_find_compiler variable kind)
  if(DEFINED CACHE{${variable}})
    return()
  endif()
  execute_process(COMMAND ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/compiler ${kind} RESULT_VARIABLE status OUTPUT_VARIABLE found
    ERROR_VARIABLE why OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    set(${variable} ${variable}-NOTFOUND CACHE STRING "compiler of kind ${kind}")
    message(STATUS "${why}")
    return()
  endif()
  separate_arguments(found UNIX_COMMAND "${found}")
  set(${variable} "${found}" CACHE STRING "compiler of kind ${kind}, found by ci/compiler")
endfunction()

if(O2_COMPILER AND NOT CMAKE_C_COMPILER)
  o2_find_compiler(O2_FOUND_COMPILER ${O2_COMPILER})
  if(NOT O2_FOUND_COMPILER)
    unset(O2_FOUND_COMPILER CACHE)
    message(FATAL_ERROR "no compiler of kind ${O2_COMPILER}: see above")
  endif()
  set(CMAKE_C_COMPILER "${O2_FOUND_COMPILER}" CACHE STRING "C compiler")
endif()
