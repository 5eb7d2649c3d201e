// SPDX-License-Identifier: Apache-2.0
// Few steps: certified widths of delta and processor times over a grid, one line a question, cold. What is wider than 1e-6 or slower than
// 200 ms is marked; the last line counts. Arguments choose what to ask: `grid` (subsampled Gaussians at rates of 1e-3 and more, delta down
// to 1e-100), `sizes` (samples of fixed size, rates of 1e-4 and more), `poisson` and `sample` (at rates down to 1e-6), `other` (Laplace,
// mixed and finite laws); `quick` asks less; with `paths`, every engine apart.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "engine/compose.h"
#include "engine/contour/contour.h"
#include "engine/hyperbolic/hyperbolic.h"
#include "engine/lattice/lattice.h"
#include "mechanism/gaussian.h"
#include "mechanism/laplace.h"
#include "mechanism/randomized_response.h"
#include "mechanism/truncated_laplace.h"
#include "numeric/arithmetic.h"
#include "operators/subsampled.h"
#include "operators/subsampled_gaussian.h"

namespace {

using namespace tradeoff;
using namespace tradeoff::detail;

Interval exactly(double x) { return Interval::exactly(x); }
double milliseconds() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

constexpr double wanted_width = 1e-6;
constexpr double wanted_time = 200;
constexpr double quick_time = 50;

struct Tally {
  int asked = 0, tight = 0, quick = 0, timely = 0;
};

/// An epsilon at which delta is about this.
double epsilon_near(const Parts& parts, Direction direction, double delta) {
  const Interval found = compose(parts, {}).loss->closed_epsilon(direction, exactly(delta)).value_or(exactly(0));
  return found.hi < infinity ? (found.lo + found.hi) / 2 : 0;
}

struct Answer {
  double width = infinity, time = 0;
  Interval log_delta;
};

template <class Compose>
Answer timed(Compose&& compose_by, Direction direction, double epsilon) {
  const double start = milliseconds();
  const LossPointer loss = compose_by();
  if (loss == nullptr) return {};
  const Interval log_delta = loss->log_delta(direction, exactly(epsilon));
  const bool zero = log_delta.hi == -infinity;  // beyond the largest loss, exactly
  return {zero ? 0 : (log_delta.lo > -infinity ? log_delta.width() : infinity), milliseconds() - start, log_delta};
}

void ask(const std::string& name, const Parts& parts, Direction direction, double epsilon, bool paths, Tally& tally) {
  const Answer answer = timed([&] { return compose(parts, {}).loss; }, direction, epsilon);
  ++tally.asked;
  const bool wide = !(answer.width <= wanted_width), slow = answer.time > wanted_time;
  tally.tight += wide ? 0 : 1;
  tally.timely += wide || slow ? 0 : 1;
  tally.quick += wide || answer.time > quick_time ? 0 : 1;
  std::printf("%-44s %-6s epsilon %-12.6g log delta %-10.5g width %-9.2g %7.1f ms%s%s", name.c_str(),
              direction == Direction::add ? "add" : "remove", epsilon, answer.log_delta.hi, answer.width, answer.time, wide ? " WIDE" : "",
              slow ? " SLOW" : "");
  if (paths) {
    const auto one = [&](const char* path, const Answer& by) { std::printf(" | %s %.2g %.0f ms", path, by.width, by.time); };
    one("line", timed([&] { return compose_by_contour(parts, {}); }, direction, epsilon));
    one("bent", timed([&] { return compose_by_hyperbolic_contour(parts, {}); }, direction, epsilon));
    one("lattice", timed([&] { return compose_by_lattice(parts, {}); }, direction, epsilon));
  }
  std::printf("\n");
  std::fflush(stdout);
}

void ask_at_deltas(const std::string& name, const Parts& parts, const std::vector<double>& deltas, bool paths, Tally& tally) {
  for (const Direction direction : {Direction::remove, Direction::add}) {
    if (direction == Direction::add && parts.front().loss->symmetric()) continue;
    for (const double delta : deltas) {
      const double epsilon = epsilon_near(parts, direction, delta);
      if (epsilon > 0) ask(name, parts, direction, epsilon, paths, tally);
    }
  }
}

/// Distributions without noise on the whole line: break points only, lattices of atoms, and mixtures.
void ask_other(bool paths, Tally& tally) {
  const auto laplace = [](double scale, std::uint64_t times) {
    return Part{std::make_shared<LaplaceLoss>(exactly(1) / exactly(scale)), times};
  };
  const Part response{randomized_response(exactly(0.3), 2), 2}, gaussian{gaussian_loss(exactly(0.5)), 1};
  const auto subsampled = [](double sigma, double rate, std::uint64_t times) {
    return Part{subsampled_gaussian(exactly(1) / exactly(sigma), exactly(rate)), times};
  };
  const std::vector<double> deltas{1e-2, 1e-5, 1e-8};
  for (const std::uint64_t times : {2U, 10U, 50U}) ask_at_deltas("laplace(2) | repeat", {laplace(2, times)}, deltas, paths, tally);
  ask_at_deltas("5 truncated laplace", {{std::make_shared<TruncatedLaplaceLoss>(exactly(1), exactly(8)), 5}}, deltas, paths, tally);
  ask_at_deltas("1 sampled, 3 laplace, 2 answers", {subsampled(1, 0.1, 1), laplace(2, 3), response}, deltas, paths, tally);
  ask_at_deltas("10 sampled, 3 laplace, 2 answers", {subsampled(2, 0.01, 10), laplace(2, 3), response}, deltas, paths, tally);
  ask_at_deltas("5 sampled, a gaussian, 2 laplace", {subsampled(1, 0.1, 5), gaussian, laplace(1, 2)}, deltas, paths, tally);
  for (const std::uint64_t times : {10U, 1000U, 1000000U})
    ask_at_deltas("randomized_response(0.01) | repeat", {{randomized_response(exactly(0.01), 2), times}}, deltas, paths, tally);
  ask_at_deltas("80 of one, 80 of another answer",
                {{randomized_response(exactly(0.1), 2), 80}, {randomized_response(exactly(0.05), 2), 80}}, deltas, paths, tally);
}

std::string named(const char* format, double sigma, double rate, std::uint64_t steps) {
  char text[80];
  std::snprintf(text, sizeof text, format, sigma, rate, static_cast<unsigned>(steps));
  return text;
}

}  // namespace

