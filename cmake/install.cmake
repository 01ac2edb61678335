# What `cmake --install` puts where: library, headers, binary, man page, completions, the Python package, and what
# pkg-config and find_package(calque) read.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The .pc file finds its prefix by its own place, so that `cmake --install --prefix` and DESTDIR are
# right whatever was configured.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(CALQUE_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH CALQUE_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" CALQUE_PC_PREFIX "\${pcfiledir}/${CALQUE_PC_PREFIX}")
endif()
configure_file(cmake/calque.pc.in calque.pc @ONLY)
install(TARGETS calque_shared calque_static
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/calque DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_BINARY_DIR}/calque.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# The Python package finds the library by its own place, or as the system does. Below /usr this is
# where Debian's Python looks; elsewhere PYTHONPATH names it.
set(CALQUE_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Where the Python package goes")
install(DIRECTORY python/calque DESTINATION ${CALQUE_PYTHON_DIR}
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/calque)
configure_package_config_file(cmake/calqueConfig.cmake.in ${CMAKE_BINARY_DIR}/calqueConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/calqueConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/calqueConfig.cmake ${CMAKE_BINARY_DIR}/calqueConfigVersion.cmake
  DESTINATION ${package_dir})
if(TARGET calque_cli)
  install(TARGETS calque_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES docs/calque.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES cmake/completion/calque.bash RENAME calque
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES cmake/completion/_calque DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES cmake/completion/calque.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
