# 64-bit ARM by Debian's cross compiler (the preset `arm`); tools/debian_sysroot fetches the libraries of the tests, qemu-user runs them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
get_filename_component(sysroot ${CMAKE_CURRENT_LIST_DIR}/../build/arm-sysroot/root ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${sysroot})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH) # nlohmann/json, CLI11 and Eigen are headers for every processor
include_directories(SYSTEM ${sysroot}/usr/include/aarch64-linux-gnu) # gmp.h
set(libraries ${sysroot}/usr/lib/aarch64-linux-gnu)
set(CMAKE_CXX_FLAGS_INIT -Wno-psabi) # notes about GCC 9
set(CMAKE_EXE_LINKER_FLAGS_INIT "-L${libraries} -Wl,-rpath-link,${libraries}")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=${libraries}:/usr/aarch64-linux-gnu/lib)
