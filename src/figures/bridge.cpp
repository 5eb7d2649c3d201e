// SPDX-License-Identifier: Apache-2.0
// The figures of Liu, Sun, Jiang and Kong on Gaussian DP and privacy profiles, with the parameters that reproduce their numbers.
#include <algorithm>
#include <array>
#include <cmath>

#include "figures/figures.h"
#include "figures/parts.h"
#include "loss/gaussian_profile.h"
#include "report/curve_table.h"
#include "tradeoff/compare.h"

namespace tradeoff::detail::report {
namespace {

// The three running examples: noise of scale 1/2, a training algorithm known by its noise formula, the invisibility cloak encoder.
constexpr const char* laplace = "laplace(scale=0.5)";
constexpr const char* sgd = "sqrt_log_family(a=2, b=1, sigma=2)";
constexpr const char* refined_sgd = "sqrt_log_family(a=2, b=1, sigma=2) | refine()";
constexpr const char* icea = "icea(users=4, messages=20)";
constexpr const char* refined_icea = "icea(users=4, messages=20) | refine()";

Series profile(std::string label, const std::string& plan, double last) {
  return epsilon_series(View::profile, std::move(label), curve_of(plan), last);
}
Series gdpt(std::string label, const std::string& plan, double last) {
  return epsilon_series(View::gdpt, std::move(label), curve_of(plan), last);
}

Picture linear_profile_axes(std::string title, double last) {
  return {std::move(title), {"privacy loss ε (nats)", Scale::linear, 0, last}, {"δ (probability)", Scale::linear, 0, 1}};
}

std::vector<Picture> profiles() {
  Picture naive = linear_profile_axes("Naive and refined", 4);
  naive.series = {styled(profile("Laplace", laplace, 4), 0), styled(profile("SGD, naive", sgd, 4), 1, Stroke::dashed),
                  styled(profile("SGD, refined", refined_sgd, 4), 1), styled(profile("ICEA, naive", icea, 4), 2, Stroke::dashed),
                  styled(profile("ICEA, refined", refined_icea, 4), 2)};
  Picture against = linear_profile_axes("Against Gaussian DP", 8);
  against.series = {styled(profile("Laplace", laplace, 8), 0), styled(profile("SGD, refined", refined_sgd, 8), 1),
                    styled(profile("ICEA, refined", refined_icea, 8), 2)};
  for (const auto& [mu, stroke] : {std::pair{"1", Stroke::solid}, {"2", Stroke::dashed}, {"4", Stroke::dotted}})
    against.series.push_back(styled(profile(std::string(mu) + "-GDP", "gdp(mu=" + std::string(mu) + ")", 8), grey, stroke));
  return {naive, against};
}

/// Theorem 4.3: on [x_i, x_(i+1)] the transform lies between mu_GDP(x_i, delta(x_(i+1))) and mu_GDP(x_(i+1), delta(x_i)).
void add_staircases(Picture& picture, const Curve& curve, double last, int steps, std::size_t colour, Stroke stroke) {
  const std::string width = "d = " + digits_of(last / steps);
  Series above{"G⁺, " + width, {}, Shape::steps, stroke, colour}, below{"G⁻, " + width, {}, Shape::steps, stroke, colour};
  for (int i = 0; i <= steps; ++i) {
    const double x = last * std::min(i, steps - 1) / steps, next = last * (std::min(i, steps - 1) + 1) / steps;
    const double place = last * i / steps;
    above.spots.push_back({place, gaussian_mu(Interval::exactly(next), curve.delta_at(x))});
    below.spots.push_back({place, gaussian_mu(Interval::exactly(x), curve.delta_at(next))});
  }
  picture.series.push_back(above);
  picture.series.push_back(below);
}

std::vector<Picture> transforms() {
  Picture three = gdpt_axes("Three transforms");
  three.x.high = 10;
  three.series = {styled(gdpt("Laplace", laplace, 10), 0), styled(gdpt("SGD, refined", refined_sgd, 10), 1),
                  styled(gdpt("ICEA, refined", refined_icea, 10), 2)};
  constexpr double last = 4;
  Picture stairs = gdpt_axes("Staircases around one of them");
  stairs.x.high = last;
  add_staircases(stairs, curve_of(refined_sgd), last, 4, 2, Stroke::dotted);
  add_staircases(stairs, curve_of(refined_sgd), last, 16, 0, Stroke::solid);
  stairs.series.push_back(styled(gdpt("SGD, refined", refined_sgd, last), 1));
  return {three, stairs};
}

std::vector<Picture> methods() {
  Picture picture{"50 runs of a 0.2-DP mechanism",
                  {"δ (probability)", Scale::logarithmic, 1e-6, 0.1},
                  {"privacy loss ε (nats)", Scale::linear, 0, 30},
                  {}};
  struct Method {
    const char* name;
    const char* label;
    std::size_t colour;
    Stroke stroke;
  };
  constexpr std::array<Method, 6> known = {{{"basic", "basic", grey, Stroke::dashed},
                                            {"advanced", "advanced", 4, Stroke::solid},
                                            {"rdp", "Rényi DP, by Mironov's corollary", 3, Stroke::solid},
                                            {"gdp", "each run by its μ", 0, Stroke::solid},
                                            {"gdp_summary", "the whole by its μ", 0, Stroke::dashed},
                                            {"exact", "exactly", 1, Stroke::solid}}};
  std::vector<std::string> names;
  for (const Method& one : known) {
    names.emplace_back(one.name);
    picture.series.push_back({one.label, {}, Shape::line, one.stroke, one.colour});
  }
  picture.series.push_back({"Laplace, each run by its μ", {}, Shape::line, Stroke::solid, 2});
  const Plan pure = parse("dp(epsilon=0.2) | repeat(50)"), noise = parse("laplace(scale=5) | repeat(50)");
  constexpr int places = 101;  // the exact curve has corners
  for (int i = 0; i < places; ++i) {
    const double delta = std::pow(10.0, -6 + i / 20.0);
    const Comparison found = compare_methods(pure, Interval::exactly(delta), Neighbours::unstated, {}, names);
    for (const MethodRow& row : found.rows) {
      const auto which = std::find(names.begin(), names.end(), row.method) - names.begin();
      if (row.kind == RowKind::bound && which < static_cast<std::ptrdiff_t>(names.size()))
        picture.series[static_cast<std::size_t>(which)].spots.push_back({delta, row.epsilon});
    }
    const Comparison drawn = compare_methods(noise, Interval::exactly(delta), Neighbours::unstated, {}, {"gdp"});
    if (drawn.rows.front().kind == RowKind::bound) picture.series.back().spots.push_back({delta, drawn.rows.front().epsilon});
  }
  return {picture};
}

std::vector<Picture> laplace_against_pure() {
  Picture picture = gdpt_axes("Laplace noise and ε-DP");
  std::size_t colour = 0;
  for (const auto& [epsilon, scale] : {std::pair{"0.5", "2"}, {"1", "1"}, {"2", "0.5"}}) {
    const std::string name(epsilon);
    picture.series.push_back(styled(gdpt("any " + name + "-DP mechanism", "dp(epsilon=" + name + ")", 2.2), colour, Stroke::dashed));
    picture.series.push_back(styled(gdpt("Laplace, " + name + "-DP", "laplace(scale=" + std::string(scale) + ")", 2.2), colour));
    ++colour;
  }
  picture.x.high = 2.2;
  return {picture};
}

/// The transform of a mechanism on Poisson samples of the data.
Picture sampled(const std::string& title, const std::string& plan, double last) {
  Picture picture = gdpt_axes(title);
  picture.x.high = last;
  std::size_t colour = 0;
  for (const char* rate : {"1", "0.5", "0.2", "0.1"})
    picture.series.push_back(styled(gdpt("rate " + std::string(rate), plan + " | poisson(rate=" + rate + ")", last), colour++));
  return picture;
}

std::vector<Picture> sampled_laplace() { return {sampled("Laplace", laplace, 2.5), sampled("SGD, refined", refined_sgd, 6)}; }
// The encoder in the figure of the source protects changes that keep a sum, which sampling does not; this family has a heavy tail as well.
std::vector<Picture> sampled_tails() {
  return {sampled("log family, refined", "log_family(c=1, sigma=2) | refine()", 10), sampled("1-GDP", "gdp(mu=1)", 20)};
}

constexpr std::array<Recipe, 6> bridge_figures = {{
    {"bridge-profiles", "Privacy profiles, naive and refined", "after figure 1 of Liu, Sun, Jiang and Kong",
     "Left: a noise formula turned around gives the naive profile (dashed); the guarantees imply each other, and what they imply together "
     "is the "
     "refined one. Right: refined profiles against those of 1-, 2- and 4-GDP. Laplace noise stays below 2-GDP, the encoder crosses every "
     "one of them "
     "sooner or later, and for SGD the eye cannot tell: `tradeoff mu` does.",
     profiles},
    {"bridge-transforms", "Profiles in units of Gaussian DP, and staircases", "after figure 2 of Liu, Sun, Jiang and Kong",
     "Left: at each ε the μ of the Gaussian that has the same δ. A mechanism is μ-GDP if and only if its curve never rises above μ: the "
     "one of the "
     "encoder grows without end. Right: between the staircases of Theorem 4.3 lies the whole curve, whatever it does between the steps.",
     transforms},
    {"bridge-methods", "One composition, by every method", "after figure 3 of Liu, Sun, Jiang and Kong",
     "The ε that each method certifies for 50 runs of a 0.2-DP mechanism. All lines are valid; the exact one is the lowest, and summing up "
     "the whole "
     "composition by one μ comes next. For Laplace noise each run has a smaller μ than pure DP gives it.",
     methods},
    {"bridge-laplace", "Laplace noise is better than its ε", "after figure 4 of Liu, Sun, Jiang and Kong",
     "In units of Gaussian DP, Laplace noise (solid) against the worst mechanism with the same ε (dashed).", laplace_against_pure},
    {"bridge-sampling", "What sampling does to the transform", "after figure 5 of Liu, Sun, Jiang and Kong",
     "Poisson samples at several rates: Laplace noise on the left, the training algorithm on the right. The curve falls most where ε is "
     "small; its "
     "peak moves to the right.",
     sampled_laplace},
    {"bridge-sampling-tails", "What sampling does not do", "after figure 6 of Liu, Sun, Jiang and Kong",
     "A mechanism with an exponential tail and 1-GDP on Poisson samples. The head falls, the tail stays: sampled Gaussian noise still "
     "needs its full μ far out, and "
     "what was "
     "not Gaussian-DP does not become it.",
     sampled_tails},
}};

}  // namespace

std::span<const Recipe> bridge_recipes() { return bridge_figures; }

}  // namespace tradeoff::detail::report
