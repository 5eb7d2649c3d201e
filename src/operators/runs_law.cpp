// SPDX-License-Identifier: Apache-2.0
#include "operators/runs_law.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "numeric/plain_text.h"
#include "numeric/rational.h"
#include "operators/words.h"
#include "plan/arguments.h"
#include "plan/number.h"
#include "tradeoff/error.h"

// The laws of the number of runs. Each is a class with its generating function, and a row at the end of the file. [best-of-runs]
namespace tradeoff::detail {
namespace {

constexpr double most_runs = 1e9;  // a larger mean is no tuning of a model

Interval one_minus(Interval s) { return max(1.0 - s, Interval::exactly(0)); }

/// phi(s) = e^{m(s-1)}; with `positive`, conditional on N >= 1, so divided by 1 - e^-m after e^-m is taken off.
class PoissonRuns final : public RunsLaw {
 public:
  PoissonRuns(Interval mean, bool positive, std::string written)
      : mean_(mean), share_(positive ? -expm1(-mean) : Interval::exactly(1)), positive_(positive), written_(std::move(written)) {}

  [[nodiscard]] Interval phi(Interval s) const override {
    if (!positive_) return clamp(exp(-(mean_ * one_minus(s))), 0, 1);
    return clamp(exp(-(mean_ * one_minus(s))) * -expm1(-(mean_ * s)) / share_, 0, 1);
  }
  [[nodiscard]] Interval slope(Interval s) const override { return mean_ * exp(-(mean_ * one_minus(s))) / share_; }
  [[nodiscard]] Interval curvature(Interval s) const override { return mean_ * slope(s); }
  [[nodiscard]] Interval probability(std::uint64_t runs) const override {
    if (runs == 0 && positive_) return Interval::exactly(0);
    Interval log_probability = -mean_;
    for (std::uint64_t k = 1; k <= runs; ++k) log_probability = log_probability + log(mean_ / Interval::exactly(k));
    return clamp(exp(log_probability) / share_, 0, 1);
  }
  [[nodiscard]] std::string words() const override {
    return positive_ ? "Poisson with mean " + written_ + ", drawn again while it is 0: at least 1 run"
                     : "Poisson with mean " + written_ + ": 0 runs are possible";
  }

 private:
  Interval mean_;
  Interval share_;
  bool positive_;
  std::string written_;
};

/// The negative binomial law conditional on N >= 1: phi(s) = (q(s)^-shape - 1)/(g^-shape - 1), q(s) = 1 - (1-g) s, g the chance of success;
/// for shape 0 its limit log q(s) / log g. Shape 1 is the geometric law.
class NegativeBinomialRuns final : public RunsLaw {
 public:
  NegativeBinomialRuns(Interval shape, Interval success, std::string words)
      : shape_(shape), success_(success), failure_(one_minus(success)), words_(std::move(words)) {
    const bool logarithmic = shape.lo == 0 && shape.hi == 0;
    const Interval log_success = log(success);
    factor_ = logarithmic ? 1.0 / -log_success : shape / expm1(-(shape * log_success));
  }

  [[nodiscard]] Interval phi(Interval s) const override {
    if (s.hi == 0) return Interval::exactly(0);
    if (shape_.lo == 0 && shape_.hi == 0) return clamp(log(remainder(s)) / log(success_), 0, 1);
    if (is_geometric()) return clamp(success_ * s / remainder(s), 0, 1);
    return clamp(expm1(-(shape_ * log(remainder(s)))) / expm1(-(shape_ * log(success_))), 0, 1);
  }
  [[nodiscard]] Interval slope(Interval s) const override {
    if (is_geometric()) return success_ / square(remainder(s));
    return factor_ * failure_ * exp(-((shape_ + 1.0) * log(remainder(s))));
  }
  [[nodiscard]] Interval curvature(Interval s) const override { return slope(s) * (shape_ + 1.0) * failure_ / remainder(s); }
  [[nodiscard]] Interval probability(std::uint64_t runs) const override {
    if (runs == 0) return Interval::exactly(0);
    Interval found = slope(Interval::exactly(0));
    for (std::uint64_t k = 1; k < runs; ++k) found = found * failure_ * (Interval::exactly(k) + shape_) / Interval::exactly(k + 1);
    return clamp(found, 0, 1);
  }
  [[nodiscard]] std::string words() const override { return words_ + ": at least 1 run"; }
  [[nodiscard]] bool is_single() const override { return success_.lo == 1; }
  [[nodiscard]] std::uint64_t most() const override { return is_single() ? 1 : 0; }

