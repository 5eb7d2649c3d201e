// SPDX-License-Identifier: Apache-2.0
// The figures of Dong, Roth and Su on Gaussian differential privacy.
#include <algorithm>
#include <array>
#include <cmath>

#include "figures/figures.h"
#include "figures/parts.h"
#include "limit/classical.h"
#include "numeric/arithmetic.h"
#include "report/claim.h"
#include "tradeoff/limit.h"

namespace tradeoff::detail::report {
namespace {

Series tradeoff(std::string label, const std::string& plan) { return tradeoff_series(std::move(label), curve_of(plan)); }
/// With enough points for accurate corners.
Series tradeoff_polygon(std::string label, const std::string& plan) {
  return tradeoff_series(std::move(label), curve_of(plan), Direction::worst, 401);
}

std::string dp_plan(double epsilon, const std::string& delta) { return "dp(epsilon=" + digits_of(epsilon) + ", delta=" + delta + ")"; }
std::string at_most(double value) { return safe_end(Interval::exactly(value), SafeEnd::hi, 3); }

/// The curve of the limit theorem, labelled as an estimate.
Series limit_series(const std::string& plan) {
  const double mu = central_limit(parse(plan)).mu.value();
  return styled(tradeoff("limit theorem (an estimate): μ ≈ " + at_most(mu), "gdp(mu=" + digits_of(mu) + ")"), 0, Stroke::dashed);
}

/// Ten runs of a mechanism that is (1/sqrt(10), 0)-DP.
Picture tenfold() {
  const std::string plan = "dp(epsilon=" + digits_of(1 / std::sqrt(10.0)) + ") | repeat(10)";
  const Curve curve = curve_of(plan);
  const double epsilon = curve.epsilon_at(1e-3).hi;
  Picture picture = tradeoff_axes("Ten runs, each (1/√10, 0)-DP");
  picture.series = {styled(tradeoff_polygon("best pair at δ = 0.001: (" + at_most(epsilon) + ", 0.001)-DP", dp_plan(epsilon, "0.001")), 6),
                    styled(tradeoff_series("exactly", curve, Direction::worst, 401), 1), limit_series(plan), guessing_line()};
  return picture;
}

/// The settings of the MNIST tutorial of a training library: 60,000 images, batches of 256 on average.
std::string mnist_plan(const std::string& noise, int epochs) {
  const auto steps = static_cast<int>(std::ceil(epochs * 60000.0 / 256));
  return "gaussian(sigma=" + noise + ") | poisson(rate=256/60000) | repeat(" + std::to_string(steps) + ")";
}

Picture mnist(const std::string& noise, int epochs) {
  const std::string plan = mnist_plan(noise, epochs);
  const double renyi = renyi_curve(parse(plan)).epsilon_at(Interval::exactly(1e-5)).value.hi;
  const double exact = curve_of(plan).epsilon_at(1e-5).hi;
  Picture picture = tradeoff_axes("Noise " + noise + ", " + std::to_string(epochs) + " epochs");
  const Series certified = tradeoff("certified; ε ≤ " + at_most(exact) + " at δ = 1e-5", plan);
  picture.series = {styled(tradeoff_polygon("Rényi accountant: (" + at_most(renyi) + ", 1e-5)-DP", dp_plan(renyi, "0.00001")), 6),
                    styled(certified, 1), limit_series(plan), guessing_line()};
  return picture;
}

/// The same runs as profiles, down to deltas that are used in practice.
Picture mnist_profile(const std::string& noise, int epochs, double last) {
  const std::string plan = mnist_plan(noise, epochs);
  const double mu = central_limit(parse(plan)).mu.value();
  const RenyiCurve accountant = renyi_curve(parse(plan));
  Series renyi{"Rényi accountant", {}, Shape::line, Stroke::solid, 6};
  constexpr int places = 40;
  for (int i = 0; i <= places; ++i) {
    const double epsilon = last * i / places;
    renyi.spots.push_back({epsilon, Interval::exactly(std::min(1.0, accountant.delta_at(Interval::exactly(epsilon)).value.hi))});
  }
  Picture picture = profile_axes("Noise " + noise + ", " + std::to_string(epochs) + " epochs", 1e-8);
  picture.x.high = last;
  const Curve limit = curve_of("gdp(mu=" + digits_of(mu) + ")");
  picture.series = {renyi, styled(epsilon_series(View::profile, "certified", curve_of(plan), last), 1),
                    styled(epsilon_series(View::profile, "limit theorem (an estimate)", limit, last), 0, Stroke::dashed)};
  return picture;
}

std::vector<Picture> overview() { return {tenfold(), mnist("1.1", 60)}; }
std::vector<Picture> training() { return {mnist("1.3", 15), mnist("1.1", 60), mnist("0.7", 45)}; }

std::vector<Picture> training_profiles() {
  return {mnist_profile("1.3", 15, 1.5), mnist_profile("1.1", 60, 4), mnist_profile("0.7", 45, 10)};
}

std::vector<Picture> definition() {
  Picture picture = tradeoff_axes("What f-DP asks for");
  const Series bound = tradeoff("f, here 1-GDP", "gdp(mu=1)");
  picture.series = {region_of("where an f-DP mechanism may be", bound, 0),
                    styled(bound, 0),
                    styled(tradeoff("f-DP: Laplace noise of scale 1.25", "laplace(scale=1.25)"), 2, Stroke::dashed),
                    styled(tradeoff_polygon("not f-DP: (0.1, 0.3)-DP, it crosses", "dp(epsilon=0.1, delta=0.3)"), 4),
                    styled(tradeoff("not f-DP: 1.6-GDP, it lies below", "gdp(mu=1.6)"), 1),
                    guessing_line()};
  return {picture};
}

std::vector<Picture> families() {
  Picture pairs = tradeoff_axes("(ε, δ)-DP");
  pairs.series = {styled(tradeoff_polygon("(1, 0)-DP", "dp(epsilon=1)"), 0, Stroke::dashed),
                  styled(tradeoff_polygon("(1, 0.1)-DP", "dp(epsilon=1, delta=0.1)"), 1),
                  {"the lines cross on β = α", {{0, {0, 0}}, {1, {1, 1}}}, Shape::line, Stroke::dotted, grey}};
  Picture gaussians = tradeoff_axes("Gaussian DP");
  std::size_t colour = 0;
  for (const char* mu : {"0.5", "1", "3", "6"})
    gaussians.series.push_back(styled(tradeoff("μ = " + std::string(mu), "gdp(mu=" + std::string(mu) + ")"), colour++));
  gaussians.series.push_back(guessing_line());
  return {pairs, gaussians};
}

std::vector<Picture> supporting_lines() {
  Picture picture = tradeoff_axes("A curve is all of its lines");
  const Curve curve = curve_of("gdp(mu=1)");
  std::size_t colour = 1;
  for (const double epsilon : {0.25, 1.0, 2.0}) {
    const double delta = curve.delta_at(epsilon).hi;
    const double slope = std::exp(epsilon);
    const std::string label = "(" + digits_of(epsilon) + ", " + at_most(delta) + ")-DP";
    picture.series.push_back(styled(straight(label, 1 - delta, slope), colour, Stroke::dashed));
    picture.series.push_back(styled(straight("", (1 - delta) / slope, 1 / slope), colour, Stroke::dashed));
    ++colour;
  }
  picture.series.push_back(styled(tradeoff_series("1-GDP", curve), 0));
  return {picture};
}

std::vector<Picture> composition() {
  Picture scaled = tradeoff_axes("With a chance to reveal everything");
  scaled.series = {styled(tradeoff("1-GDP", "gdp(mu=1)"), 0),
                   styled(tradeoff("together with (0, 0.2)-DP", "gdp(mu=1); dp(epsilon=0, delta=0.2)"), 1), guessing_line()};
  return {scaled, tenfold()};
}

/// p f + (1 - p) Id, for a curve given at the points of the series.
Series sampled(std::string label, const Series& base, double rate) {
  Series mixed{std::move(label)};
  for (const auto& [alpha, beta] : base.spots)
    mixed.spots.push_back({alpha, rate * beta + (1.0 - Interval::exactly(rate)) * (1.0 - Interval::exactly(alpha))});
  return mixed;
}

/// The same with its axes exchanged.
Series inverse(std::string label, const Series& base) {
  Series turned{std::move(label)};
  for (const auto& [alpha, beta] : base.spots) turned.spots.push_back({(beta.lo + beta.hi) / 2, Interval::exactly(alpha)});
  std::reverse(turned.spots.begin(), turned.spots.end());
  return turned;
}

std::vector<Picture> subsampling() {
  Picture gaussian = tradeoff_axes("1.8-GDP on 35 % of the data");
  const Series base = tradeoff("f, without sampling", "gdp(mu=1.8)");
  const Series mixed = sampled("p f + (1 - p) Id", base, 0.35);
  gaussian.series = {styled(base, grey), styled(mixed, 0, Stroke::dashed), styled(inverse("its inverse", mixed), 2, Stroke::dashed),
                     styled(tradeoff("with sampling: C_p(f)", "gdp(mu=1.8) | sample(rate=0.35)"), 1), guessing_line()};

  Picture pairs = tradeoff_axes("(3, 0.1)-DP on 20 % of the data");
  const Guarantee old = amplified({Interval::exactly(3), {0.1, std::nextafter(0.1, 1)}}, {0.2, std::nextafter(0.2, 1)});
  const Series classical = tradeoff_polygon("by the classical theorem: (" + at_most(old.epsilon.hi) + ", " + at_most(old.delta.hi) + ")-DP",
                                            dp_plan(old.epsilon.hi, digits_of(old.delta.hi)));
  const Series exact = tradeoff_polygon("with sampling: C_p(f)", "dp(epsilon=3, delta=0.1) | sample(rate=0.2)");
  Series gained{"what the classical theorem loses", {}, Shape::area, Stroke::solid, 4};
  for (std::size_t i = 0; i < exact.spots.size(); ++i)
    gained.spots.push_back({exact.spots[i].x, {std::min(classical.spots[i].y.lo, exact.spots[i].y.hi), exact.spots[i].y.hi}});
  pairs.series = {gained, styled(tradeoff_polygon("f, without sampling", "dp(epsilon=3, delta=0.1)"), grey),
                  styled(classical, 6, Stroke::dashed), styled(exact, 1), guessing_line()};
  return {gaussian, pairs};
}

constexpr std::array<Recipe, 8> f_dp_figures = {{
    {"fdp-overview", "Composition and training, before and after", "after figure 1 of Dong, Roth and Su",
     "Left: ten runs of a (1/√10, 0)-DP mechanism, exactly, by the limit theorem, and by the best pair at δ = 0.001. Right: a training run "
     "on MNIST. "
     "A single pair forgets most of the curve; the limit theorem comes close to it but is no guarantee.",
     overview},
    {"fdp-definition", "What f-DP asks for", "after figure 2 of Dong, Roth and Su",
     "A mechanism is f-DP if its trade-off function lies above f everywhere. The dashed curve does; one of the others crosses f, one lies "
     "below it.",
     definition},
    {"fdp-families", "(ε, δ)-DP and Gaussian DP as trade-off functions", "after figure 3 of Dong, Roth and Su",
     "Left: (ε, δ)-DP is a polygon of slopes -exp(ε) and -exp(-ε), symmetric, δ below 1 at both ends. Right: 0.5-GDP is "
     "reasonably "
     "private, 1-GDP "
     "borderline; at μ = 3 an attacker keeps both errors at 7 %, at μ = 6 the curve all but coincides with the axes.",
     families},
    {"fdp-lines", "Every (ε, δ) is two supporting lines", "after figure 4 of Dong, Roth and Su",
     "Each guarantee (ε, δ(ε)) of a 1-GDP mechanism is a line that touches its curve, and the mirror image of that line. A few of them "
     "leave out what "
     "lies between.",
     supporting_lines},
    {"fdp-composition", "Composition of trade-off functions", "after figure 5 of Dong, Roth and Su",
     "Left: a further run that reveals everything with probability 0.2 shrinks the curve towards the origin by the factor 0.8. Right: ten "
     "runs of a "
     "(1/√10, 0)-DP mechanism; the limit theorem is within 0.013 of the exact curve, the best single pair is not.",
     composition},
    {"fdp-sampling", "What sampling does to a trade-off function", "after figure 6 of Dong, Roth and Su",
     "A sample of fixed size turns f into C_p(f): the smaller of p f + (1 - p) Id and its inverse, made convex. For (3, 0.1)-DP the result "
     "is no (ε, δ) "
     "curve any more, and the classical theorem loses the shaded part.",
     subsampling},
    {"fdp-training", "Three training runs", "after figure 7 of Dong, Roth and Su",
     "Private training on MNIST: 60,000 images, Poisson batches of 256 on average, add-remove neighbours. The certified curve against the "
     "pair that a "
     "Rényi accountant certifies at δ = 1e-5, and against the limit theorem, which is an estimate and may lie on either side.",
     training},
    {"fdp-training-profiles", "Three training runs, where δ is small", "our addition to figure 7 of Dong, Roth and Su",
     "The same runs as profiles on a logarithmic scale. In the trade-off picture the limit theorem seems to agree with the truth; at the δ "
     "that people "
     "ask for it promises more privacy than there is. The Rényi accountant is valid, and claims less than there is.",
     training_profiles},
}};

}  // namespace

std::span<const Recipe> f_dp_recipes() { return f_dp_figures; }

}  // namespace tradeoff::detail::report
