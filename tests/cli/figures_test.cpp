// SPDX-License-Identifier: Apache-2.0
// The verb that draws the figures of the papers, and the gallery that is kept in docs/figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "run_command.h"
#include "support/xml.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Figures : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(directory); }
  std::filesystem::path directory = std::filesystem::path(testing::TempDir()) / ("tradeoff_figures_" + std::to_string(getpid()));
};

TEST_F(Figures, AreAllDrawnWithTheirPage) {
  const Outcome run = run_command({"figures", "--out", directory, "--json"}, {.patience = std::chrono::minutes(10)});
  ASSERT_EQ(run.code, 0) << run.err;
  const json files = json::parse(run.out)["files"];
  EXPECT_GE(files.size(), 17U);
  const std::filesystem::path kept = std::filesystem::path(TRADEOFF_GOLDEN_DIR) / "../../docs/figures";
  for (const std::string file : files) {
    const std::string name = std::filesystem::path(file).filename();
    EXPECT_TRUE(std::filesystem::exists(kept / name)) << name << ": make it by tradeoff figures --out docs/figures";
    EXPECT_TRUE(name == "README.md" || is_well_formed(read(file))) << file;
  }
  EXPECT_EQ(read(directory / "README.md"), read(kept / "README.md"));
}

TEST_F(Figures, AreDrawnByName) {
  const Outcome run = run_command({"figures", "fdp-families", "--out", directory});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, (directory / "fdp-families.svg").string() + "\n");
  EXPECT_TRUE(is_well_formed(read(directory / "fdp-families.svg")));
  EXPECT_FALSE(std::filesystem::exists(directory / "README.md"));  // a page of one figure would replace that of all
}

TEST_F(Figures, AreListed) {
  EXPECT_THAT(run_command({"figures", "--list"}).out, HasSubstr("\nbridge-methods "));
  EXPECT_TRUE(json::accept(run_command({"figures", "--list", "--json"}).out));
  EXPECT_THAT(run_command({"figures", "--help"}).out, HasSubstr("Examples:"));
}

TEST_F(Figures, AreRefusedWithAReason) {
  const Outcome unknown = run_command({"figures", "fdp-familes", "--out", directory});
  EXPECT_EQ(unknown.code, 3);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'fdp-families'?"));
  EXPECT_FALSE(std::filesystem::exists(directory));
  std::ofstream(directory.string()) << "a file";
  const Outcome file = run_command({"figures", "fdp-families", "--out", directory});
  EXPECT_EQ(file.code, 3);
  EXPECT_THAT(file.err, HasSubstr(directory.string()));
}

}  // namespace
}  // namespace tradeoff::detail::test
