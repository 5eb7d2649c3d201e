// SPDX-License-Identifier: Apache-2.0
// Durable spends a second, one at a time and many with one write to the disk, beside the synchronisations of the disk; verified entries a
// second; and the time of a spend when the log is long.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tradeoff/ledger.h"

namespace {

using tradeoff::Ledger;
using tradeoff::Spend;

template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double synchronisations_a_second(const std::filesystem::path& directory) {
  const std::string file = (directory / "synchronised").string();
  const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  constexpr int times = 200;
  const std::string page(4096, 'x');
  const double seconds = seconds_of([&] {
    for (int i = 0; i < times; ++i)
      if (pwrite(descriptor, page.data(), page.size(), i * 4096) != 4096 || fdatasync(descriptor) != 0) std::abort();
  });
  close(descriptor);
  return times / seconds;
}

std::vector<Spend> requests(int from, int count) {
  std::vector<Spend> all;
  for (int i = from; i < from + count; ++i) all.push_back({{"hot"}, "key" + std::to_string(i), "gaussian(sigma=1000)"});
  return all;
}

void measure(const char* name, const std::string& url) {
  Ledger ledger(url, Ledger::Open::or_create);
  tradeoff::StatedCap cap;
  cap.mu = tradeoff::read_number("1000");
  ledger.create({"hot", "gdp", cap, tradeoff::Neighbours::add_remove, ""});
  const auto single = [&](int from) {
    return 300 / seconds_of([&] {
             for (const Spend& one : requests(from, 300)) ledger.spend(one);
           });
  };
  const double first = single(0);
  // Group commit: what the threads of one program ask for while the disk is busy is written together.
  constexpr int threads = 64, each = 40;
  const double together = threads * each / seconds_of([&] {
                            std::vector<std::thread> all;
                            for (int i = 0; i < threads; ++i)
                              all.emplace_back([&, i] {
                                for (const Spend& one : requests(10'000 + i * each, each)) ledger.spend(one);
                              });
                            for (std::thread& one : all) one.join();
                          });
  constexpr int batch = 1000, batches = 40;
  const double many = batch * batches / seconds_of([&] {
                        for (int i = 0; i < batches; ++i) static_cast<void>(ledger.spend_all(requests(100'000 + i * batch, batch)));
                      });
  const double later = single(1'000'000);
  std::uint64_t entries = 0;
  const std::clock_t start = std::clock();
  const double verified = seconds_of([&] { entries = ledger.verify().entries; });
  const double processor = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf(
      "%s, one hot account, durable spends a second: %.0f one by one, %.0f by %d threads, %.0f in batches of %d, %.0f one by one "
      "after %llu entries\n",
      name, first, together, threads, many, batch, later, static_cast<unsigned long long>(entries));
  std::printf("%s: %.0f entries verified a second, %.0f a second of processor time\n", name, static_cast<double>(entries) / verified,
              static_cast<double>(entries) / processor);
}

/// Many programs, each with its own connection.
void measure_programs(const char* name, const std::string& url) {
  constexpr int programs = 24, each = 40;
  const double rate = programs * each / seconds_of([&] {
                        std::vector<pid_t> children;
                        for (int i = 0; i < programs; ++i) {
                          children.push_back(fork());
                          if (children.back() != 0) continue;
                          Ledger ledger(url);
                          for (const Spend& one : requests(2'000'000 + i * each, each)) ledger.spend(one);
                          _exit(0);
                        }
                        for (const pid_t child : children) waitpid(child, nullptr, 0);
                      });
  std::printf("%s: %.0f durable spends a second by %d programs, one by one\n", name, rate, programs);
}

}  // namespace

int main() {
  const std::filesystem::path directory = std::filesystem::temp_directory_path() / ("ledger_spends_" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("disk: %.0f synchronised writes/s\n", synchronisations_a_second(directory));
  const std::string file = "sqlite:" + (directory / "ledger.db").string();
  measure("sqlite", file);
  measure_programs("sqlite", file);
  if (const char* server = std::getenv("TRADEOFF_TEST_POSTGRESQL")) {
    measure("postgresql", server);
    measure_programs("postgresql", server);
  }
  std::filesystem::remove_all(directory);
}
