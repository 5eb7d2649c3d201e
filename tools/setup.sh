# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Shared by ./run and ./test: the Debian packages that they need. Sourced, not run.

packages_to_build=(cmake ninja-build g++ libcli11-dev nlohmann-json3-dev libeigen3-dev libsqlite3-dev)
packages_to_test=(
  libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev libflint-arb-dev libflint-dev libmpfr-dev libgmp-dev libssl-dev pkg-config
  clang-19 libclang-rt-19-dev clang-format-19 clang-tidy-19 shellcheck valgrind ccache python3 python3-dev python3-venv dataset-fashion-mnist
)
packages_to_serve=(postgresql) # for the steps ledger and ledger-long, where it can be installed
packages_for_arm=(g++-aarch64-linux-gnu qemu-user) # ./test arm
packages_of_arm=(libgtest-dev libgmock-dev librapidcheck-dev libflint-arb-dev libflint-dev libmpfr-dev libgmp-dev libssl-dev libsqlite3-dev) # of that architecture
packages_for_windows=(g++-mingw-w64-x86-64-posix wine wine64) # ./test windows
packages_of_libcxx=(libc++-19-dev libc++abi-19-dev locales) # ./test options
packages_to_inspect=(cppcheck gcovr) # for the steps cppcheck and coverage alone
packages_for_page=(emscripten node-acorn python3 fonts-inter python3-fonttools python3-brotli) # the compiler for WebAssembly; a typeface
packages_to_test_page=(chromium) # ./test page: a browser; npm, which fetches axe-core
command -v npm >/dev/null || packages_to_test_page+=(npm) # a node from elsewhere brings its own, and Debian's does not go with it

# Installs the packages that are missing; asking costs a few milliseconds.
need_packages() {
  local installed missing=() package
  installed=$'\n'$(dpkg-query --show --showformat='${db:Status-Status} ${binary:Package}\n' "$@" 2>/dev/null || true)$'\n'
  for package in "$@"; do
    case $installed in
      *$'\n'"installed $package"[$':\n']*) ;;
      *) missing+=("$package") ;;
    esac
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "missing packages, and no right to install them: ${missing[*]}" >&2; return 1; }
    as_root=(sudo)
  fi
  echo "installing ${missing[*]}" >&2
  "${as_root[@]}" apt-get update -qq >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}