int main(int count, char** arguments) {
  const auto has = [&](const char* word) {
    for (int i = 1; i < count; ++i)
      if (std::strcmp(arguments[i], word) == 0) return true;
    return false;
  };
  const bool paths = has("paths"), quick = has("quick");
  const std::vector<double> deltas = quick ? std::vector{1e-5, 1e-9} : std::vector{1e-5, 1e-8, 1e-12};
  const std::vector<std::uint64_t> steps =
      quick ? std::vector<std::uint64_t>{2, 10, 100} : std::vector<std::uint64_t>{2, 5, 10, 30, 100, 500};
  Tally tally;
  if (has("grid")) {
    for (const double sigma : {0.5, 1.0, 2.0, 5.0})
      for (const double rate : {0.5, 0.1, 1e-2, 1e-3})
        for (const std::uint64_t times : {2U, 3U, 5U, 10U, 20U, 50U, 100U})
          ask_at_deltas(named("gaussian(%g) | poisson(%g) | repeat(%u)", sigma, rate, times),
                        {{subsampled_gaussian(exactly(1) / exactly(sigma), exactly(rate)), times}}, {1e-2, 1e-5, 1e-8, 1e-20, 1e-100},
                        paths, tally);
  }
  if (has("sizes")) {
    for (const double sigma : {0.5, 1.0, 2.0, 5.0})
      for (const double rate : {0.5, 0.1, 1e-2, 1e-3, 1e-4})
        for (const std::uint64_t times :
             quick ? std::vector<std::uint64_t>{2, 5, 20, 100} : std::vector<std::uint64_t>{2, 3, 5, 10, 20, 50, 100})
          ask_at_deltas(named("gaussian(%g) | sample(%g) | repeat(%u)", sigma, rate, times),
                        {{std::make_shared<SampledLoss>(gaussian_loss(exactly(1) / exactly(sigma)), exactly(rate)), times}},
                        {1e-2, 1e-5, 1e-8, 1e-10}, paths, tally);
  }
  if (has("other")) ask_other(paths, tally);
  for (const double sigma : {0.5, 1.0, 2.0, 5.0}) {
    for (const double rate : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
      for (const std::uint64_t times : steps) {
        if (has("poisson"))
          ask_at_deltas(named("gaussian(%g) | poisson(%g) | repeat(%u)", sigma, rate, times),
                        {{subsampled_gaussian(exactly(1) / exactly(sigma), exactly(rate)), times}}, deltas, paths, tally);
        if (has("sample"))
          ask_at_deltas(named("gaussian(%g) | sample(%g) | repeat(%u)", sigma, rate, times),
                        {{std::make_shared<SampledLoss>(gaussian_loss(exactly(1) / exactly(sigma)), exactly(rate)), times}}, deltas, paths,
                        tally);
      }
    }
  }
  std::printf("%d asked, %d within %g, %d of them in %g ms, %d in %g ms\n", tally.asked, tally.tight, wanted_width, tally.quick, quick_time,
              tally.timely, wanted_time);
}
