# What `cmake --install` puts down: the library, its public headers, the files `find_package(tradeoff)` reads, and the command line.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tradeoff)

install(TARGETS tradeoff EXPORT tradeoffTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
if(TARGET tradeoff_ledger_library)
  install(TARGETS tradeoff_ledger_library EXPORT tradeoffTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
endif()
install(
  DIRECTORY ${PROJECT_SOURCE_DIR}/include/tradeoff
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT library
  FILES_MATCHING
  PATTERN "*.h")
install(
  EXPORT tradeoffTargets
  NAMESPACE tradeoff::
  DESTINATION ${package_dir}
  COMPONENT library)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tradeoffConfig.cmake.in ${PROJECT_BINARY_DIR}/tradeoffConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tradeoffConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES ${PROJECT_BINARY_DIR}/tradeoffConfig.cmake ${PROJECT_BINARY_DIR}/tradeoffConfigVersion.cmake
  DESTINATION ${package_dir}
  COMPONENT library)

if(TARGET tradeoff_cli)
  install(TARGETS tradeoff_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  set(made ${PROJECT_BINARY_DIR}/cli)
  install(FILES ${made}/tradeoff.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
  install(
    FILES ${made}/tradeoff.bash
    RENAME tradeoff
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    COMPONENT command)
  install(FILES ${made}/_tradeoff DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
  install(FILES ${made}/tradeoff.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
endif()
