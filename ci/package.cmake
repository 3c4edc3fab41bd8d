# SPDX-License-Identifier: MIT
# Rules of `cmake --install`, and of the Debian package that `cpack -G DEB` makes from the installed files.
include(GNUInstallDirs)
set(O2_DATA_DIR ${CMAKE_INSTALL_DATADIR}/o2ref)

install(TARGETS o2ref_cli o2props o2ref-net-loop)
if(O2_VERBS)
  install(TARGETS o2props-verbs o2ref-net)
endif()
if(TARGET o2ref-fuzz-impl)
  install(TARGETS o2ref-fuzz-impl)
endif()
install(DIRECTORY ref/oracle/include/o2ref DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# The .pc file describes a header-only interface, so it is the same for all architectures.
configure_file(ci/o2ref.pc.in o2ref.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/o2ref.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)

install(DIRECTORY corpus DESTINATION ${O2_DATA_DIR})
install(DIRECTORY tests/impl/c tests/impl/go DESTINATION ${O2_DATA_DIR}/examples)
install(DIRECTORY tests/impl/start tests/impl/python DESTINATION ${O2_DATA_DIR}/examples
  USE_SOURCE_PERMISSIONS PATTERN "__pycache__" EXCLUDE)
# The Python example uses this codec.
install(FILES tests/judge/wire/codec.py tests/judge/wire/codec_base.py DESTINATION ${O2_DATA_DIR}/examples/python)

file(GLOB O2_DOCS CONFIGURE_DEPENDS docs/*.md docs/*.schema.json)
install(FILES ${O2_DOCS} README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY docs/pictures DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES docs/man/o2ref.1 docs/man/o2props.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES docs/man/o2ref-impl.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
# bash-completion loads the file in this folder that has the command's name.
foreach(command o2ref o2props)
  install(FILES ref/cli/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${command})
endforeach()
# o2ref and o2props start these programs for some options; their manual pages lead to the page of the starting command.
foreach(other o2ref-net o2ref-net-loop o2ref-fuzz-impl o2props-verbs)
  string(REGEX REPLACE "-.*" "" command ${other})
  file(WRITE ${PROJECT_BINARY_DIR}/man/${other}.1 ".so man1/${command}.1\n")
  install(FILES ${PROJECT_BINARY_DIR}/man/${other}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  list(APPEND O2_OTHER_PAGES ${CMAKE_INSTALL_MANDIR}/man1/${other}.1)
endforeach()
install(FILES ci/changelog DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ci/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME o2ref)
# Debian wants manual pages compressed; man(1) reads them either way.
foreach(page ${CMAKE_INSTALL_MANDIR}/man1/o2ref.1 ${CMAKE_INSTALL_MANDIR}/man1/o2props.1 ${CMAKE_INSTALL_MANDIR}/man7/o2ref-impl.7
    ${O2_OTHER_PAGES} ${CMAKE_INSTALL_DOCDIR}/changelog)
  install(CODE "execute_process(COMMAND gzip -9nf \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${page}\"
    COMMAND_ERROR_IS_FATAL ANY)")
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME o2ref)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION "The commands o2ref and o2props, the C ABI by which other
implementations are checked against the reference, implementations
to copy from, and the corpora.")
set(CPACK_PACKAGE_CONTACT "o2ref <o2ref@example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/ci/package-depends.cmake)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "gcc, pkgconf, python3")
include(CPack)
