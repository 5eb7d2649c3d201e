// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tradeoff/plan.h"

// Builds plans without text:  analyze(plan::gaussian(1.1).poisson("256/60000").repeat(14063)).
// A builder stands for the plan `parse(builder.text())`. Names and ranges are checked only when it is parsed.
namespace tradeoff::plan {

/// A number of a plan. A double is read as the shortest decimal that prints it: 1.1 is 11/10. Text is read as in a plan: "256/60000",
/// "1e-5", or "?" for the value that `calibrate` finds. Throws ParseError for anything else and DomainError for NaN and infinities.
class Amount {
 public:
  Amount(double value);                                               // NOLINT(google-explicit-constructor): a parameter type
  Amount(std::integral auto value) : text_(std::to_string(value)) {}  // NOLINT(google-explicit-constructor)
  Amount(const char* text) : Amount(std::string_view(text)) {}        // NOLINT(google-explicit-constructor)
  Amount(std::string_view text);                                      // NOLINT(google-explicit-constructor)
  Amount(const Number& number) : text_(number.text) {}                // NOLINT(google-explicit-constructor)

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

using Named = std::pair<std::string_view, Amount>;
using Point = std::pair<Amount, Amount>;

/// The law of the number of runs of `best_of`: public, and independent of the data.
class Runs {
 public:
  /// 1, 2, 3, ... runs: after each, stop with probability 1/mean.
  [[nodiscard]] static Runs geometric(const Amount& mean) { return Runs("geometric", {{"mean", mean}}); }
  /// 0 runs are possible.
  [[nodiscard]] static Runs poisson(const Amount& mean) { return Runs("poisson", {{"mean", mean}}); }
  /// A Poisson number, drawn again while it is 0.
  [[nodiscard]] static Runs poisson_positive(const Amount& mean) { return Runs("poisson_positive", {{"mean", mean}}); }
  [[nodiscard]] static Runs negative_binomial(const Amount& shape, const Amount& success) {
    return Runs("negative_binomial", {{"shape", shape}, {"success", success}});
  }
  [[nodiscard]] static Runs logarithmic(const Amount& success) { return Runs("logarithmic", {{"success", success}}); }
  /// 0 runs are possible.
  [[nodiscard]] static Runs binomial(const Amount& trials, const Amount& chance) {
    return Runs("binomial", {{"trials", trials}, {"chance", chance}});
  }
  [[nodiscard]] static Runs exactly(const Amount& times) { return Runs("exactly", {{"times", times}}); }
  /// Pr(no run), Pr(1 run), ...; their sum must be exactly 1.
  [[nodiscard]] static Runs pmf(const std::vector<Amount>& probabilities);

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  Runs(std::string_view law, std::initializer_list<Named> arguments);
  explicit Runs(std::string text) : text_(std::move(text)) {}

  std::string text_;
};

/// A plan under construction. Every operator returns a new builder and leaves the old one unchanged.
class Builder {
 public:
  /// Any source of the language by its name: source("gaussian", {{"sigma", 2}}).
  Builder(std::string_view source, std::initializer_list<Named> arguments);
  /// A source whose arguments are written out: Builder::of_text("curve(file=\"measured.csv\")").
  [[nodiscard]] static Builder of_text(std::string text) { return Builder(std::move(text)); }

  /// Any operator of the language by its name.
  [[nodiscard]] Builder then(std::string_view operation, std::initializer_list<Named> arguments) const;

  /// An operator whose arguments are written out: then_text("shuffle(batches=100, reuse=true)").
  [[nodiscard]] Builder then_text(std::string_view operation) const;

  [[nodiscard]] Builder poisson(const Amount& rate) const { return then("poisson", {{"rate", rate}}); }
  [[nodiscard]] Builder allocate(const Amount& steps, const Amount& passes = 1, const Amount& times = 1) const {
    return then("allocate", {{"steps", steps}, {"passes", passes}, {"times", times}});
  }
  [[nodiscard]] Builder shuffle(const Amount& batches, const Amount& passes = 1) const {
    return then("shuffle", {{"batches", batches}, {"passes", passes}});
  }
  [[nodiscard]] Builder cyclic(const Amount& groups, const Amount& rate, const Amount& steps) const {
    return then("cyclic", {{"groups", groups}, {"rate", rate}, {"steps", steps}});
  }
  [[nodiscard]] Builder sample(const Amount& size, const Amount& of) const { return then("sample", {{"size", size}, {"of", of}}); }
  [[nodiscard]] Builder sample_with_replacement(const Amount& draws, const Amount& of) const {
    return then("sample_with_replacement", {{"draws", draws}, {"of", of}});
  }
  [[nodiscard]] Builder repeat(const Amount& times) const { return then("repeat", {{"times", times}}); }
  [[nodiscard]] Builder best_of(const Runs& runs) const { return then_text("best_of(runs=" + runs.text() + ")"); }
  [[nodiscard]] Builder group(const Amount& size) const { return then("group", {{"size", size}}); }
  [[nodiscard]] Builder rectify(const Amount& epsilon, const Amount& low, const Amount& high) const {
    return then("rectify", {{"epsilon", epsilon}, {"low", low}, {"high", high}});
  }
  [[nodiscard]] Builder invert() const { return then("invert", {}); }
  [[nodiscard]] Builder refine() const { return then("refine", {}); }

  /// Runs both plans on the same data.
  [[nodiscard]] Builder beside(const Builder& other) const;

  /// The plan as text.
  [[nodiscard]] const std::string& text() const { return text_; }
  /// Throws what `parse` throws.
  [[nodiscard]] Plan plan() const { return parse(text_); }
  operator Plan() const { return plan(); }  // NOLINT(google-explicit-constructor): `analyze` and its kind take a builder

