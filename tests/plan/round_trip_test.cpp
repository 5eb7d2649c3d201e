// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "plan/random_plan.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"

namespace tradeoff::detail {
namespace {

TEST(RoundTrip, PrintedPlansReadBackAsThemselves) {
  EXPECT_TRUE(rc::check([] {
    for (int i = 0; i < 10; ++i) {  // rapidcheck draws a hundred cases, which is few
      const Plan plan = random_plan::plan(3);
      const std::string text = to_string(plan);
      const Plan read = parse(text);
      RC_ASSERT(read == plan);
      RC_ASSERT(to_string(read) == text);
    }
  }));
}

void damage(std::string& text) {
  const auto at = static_cast<std::size_t>(random_plan::pick(0, static_cast<int>(text.size()) - 1));
  switch (random_plan::pick(0, 2)) {
    case 0:
      text.erase(at, 1);
      break;
    case 1:
      text.insert(at, 1, static_cast<char>(random_plan::pick(0, 255)));
      break;
    default:
      text[at] = "()[],=|/?;#\"-+.e1 \n"[random_plan::pick(0, 18)];
  }
}

void read_or_refuse(const std::string& text) {
  try {
    const Plan plan = parse(text);
    RC_ASSERT(parse(to_string(plan)) == plan);
  } catch (const ParseError& error) {
    RC_ASSERT(error.offset() <= text.size());
    RC_ASSERT(!point_at(text, error.offset()).empty());
  }
}

/// Blanks, comments and new lines where the grammar allows them.
std::string spread_out(const std::string& text) {
  std::string spread;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && !(quoted && text[i - 1] == '\\')) quoted = !quoted;
    if (!quoted && (c == ',' || c == ']')) {
      spread.append(" # a, b\n\t").append(1, c).append("\r\n ");
    } else if (!quoted && c == '|') {
      spread += "\n # comment | here\n | \n";
    } else {
      spread += c;
    }
  }
  return spread;
}

TEST(RoundTrip, BlanksAndCommentsDoNotMatter) {
  EXPECT_TRUE(rc::check([] {
    const Plan plan = random_plan::plan(2);
    const std::string text = to_string(plan);
    if (text.find('\\') == std::string::npos) RC_ASSERT(parse(spread_out(text)) == plan);
  }));
}

TEST(RoundTrip, DamagedPlansAreReadOrRefusedWithAnOffsetInside) {
  EXPECT_TRUE(rc::check([] {
    for (int i = 0; i < 20; ++i) {
      std::string text = to_string(random_plan::plan(2));
      for (int times = random_plan::pick(1, 3); times > 0 && !text.empty(); --times) damage(text);
      read_or_refuse(text);
    }
  }));
}

}  // namespace
}  // namespace tradeoff::detail
