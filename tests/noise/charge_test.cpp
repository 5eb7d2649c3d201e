// SPDX-License-Identifier: Apache-2.0
// The charged plan equals the drawn noise: random releases are reconstructed from their draws. [grid-release]
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "noise/certificate.h"
#include "noise/recorder.h"
#include "support/scale.h"
#include "tradeoff/release.h"

namespace tradeoff::detail::test {
namespace {

/// A line of a random plan: everything that the test knows of it without the code under test.
struct WrittenLine {
  std::string text;
  std::string source;
  double sensitivity = 1;
  std::uint64_t times = 1;
  std::uint64_t group = 1;
  bool rectified = false;
  bool sampled = false;
};

struct WrittenRelease {
  std::vector<WrittenLine> lines;
  ReleaseTerms terms;
  std::vector<double> values;

  [[nodiscard]] std::string plan() const {
    std::string text;
    for (const WrittenLine& line : lines) text += (text.empty() ? "" : "; ") + line.text;
    return text;
  }
};

constexpr double low = -8, high = 24;  // of rectify

class Generator {
 public:
  /// Quick plans are those whose curve takes little time.
  explicit Generator(std::uint64_t seed, bool quick = false) : words_(seed), quick_(quick) {}

  WrittenRelease next() {
    WrittenRelease made;
    ReleaseTerms& terms = made.terms;
    terms.grid_exponent = quick_ || below(3) == 0 ? 0 : -static_cast<int>(below(6));
    terms.inputs = below(3) == 0 ? Inputs::on_grid : Inputs::rounded;
    terms.aggregate = below(2) == 0 ? Aggregate::none : pick({Aggregate::sum, Aggregate::count, Aggregate::mean});
    const bool records = terms.aggregate != Aggregate::none;
    if (records) {
      terms.neighbours = below(2) == 0 ? Neighbours::add_remove : Neighbours::replace_one;
      terms.bounds = Bounds{-1, 2};
      terms.rows = terms.aggregate == Aggregate::mean ? 2 : 1;
    } else {
      terms.rows_are = below(3) == 0 ? Rows::disjoint : Rows::composed;
      terms.rows = 1 + below(4);
      terms.columns = below(3) == 0 ? 2 : 1;
    }
    const std::size_t lines = below(4) != 0 ? (terms.aggregate == Aggregate::mean ? 2 : 1) : 1 + below(2);
    for (std::size_t i = 0; i < lines; ++i) made.lines.push_back(line(terms));
    const std::size_t count = records ? most_records : terms.rows * terms.columns;
    for (std::size_t i = 0; i < count; ++i) made.values.push_back(static_cast<double>(below(3)) - (records ? 0.0 : 1.0));
    for (const WrittenLine& one : made.lines)
      if (one.source == "randomized_response")
        for (double& value : made.values) value = std::abs(value);
    return made;
  }

 private:
  static constexpr std::size_t most_records = 12;

  std::uint64_t below(std::uint64_t size) { return words_.next() % size; }
  template <class Item>
  Item pick(std::initializer_list<Item> items) {
    return *(items.begin() + below(items.size()));
  }

  /// Operators in any order, valid or not.
  WrittenLine line(const ReleaseTerms& terms) {
    WrittenLine made;
    made.source = quick_ ? pick<const char*>({"gaussian", "laplace"})
                         : pick<const char*>({"gaussian", "gaussian", "laplace", "laplace", "truncated_laplace", "discrete_laplace",
                                              "truncated_discrete_laplace", "discrete_gaussian", "randomized_response"});
    const bool integers = made.source.find("discrete") != std::string::npos;
    const double unit = integers ? std::ldexp(1, -terms.grid_exponent.value_or(0)) : 1;  // integer noise is in steps
    made.sensitivity = terms.aggregate != Aggregate::none ? 3 * unit : static_cast<double>(below(3));
    const std::string scale = made.source == "gaussian" || made.source == "discrete_gaussian" ? "sigma=" : "scale=";
    made.text = made.source + "(" + scale + std::to_string(unit * static_cast<double>(2 + below(9)) / 2);
    if (made.source.rfind("truncated", 0) == 0) made.text += ", bound=" + std::to_string(static_cast<int>(unit * 50));
    if (made.source == "randomized_response")
      made.text = "randomized_response(epsilon=" + std::to_string(1 + below(3)) + ", choices=4";
    else
      made.text += ", sensitivity=" + std::to_string(static_cast<int>(made.sensitivity));
    made.text += ")";
    for (std::uint64_t more = below(4); more > 0; --more) operation(made, terms);
    return made;
  }

