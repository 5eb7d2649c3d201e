// SPDX-License-Identifier: Apache-2.0
#include "mechanism/families.h"

#include "loss/key.h"
#include "loss/mirrored_delta.h"
#include "mechanism/words.h"
#include "numeric/arithmetic.h"
#include "plan/arguments.h"

namespace tradeoff::detail {
namespace {

class SqrtLogFamily final : public FamilyLoss {
 public:
  SqrtLogFamily(Interval scale, Interval log_factor) : scale_(scale), log_factor_(log_factor) {}

  [[nodiscard]] Interval log_value(Interval epsilon) const override { return log_factor_ - square(epsilon / scale_); }
  [[nodiscard]] Interval relative_drop(Interval epsilon) const override { return 2.0 * epsilon / square(scale_); }
  [[nodiscard]] Interval start() const override { return scale_ * sqrt(max(log_factor_, Interval::exactly(0))); }
  // d'' - d' >= 0 in epsilon is 2 (e/a)^2 + e - 1 >= 0, e and a in the same units.
  [[nodiscard]] Interval convex_from() const override {
    const Interval square_scale = square(scale_);
    return 2.0 / (1.0 + sqrt(1.0 + 8.0 / square_scale));
  }
  [[nodiscard]] Tail tail() const override { return gaussian_tail(log_factor_.hi, scale_ / sqrt(Interval::exactly(2)), 0); }
  [[nodiscard]] std::string key() const override { return make_key("sqrt_log_family", {scale_, log_factor_}); }
  void cite() const override {
    static const Citation profile("naive-profile",
                                  "sigma = a/epsilon sqrt(log(b/delta)) solved for delta; an upper bound with a Gaussian tail");
    record(profile);
  }

 private:
  Interval scale_;  // a / sigma
  Interval log_factor_;
};

class GaussianTailFamily final : public FamilyLoss {
 public:
  GaussianTailFamily(Interval log_factor, Interval width, double from) : log_factor_(log_factor), width_(width), from_(from) {}

  [[nodiscard]] Interval log_value(Interval epsilon) const override {
    const Interval tail = log_factor_ - square(epsilon / width_) / 2.0;
    if (epsilon.lo >= from_) return tail;
    return epsilon.hi < from_ ? Interval::exactly(0) : hull(Interval::exactly(0), tail);
  }
  [[nodiscard]] Interval relative_drop(Interval epsilon) const override { return epsilon / square(width_); }
  [[nodiscard]] Interval start() const override {
    return max(Interval::exactly(from_), width_ * sqrt(2.0 * max(log_factor_, Interval::exactly(0))));
  }
  // d'' - d' >= 0 in epsilon is (e/s)^2 + e - 1 >= 0.
  [[nodiscard]] Interval convex_from() const override { return 2.0 / (1.0 + sqrt(1.0 + 4.0 / square(width_))); }
  [[nodiscard]] Tail tail() const override { return gaussian_tail(log_factor_.hi, {0, width_.hi}, from_); }
  [[nodiscard]] std::string key() const override { return make_key("gaussian_tail", {log_factor_, width_, Interval::exactly(from_)}); }
  void cite() const override {
    static const Citation profile("naive-profile", "beyond the last row delta <= k exp(-epsilon^2/(2 s^2)), as stated");
    record(profile);
  }

 private:
  Interval log_factor_;
  Interval width_;
  double from_;
};

class LogFamily final : public FamilyLoss {
 public:
  explicit LogFamily(Interval rate) : rate_(rate) {}

  [[nodiscard]] Interval log_value(Interval epsilon) const override { return -(rate_ * epsilon); }
  [[nodiscard]] Interval relative_drop(Interval) const override { return rate_; }
  [[nodiscard]] Interval start() const override { return Interval::exactly(0); }
  [[nodiscard]] Interval convex_from() const override { return Interval::exactly(0); }
  [[nodiscard]] Tail tail() const override { return heavy_tail(TailKind::exponential); }
  [[nodiscard]] std::string key() const override { return make_key("log_family", {rate_}); }
  void cite() const override {
    static const Citation profile("naive-profile",
                                  "sigma = -c log(delta)/epsilon solved for delta; falls like exp(-epsilon), so no Gaussian covers it");
    record(profile);
  }

 private:
  Interval rate_;  // sigma / c
};

class Icea final : public FamilyLoss {
 public:
  explicit Icea(Interval log_factor) : log_factor_(log_factor), factor_(exp(log_factor)) {}

