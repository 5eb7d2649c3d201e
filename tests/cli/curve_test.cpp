// SPDX-License-Identifier: Apache-2.0
// Pictures of curves: every kind is drawn, and a file is written completely or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "run_command.h"
#include "support/xml.h"

namespace tradeoff::detail::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A temporary directory that is removed after the test.
class CurveFile : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory); }
  void TearDown() override { std::filesystem::remove_all(directory); }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) names.push_back(entry.path().filename());
    return names;
  }
  std::filesystem::path directory = std::filesystem::path(testing::TempDir()) / ("tradeoff_curve_" + std::to_string(getpid()));
  std::string file = directory / "curve.svg";
};

TEST(CurvePicture, IsDrawnForEveryView) {
  for (const char* view : {"tradeoff", "profile", "gdpt"}) {
    const Outcome svg = run_command({"curve", "--as", view, "--format", "svg", "laplace(scale=1)", "gaussian(sigma=1)"});
    EXPECT_EQ(svg.code, 0) << svg.err;
    EXPECT_TRUE(is_well_formed(svg.out));
    EXPECT_THAT(svg.out, HasSubstr(">laplace(scale=1)</text>"));
    EXPECT_THAT(svg.out, HasSubstr(">gaussian(sigma=1)</text>"));
    const Outcome term = run_command({"curve", "--as", view, "--format", "term", "gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)"});
    EXPECT_EQ(term.code, 0) << term.err;
    std::istringstream lines(term.out);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }), 80)
          << line;
    }
    EXPECT_THAT(term.out, HasSubstr("gaussian(sigma=1) | poisson(rate=0.01) | repeat(1000)"));
  }
}