  void operation(WrittenLine& line, const ReleaseTerms& terms) {
    if (below(6) == 0) line.text = "(" + line.text + ")";
    switch (below(terms.aggregate == Aggregate::none ? 3 : 5)) {
      case 0:
        line.times *= below(5);
        line.text += " | repeat(" + std::to_string(line.times) + ")";
        break;
      case 1:
        line.group *= 2;
        line.text += " | group(2)";
        break;
      case 2:
        line.rectified = true;
        line.text += " | rectify(epsilon=2, low=" + std::to_string(low) + ", high=" + std::to_string(high) + ")";
        break;
      default:
        line.sampled = true;
        line.text += terms.neighbours == Neighbours::add_remove ? " | poisson(rate=1/4)" : " | sample(size=3, of=12)";
    }
  }

  ReplayForTests words_;
  bool quick_;
};

/// Reconstructs a release from its draws: explains every released number, and writes the plan that these draws cost.
class Rebuild {
 public:
  Rebuild(const WrittenRelease& written, const Recorder& recorder, const std::vector<std::vector<double>>& released)
      : written_(written), recorder_(recorder), released_(released) {
    for (const WrittenLine& line : written.lines) add(line);
    EXPECT_EQ(row_, released.size()) << "rows that no draw explains";
    EXPECT_EQ(next_draw_, recorder.draws.size()) << "draws that touched nothing";
    EXPECT_EQ(next_choice_, recorder.choices.size());
  }
  [[nodiscard]] const std::string& plan() const { return plan_; }

  /// Line by line, the same distribution and the same operators in the same order, charged at least as often as drawn.
  void expect_charged(const Plan& charged) const {
    const Plan drawn = parse(plan_);
    ASSERT_GE(charged.lines.size(), drawn.lines.size());
    for (std::size_t i = 0; i < drawn.lines.size(); ++i) {
      const Call &paid = std::get<Call>(charged.lines[i].source), &used = std::get<Call>(drawn.lines[i].source);
      ASSERT_EQ(paid.name, used.name);
      ASSERT_EQ(paid.arguments.size(), used.arguments.size());
      for (std::size_t j = 0; j < used.arguments.size(); ++j) {
        ASSERT_EQ(paid.arguments[j].name, used.arguments[j].name);
        if (used.arguments[j].name == "sensitivity")
          EXPECT_GE(number(paid.arguments[j]), number(used.arguments[j]));
        else
          EXPECT_EQ(paid.arguments[j].value, used.arguments[j].value) << used.arguments[j].name;
      }
      std::vector<Call> operators = charged.lines[i].operators;
      double runs = 1;
      if (!operators.empty() && operators.back().name == "repeat") {
        runs = number(operators.back().arguments[0]);
        operators.pop_back();
      }
      EXPECT_GE(runs, static_cast<double>(runs_[i]));
      const std::vector<Call>& others = drawn.lines[i].operators;
      EXPECT_EQ(operators, std::vector<Call>(others.begin(), others.end() - 1));
    }
  }

 private:
  static double number(const Argument& argument) { return std::get<Number>(argument.value.content).value.lo; }
  static std::string text(double value) { return to_string(numeric::exact_decimal(value)); }
  [[nodiscard]] double step() const { return std::ldexp(1.0, *written_.terms.grid_exponent); }

  void add(const WrittenLine& line) {
    if (next_draw_ >= recorder_.draws.size()) return;  // a line beyond the rows
    const RecordedDraw& draw = recorder_.draws[next_draw_++];
    const RecordedDraw* rectifying = line.rectified ? &recorder_.draws.at(next_draw_++) : nullptr;
    const std::size_t rows = draw.noise.size() / written_.terms.columns;
    if (rows == 0) return;
    std::string operators;
    const RecordedChoice* choice = line.sampled ? &recorder_.choices.at(next_choice_++) : nullptr;
    if (rectifying != nullptr && line.group == 1) operators += rectify_of(*rectifying, draw);
    if (choice != nullptr) operators += sampling_of(choice->sampling);
    if (line.group != 1) operators += " | group(" + std::to_string(line.group) + ")";
    if (rectifying != nullptr && line.group != 1) operators += rectify_of(*rectifying, draw);
    runs_.push_back(written_.terms.rows_are == Rows::composed ? rows : 1);
    operators += " | repeat(" + std::to_string(runs_.back()) + ")";
    plan_ += (plan_.empty() ? "" : "; ") + draw.law + draw.scale + draw.further + sensitivity_of(line) + ")" + operators;
    for (std::size_t i = 0; i < draw.noise.size(); ++i)
      explain(line, draw.noise[i], rectifying != nullptr ? rectifying->noise[i] : 0, i, choice);
    row_ += rows;
  }

