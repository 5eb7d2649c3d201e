# Arb, the oracle of tests and assurance/: a library of its own (2.x, with FLINT 2) or a part of FLINT 3. Its headers are beside those of
# the system or in their folder `flint`.
find_path(TRADEOFF_ARB_INCLUDE arb.h PATH_SUFFIXES flint)
find_library(TRADEOFF_FLINT NAMES flint)
if(NOT TRADEOFF_ARB_INCLUDE OR NOT TRADEOFF_FLINT)
  message(FATAL_ERROR "The tests need FLINT 3, or FLINT 2 and Arb 2 (Debian: libflint-dev, libflint-arb-dev); -D TRADEOFF_TESTS=OFF builds without them")
endif()
add_library(tradeoff_arb INTERFACE)
target_include_directories(tradeoff_arb SYSTEM INTERFACE ${TRADEOFF_ARB_INCLUDE})
if(TRADEOFF_ARB_INCLUDE MATCHES "/flint$")
  target_compile_options(tradeoff_arb INTERFACE "SHELL:-include mpfr.h") # FLINT 3 declares its functions for MPFR only after MPFR's header
else()
  find_library(TRADEOFF_ARB NAMES flint-arb arb REQUIRED) # Debian's name first
  target_link_libraries(tradeoff_arb INTERFACE ${TRADEOFF_ARB})
endif()
target_link_libraries(tradeoff_arb INTERFACE ${TRADEOFF_FLINT} mpfr gmp)