 private:
  /// q(s), written so that it does not cancel near s = 1.
  [[nodiscard]] Interval remainder(Interval s) const { return max(one_minus(s) + success_ * s, Interval::exactly(success_.lo)); }
  [[nodiscard]] bool is_geometric() const { return shape_.lo == 1 && shape_.hi == 1; }

  Interval shape_;
  Interval success_;
  Interval failure_;
  Interval factor_;  // shape / (g^-shape - 1)
  std::string words_;
};

/// phi(s) = (1 - p + p s)^n; with p = 1 exactly n runs.
class BinomialRuns final : public RunsLaw {
 public:
  BinomialRuns(std::uint64_t trials, Interval chance, std::string words) : trials_(trials), chance_(chance), words_(std::move(words)) {}

  [[nodiscard]] Interval phi(Interval s) const override { return clamp(power(inner(s), trials_), 0, 1); }
  [[nodiscard]] Interval slope(Interval s) const override { return Interval::exactly(trials_) * chance_ * power(inner(s), trials_ - 1); }
  [[nodiscard]] Interval curvature(Interval s) const override {
    if (trials_ < 2) return Interval::exactly(0);
    return Interval::exactly(trials_) * Interval::exactly(trials_ - 1) * square(chance_) * power(inner(s), trials_ - 2);
  }
  [[nodiscard]] Interval probability(std::uint64_t runs) const override {
    if (runs > trials_) return Interval::exactly(0);
    Interval found = power(chance_, runs) * power(one_minus(chance_), trials_ - runs);
    for (std::uint64_t k = 1; k <= runs; ++k) found = found * Interval::exactly(trials_ - k + 1) / Interval::exactly(k);
    return clamp(found, 0, 1);
  }
  [[nodiscard]] std::uint64_t most() const override { return trials_; }
  [[nodiscard]] std::string words() const override { return words_; }
  [[nodiscard]] bool is_single() const override { return trials_ == 1 && chance_.lo == 1; }

 private:
  [[nodiscard]] Interval inner(Interval s) const { return clamp(one_minus(chance_) + chance_ * s, 0, 1); }

  std::uint64_t trials_;
  Interval chance_;
  std::string words_;
};

/// phi is the polynomial whose coefficients are the stated probabilities.
class StatedRuns final : public RunsLaw {
 public:
  explicit StatedRuns(std::vector<Interval> probabilities) : probabilities_(std::move(probabilities)) {}

  [[nodiscard]] Interval phi(Interval s) const override { return clamp(derivative(s, 0), 0, 1); }
  [[nodiscard]] Interval slope(Interval s) const override { return derivative(s, 1); }
  [[nodiscard]] Interval curvature(Interval s) const override { return derivative(s, 2); }
  [[nodiscard]] Interval probability(std::uint64_t runs) const override {
    return runs < probabilities_.size() ? probabilities_[static_cast<std::size_t>(runs)] : Interval::exactly(0);
  }
  [[nodiscard]] std::uint64_t most() const override { return probabilities_.size() - 1; }
  [[nodiscard]] std::string words() const override {
    return "stated: 0 to " + std::to_string(most()) + " runs" + (probabilities_[0].hi > 0 ? ", 0 runs are possible" : ", at least 1 run");
  }
  [[nodiscard]] bool is_single() const override { return probabilities_.size() == 2 && probabilities_[1] == Interval::exactly(1); }

