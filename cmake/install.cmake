# What `cmake --install` puts down, by component:
#   library  the library, its public headers, the files that `find_package(tradeoff)` and pkg-config read
#   command  the command line, its manual page and completions
#   doc      the pages that the program names: theorems, how-to pages, tutorials
#   python   what belongs into a wheel (python/CMakeLists.txt)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tradeoff)

install(
  TARGETS ${installed_library}
  EXPORT tradeoffTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT library)
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

# Libraries of the C++ runtime, for programs that are linked as C.
set(runtime_libraries)
foreach(name IN ITEMS stdc++ c++ m)
  if(name IN_LIST CMAKE_CXX_IMPLICIT_LINK_LIBRARIES)
    list(APPEND runtime_libraries ${name})
  endif()
endforeach()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tradeoffConfig.cmake.in ${PROJECT_BINARY_DIR}/tradeoffConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tradeoffConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(
  FILES ${PROJECT_BINARY_DIR}/tradeoffConfig.cmake ${PROJECT_BINARY_DIR}/tradeoffConfigVersion.cmake
  DESTINATION ${package_dir}
  COMPONENT library)

# pkg-config: paths relative to the file, so that the whole can be moved. A static library needs its own libraries with every link.
file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" up "${up}")
set(pc_prefix "\${pcfiledir}/${up}")
foreach(dir IN ITEMS libdir includedir)
  string(TOUPPER ${dir} name)
  set(pc_${dir} "\${prefix}/${CMAKE_INSTALL_${name}}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${name}}")
    set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
    set(pc_${dir} "${CMAKE_INSTALL_${name}}")
  endif()
endforeach()
set(pc_private_libs "")
foreach(name IN LISTS runtime_libraries)
  string(APPEND pc_private_libs " -l${name}")
endforeach()
string(APPEND pc_private_libs " ${CMAKE_THREAD_LIBS_INIT}")
string(REGEX REPLACE " +$" "" pc_private_libs "${pc_private_libs}")
set(pc_static_libs "")
if(NOT BUILD_SHARED_LIBS)
  set(pc_static_libs "${pc_private_libs}")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/tradeoff.pc.in ${PROJECT_BINARY_DIR}/tradeoff.pc @ONLY)
install(
  FILES ${PROJECT_BINARY_DIR}/tradeoff.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT library)

if(TARGET tradeoff_cli)
  install(TARGETS tradeoff_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  install(FILES ${PROJECT_SOURCE_DIR}/THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command) # licences of what the program contains
endif()
if(has_manual)
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

if(TRADEOFF_CLI)
  install(
    DIRECTORY ${PROJECT_SOURCE_DIR}/docs/theory ${PROJECT_SOURCE_DIR}/docs/howto ${PROJECT_SOURCE_DIR}/docs/tutorials
    DESTINATION ${CMAKE_INSTALL_DOCDIR}
    COMPONENT doc
    FILES_MATCHING
    PATTERN "*.md")
  install(
    FILES ${PROJECT_SOURCE_DIR}/docs/security.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
    DESTINATION ${CMAKE_INSTALL_DOCDIR}
    COMPONENT doc)
endif()
