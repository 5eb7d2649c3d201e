# SPDX-License-Identifier: Apache-2.0
# An overlay port of this checkout:  vcpkg install tradeoff --overlay-ports=packaging/vcpkg
# A registry needs vcpkg_from_github, with an address and a SHA-512, in place of SOURCE_PATH.
cmake_path(ABSOLUTE_PATH CURRENT_PORT_DIR BASE_DIRECTORY / NORMALIZE OUTPUT_VARIABLE port)
cmake_path(SET SOURCE_PATH NORMALIZE "${port}/../../..")

vcpkg_check_features(OUT_FEATURE_OPTIONS options FEATURES ledger TRADEOFF_LEDGER tools TRADEOFF_CLI)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}" OPTIONS ${options} -DCMAKE_UNITY_BUILD=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/tradeoff)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES tradeoff AUTO_CLEAN)
endif()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/THIRD_PARTY.md")