  [[nodiscard]] std::string rectify_of(const RecordedDraw& rectifying, const RecordedDraw& draw) const {
    EXPECT_EQ(rectifying.law, "laplace(scale=");
    EXPECT_EQ(rectifying.noise.size(), draw.noise.size()) << "each value is rectified by noise of its own";
    return " | rectify(epsilon=" + text((high - low) / step()) + "/" + rectifying.scale + ", low=" + text(low / step()) +
           ", high=" + text(high / step()) + ")";
  }
  static std::string sampling_of(const noise::Sampling& sampling) {
    if (sampling.denominator == 0) return " | sample(size=" + std::to_string(sampling.size) + ", of=" + std::to_string(sampling.of) + ")";
    return " | poisson(rate=" + std::to_string(sampling.numerator) + "/" + std::to_string(sampling.denominator) + ")";
  }
  /// In steps; the difference of two rounded rows is larger by up to 5/4 steps in each coordinate.
  [[nodiscard]] std::string sensitivity_of(const WrittenLine& line) const {
    if (line.source == "randomized_response") return "";
    if (line.source.find("discrete") != std::string::npos) return ", sensitivity=" + std::to_string(static_cast<int>(line.sensitivity));
    const bool rounded = written_.terms.inputs == Inputs::rounded && written_.terms.aggregate == Aggregate::none;
    const auto columns = static_cast<double>(written_.terms.columns);
    const double width = !rounded ? 0 : line.source == "gaussian" ? std::sqrt(columns) : columns;
    return ", sensitivity=" + std::to_string(line.sensitivity / step() + 1.249999 * width);
  }

  /// The released number is the exact value plus these draws.
  void explain(const WrittenLine& line, std::int64_t noise, std::int64_t second, std::size_t at, const RecordedChoice* choice) {
    const std::size_t columns = written_.terms.columns, row = row_ + at / columns, column = at % columns;
    ASSERT_LT(row, released_.size());
    double exact = 0;
    if (written_.terms.aggregate == Aggregate::none) {
      exact = written_.values[row * columns + column] / step();
    } else {
      const bool counts = written_.terms.aggregate == Aggregate::count || row == 1;
      for (std::size_t i = 0; i < written_.values.size(); ++i) {
        const bool takes_part = choice == nullptr || std::count(choice->chosen.begin(), choice->chosen.end(), i) == 1;
        if (takes_part) exact += (counts ? 1 : written_.values[i]) / step();
      }
    }
    double expected = exact + static_cast<double>(noise);
    if (line.source == "randomized_response") expected = std::fmod(expected, 4);
    if (line.rectified) expected = std::clamp(expected, low / step(), high / step()) + static_cast<double>(second);
    EXPECT_EQ(released_[row][column], expected * step()) << "row " << row << ", column " << column;
  }

  const WrittenRelease& written_;
  const Recorder& recorder_;
  const std::vector<std::vector<double>>& released_;
  std::string plan_;
  std::vector<std::uint64_t> runs_;
  std::size_t row_ = 0, next_draw_ = 0, next_choice_ = 0;
};

/// The certificate claims no more privacy than the draws give.
void expect_not_more_private(const Certificate& certificate, const Curve& rebuilt) {
  for (const double epsilon : {0.0, 1.0, 4.0})
    EXPECT_GE(certificate.curve().delta_at(epsilon).hi * (1 + 1e-9), rebuilt.delta_at(epsilon).lo) << "at epsilon " << epsilon;
  const Guarantee& point = certificate.guarantees()[1];
  EXPECT_GE(point.epsilon.hi * (1 + 1e-9), rebuilt.epsilon_at(point.delta).lo) << "at delta " << certified_deltas[1];
}

TEST(Charge, IsThatOfTheDraws) {
  Generator generator(7);
  int released = 0, refused = 0;
  const int wanted = static_cast<int>(2000 * test_scale());
  for (int i = 0; i < 20 * wanted && released < wanted; ++i) {
    const WrittenRelease written = generator.next();
    SCOPED_TRACE(written.plan());
    std::vector<noise::Instruction> instructions;
    try {
      instructions = noise::make_instructions(parse(written.plan()), written.terms);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()), "");
      ++refused;
      continue;
    }
    ++released;
    Recorder recorder(static_cast<std::uint64_t>(i));
    const auto rows = noise::carry_out(instructions, written.terms, written.values, recorder);
    EXPECT_EQ(rows.size(), written.terms.rows);
    const Rebuild rebuilt(written, recorder, rows);
    SCOPED_TRACE(rebuilt.plan());
    rebuilt.expect_charged(noise::charged_plan(instructions));
    if (HasFailure()) return;
  }
  EXPECT_EQ(released, wanted);
  EXPECT_GT(refused, wanted / 4);
}

