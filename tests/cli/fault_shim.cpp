// SPDX-License-Identifier: Apache-2.0
// A library to be loaded before all others (LD_PRELOAD) that lets calls to the system fail on command: the environment variable FAULT is
//     kill@N        the process is killed just before the Nth call that changes files
//     torn@N        the Nth write writes half of what it should, then the process is killed
//     full@N        from the Nth write on, the disk is full
//     sync          data cannot be brought to the disk; sync_at@N: from the Nth fdatasync on
//     power@N       the power fails just before the Nth call that changes files: what was not synchronised is undone, then the process ends
//     send@N        the process is killed just before the Nth message that it sends or waits for over a socket
//     drop@N        the Nth such message fails: the connection is reset
//     clock         the clock of the day jumps back and forth by years at every question
//     short         every write takes at most 7 bytes
//     alarms        a signal arrives every millisecond and interrupts whatever waits
//     randomness    the system gives no random bytes
//     upward, flush arithmetic rounds upward; subnormal numbers are flushed to zero, as by a library built with -ffast-math
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cfenv>
#include <cstdarg>
#include <cstdlib>
#include <string>
#include <vector>
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

/// What a write to a file has overwritten since the file was last synchronised.
struct Overwritten {
  int descriptor;
  off64_t at, size;  ///< where, and the size of the file before
  std::string bytes;
};
std::vector<Overwritten>& unsynchronised() {
  static std::vector<Overwritten> all;
  return all;
}

void fail_power() {
  static const auto write_at = next<ssize_t (*)(int, const void*, std::size_t, off64_t)>("pwrite64");
  static const auto cut = next<int (*)(int, off64_t)>("ftruncate64");
  for (auto one = unsynchronised().rbegin(); one != unsynchronised().rend(); ++one)
    if (write_at(one->descriptor, one->bytes.data(), one->bytes.size(), one->at) < 0 || cut(one->descriptor, one->size) < 0) abort();
  die();
}

void remember(int descriptor, off64_t at, std::size_t count) {
  struct stat about = {};
  if (!is("power") || fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) return;
  std::string bytes(count, '\0');
  const ssize_t found = pread(descriptor, bytes.data(), count, at);
  bytes.resize(found > 0 ? static_cast<std::size_t>(found) : 0);
  unsynchronised().push_back({descriptor, at, about.st_size, bytes});
}

void forget(int descriptor) {
  std::erase_if(unsynchronised(), [&](const Overwritten& one) { return one.descriptor == descriptor; });
}

/// Counts the calls that change files.
void change() {
  if (is("kill") && ++fault().calls == fault().at) die();
  if (is("power") && ++fault().calls == fault().at) fail_power();
}

/// Counts messages over sockets; true if the connection is to break.
bool exchange() {
  if (is("send") && ++fault().calls == fault().at) die();
  return is("drop") && ++fault().calls == fault().at;
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
  remember(descriptor, at, count);
  return real(descriptor, bytes, count, at);
}

// libpq talks with these.
ssize_t send(int descriptor, const void* bytes, std::size_t count, int flags) {
  static const auto real = next<ssize_t (*)(int, const void*, std::size_t, int)>("send");
  if (exchange()) {
    shutdown(descriptor, SHUT_RDWR);
    errno = ECONNRESET;
    return -1;
  }
  return real(descriptor, bytes, count, flags);
}

ssize_t recv(int descriptor, void* bytes, std::size_t count, int flags) {
  static const auto real = next<ssize_t (*)(int, void*, std::size_t, int)>("recv");
  if (exchange()) {
    shutdown(descriptor, SHUT_RDWR);
    errno = ECONNRESET;
    return -1;
  }
  return real(descriptor, bytes, count, flags);
}

int clock_gettime(clockid_t which, timespec* time) {
  static const auto real = next<int (*)(clockid_t, timespec*)>("clock_gettime");
  const int code = real(which, time);
  static long asked = getpid();  // each process begins elsewhere
  ++asked;
  if (is("clock") && which == CLOCK_REALTIME) time->tv_sec += (asked % 2 == 0 ? 1 : -1) * 100'000'000L * (1 + asked % 7);
  return code;
}

int fdatasync(int descriptor) {
  static const auto real = next<int (*)(int)>("fdatasync");
  change();
  if (is("sync") || (is("sync_at") && ++fault().calls >= fault().at)) {
    errno = EIO;
    return -1;
  }
  forget(descriptor);
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
  forget(descriptor);
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
