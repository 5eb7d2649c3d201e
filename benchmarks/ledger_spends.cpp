// SPDX-License-Identifier: Apache-2.0
// Durable spends a second, one at a time and many with one write to the disk, beside the synchronisations of the disk; verified entries a
// second; and the time of a spend when the log is long.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
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
  constexpr int batch = 1000, batches = 20;
  const double many = batch * batches / seconds_of([&] {
                        for (int i = 0; i < batches; ++i) static_cast<void>(ledger.spend_all(requests(1000 + i * batch, batch)));
                      });
  const double later = single(100'000);
  std::uint64_t entries = 0;
  const double verified = seconds_of([&] { entries = ledger.verify().entries; });
  std::printf("%s: %.0f spends/s one by one, %.0f/s in batches of %d, %.0f/s one by one after %llu entries; %.0f entries/s verified\n",
              name, first, many, batch, later, static_cast<unsigned long long>(entries), static_cast<double>(entries) / verified);
}

}  // namespace

int main() {
  const std::filesystem::path directory = std::filesystem::temp_directory_path() / ("ledger_spends_" + std::to_string(getpid()));
  std::filesystem::create_directories(directory);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("disk: %.0f synchronised writes/s\n", synchronisations_a_second(directory));
  measure("sqlite", "sqlite:" + (directory / "ledger.db").string());
  if (const char* server = std::getenv("TRADEOFF_TEST_POSTGRESQL")) measure("postgresql", server);
  std::filesystem::remove_all(directory);
}
