# Uses what is installed as a stranger would, and looks at it as a packager would.
#   way            find_package (tests/install/consumer against a fresh install), add_subdirectory (the same against the sources),
#                  pkg_config (a C program against a fresh install), command (the installed command line and its pages),
#                  options (configures without presets, with everything off, and for another machine)
#   source, build  the library's source and build directories
#   work           a directory of our own
#   generator, compiler, c_compiler, launcher, version
function(must_run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed (${result}): ${ARGN}")
  endif()
endfunction()

if(way MATCHES "^(pkg_config|command|options)$")
  include(${CMAKE_CURRENT_LIST_DIR}/${way}.cmake)
  return()
endif()

set(consumer_options -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_CXX_COMPILER_LAUNCHER=${launcher} -D way=${way})
if(way STREQUAL find_package)
  file(REMOVE_RECURSE ${work})  # nothing left over from an earlier install may help
  must_run(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix --component library)
  # The library is the accountant alone: trainer, figures, reports and the command line are targets of their own.
  find_program(nm nm)
  file(GLOB_RECURSE archive ${work}/prefix/*/libtradeoff.a)
  execute_process(COMMAND ${nm} -C ${archive} OUTPUT_VARIABLE symbols)
  if(NOT symbols MATCHES "tradeoff::analyze" OR symbols MATCHES "tradeoff::(detail::)?(train|report|ask|cli)::")
    message(FATAL_ERROR "the installed library is not the accountant alone")
  endif()
  list(APPEND consumer_options -D CMAKE_BUILD_TYPE=Release -D CMAKE_PREFIX_PATH=${work}/prefix -D version=${version})
else()
  file(REMOVE ${work}/build/CMakeCache.txt)
  # Without optimisation and in units this compiles three times as fast.
  list(APPEND consumer_options -D CMAKE_BUILD_TYPE=Debug -D CMAKE_UNITY_BUILD=ON -D library_source=${source})
endif()

must_run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${work}/build -G ${generator} ${consumer_options})
must_run(${CMAKE_COMMAND} --build ${work}/build --target run_consumers)
