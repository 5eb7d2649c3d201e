// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "loss/evaluation.h"
#include "loss/loss.h"

namespace tradeoff::detail {

/// A loss with the same distribution as another loss, or with that of its swapped pair. It forwards everything, so a derived class
/// implements only what it changes. Closed forms, tests, break points and evaluations go through the derived class.
class ForwardingLoss : public Loss, public ClosedForms, public Evaluable, public BreakPoints {
 public:
  [[nodiscard]] Interval delta(Direction direction, Interval epsilon) const override {
    return noted(base().delta(to_base(direction), epsilon));
  }
  [[nodiscard]] Interval log_delta(Direction direction, Interval epsilon) const override {
    return noted(base().log_delta(to_base(direction), epsilon));
  }
  [[nodiscard]] bool symmetric() const override { return base().symmetric(); }
  [[nodiscard]] Interval infinite_mass(Direction direction) const override { return base().infinite_mass(to_base(direction)); }
  [[nodiscard]] Tail tail() const override;
  [[nodiscard]] Capabilities capabilities(Direction direction) const override;
  void cite() const override {
    base().cite();
    note();
  }
  /// The key differs if the pair is swapped, because the distributions differ.
  [[nodiscard]] std::string key() const override;

  [[nodiscard]] std::optional<Interval> closed_epsilon(Direction direction, Interval delta) const override {
    return noted(base().closed_epsilon(to_base(direction), delta));
  }
  [[nodiscard]] std::optional<Interval> closed_beta(Direction direction, Interval alpha) const override {
    return noted(base().closed_beta(to_base(direction), alpha));
  }
  [[nodiscard]] std::optional<Interval> closed_mu() const override { return noted(base().closed_mu()); }
  [[nodiscard]] std::optional<Interval> mu_above() const override { return noted(base().mu_above()); }
  [[nodiscard]] std::optional<NeededMu> mu_below() const override {
    const auto known = base().mu_below();
    if (known) note();
    return known;
  }
  [[nodiscard]] std::optional<Test> test_at(Direction direction, double epsilon) const override {
    return noted(base().test_at(to_base(direction), epsilon));
  }
  [[nodiscard]] std::optional<std::vector<Guarantee>> guarantees(Direction direction) const override {
    return noted(base().guarantees(to_base(direction)));
  }
  [[nodiscard]] std::optional<Interval> log_complement(Direction direction, double epsilon) const override {
    return noted(base().log_complement(to_base(direction), epsilon));
  }
  [[nodiscard]] std::optional<LogLine> log_line(LineOf of, Direction direction, double start, double end) const override {
    return noted(base().log_line(of, to_base(direction), start, end));
  }
  [[nodiscard]] std::optional<LogLine> divergence_line(Direction direction, double start, double end) const override {
    return noted(base().divergence_line(to_base(direction), start, end));
  }
  [[nodiscard]] std::optional<Arc> arc(Direction direction, double start, double end) const override {
    return noted(base().arc(to_base(direction), start, end));
  }
  [[nodiscard]] std::optional<double> rough_delta(Direction direction, double epsilon) const override {
    return base().rough_delta(to_base(direction), epsilon);
  }
  [[nodiscard]] std::optional<BreakExpansion> expansion(Direction direction, ParameterEnd end) const override {
    return base().break_points(to_base(direction), end);
  }
  void evaluate(Direction direction, double epsilon, std::vector<Evaluation>& found) const override;

 protected:
  enum class Order { same, swapped };
  explicit ForwardingLoss(Order order = Order::same) : order_(order) {}

  /// The loss to which everything is forwarded.
  [[nodiscard]] virtual const Loss& base() const = 0;
  /// Records the theorem by which this loss has that distribution.
  virtual void note() const {}

  [[nodiscard]] Direction to_base(Direction direction) const { return order_ == Order::swapped ? opposite(direction) : direction; }

 private:
  template <class Value>
  [[nodiscard]] Value noted(Value value) const {
    note();
    return value;
  }

  Order order_;
};

}  // namespace tradeoff::detail
