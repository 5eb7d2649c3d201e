// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <gtest/gtest.h>

#include <bit>
#include <clocale>
#include <cmath>
#include <limits>
#include <locale>
#include <nlohmann/json.hpp>
#include <random>

namespace tradeoff::detail::report {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::string written(Interval value) { return JsonWriter().interval(value).str(); }

TEST(JsonWriter, ReadsBackAsTheSameDouble) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(nlohmann::json::parse(JsonWriter().number(value).str()).get<double>(), value);
  }
  for (const double value : {0.0, -0.0, 1e22, 5e-324, std::numeric_limits<double>::max(), 0.1}) {
    EXPECT_EQ(nlohmann::json::parse(JsonWriter().number(value).str()).get<double>(), value);
  }
}

TEST(JsonWriter, WritesInfiniteEndsAsStringsAndNeverNaN) {
  EXPECT_EQ(written({0, infinite}), R"({"lo":0,"hi":"inf"})");
  EXPECT_EQ(written(Interval::whole()), R"({"lo":"-inf","hi":"inf"})");
  EXPECT_EQ(written({std::nan(""), 1}), R"({"lo":"-inf","hi":"inf"})");
}

TEST(JsonWriter, AddsTheLogarithmWhereGiven) {
  EXPECT_EQ(JsonWriter().interval({0, 0}, Interval{-400, -399.5}).str(), R"({"lo":0,"hi":0,"log10":{"lo":-400,"hi":-399.5}})");
}

TEST(JsonWriter, SeparatesMembersAndElements) {
  JsonWriter out;
  out.begin_object().key("a").begin_array().integer(1).boolean(true).null().end_array().key("b").begin_object().end_object().end_object();
  EXPECT_EQ(out.str(), R"({"a":[1,true,null],"b":{}})");
  EXPECT_EQ(JsonWriter().steps({{"gaussian-profile", "one Gaussian"}}).str(),
            R"([{"theorem":"gaussian-profile","detail":"one Gaussian"}])");
}

TEST(JsonWriter, IsValidWhateverBytesAMessageCarries) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes(random() % 12, ' ');
    for (char& c : bytes) c = static_cast<char>(random() % 3 == 0 ? random() % 128 : 128 + random() % 128);
    const std::string json = JsonWriter().text(bytes).str();
    EXPECT_TRUE(nlohmann::json::accept(json)) << json;
    EXPECT_EQ(json.find('\n'), std::string::npos);
  }
  const std::string kept = "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80 \"\\\x01\x7F\n\t";
  EXPECT_EQ(nlohmann::json::parse(JsonWriter().text(kept).str()).get<std::string>(), kept);
}

/// A locale with a decimal comma.
struct Comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(JsonWriter, IgnoresTheLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  const std::string json = JsonWriter().begin_array().number(1234567.5).integer(1234567).end_array().str();
  std::locale::global(before);
  EXPECT_EQ(json, "[1234567.5,1234567]");
}

}  // namespace
}  // namespace tradeoff::detail::report
