# SPDX-License-Identifier: MIT
# Find the package's dependencies after its files are staged and before the package is written: run dpkg-shlibdeps on the
# programs only.  CPACK_DEBIAN_PACKAGE_SHLIBDEPS would first run `file` on every file of the corpora.
if(CPACK_GENERATOR STREQUAL "DEB")
  file(GLOB programs "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/bin/*")
  set(folder "${CPACK_TOPLEVEL_DIRECTORY}/depends")
  file(WRITE "${folder}/debian/control" "")
  execute_process(COMMAND dpkg-shlibdeps -O ${programs} WORKING_DIRECTORY "${folder}" OUTPUT_VARIABLE CPACK_DEBIAN_PACKAGE_DEPENDS
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE "^shlibs:Depends=" "" CPACK_DEBIAN_PACKAGE_DEPENDS "${CPACK_DEBIAN_PACKAGE_DEPENDS}")
endif()
