# The library `tradeoff`: the accountant alone, no front end. Our own programs and tests reach into its private parts, so they always link
# the static one. BUILD_SHARED_LIBS makes the one that is installed a shared library, which shows only the public interface
# (docs/adr/0016).
if(NOT EMSCRIPTEN) # which has none here
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)
endif()

function(describe_library target)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  if(NOT EMSCRIPTEN)
    target_link_libraries(${target} PRIVATE Threads::Threads)
  endif()
  if(WIN32)
    target_link_libraries(${target} PRIVATE bcrypt) # the system's random numbers
  endif()
endfunction()

include(GNUInstallDirs)
add_library(tradeoff STATIC ${objects})
describe_library(tradeoff)
set(installed_library tradeoff)

if(BUILD_SHARED_LIBS OR TRADEOFF_TESTS) # the tests look at it as well
  add_library(tradeoff_shared SHARED ${objects})
  describe_library(tradeoff_shared)
  # Before 1.0 a minor version may break the interface, so it is part of the name that programs ask for.
  set_target_properties(
    tradeoff_shared PROPERTIES OUTPUT_NAME tradeoff EXPORT_NAME tradeoff VERSION ${PROJECT_VERSION}
                               SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  if(UNIX AND NOT APPLE)
    configure_file(${CMAKE_CURRENT_LIST_DIR}/exports.map.in ${PROJECT_BINARY_DIR}/exports.map @ONLY)
    target_link_options(tradeoff_shared PRIVATE LINKER:--version-script=${PROJECT_BINARY_DIR}/exports.map LINKER:-Bsymbolic-functions
                        LINKER:--no-undefined)
    set_target_properties(tradeoff_shared PROPERTIES LINK_DEPENDS ${PROJECT_BINARY_DIR}/exports.map)
  endif()
endif()
if(BUILD_SHARED_LIBS)
  set(installed_library tradeoff_shared)
endif()
add_library(tradeoff::tradeoff ALIAS ${installed_library})