 private:
  explicit Builder(std::string text) : text_(std::move(text)) {}

  std::string text_;
  bool several_ = false;  // true if the plan has more than one line; it then needs parentheses before an operator
};

[[nodiscard]] inline Builder gaussian(const Amount& sigma, const Amount& sensitivity = 1) {
  return {"gaussian", {{"sigma", sigma}, {"sensitivity", sensitivity}}};
}
[[nodiscard]] inline Builder laplace(const Amount& scale, const Amount& sensitivity = 1) {
  return {"laplace", {{"scale", scale}, {"sensitivity", sensitivity}}};
}
[[nodiscard]] inline Builder discrete_gaussian(const Amount& sigma, const Amount& sensitivity = 1) {
  return {"discrete_gaussian", {{"sigma", sigma}, {"sensitivity", sensitivity}}};
}
[[nodiscard]] inline Builder discrete_laplace(const Amount& scale, const Amount& sensitivity = 1) {
  return {"discrete_laplace", {{"scale", scale}, {"sensitivity", sensitivity}}};
}
[[nodiscard]] inline Builder truncated_laplace(const Amount& scale, const Amount& bound, const Amount& sensitivity = 1) {
  return {"truncated_laplace", {{"scale", scale}, {"bound", bound}, {"sensitivity", sensitivity}}};
}
[[nodiscard]] inline Builder truncated_discrete_laplace(const Amount& scale, const Amount& bound, const Amount& sensitivity = 1) {
  return {"truncated_discrete_laplace", {{"scale", scale}, {"bound", bound}, {"sensitivity", sensitivity}}};
}
[[nodiscard]] inline Builder randomized_response(const Amount& epsilon, const Amount& choices = 2) {
  return {"randomized_response", {{"epsilon", epsilon}, {"choices", choices}}};
}
[[nodiscard]] inline Builder skellam(const Amount& variance, const Amount& clients = 1, const Amount& honest = 1,
                                     const Amount& dropouts = 0, const Amount& sensitivity = 1, const Amount& coordinates = 1) {
  return {"skellam",
          {{"variance", variance},
           {"clients", clients},
           {"honest", honest},
           {"dropouts", dropouts},
           {"sensitivity", sensitivity},
           {"coordinates", coordinates}}};
}
[[nodiscard]] inline Builder binomial_noise(const Amount& trials, const Amount& chance = 0.5, const Amount& clients = 1,
                                            const Amount& honest = 1, const Amount& dropouts = 0, const Amount& sensitivity = 1,
                                            const Amount& coordinates = 1) {
  return {"binomial_noise",
          {{"trials", trials},
           {"chance", chance},
           {"clients", clients},
           {"honest", honest},
           {"dropouts", dropouts},
           {"sensitivity", sensitivity},
           {"coordinates", coordinates}}};
}
[[nodiscard]] inline Builder discrete_gaussian_sum(const Amount& sigma, const Amount& clients, const Amount& honest = 1,
                                                   const Amount& dropouts = 0, const Amount& sensitivity = 1,
                                                   const Amount& coordinates = 1) {
  return {"discrete_gaussian_sum",
          {{"sigma", sigma},
           {"clients", clients},
           {"honest", honest},
           {"dropouts", dropouts},
           {"sensitivity", sensitivity},
           {"coordinates", coordinates}}};
}
[[nodiscard]] inline Builder discrete_laplace_sum(const Amount& scale, const Amount& clients, const Amount& honest = 1,
                                                  const Amount& dropouts = 0, const Amount& sensitivity = 1,
                                                  const Amount& coordinates = 1) {
  return {"discrete_laplace_sum",
          {{"scale", scale},
           {"clients", clients},
           {"honest", honest},
           {"dropouts", dropouts},
           {"sensitivity", sensitivity},
           {"coordinates", coordinates}}};
}
[[nodiscard]] inline Builder exponential(const Amount& epsilon) { return {"exponential", {{"epsilon", epsilon}}}; }
/// `noise` is gumbel, exponential, laplace or gaussian. The other arguments: Builder::of_text.
[[nodiscard]] Builder noisy_max(const std::string& noise, const Amount& scale, const Amount& sensitivity = 1, const Amount& top = 1);
[[nodiscard]] inline Builder gdp(const Amount& mu) { return {"gdp", {{"mu", mu}}}; }
[[nodiscard]] inline Builder dp(const Amount& epsilon, const Amount& delta = 0) { return {"dp", {{"epsilon", epsilon}, {"delta", delta}}}; }
[[nodiscard]] inline Builder zcdp(const Amount& rho) { return {"zcdp", {{"rho", rho}}}; }
[[nodiscard]] inline Builder sqrt_log_family(const Amount& a, const Amount& b, const Amount& sigma) {
  return {"sqrt_log_family", {{"a", a}, {"b", b}, {"sigma", sigma}}};
}
[[nodiscard]] inline Builder log_family(const Amount& c, const Amount& sigma) { return {"log_family", {{"c", c}, {"sigma", sigma}}}; }
[[nodiscard]] inline Builder icea(const Amount& users, const Amount& messages) {
  return {"icea", {{"users", users}, {"messages", messages}}};
}
/// Any mechanism that satisfies all of these (epsilon, delta) guarantees.
[[nodiscard]] Builder constraints(const std::vector<Point>& points);
/// Any mechanism with these bounds on its Renyi divergences: (order, divergence).
[[nodiscard]] Builder rdp(const std::vector<Point>& points);
/// A pair of distributions on finitely many outcomes: the probabilities with the record and without it.
[[nodiscard]] Builder pair(const std::vector<Amount>& p, const std::vector<Amount>& q);

}  // namespace tradeoff::plan