  [[nodiscard]] Interval log_value(Interval epsilon) const override { return log_factor_ - log(epsilon); }
  [[nodiscard]] Interval relative_drop(Interval epsilon) const override { return 1.0 / epsilon; }
  [[nodiscard]] Interval start() const override { return factor_; }
  [[nodiscard]] Interval convex_from() const override { return Interval::exactly(0); }  // 1/log x is convex for x > 1
  [[nodiscard]] Tail tail() const override { return heavy_tail(TailKind::polynomial); }
  [[nodiscard]] std::string key() const override { return make_key("icea", {log_factor_}); }
  void cite() const override {
    static const Citation profile(
        "naive-profile",
        "messages > 10 log(users/(epsilon delta)) solved for delta; falls like 1/epsilon, so no Gaussian covers it; "
        "speaks of changes that keep the sum of all inputs");
    record(profile);
  }

 private:
  Interval log_factor_;
  Interval factor_;
};

}  // namespace

Interval FamilyLoss::log_delta(Direction direction, Interval epsilon) const {
  cite();
  if (epsilon.lo < 0) return log(delta(direction, epsilon));
  // delta does not increase in epsilon: each end of the result comes from one end of `epsilon`. At infinity the bound is 0.
  const auto at = [this](double e) {
    return e == infinity ? Interval::exactly(-infinity) : min(log_value(Interval::exactly(e)), Interval::exactly(0));
  };
  return {at(epsilon.hi).lo, at(epsilon.lo).hi};
}

// [naive-profile] The bound holds for both orders, so below 0 its mirror holds too.
Interval FamilyLoss::delta(Direction, Interval epsilon) const {
  cite();
  const auto at = [this](double e) {
    const double size = std::abs(e);
    const Interval there = size == infinity ? Interval::exactly(0) : exp(min(log_value(Interval::exactly(size)), Interval::exactly(0)));
    return e >= 0 ? there : mirrored_delta(e, there);
  };
  return {at(epsilon.hi).lo, at(epsilon.lo).hi};
}

LossPointer sqrt_log_family(Interval a, Interval b, Interval sigma) { return std::make_shared<SqrtLogFamily>(a / sigma, log(b)); }

std::shared_ptr<const FamilyLoss> gaussian_tail_family(Interval log_factor, Interval width, double from) {
  return std::make_shared<GaussianTailFamily>(log_factor, width, from);
}

LossPointer log_family(Interval c, Interval sigma) { return std::make_shared<LogFamily>(sigma / c); }

LossPointer icea(std::uint64_t users, std::uint64_t messages) {
  return std::make_shared<Icea>(log(Interval::exactly(users)) - Interval::exactly(messages) / 10.0);
}

namespace {

LossPointer make_sqrt_log_family(const Arguments& arguments, const WordContext&) {
  return sqrt_log_family(arguments.number("a"), arguments.number("b"), arguments.number("sigma"));
}

LossPointer make_log_family(const Arguments& arguments, const WordContext&) {
  return log_family(arguments.number("c"), arguments.number("sigma"));
}

LossPointer make_icea(const Arguments& arguments, const WordContext&) {
  return icea(arguments.whole("users"), arguments.whole("messages"));
}

}  // namespace

Word sqrt_log_family_word() {
  return {.role = Role::source,
          .name = "sqrt_log_family",
          .meaning = "known only through sigma = a/epsilon * sqrt(log(b/delta))",
          .parameters = {{"a", Kind::number, "the factor a", range::positive},
                         {"b", Kind::number, "the factor b", range::positive},
                         {"sigma", Kind::number, "the noise", range::positive, effect::safer}},
          .stated = true,
          .make = make_sqrt_log_family};
}

Word log_family_word() {
  return {.role = Role::source,
          .name = "log_family",
          .meaning = "known only through sigma = -c log(delta)/epsilon",
          .parameters = {{"c", Kind::number, "the factor c", range::positive},
                         {"sigma", Kind::number, "the noise", range::positive, effect::safer}},
          .stated = true,
          .make = make_log_family};
}

// [naive-profile] The encoder outputs the exact sum.
Word icea_word() {
  return {.role = Role::source,
          .name = "icea",
          .meaning = "the invisibility cloak encoder of the shuffle model, for changes that keep the sum of all inputs",
          .parameters = {{"users", Kind::integer, "number of users", range::whole(1, range::most_steps)},
                         {"messages", Kind::integer, "messages of each user", range::whole(1, range::most_steps)}},
          .changes = "changes that keep the sum of all inputs",
          .stated = true,
          .make = make_icea};
}

}  // namespace tradeoff::detail
