// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "fuzz.h"
#include "plan/unknown.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"

// Any text is either refused with an offset inside it, or is a plan that prints and reads back as itself.
namespace {

using tradeoff::detail::fuzz::require;

void check_plan(const tradeoff::Plan& plan) {
  const std::string text = to_string(plan);
  const tradeoff::Plan again = tradeoff::parse(text);
  require(again == plan);
  require(to_string(again) == text);
  const tradeoff::Plan known = tradeoff::detail::substitute(plan, tradeoff::read_number("7"));
  require(tradeoff::detail::count_unknowns(known) == 0);
  require(tradeoff::parse(to_string(known)) == known);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tradeoff::detail::fuzz::TimeLimit limit;
  const std::string_view text = tradeoff::detail::fuzz::to_text(data, size);
  try {
    check_plan(tradeoff::parse(text));
  } catch (const tradeoff::ParseError& error) {
    require(error.offset() <= size);
    require(!tradeoff::point_at(text, error.offset()).empty());
  }
  try {
    const tradeoff::Number number = tradeoff::read_number(text);
    require(std::isfinite(number.value.lo) && std::isfinite(number.value.hi) && number.value.lo <= number.value.hi);
    require(tradeoff::read_number(number.text) == number);
    require(tradeoff::read_number(number.text).value == number.value);
  } catch (const tradeoff::ParseError& error) {
    require(error.offset() <= size);
  }
  return 0;
}
