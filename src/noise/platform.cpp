// SPDX-License-Identifier: Apache-2.0
#include "noise/platform.h"

#include <new>

#include "tradeoff/release.h"

#if defined(_WIN32)
#include <windows.h>
// after it
#include <bcrypt.h>
#else
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#if defined(__linux__) || defined(__EMSCRIPTEN__)
#include <sys/random.h>
#endif
#endif

namespace tradeoff::detail::noise {
namespace {

[[maybe_unused]] [[noreturn]] void fail() {
  throw RandomnessError("release: the operating system gives no randomness; nothing was released");
}

}  // namespace

#if defined(_WIN32)

void system_entropy(std::span<std::byte> bytes) {
  constexpr std::size_t at_once = 1U << 20;  // its count has 32 bits
  while (!bytes.empty()) {
    const std::size_t count = bytes.size() < at_once ? bytes.size() : at_once;
    const NTSTATUS status =
        BCryptGenRandom(nullptr, reinterpret_cast<PUCHAR>(bytes.data()), static_cast<ULONG>(count), BCRYPT_USE_SYSTEM_PREFERRED_RNG);
    if (status < 0) fail();
    bytes = bytes.subspan(count);
  }
}

void* map_secret_pages(std::size_t bytes) {
  void* const pages = VirtualAlloc(nullptr, bytes, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
  if (pages == nullptr) throw std::bad_alloc();
  return pages;
}

void unmap_secret_pages(void* pages, std::size_t) noexcept { VirtualFree(pages, 0, MEM_RELEASE); }

std::int64_t process_id() noexcept { return static_cast<std::int64_t>(GetCurrentProcessId()); }

#else

void system_entropy(std::span<std::byte> bytes) {
#if defined(__linux__) || defined(__EMSCRIPTEN__)
  while (!bytes.empty()) {
    const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
#else
  arc4random_buf(bytes.data(), bytes.size());  // macOS and the BSDs: cannot fail, reseeds itself after fork
#endif
}

void* map_secret_pages(std::size_t bytes) {
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();  // NOLINT: the macro casts
#if defined(MADV_WIPEONFORK)
  static_cast<void>(madvise(pages, bytes, MADV_WIPEONFORK));  // older kernels refuse this; the process id is checked as well
#endif
#if defined(MADV_DONTDUMP)
  static_cast<void>(madvise(pages, bytes, MADV_DONTDUMP));
#endif
  return pages;
}

void unmap_secret_pages(void* pages, std::size_t bytes) noexcept { munmap(pages, bytes); }

std::int64_t process_id() noexcept { return getpid(); }

#endif

}  // namespace tradeoff::detail::noise
