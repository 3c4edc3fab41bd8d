# SPDX-License-Identifier: MIT
#
# The fuzz targets of fuzz/targets.txt under the engine that O2_FUZZ_ENGINE names (docs/fuzzing.md):
#
#   replay     fuzz_NAME_replay: files and directories in, exit 0 or 1 out; any compiler
#   libfuzzer  fuzz_NAME, bench_fuzz_NAME for ci/bench-fuzz, and plain_fuzz_NAME for ci/bench-mutator; clang
#   afl        fuzz_NAME, persistent, and libfuzz_mutator_SHAPE.so; CMAKE_C_COMPILER=afl-clang-fast
#
# `fuzz_targets` builds what fuzzes and nothing else; `bench_fuzz` and `bench_mutator` what those two run.

if(NOT O2_FUZZ_ENGINE MATCHES "^(replay|libfuzzer|afl)$")
  message(FATAL_ERROR "O2_FUZZ_ENGINE is '${O2_FUZZ_ENGINE}', expected replay, libfuzzer or afl")
endif()

add_custom_target(fuzz_targets)
add_custom_target(bench_fuzz)
add_custom_target(bench_mutator)

# CMPLOG is one more instrumentation of the same program (`afl-fuzz -c 0`); a variable of the compiler's environment.
function(o2_with_cmplog target)
  if(O2_FUZZ_ENGINE STREQUAL "afl")
    set_target_properties(${target} PROPERTIES C_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;env;AFL_LLVM_CMPLOG=1")
  endif()
endfunction()
foreach(library o2ref o2props_lib loopverbs o2cli_lib)
  if(TARGET ${library})
    o2_with_cmplog(${library})
  endif()
endforeach()

# What the targets share.  Built for every engine with the engine's instrumentation, as the library is.
add_library(o2fuzz_lib STATIC EXCLUDE_FROM_ALL fuzz/common.c fuzz/property.c)
target_link_libraries(o2fuzz_lib PUBLIC o2props_lib o2ref)
o2_with_cmplog(o2fuzz_lib)

# One program: a target's source with a driver.  Archives refer to each other; the linker goes round.
function(o2_fuzz_program program name libraries)
  add_executable(${program} fuzz/${name}.c ${ARGN})
  o2_with_cmplog(${program})
  target_link_libraries(${program} PRIVATE o2fuzz_lib o2props_lib o2ref ${libraries} o2props_lib o2ref)
  if(name STREQUAL "sim")
    o2_with_alloc_faults(${program})
  endif()
  if(NOT O2_FUZZ_ENGINE STREQUAL "replay")
    # clang-14's driver: libFuzzer.  afl-clang-fast's: the persistent loop of AFL++ with shared-memory inputs.
    target_link_options(${program} PRIVATE -fsanitize=fuzzer)
  endif()
endfunction()

# The mutator of messages or of descriptors.  An engine looks at the code under test, not at what makes its input: no
# coverage of it.  afl-fuzz loads a shared object, which an ordinary compiler makes: afl-clang-fast would instrument it.
set(O2_MUTATOR_SOURCES fuzz/wire_mutator.c fuzz/wire_work.c fuzz/wire_fields.c)
function(o2_fuzz_mutator shape)
  string(TOUPPER ${shape} upper)
  set(definition O2_WIRE_SHAPE=O2_WIRE_SHAPE_${upper})
  if(O2_FUZZ_ENGINE STREQUAL "libfuzzer")
    add_library(fuzz_mutator_${shape} OBJECT EXCLUDE_FROM_ALL ${O2_MUTATOR_SOURCES} fuzz/wire_mutator_libfuzzer.c)
    target_compile_options(fuzz_mutator_${shape} PRIVATE -fno-sanitize=fuzzer-no-link)
    target_compile_definitions(fuzz_mutator_${shape} PRIVATE ${definition})
  else()
    find_program(O2_PLAIN_COMPILER NAMES clang-14 gcc cc REQUIRED)
    set(object ${PROJECT_BINARY_DIR}/fuzz_mutator_${shape}.so)
    set(sources ${O2_MUTATOR_SOURCES} fuzz/wire_mutator_afl.c)
    list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
    file(GLOB headers CONFIGURE_DEPENDS fuzz/wire_*.h ref/wire/*.h)
    add_custom_command(OUTPUT ${object}
      COMMAND ${O2_PLAIN_COMPILER} -std=c11 -D_GNU_SOURCE -D${definition} -O2 -g -Wall -Wextra -Werror -fPIC -shared
        -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/ref ${sources} -o ${object}
      DEPENDS ${sources} ${headers} VERBATIM)
    add_custom_target(fuzz_mutator_${shape} DEPENDS ${object})
    add_dependencies(fuzz_targets fuzz_mutator_${shape})
  endif()
endfunction()
if(NOT O2_FUZZ_ENGINE STREQUAL "replay")
  o2_fuzz_mutator(message)
  o2_fuzz_mutator(descriptor)
endif()

function(o2_fuzz_target name mutator libraries)
  if(O2_FUZZ_ENGINE STREQUAL "replay")
    o2_fuzz_program(fuzz_${name}_replay ${name} "${libraries}" fuzz/replay_main.c)
    add_dependencies(fuzz_targets fuzz_${name}_replay)
    return()
  endif()
  if(mutator STREQUAL "-" OR O2_FUZZ_ENGINE STREQUAL "afl")
    o2_fuzz_program(fuzz_${name} ${name} "${libraries}")
  else()
    o2_fuzz_program(fuzz_${name} ${name} "${libraries}" $<TARGET_OBJECTS:fuzz_mutator_${mutator}>)
    o2_fuzz_program(plain_fuzz_${name} ${name} "${libraries}")
    set_target_properties(plain_fuzz_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(bench_mutator fuzz_${name} plain_fuzz_${name})
  endif()
  add_dependencies(fuzz_targets fuzz_${name})
  if(O2_FUZZ_ENGINE STREQUAL "libfuzzer")
    o2_fuzz_program(bench_fuzz_${name} ${name} "${libraries}" fuzz/bench_mutator.c)
    set_target_properties(bench_fuzz_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    add_dependencies(bench_fuzz bench_fuzz_${name})
  endif()
endfunction()

# Every committed corpus file passes in a plain build and under the sanitizers.
function(o2_corpus_test name)
  set(folders "")
  foreach(kind seed found regress)
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/corpus/${name}/${kind})
      list(APPEND folders ${PROJECT_SOURCE_DIR}/corpus/${name}/${kind})
    endif()
  endforeach()
  if(O2_FUZZ_ENGINE STREQUAL "replay" AND folders)
    add_test(NAME corpus_${name} COMMAND fuzz_${name}_replay ${folders})
    set_tests_properties(corpus_${name} PROPERTIES TIMEOUT 300)
  endif()
endfunction()

enable_testing()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/targets.txt)
file(STRINGS ${PROJECT_SOURCE_DIR}/fuzz/targets.txt O2_FUZZ_LINES REGEX "^[a-z]")
foreach(line ${O2_FUZZ_LINES})
  string(REGEX REPLACE " *\\| *" ";" fields "${line}")
  list(GET fields 0 name)
  list(GET fields 3 mutator)
  list(GET fields 4 libraries)
  if(libraries STREQUAL "-")
    set(libraries "")
  endif()
  separate_arguments(libraries)
  if(NOT EXISTS ${PROJECT_SOURCE_DIR}/fuzz/${name}.c)
    message(STATUS "fuzz/${name}.c does not exist: target ${name} is not built")
    continue()
  endif()
  o2_fuzz_target(${name} ${mutator} "${libraries}")
  o2_corpus_test(${name})
endforeach()

# What an engine costs by itself, for ci/bench-fuzz; not a target.
if(O2_FUZZ_ENGINE STREQUAL "libfuzzer")
  o2_fuzz_program(bench_fuzz_empty empty "" fuzz/bench_mutator.c)
  set_target_properties(bench_fuzz_empty PROPERTIES EXCLUDE_FROM_ALL ON)
  add_dependencies(bench_fuzz bench_fuzz_empty)
endif()

# The harness itself: the replayer names a failing file, and the list, the sources and the documentation agree.
if(O2_FUZZ_ENGINE STREQUAL "replay")
  add_test(NAME fuzz_replayer COMMAND ${PROJECT_SOURCE_DIR}/tests/fuzz/replayer.sh $<TARGET_FILE:fuzz_canary_replay>)
  add_test(NAME fuzz_list COMMAND ${PROJECT_SOURCE_DIR}/tests/fuzz/list.py)
  add_test(NAME fuzz_seeds COMMAND ${PROJECT_SOURCE_DIR}/fuzz/seeds.py --check)
  add_test(NAME fuzz_situation_seeds
    COMMAND ${PROJECT_SOURCE_DIR}/tests/fuzz/situation_seeds.py $<TARGET_FILE:o2props>)
endif()

# The mutator of messages by itself.
if(O2_FUZZ_ENGINE STREQUAL "replay")
  add_executable(fuzz_mutator_check tests/fuzz/mutator.c ${O2_MUTATOR_SOURCES})
  target_link_libraries(fuzz_mutator_check PRIVATE o2ref)
  add_test(NAME fuzz_mutator COMMAND fuzz_mutator_check)
  add_dependencies(fuzz_targets fuzz_mutator_check)
endif()

# The oracle of rdma_plan sees the deliberate defects of that stage with the committed corpus, and nothing without.
if(O2_FUZZ_ENGINE STREQUAL "replay")
  add_executable(fuzz_rdma_plan_mutants fuzz/rdma_plan.c fuzz/common.c fuzz/replay_main.c
    tests/fuzz/mutant_select.c)
  target_link_libraries(fuzz_rdma_plan_mutants PRIVATE o2ref_mutants o2props_lib o2ref_mutants)
  foreach(mutant none open-work-request forget-last-fragment)
    add_test(NAME fuzz_mutant_${mutant}
      COMMAND fuzz_rdma_plan_mutants ${PROJECT_SOURCE_DIR}/corpus/rdma_plan/seed)
    set_tests_properties(fuzz_mutant_${mutant} PROPERTIES ENVIRONMENT O2_MUTANT=${mutant})
    if(NOT mutant STREQUAL "none")
      set_tests_properties(fuzz_mutant_${mutant} PROPERTIES PASS_REGULAR_EXPRESSION "o2ref fuzz: rdma: ")
    endif()
  endforeach()
  add_dependencies(fuzz_targets fuzz_rdma_plan_mutants)
endif()
