# Configures, without building. Outside the presets there are no warnings as errors and no tests; what is turned off needs no package; a
# build for another machine runs nothing of its own.
function(configure name)
  file(REMOVE_RECURSE ${work}/${name})
  must_run(${CMAKE_COMMAND} -S ${source} -B ${work}/${name} -G Ninja -D CMAKE_CXX_COMPILER=${compiler} -D CMAKE_BUILD_TYPE=Release ${ARGN})
  file(READ ${work}/${name}/build.ninja rules)
  set(rules "${rules}" PARENT_SCOPE)
endfunction()
function(expect text present)
  string(FIND "${rules}" "${text}" at)
  if((at EQUAL -1 AND present) OR (NOT at EQUAL -1 AND NOT present))
    message(FATAL_ERROR "'${text}' in build.ninja: expected ${present}")
  endif()
endfunction()

configure(plain)
expect("-Werror" FALSE)
expect("numeric_test" FALSE)
expect("_benchmark" FALSE)
expect("cli/tradeoff man" TRUE)

configure(nothing -D TRADEOFF_CLI=OFF -D TRADEOFF_TRAIN=OFF -D TRADEOFF_LEDGER=OFF -D BUILD_SHARED_LIBS=ON -D CMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON -D
          CMAKE_DISABLE_FIND_PACKAGE_CLI11=ON -D CMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
expect("libtradeoff.so" TRUE)
expect("cli/tradeoff" FALSE)
expect("src/report" FALSE)

configure(without_train -D TRADEOFF_TRAIN=OFF -D CMAKE_DISABLE_FIND_PACKAGE_Eigen3=ON)
expect("src/train/" FALSE)
expect("cli/tradeoff man" TRUE)

configure(cross -D CMAKE_SYSTEM_NAME=Linux -D CMAKE_SYSTEM_PROCESSOR=aarch64)
expect("tradeoff man" FALSE)
configure(cross_with_native -D CMAKE_SYSTEM_NAME=Linux -D CMAKE_SYSTEM_PROCESSOR=aarch64 -D TRADEOFF_NATIVE_COMMAND=${build}/cli/tradeoff)
expect("${build}/cli/tradeoff man" TRUE)

# A package that is missing is an error that says what to do.
foreach(pair IN ITEMS "CLI11;TRADEOFF_CLI" "Eigen3;TRADEOFF_TRAIN" "benchmark;TRADEOFF_BENCHMARKS")
  list(GET pair 0 package)
  list(GET pair 1 option)
  file(REMOVE_RECURSE ${work}/missing)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${source} -B ${work}/missing -G Ninja -D CMAKE_CXX_COMPILER=${compiler} -D ${option}=ON -D
                          CMAKE_DISABLE_FIND_PACKAGE_${package}=ON RESULT_VARIABLE code ERROR_VARIABLE text OUTPUT_QUIET)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  if(code EQUAL 0 OR NOT text MATCHES "-D ${option}=OFF builds without it")
    message(FATAL_ERROR "without ${package}: exit code ${code}, ${text}")
  endif()
endforeach()
