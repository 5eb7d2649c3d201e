// SPDX-License-Identifier: Apache-2.0
// Answers that the witness must confirm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(Paranoid, IsConfirmed) {
  const std::string plan = "gaussian(sigma=1) | poisson(rate=1/100) | repeat(200)";
  const Outcome epsilon = run_command({"epsilon", "--delta", "1e-5", "--paranoid", plan});
  EXPECT_EQ(epsilon.code, 0) << epsilon.err << epsilon.out;
  EXPECT_THAT(epsilon.out, HasSubstr("The witness, an independent program, confirms this answer"));
  const Outcome delta = run_command({"delta", "--epsilon", "0.5", "--direction", "add", "--paranoid", "--json", plan});
  EXPECT_EQ(delta.code, 0) << delta.err;
  EXPECT_EQ(json::parse(delta.out).at("witness"), "confirmed");
}

TEST(Paranoid, ReportsAnUndecidedWitness) {
  const Outcome run = run_command({"epsilon", "--delta", "1e-5", "--paranoid", "gaussian(sigma=1) | sample(rate=1/100) | repeat(200)"});
  EXPECT_EQ(run.code, 4) << run.err;
  EXPECT_THAT(run.out, HasSubstr("epsilon <="));
  EXPECT_THAT(run.out, HasSubstr("the answer is proved without it"));
}

/// A copy of the program in its own directory, with or without a witness next to it.
class Copy {
 public:
  explicit Copy(const char* script) : place_(std::filesystem::path(::testing::TempDir()) / ("paranoid" + std::to_string(getpid()))) {
    std::filesystem::create_directories(place_);
    std::filesystem::copy_file(TRADEOFF_COMMAND, place_ / "tradeoff", std::filesystem::copy_options::overwrite_existing);
    if (script == nullptr) return;
    std::ofstream(place_ / "tradeoff-witness") << script;
    std::filesystem::permissions(place_ / "tradeoff-witness", std::filesystem::perms::owner_all);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  ~Copy() {
    std::error_code ignored;
    std::filesystem::remove_all(place_, ignored);
  }
  [[nodiscard]] Outcome run() const {
    RunOptions options;
    options.command = (place_ / "tradeoff").string();
    options.environment = {{"PATH", "/bin:/usr/bin"}};
    return run_command({"delta", "--epsilon", "1", "--paranoid", "gaussian(sigma=1)"}, options);
  }

 private:
  std::filesystem::path place_;
};

TEST(Paranoid, ClaimsNothingThatIsContradicted) {
  const Outcome run = Copy("#!/bin/sh\necho \"$@\"\nexit 1\n").run();
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.out, HasSubstr("delta --epsilon 1 --confirm 0.12693673750"));
  EXPECT_THAT(run.out, HasSubstr("Claim nothing"));
  EXPECT_EQ(Copy("#!/bin/sh\nkill -9 $$\n").run().code, 4) << "a witness that crashed gives no verdict";
}

TEST(Paranoid, NeedsItsWitness) {
  const Outcome run = Copy(nullptr).run();
  EXPECT_EQ(run.code, 3);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("tradeoff-witness is not installed"));
}

}  // namespace
}  // namespace tradeoff::detail::test
