# What `cmake --install` puts where: library, headers, binary, pkg-config file, man page.
include(GNUInstallDirs)

configure_file(cmake/calque.pc.in calque.pc @ONLY)
install(TARGETS calque_shared calque_static
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/calque DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_BINARY_DIR}/calque.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(TARGET calque_cli)
  install(TARGETS calque_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES docs/calque.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endif()
