// SPDX-License-Identifier: Apache-2.0
#include "report/curve_picture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "curve/cached_profile.h"
#include "curve/curve_state.h"
#include "loss/loss.h"
#include "loss/question_scope.h"
#include "numeric/floating_point_guard.h"
#include "report/claim.h"
#include "report/curve_table.h"
#include "report/many_betas.h"
#include "tradeoff/gdp.h"

namespace tradeoff::detail::report {
namespace {

/// The power of ten below all profiles, or the smallest one that the samples reach.
double least_shown(const std::vector<Series>& profiles) {
  double least = 0.5;
  for (const Series& one : profiles) {
    for (const Spot& spot : one.spots) least = std::min(least, spot.y.lo);
  }
  return least <= 1e-10 ? 1e-10 : std::pow(10.0, std::floor(std::log10(least)));
}

/// The region between the trade-off function and random guessing: the error pairs that an attack can reach.
Series region_above(const Series& tradeoff) {
  Series region{"errors an attacker may reach", {}, Shape::area, Stroke::solid, std::size_t{0}};
  for (const auto& [alpha, beta] : tradeoff.spots) region.spots.push_back({alpha, {std::min(beta.lo, 1 - alpha), 1 - alpha}});
  return region;
}

/// Evaluates each point if that is cheap and the curve may have corners; otherwise uses one profile for all points.
std::vector<Interval> betas_at(const Curve& curve, Direction direction, const std::vector<double>& alphas) {
  if (loss_of(curve)->cost() == Cost::engine) return many_betas(curve, direction, alphas);
  std::vector<Interval> betas;
  betas.reserve(alphas.size());
  for (const double alpha : alphas) betas.push_back(curve.beta_at(Interval::exactly(alpha), direction));
  return betas;
}

/// The missed true positives at the false-positive rates that are usual for attacks.
void add_risk(Picture& picture, const Curve& curve) {
  const std::vector<double> alphas = {0.01, 0.1};
  const std::vector<Interval> betas = betas_at(curve, Direction::worst, alphas);
  for (std::size_t i = 0; i < alphas.size(); ++i) {
    const Interval beta = betas[i];
    const double percent = std::nextafter(100 * beta.lo, 0.0);  // the product may have been rounded up
    const std::string least = safe_end({percent, std::max(percent, 100 * beta.hi)}, SafeEnd::lo, 3);
    picture.series.push_back({"at " + std::string(i == 0 ? "1 %" : "10 %") + " false positives at least " + least + " % are missed",
                              {{alphas[i], beta}},
                              Shape::markers,
                              Stroke::solid,
                              std::size_t{1}});
  }
}

}  // namespace

Series tradeoff_series(std::string label, const Curve& curve, Direction direction, std::size_t points) {
  std::vector<double> alphas;
  alphas.reserve(points);
  for (std::size_t i = 0; i < points; ++i) alphas.push_back(tradeoff_place(i, points));
  const std::vector<Interval> betas = betas_at(curve, direction, alphas);
  Series series{std::move(label)};
  for (std::size_t i = 0; i < points; ++i) series.spots.push_back({alphas[i], betas[i]});
  return series;
}

Series epsilon_series(View view, std::string label, const Curve& asked, double last, Direction direction, std::size_t points) {
  const Curve curve = cached_curve(asked);
  const auto value_at = [&](double epsilon) {
    const Interval at = Interval::exactly(epsilon);
    return view == View::profile ? curve.delta_at(at, direction) : gdp_transform_at(curve, at, direction);
  };
  const double own = std::min(last, last_epsilon(curve, direction));
  Series series{std::move(label)};
  for (std::size_t i = 0; i < points; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(points - 1);
    const double epsilon = own * t * (2 - t);
    series.spots.push_back({epsilon, value_at(epsilon)});
  }
  if (own < last) {
    constexpr double right_behind = 1e-6;  // a share of the range: where delta becomes 0 the line is vertical
    const std::size_t steps = points / 4 + 1;
    for (std::size_t i = 0; i <= steps; ++i) {
      const double t = std::max(right_behind, static_cast<double>(i) / static_cast<double>(steps));
      const double epsilon = own + (last - own) * t;
      series.spots.push_back({epsilon, value_at(epsilon)});
    }
  }
  return series;
}

Series guessing_line() { return {"guessing: perfect privacy", {{0, {1, 1}}, {1, {0, 0}}}, Shape::line, Stroke::dotted, grey}; }

Picture tradeoff_axes(std::string title) {
  return {std::move(title),
          {"type I error α (false-positive rate)", Scale::linear, 0, 1},
          {"type II error β (miss rate)", Scale::linear, 0, 1},
          {},
          true};
}

Picture profile_axes(std::string title, double least) {
  return {std::move(title), {"privacy loss ε (nats)", Scale::linear, 0}, {"δ (probability)", Scale::logarithmic, least, 1}};
}

Picture gdpt_axes(std::string title) {
  return {std::move(title), {"privacy loss ε (nats)", Scale::linear, 0}, {"μ of the Gaussian with the same δ(ε)", Scale::linear, 0}};
}

Picture draw_curves(View view, const std::vector<NamedCurve>& curves, Direction direction, std::size_t points) {
  if (!numeric::arithmetic_is_usual()) return numeric::in_usual_arithmetic([&] { return draw_curves(view, curves, direction, points); });

  const QuestionScope question;
  if (view == View::tradeoff) {
    Picture picture = tradeoff_axes("Trade-off function");
    for (const auto& [label, curve] : curves) {
      picture.series.push_back(tradeoff_series(label, curve, direction, points));
      if (picture.series.size() > palette_size) picture.series.back().stroke = Stroke::dashed;  // its colour is in use
    }
    if (curves.size() == 1) {
      picture.series.push_back(region_above(picture.series.front()));
      if (direction == Direction::worst) add_risk(picture, curves.front().curve);  // with a direction, a miss has another meaning
    }
    picture.series.push_back(guessing_line());
    return picture;
  }
  double last = 0;
  for (const auto& [label, curve] : curves) last = std::max(last, last_epsilon(curve, direction));
  Picture picture = view == View::profile ? profile_axes("Privacy profile", 1) : gdpt_axes("Privacy profile in units of Gaussian DP");
  for (const auto& [label, curve] : curves) {
    picture.series.push_back(epsilon_series(view, label, curve, last, direction, points));
    if (picture.series.size() > palette_size) picture.series.back().stroke = Stroke::dashed;  // its colour is in use
  }
  if (view == View::profile) picture.y.low = least_shown(picture.series);
  return picture;
}

}  // namespace tradeoff::detail::report
