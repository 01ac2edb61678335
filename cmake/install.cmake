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
# The Python package finds the library by its own place, or as the system does. Below /usr Debian's
# Python reads lib/python3/dist-packages, below /usr/local lib/python3.11/dist-packages of its own
# version; others read site-packages. The prefix is known when it is installed.
set(CALQUE_INSTALL_PYTHONDIR "" CACHE STRING "Where the Python package goes, below the prefix; empty: where Python looks")
find_program(CALQUE_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(CALQUE_PYTHON python3)
set(python_dir lib/python3/dist-packages)
if(CALQUE_PYTHON)
  execute_process(COMMAND ${CALQUE_PYTHON} -c "import sys; print('%d.%d' % sys.version_info[:2])"
    OUTPUT_VARIABLE python_version OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(python_dir lib/python${python_version}/site-packages)
  if(EXISTS /etc/debian_version)
    set(python_dir lib/python${python_version}/dist-packages)
  endif()
endif()
install(CODE "
  set(CALQUE_PYTHON_DIR \"${CALQUE_INSTALL_PYTHONDIR}\")
  if(NOT CALQUE_PYTHON_DIR)
    set(CALQUE_PYTHON_DIR ${python_dir})
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\" AND EXISTS /etc/debian_version)
      set(CALQUE_PYTHON_DIR lib/python3/dist-packages)
    endif()
  endif()")
install(DIRECTORY python/calque DESTINATION "\${CALQUE_PYTHON_DIR}"
  FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
install(FILES LICENSE README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md")
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

# Programs find the shared library when the cache of the dynamic linker knows it. As root, and not
# into a package (DESTDIR), it is told; otherwise the user is.
install(CODE "
  if(NOT DEFINED ENV{DESTDIR} OR \"\$ENV{DESTDIR}\" STREQUAL \"\")
    set(libdir \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}\")
    set(known FALSE)
    find_program(ldconfig ldconfig PATHS /sbin /usr/sbin)
    if(ldconfig)
      if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\" OR CMAKE_INSTALL_PREFIX STREQUAL \"/usr/local\")
        execute_process(COMMAND \${ldconfig} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
      endif()
      execute_process(COMMAND \${ldconfig} -p OUTPUT_VARIABLE cache ERROR_QUIET)
      string(FIND \"\${cache}\" \"\${libdir}/libcalque.so.0\" at)
      if(NOT at EQUAL -1)
        set(known TRUE)
      endif()
    endif()
    if(NOT known)
      message(STATUS \"Programs that use the shared library need one of: ldconfig (as root, if the linker reads \${libdir}), LD_LIBRARY_PATH=\${libdir}, or -Wl,-rpath,\${libdir}\")
    endif()
  endif()")