TEST(Charge, OfACertificateIsNotMorePrivateThanTheDraws) {
  Generator generator(8, true);
  const int wanted = static_cast<int>(25 * test_scale());
  int released = 0;
  for (int i = 0; i < 20 * wanted && released < wanted; ++i) {
    const WrittenRelease written = generator.next();
    SCOPED_TRACE(written.plan());
    // Rectified noise is composed by its refined profile, which is slow; three cases are enough.
    if (written.lines.size() > 1 || (written.lines[0].rectified && written.terms.rows * written.lines[0].times > 3)) continue;
    std::optional<Certificate> certificate;
    try {
      certificate.emplace(certify(parse(written.plan()), written.terms));
    } catch (const Error&) {
      continue;
    }
    ++released;
    Recorder recorder(static_cast<std::uint64_t>(i));
    const auto rows = noise::carry_out(detail::CertificateContent::of(*certificate).instructions, written.terms, written.values, recorder);
    const Rebuild rebuilt(written, recorder, rows);
    SCOPED_TRACE(rebuilt.plan());
    expect_not_more_private(*certificate, analyze(parse(rebuilt.plan()), written.terms.neighbours));
    if (HasFailure()) return;
  }
  EXPECT_EQ(released, wanted);
}

template <typename Refusal>
void expect_refused(const std::string& plan, const ReleaseTerms& terms, const std::string& message) {
  try {
    static_cast<void>(certify(parse(plan), terms));
    ADD_FAILURE() << "not refused: " << plan;
  } catch (const Refusal& refusal) {
    EXPECT_THAT(refusal.what(), testing::HasSubstr(message)) << plan;
  }
}

// Each of these would be drawn differently from its meaning.
TEST(Charge, RefusesWhatCannotBeDrawnAsItIsWritten) {
  ReleaseTerms rows, disjoint, mean, sum;
  rows.rows = disjoint.rows = 10;
  disjoint.rows_are = Rows::disjoint;
  mean.aggregate = Aggregate::mean;
  mean.rows = 2;
  sum.aggregate = Aggregate::sum;
  mean.neighbours = sum.neighbours = Neighbours::add_remove;
  mean.bounds = sum.bounds = Bounds{0, 1};
  for (const char* plan : {"laplace(1) | repeat(10) | rectify(1, 0, 100)", "(laplace(1) | repeat(10)) | rectify(1, 0, 100)",
                           "((laplace(1)) | repeat(2) | group(2)) | repeat(5) | rectify(1, 0, 100)"})
    expect_refused<UnsupportedError>(plan, rows, "write rectify before repeat");
  expect_refused<DomainError>("gaussian(0.001) | repeat(0); gaussian(1000) | repeat(2)", mean, "times = 0 is not allowed");
  expect_refused<DomainError>("gaussian(1000) | repeat(2); gaussian(1000)", mean, "each run once");
  expect_refused<DomainError>("gaussian(1) | repeat(0); gaussian(1000)", disjoint, "times = 0 is not allowed");
  expect_refused<DomainError>("gaussian(1); gaussian(1000)", disjoint, "this plan has 2 runs");
  for (const char* plan : {"gaussian(1) | group(3) | poisson(1/100)", "(gaussian(1) | group(3) | rectify(1, 0, 9)) | poisson(1/100)"})
    expect_refused<UnsupportedError>(plan, sum, "write group after poisson");
  sum.neighbours = Neighbours::replace_one;
  expect_refused<UnsupportedError>("gaussian(1) | group(2) | sample(size=2, of=9)", sum, "write group after sample");
}

// Orders of operators that can be drawn have the same charge, however they are written.
TEST(Charge, DoesNotDependOnTheOrderOfTheWords) {
  ReleaseTerms sum;
  sum.aggregate = Aggregate::sum;
  sum.bounds = Bounds{0, 1};
  const auto drawn = [](const char* plan, const ReleaseTerms& terms) {
    return to_string(noise::charged_plan(noise::make_instructions(parse(plan), terms)));
  };
  const std::string expected = drawn("laplace(1) | rectify(1, 0, 9) | poisson(1/4) | group(2)", sum);
  EXPECT_THAT(expected, testing::MatchesRegex(".* [|] poisson.* [|] group.2. [|] rectify.*"));
  EXPECT_EQ(drawn("laplace(1) | poisson(1/4) | group(2) | rectify(1, 0, 9)", sum), expected);
  EXPECT_EQ(drawn("laplace(1) | poisson(1/4) | rectify(1, 0, 9) | group(2) | refine()", sum), expected);
  ReleaseTerms rows;
  rows.rows = 2;
  const std::string repeated = drawn("laplace(1) | group(2) | rectify(1, 0, 9)", rows);
  EXPECT_THAT(repeated, testing::MatchesRegex(".* [|] group.2. [|] rectify.* [|] repeat.2."));
  EXPECT_EQ(drawn("laplace(1) | rectify(1, 0, 9) | repeat(2) | group(2) | repeat(1)", rows), repeated);
}

}  // namespace
}  // namespace tradeoff::detail::test
