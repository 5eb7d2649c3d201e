// SPDX-License-Identifier: Apache-2.0
#include "gdp/warnings.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "numeric/arithmetic.h"
#include "numeric/floating_point_guard.h"
#include "operators/worst_profile.h"
#include "tradeoff/research.h"

namespace tradeoff {

using namespace detail;  // NOLINT(google-build-using-namespace): for the public functions below

namespace {

constexpr double hardly_private = 6;  // a test with type I error 1% has then a type II error below 0.02%

void remark_on_shape(const Loss& stated, std::vector<std::string>& warnings) {
  if (stated.is_pair() || !stated.minimum_of().empty()) return;
  warnings.emplace_back("the stated bound is not the tightest that it implies; mu is that of refine(), which says more");
  if (Profile(stated, Direction::worst).delta(Interval::exactly(0)).lo == 1)
    warnings.emplace_back("the stated bound is 1 at epsilon = 0, where the transform is infinite before refinement");
}

void remark_on_size(Interval mu, std::vector<std::string>& warnings) {
  if (mu.lo > hardly_private && mu.hi < infinity) warnings.emplace_back("mu above 6 is almost no protection");
}

}  // namespace

std::vector<std::string> detail::warnings_about(const GdpMeasurement& found, const Loss& stated) {
  std::vector<std::string> warnings;
  if (found.verdict == GdpVerdict::not_gdp)
    warnings.push_back("no mu covers the tail (" + found.tail.kind +
                       "): use a pair (mu, slack), the head alone (epsilon_max), or repair the mechanism with rectify");
  if (found.verdict == GdpVerdict::undecided)
    warnings.emplace_back("the tail is not known, so no mu is claimed: use a pair (mu, slack) or the head alone (epsilon_max)");
  if (found.verdict == GdpVerdict::gdp && found.at_epsilon == infinity)
    warnings.emplace_back("the far tail sets this mu; quote a pair (mu, slack)");
  // If a pair with a slack gives good protection, the mu without a slack is not the relevant number.
  const auto weak = [](const GdpPair& pair) { return pair.mu.lo > hardly_private; };
  if (std::all_of(found.with_slack.begin(), found.with_slack.end(), weak)) remark_on_size(found.mu, warnings);
  remark_on_shape(stated, warnings);
  return warnings;
}

std::vector<std::string> detail::warnings_about(const HeadMu& found, double epsilon_max, const Loss& stated) {
  std::vector<std::string> warnings;
  if (found.at_epsilon >= 0.999 * epsilon_max && found.mu.lo > 0)
    warnings.emplace_back("the largest value is seen at epsilon_max itself: the transform is still rising there");
  remark_on_size(found.mu, warnings);
  remark_on_shape(stated, warnings);
  return warnings;
}

// [tail-model]
std::vector<TailHint> tail_hint(const Curve& curve) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return tail_hint(curve); });

  constexpr std::array<double, 7> grid = {1, 3, 10, 30, 100, 300, 1000};
  std::vector<TailHint> hints;
  for (const double e : grid) {
    const Interval log_delta = min(curve.log_delta_at(Interval::exactly(e)), Interval::exactly(0));
    const auto at = [e](double log_value) {
      if (log_value == -infinity) return Interval::exactly(0);
      if (log_value == 0) return Interval::exactly(infinity);
      return Interval::exactly(e) / sqrt(-2.0 * Interval::exactly(log_value));
    };
    hints.push_back({e, {at(log_delta.lo).lo, at(log_delta.hi).hi}});
  }
  return hints;
}

}  // namespace tradeoff