TEST(CurveTable, TakesChosenPlacesAndSeveralPlans) {
  const Outcome one = run_command({"curve", "--at", "0.05,1/2", "gdp(mu=1)"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, StartsWith("alpha,beta_lo,beta_hi\n0.05,0.7404"));
  EXPECT_THAT(one.out, HasSubstr("\n1/2,0.1586"));
  const Outcome two = run_command({"curve", "--as", "profile", "--at", "1", "gdp(mu=1)", "dp(epsilon=1, delta=0.5)"});
  EXPECT_THAT(two.out, StartsWith("plan,epsilon,delta_lo,delta_hi\n\"gdp(mu=1)\",1,0.12693"));
  EXPECT_THAT(two.out, HasSubstr("\n\"dp(epsilon=1, delta=0.5)\",1,0.49999"));
  EXPECT_THAT(run_command({"curve", "--at", "1", "--json", "--as", "gdpt", "gdp(mu=1)", "gdp(mu=2)"}).out,
              HasSubstr("{\"plan\":\"gdp(mu=2)\",\"points\":[{\"epsilon\":1,\"mu\":"));
  EXPECT_THAT(run_command({"curve", "--at", "1.5", "gdp(mu=1)"}).err, HasSubstr("alphas from 0 to 1"));
  EXPECT_EQ(run_command({"curve", "--at", "0.5", "--points", "3", "gdp(mu=1)"}).code, 3);
  EXPECT_EQ(run_command({"curve", "--at", "0.5", "--format", "svg", "gdp(mu=1)"}).code, 3);
}

TEST_F(CurveFile, HasTheFormatOfItsSuffix) {
  for (const auto& [name, start] : std::vector<std::pair<const char*, const char*>>{{"a.svg", "<svg "},
                                                                                    {"a.pdf", "%PDF-1.4"},
                                                                                    {"a.csv", "alpha,"},
                                                                                    {"a.json", "{\"answer\":"},
                                                                                    {"a.tex", "% needs \\usepackage{pgfplots}"}}) {
    EXPECT_EQ(run_command({"curve", "gdp(mu=1)", "--out", directory / name}).code, 0) << name;
    EXPECT_THAT(read(directory / name), StartsWith(start)) << name;
  }
  const Outcome png = run_command({"curve", "gdp(mu=1)", "--out", directory / "a.png"});
  EXPECT_EQ(png.code, 3);
  EXPECT_THAT(png.err, HasSubstr("tradeoff.plot"));
  EXPECT_FALSE(std::filesystem::exists(directory / "a.png"));
}

TEST(CurveTikz, EscapesWhatTexWouldInterpret) {
  const std::string tex =
      run_command({"curve", "--format", "tikz", "--points", "5", "discrete_laplace(scale=1) | repeat(2)", "gdp(mu=1)"}).out;
  EXPECT_THAT(tex, HasSubstr("\\addlegendentry{discrete\\_laplace(scale=1) \\textbar{} repeat(2)}"));
  EXPECT_THAT(tex, HasSubstr("xlabel={type I error $\\alpha$ (false-positive rate)}"));
  EXPECT_THAT(tex, HasSubstr("(1,0)};"));
  std::size_t open = 0, closed = 0;
  for (const char c : tex) (c == '{' ? open : closed) += c == '{' || c == '}' ? 1 : 0;
  EXPECT_EQ(open, closed);
  EXPECT_THAT(run_command({"curve", "--as", "profile", "--format", "tikz", "gdp(mu=1)"}).out, HasSubstr("ymode=log"));
}

TEST(CurvePicture, IsTheSameEveryTime) {
  const std::vector<std::string> arguments = {"curve", "--format", "svg", "laplace(scale=1) | repeat(3)"};
  EXPECT_EQ(run_command(arguments).out, run_command(arguments).out);
}

TEST(CurvePicture, RefusesWhatItCannotDraw) {
  const Outcome fault = run_command({"curve", "--format", "svg", "gdp(mu=1)", "gdb(mu=2)"});
  EXPECT_EQ(fault.code, 3);
  EXPECT_THAT(fault.err, HasSubstr("\n  gdb(mu=2)\n  ^\n"));
  EXPECT_EQ(fault.out, "");
  std::vector<std::string> many = {"curve", "--format", "svg"};
  for (int i = 0; i < 9; ++i) many.emplace_back("gdp(mu=1)");
  EXPECT_THAT(run_command(many).err, HasSubstr("at most 8 plans"));
}

TEST_F(CurveFile, HoldsWhatWouldBePrinted) {
  for (const char* format : {"svg", "term", "csv", "json"}) {
    const Outcome run = run_command({"curve", "--format", format, "--points", "11", "gdp(mu=1)", "--out", file});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(read(file), run_command({"curve", "--format", format, "--points", "11", "gdp(mu=1)"}).out);
  }
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(CurveFile, KeepsPermissionsAndLinks) {
  std::ofstream(directory / "real.svg") << "old";
  std::filesystem::permissions(directory / "real.svg", std::filesystem::perms(0640));
  std::filesystem::create_symlink("real.svg", file);
  EXPECT_EQ(run_command({"curve", "--format", "svg", "gdp(mu=1)", "--out", file}).code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(file));
  EXPECT_THAT(read(directory / "real.svg"), StartsWith("<svg"));
  EXPECT_EQ(std::filesystem::status(directory / "real.svg").permissions(), std::filesystem::perms(0640));
}

TEST_F(CurveFile, IsLeftAloneWhenItCannotBeWritten) {
  std::ofstream(file) << "old";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;  // bytes: as if the disk were full
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const Outcome run = run_command({"curve", "--format", "svg", "gdp(mu=1)", "--out", file});
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("cannot write " + file));
  EXPECT_EQ(read(file), "old");
  EXPECT_EQ(files().size(), 1U);  // no other file is left
}

TEST_F(CurveFile, SaysWhyItCannotBeWritten) {
  const Outcome full = run_command({"curve", "--format", "svg", "gdp(mu=1)", "--out", "/dev/full"});
  EXPECT_EQ(full.code, 3);
  EXPECT_THAT(full.err, HasSubstr("cannot write /dev/full: No space left on device"));
  EXPECT_THAT(run_command({"curve", "gdp(mu=1)", "--out", directory / "none" / "x"}).err, HasSubstr("No such file or directory"));
  EXPECT_THAT(run_command({"curve", "gdp(mu=1)", "--out", directory}).err, HasSubstr("Is a directory"));
  EXPECT_THAT(run_command({"curve", "gdp(mu=1)", "--out", ""}).err, Not(IsEmpty()));
  const Outcome closed = run_command({"curve", "--format", "svg", "gdp(mu=1)"}, {.close_output = true});
  EXPECT_EQ(closed.code, 3);
  EXPECT_THAT(closed.err, HasSubstr("cannot write to standard output"));
}

}  // namespace
}  // namespace tradeoff::detail::test
