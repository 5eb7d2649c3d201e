// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ledger/store.h"
#include "tradeoff/ledger.h"

namespace tradeoff::detail::test {

/// A store of its own for one test: a file in a fresh directory, or a schema in the database that TRADEOFF_TEST_POSTGRESQL names.
class Place {
 public:
  explicit Place(const std::string& kind) {
    static int count = 0;
    const std::string name = "ledger_" + std::to_string(getpid()) + "_" + std::to_string(++count);
    if (kind == "sqlite") {
      directory_ = std::filesystem::temp_directory_path() / name;
      std::filesystem::create_directories(directory_);
      url_ = "sqlite:" + file();
    } else {
      const std::string server = std::getenv("TRADEOFF_TEST_POSTGRESQL");
      ledger::open_postgresql(server)->run("CREATE SCHEMA " + name);
      url_ = server + "?options=-csearch_path%3D" + name;
    }
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] std::string file() const { return (directory_ / "ledger.db").string(); }
  [[nodiscard]] Ledger open() const { return Ledger(url_, Ledger::Open::or_create); }
  /// For tests that change tables behind the ledger's back.
  [[nodiscard]] std::unique_ptr<ledger::Store> raw() const { return ledger::open_store(url_, false); }

 private:
  std::filesystem::path directory_;
  std::string url_;
};

/// The stores that are tested here; PostgreSQL only if a server is named.
inline std::vector<std::string> tested_stores() {
  std::vector<std::string> kinds = {"sqlite"};
  if (std::getenv("TRADEOFF_TEST_POSTGRESQL") != nullptr) kinds.emplace_back("postgresql");
  return kinds;
}

class OnStores : public testing::TestWithParam<std::string> {
 protected:
  Place place{GetParam()};
};

inline StatedCap mu_cap(const char* mu, const char* slack = nullptr) {
  StatedCap cap;
  cap.mu = read_number(mu);
  if (slack != nullptr) cap.slack = read_number(slack);
  return cap;
}
inline StatedCap pair_cap(const char* epsilon, const char* delta) {
  StatedCap cap;
  cap.epsilon = read_number(epsilon);
  cap.delta = read_number(delta);
  return cap;
}
inline AccountTerms account(const std::string& name, const StatedCap& cap, const std::string& currency = "gdp") {
  return {name, currency, cap, Neighbours::add_remove, ""};
}

}  // namespace tradeoff::detail::test
