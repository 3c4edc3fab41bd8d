# SPDX-License-Identifier: MIT
# The same with deliberate defects, for the tests of the harness alone: copies, with switches in them, of the sources
# that the table tests/mutants/*.toml names (docs/mutants.md).
set(MUTANTS_DIR ${PROJECT_BINARY_DIR}/mutants)
set(MUTANTS_SCRIPT ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/mutants/switches.py)
file(GLOB MUTANTS_INPUTS CONFIGURE_DEPENDS tests/mutants/*.toml tests/mutants/*.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${MUTANTS_INPUTS})
execute_process(COMMAND ${MUTANTS_SCRIPT} --list OUTPUT_VARIABLE MUTANTS_ORIGINALS OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
add_custom_command(OUTPUT ${MUTANTS_DIR}/mutant_list.h COMMAND ${MUTANTS_SCRIPT} --ids ${MUTANTS_DIR}
  DEPENDS ${MUTANTS_INPUTS} VERBATIM)
set(MUTANTS_SOURCES ${O2REF_SOURCES} tests/mutants/mutant.c)
set(MUTANTS_MADE ${MUTANTS_DIR}/mutant_list.h)
foreach(file ${MUTANTS_ORIGINALS})
  add_custom_command(OUTPUT ${MUTANTS_DIR}/${file} COMMAND ${MUTANTS_SCRIPT} --copy ${file} ${MUTANTS_DIR}
    DEPENDS ${MUTANTS_INPUTS} ${PROJECT_SOURCE_DIR}/${file} COMMENT "${file} with deliberate defects" VERBATIM)
  list(APPEND MUTANTS_MADE ${MUTANTS_DIR}/${file})
  if(file MATCHES "\\.c$")
    list(REMOVE_ITEM MUTANTS_SOURCES ${PROJECT_SOURCE_DIR}/${file})
    list(APPEND MUTANTS_SOURCES ${MUTANTS_DIR}/${file})
  endif()
endforeach()
add_custom_target(mutants_sources DEPENDS ${MUTANTS_MADE})
add_library(o2ref_mutants STATIC EXCLUDE_FROM_ALL ${MUTANTS_SOURCES})
add_dependencies(o2ref_mutants mutants_sources)
# A copied header, and tests/mutants/include/base/breaks.h, before those of ref/.
target_include_directories(o2ref_mutants BEFORE PRIVATE ${PROJECT_SOURCE_DIR}/tests/mutants/include ${MUTANTS_DIR}/ref)
target_include_directories(o2ref_mutants PUBLIC ${MUTANTS_DIR})
target_compile_definitions(o2ref_mutants PUBLIC O2_WITH_MUTANTS)
target_link_libraries(o2ref_mutants PUBLIC PkgConfig::JANSSON Threads::Threads)
set_target_properties(o2ref_mutants PROPERTIES POSITION_INDEPENDENT_CODE ON)