 private:
  /// Horner's rule for the derivative of the given order, 0 to 2.
  [[nodiscard]] Interval derivative(Interval s, std::size_t order) const {
    Interval sum = Interval::exactly(0);
    for (std::size_t k = probabilities_.size(); k-- > order;) {
      Interval term = probabilities_[k];
      for (std::size_t j = 0; j < order; ++j) term = term * Interval::exactly(std::uint64_t{k - j});
      sum = sum * s + term;
    }
    return sum;
  }

  std::vector<Interval> probabilities_;
};

using LawPointer = std::shared_ptr<const RunsLaw>;

LawPointer make_poisson_runs(const Arguments& arguments) {
  return std::make_shared<PoissonRuns>(arguments.number("mean"), false, arguments.written("mean").text);
}
LawPointer make_positive_runs(const Arguments& arguments) {
  return std::make_shared<PoissonRuns>(arguments.number("mean"), true, arguments.written("mean").text);
}
LawPointer make_geometric_runs(const Arguments& arguments) {
  const auto stopped_with = [](Interval success, const std::string& words) {
    return std::make_shared<NegativeBinomialRuns>(Interval::exactly(1), success, words);
  };
  if (arguments.has("success"))
    return stopped_with(arguments.number("success"), "geometric with chance of success " + arguments.written("success").text);
  const Number& mean = arguments.written("mean");
  if (mean.value.hi < 1)
    arguments.refuse(
        "mean", mean.text,
        "at least 1: the law starts with one run. For a chance to stop after each run write geometric(success=" + mean.text + ")");
  return stopped_with(clamp(1.0 / arguments.number("mean"), 0, 1), "geometric with mean " + mean.text);
}
LawPointer make_negative_binomial_runs(const Arguments& arguments) {
  return std::make_shared<NegativeBinomialRuns>(
      arguments.number("shape"), arguments.number("success"),
      "negative binomial with shape " + arguments.written("shape").text + " and success " + arguments.written("success").text);
}
LawPointer make_logarithmic_runs(const Arguments& arguments) {
  return std::make_shared<NegativeBinomialRuns>(Interval::exactly(0), arguments.number("success"),
                                                "logarithmic with success " + arguments.written("success").text);
}
LawPointer make_binomial_runs(const Arguments& arguments) {
  const std::uint64_t trials = arguments.whole("trials");
  return std::make_shared<BinomialRuns>(trials, arguments.number("chance"),
                                        "binomial with " + std::to_string(trials) + " trials and chance " +
                                            arguments.written("chance").text + ": at most " + std::to_string(trials) + " runs" +
                                            (arguments.number("chance").lo < 1 ? ", 0 runs are possible" : ""));
}
LawPointer make_exact_runs(const Arguments& arguments) {
  const std::uint64_t times = arguments.whole("times");
  return std::make_shared<BinomialRuns>(times, Interval::exactly(1), "exactly " + std::to_string(times) + (times == 1 ? " run" : " runs"));
}

/// The exact sum of decimals; a sum other than 1 is refused and not normalised.
LawPointer make_stated_runs(const Arguments& arguments) {
  const std::vector<Number> written = arguments.numbers("probabilities");
  std::optional<numeric::Rational> sum_of_all = numeric::Rational{};
  std::vector<Interval> values;
  for (const Number& one : written) {
    if (!(one.value.lo >= 0 && one.value.hi <= 1)) arguments.refuse("probabilities", one.text, "between 0 and 1 each");
    sum_of_all = sum(sum_of_all, exact_rational(one));
    values.push_back(one.value);
  }
  const auto total = sum_of_all ? to_string(numeric::to_quotient(*sum_of_all)) : std::string("too many digits");
  if (!sum_of_all || !(*sum_of_all == numeric::Rational{1, 1}))
    throw DomainError("pmf: the probabilities add up to " + total +
                      "; they must add up to exactly 1, the first one being Pr(no run). Write quotients such as 1/3 where decimals do not "
                      "end");
  while (values.size() > 2 && values.back().hi == 0) values.pop_back();
  if (values.size() < 2 || values[0].lo == 1) arguments.refuse("probabilities", "[1]", "a law with at least one run at times");
  return std::make_shared<StatedRuns>(std::move(values));
}

constexpr Range means{.least = 0, .most = most_runs, .excludes_least = true};
constexpr Range means_from_one{.least = 1, .most = most_runs};
constexpr Range chances{.least = 0, .most = 1, .excludes_least = true};
constexpr Range successes{.least = 1 / most_runs, .most = 1};

}  // namespace

LawPointer law_of(const Arguments& arguments, std::string_view name) {
  const auto* called = std::get_if<Plan>(&arguments.value(name).content);
  const Call* call = called != nullptr && called->lines.size() == 1 ? std::get_if<Call>(&called->lines.front().source) : nullptr;
  const Word* word = call == nullptr ? nullptr : arguments.vocabulary().find(Role::law, call->name);
  if (word == nullptr) arguments.refuse(name, call == nullptr ? "that" : call->name, "a law of the number of runs");
  return word->law(arguments.of(*call));
}

Word poisson_runs_word() {
  return {.role = Role::law,
          .name = "poisson",
          .meaning = "a Poisson number of runs, 0 included",
          .parameters = {{"mean", Kind::number, "mean number of runs", means, effect::riskier.up_to(most_runs)}},
          .law = make_poisson_runs};
}

Word poisson_positive_runs_word() {
  return {.role = Role::law,
          .name = "poisson_positive",
          .meaning = "a Poisson number of runs, drawn again while it is 0",
          .parameters = {{"mean", Kind::number, "mean before it is drawn again", means}},
          .law = make_positive_runs};
}

Word geometric_runs_word() {
  return {
      .role = Role::law,
      .name = "geometric",
      .meaning = "1, 2, 3, ... runs: after each, stop with probability 1/mean",
      .parameters = {{.name = "mean", .kind = Kind::number, .meaning = "mean number of runs", .range = means_from_one, .form = 1},
                     {.name = "success", .kind = Kind::number, .meaning = "chance to stop after each run", .range = successes, .form = 2}},
      .law = make_geometric_runs};
}

Word negative_binomial_runs_word() {
  return {.role = Role::law,
          .name = "negative_binomial",
          .meaning = "a negative binomial number of runs, drawn again while it is 0",
          .parameters = {{"shape", Kind::number, "shape, above -1", {.least = -1, .most = 1e6, .excludes_least = true}},
                         {"success", Kind::number, "chance of success", successes}},
          .law = make_negative_binomial_runs};
}

Word logarithmic_runs_word() {
  return {.role = Role::law,
          .name = "logarithmic",
          .meaning = "a logarithmic number of runs: negative_binomial of shape 0",
          .parameters = {{"success", Kind::number, "chance of success", {.least = 1 / most_runs, .most = 0.999999}}},
          .law = make_logarithmic_runs};
}

Word binomial_runs_word() {
  return {.role = Role::law,
          .name = "binomial",
          .meaning = "each of a number of trials is run with a chance; 0 runs are possible",
          .parameters = {{"trials", Kind::integer, "number of trials", range::whole(1, 1'000'000'000)},
                         {"chance", Kind::number, "chance that a trial is run", chances, effect::riskier}},
          .law = make_binomial_runs};
}

Word exact_runs_word() {
  return {.role = Role::law,
          .name = "exactly",
          .meaning = "always the same number of runs",
          .parameters = {{"times", Kind::integer, "number of runs", range::whole(1, 1'000'000'000)}},
          .synonyms = {{"grid", grid_is_not_random}, {"grid_search", grid_is_not_random}},
          .law = make_exact_runs};
}

Word stated_runs_word() {
  return {.role = Role::law,
          .name = "pmf",
          .meaning = "a stated law: the probabilities of 0, 1, 2, ... runs",
          .parameters = {{"probabilities", Kind::numbers, "Pr(no run), Pr(1 run), ..., sum exactly 1"}},
          .law = make_stated_runs};
}

}  // namespace tradeoff::detail
