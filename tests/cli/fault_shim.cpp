// SPDX-License-Identifier: Apache-2.0
// A library to be loaded before all others (LD_PRELOAD) that lets calls to the system fail on command: the environment variable FAULT is
//     kill@N        the process is killed just before the Nth call that changes files
//     torn@N        the Nth write writes half of what it should, then the process is killed
//     full@N        from the Nth write on, the disk is full
//     sync          data cannot be brought to the disk; sync_at@N: from the Nth fdatasync on
//     short         every write takes at most 7 bytes
//     alarms        a signal arrives every millisecond and interrupts whatever waits
//     randomness    the system gives no random bytes
//     upward, flush arithmetic rounds upward; subnormal numbers are flushed to zero, as by a library built with -ffast-math
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <cstdarg>
#include <cstdlib>
#include <string>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

struct Fault {
  std::string kind;
  long at = 0;
  long calls = 0;
};

Fault& fault() {
  static Fault one = [] {
    const char* given = std::getenv("FAULT");
    const std::string text = given == nullptr ? "" : given;
    const std::size_t mark = text.find('@');
    return Fault{text.substr(0, mark), mark == std::string::npos ? 0 : std::atol(text.c_str() + mark + 1)};
  }();
  return one;
}

bool is(const char* kind) { return fault().kind == kind; }

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void die() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/// Counts the calls that change files.
void change() {
  if (is("kill") && ++fault().calls == fault().at) die();
}

__attribute__((constructor)) void prepare() {
  if (is("upward")) std::fesetround(FE_UPWARD);
#if defined(__x86_64__)
  if (is("flush")) _mm_setcsr(_mm_getcsr() | 0x8040U);
#endif
  if (is("alarms")) {
    struct sigaction action = {};
    action.sa_handler = [](int) {};  // without SA_RESTART
    sigaction(SIGALRM, &action, nullptr);
    const itimerval every = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &every, nullptr);
  }
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, std::size_t count) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t)>("write");
  change();
  if (is("torn") && ++fault().calls == fault().at) {
    real(descriptor, bytes, count / 2);
    die();
  }
  if (is("full") && ++fault().calls >= fault().at && descriptor > STDERR_FILENO) {
    errno = ENOSPC;
    return -1;
  }
  return real(descriptor, bytes, is("short") ? std::min<std::size_t>(count, 7) : count);
}

// SQLite writes and synchronises with these.
ssize_t pwrite64(int descriptor, const void* bytes, std::size_t count, off64_t at) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t, off64_t)>("pwrite64");
  change();
  if (is("torn") && ++fault().calls == fault().at) {
    real(descriptor, bytes, count / 2, at);
    die();
  }
  if (is("full") && ++fault().calls >= fault().at) {
    errno = ENOSPC;
    return -1;
  }
  return real(descriptor, bytes, count, at);
}

int fdatasync(int descriptor) {
  static const auto real = next<int (*)(int)>("fdatasync");
  change();
  if (is("sync") || (is("sync_at") && ++fault().calls >= fault().at)) {
    errno = EIO;
    return -1;
  }
  return real(descriptor);
}

int ftruncate64(int descriptor, off64_t size) {
  static const auto real = next<int (*)(int, off64_t)>("ftruncate64");
  change();
  return real(descriptor, size);
}

int unlink(const char* path) {
  static const auto real = next<int (*)(const char*)>("unlink");
  change();
  return real(path);
}

int fsync(int descriptor) {
  static const auto real = next<int (*)(int)>("fsync");
  change();
  if (is("sync")) {
    errno = EIO;
    return -1;
  }
  return real(descriptor);
}

int rename(const char* from, const char* to) {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  change();
  return real(from, to);
}

int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  if ((flags & O_CREAT) == 0) return real(path, flags);
  va_list more;
  va_start(more, flags);
  const auto mode = va_arg(more, mode_t);
  va_end(more);
  change();
  return real(path, flags, mode);
}

ssize_t getrandom(void* bytes, std::size_t count, unsigned flags) {
  static const auto real = next<ssize_t (*)(void*, std::size_t, unsigned)>("getrandom");
  if (is("randomness")) {
    errno = ENOSYS;
    return -1;
  }
  return real(bytes, count, flags);
}

}  // extern "C"
