// SPDX-License-Identifier: Apache-2.0
// [usual-arithmetic] For every rounding mode, flushing of subnormal numbers, traps or locale of the caller, every public function returns
// the same answer to the last bit, and restores the caller's setting.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <functional>
#include <limits>
#include <locale>
#include <string>
#include <vector>

#include "numeric/floating_point_guard.h"
#include "tradeoff/analyze.h"
#include "tradeoff/approximate.h"
#include "tradeoff/calibrate.h"
#include "tradeoff/compare.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"
#include "tradeoff/limit.h"
#include "tradeoff/operations.h"
#include "tradeoff/release.h"
#include "tradeoff/research.h"
#include "tradeoff/sgd.h"

namespace tradeoff::detail {
namespace {

/// All results of a function.
struct Said {
  std::vector<double> numbers;
  std::vector<std::string> texts;

  void add(Interval value) { numbers.insert(numbers.end(), {value.lo, value.hi}); }
  void add(double value) { numbers.push_back(value); }
  void add(const std::string& text) { texts.push_back(text); }
  void add_verdict(bool holds) { texts.emplace_back(holds ? "yes" : "no"); }
  void add(const std::vector<Step>& steps) {
    for (const Step& step : steps) add(step.theorem + ": " + step.detail);
  }
  void add(const Curve& curve) {
    const auto found = explained([&] { return curve.delta_at(0.3); });
    add(to_string(found.method));
    add(found.steps);
    add(found.value);
  }
  friend bool operator==(const Said&, const Said&) = default;
};

struct Question {
  std::string name;
  std::function<void(Said&)> ask;
};

Curve curve_of(const char* plan) { return analyze(parse(plan)); }

/// Curves that were made before, in the default environment.
const std::vector<Curve>& prepared() {
  static const std::vector<Curve> curves = {curve_of("gaussian(sigma=0.7)"), curve_of("laplace(scale=1.3)"),
                                            curve_of("constraints([(0.1, 0.3), (1.7, 1e-7)]) | refine()"),
                                            curve_of("pair(p=[0.1, 0.9], q=[0.3, 0.7]) | repeat(7)")};
  return curves;
}
/// The same for analyses that take longer: by contours, by a lattice.
const std::vector<Curve>& composed() {
  static const std::vector<Curve> curves = {curve_of("gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(50)"),
                                            curve_of("laplace(scale=1.3) | repeat(3); dp(0.1, 1e-9)")};
  return curves;
}

std::vector<Question> questions() {
  const auto of_curves = [](const std::string& name, auto ask) {
    return Question{name, [ask](Said& said) {
                      for (const Curve& curve : prepared()) ask(said, curve);
                    }};
  };
  return {
      {"parse", [](Said& said) { said.add(to_string(parse("gaussian(sigma=0.1); laplace(1/3) | repeat(3)"))); }},
      {"read_number",
       [](Said& said) {
         for (const char* text : {"0.1", "1/3", "256/60000", "4.9e-324", "2.3e-310", "1e-400", "123456789012345678901e-5"})
           said.add(read_number(text).value);
       }},
      {"exact_number", [](Said& said) { said.add(exact_number(0.1).text + exact_number(0x1p-1070).text); }},
      {"surely_at_most",
       [](Said& said) {
         said.add_verdict(surely_at_most(read_number("5e-320"), read_number("4e-320")));
         said.add_verdict(surely_at_most(read_number("1e-310"), read_number("1/3")));
       }},
      {"analyze",
       [](Said& said) {
         for (const char* plan : {"laplace(scale=0.3); gaussian(sigma=3)", "gaussian(sigma=1.1) | poisson(rate=0.01) | repeat(20)",
                                  "discrete_gaussian(sigma=3.3) | repeat(2)", "rdp([(2, 0.1), (8, 0.7)])", "zcdp(0.1)",
                                  "dp(0.1, 1e-5) | group(3)", "curve(points=[(0, 0.9), (0.3, 0.3), (1, 0)])"})
           said.add(curve_of(plan));
       }},
      {"extend", [](Said& said) { said.add(extend(composed()[0], parse("gaussian(sigma=3.3)"))); }},
      of_curves("delta_at",
                [](Said& said, const Curve& curve) {
                  for (const double epsilon : {-0.3, 0.0, 0.7, 5.3, 37.5, std::numeric_limits<double>::infinity()})
                    said.add(curve.delta_at(epsilon));
                }),
      {"composed",
       [](Said& said) {
         for (const Curve& curve : composed()) {
           said.add(curve.delta_at(0.7));
           said.add(curve.epsilon_at(1e-5));
         }
       }},
      of_curves("log_delta_at", [](Said& said, const Curve& curve) { said.add(curve.log_delta_at(Interval::exactly(39.7))); }),
      of_curves("epsilon_at",
                [](Said& said, const Curve& curve) {
                  for (const double delta : {0.0, 1e-310, 1e-9, 0.01}) said.add(curve.epsilon_at(delta));
                  said.add(curve.epsilon_at(read_number("1e-5")));
                }),
      of_curves("states", [](Said& said, const Curve& curve) { said.add_verdict(curve.states(read_number("2"), read_number("1e-5"))); }),
      of_curves("beta_at",
                [](Said& said, const Curve& curve) {
                  for (const double alpha : {1e-310, 0.01, 0.3}) said.add(curve.beta_at(alpha));
                }),
      of_curves("tpr_at", [](Said& said, const Curve& curve) { said.add(curve.tpr_at(Interval::exactly(0.01))); }),
      of_curves("advantage", [](Said& said, const Curve& curve) { said.add(curve.advantage()); }),
      of_curves("posterior_at",
                [](Said& said, const Curve& curve) {
                  const Posterior found = curve.posterior_at(Interval::exactly(0.3));
                  said.add(found.accuracy);
                  said.add(found.largest);
                }),
      {"calibrate",
       [](Said& said) {
         said.add(calibrate(parse("gaussian(sigma=?)"), Guarantee{read_number("1").value, read_number("1e-6").value}).value);
         said.add(calibrate(parse("laplace(scale=?) | repeat(3)"), AdvantageTarget{read_number("0.1").value}).value);
         said.add(calibrate(parse("discrete_gaussian(sigma=?)"), AdvantageTarget{read_number("0.1").value}).printed);
       }},
      of_curves("targets",
                [](Said& said, const Curve& curve) {
                  const Targets targets = read_targets(
                      [](std::string_view word) { return word == "advantage" ? std::optional<std::string>("0.1") : std::nullopt; }, "--");
                  said.add(to_string(targets));
                  said.add_verdict(meets(curve, targets) == Met::yes);
                  try {
                    require_met(curve, targets);
                  } catch (const UnmetError& error) {
                    said.add(error.what());
                  }
                }),
      {"sgd",
       [](Said& said) {
         said.add(static_cast<double>(steps_of_epochs(read_number("0.3"), 1, 10)));
         said.add(static_cast<double>(batch_of_rate(read_number("0.00425531914893617"), {}, Sampling::poisson).examples));
         said.add(to_plan({"1.1", 256, 60000, read_number("60.1"), {}, Sampling::fixed, Neighbours::unstated}).plan);
       }},
      of_curves("measure_mu",
                [](Said& said, const Curve& curve) {
                  const GdpMeasurement found = measure_mu(curve, {Interval::exactly(1e-6)});
                  said.add(found.mu);
                  for (const GdpPair& pair : found.with_slack) said.add(pair.mu);
                  for (const std::string& warning : found.warnings) said.add(warning);
                }),
      of_curves("measure_head_mu", [](Said& said, const Curve& curve) { said.add(measure_head_mu(curve, Interval::exactly(3)).mu); }),
      {"compare_head_methods",
       [](Said& said) {
         for (const HeadMethod& row : compare_head_methods(prepared()[0], 2, 0.05)) said.add(row.mu);
       }},
      of_curves("gdp_transform_at", [](Said& said, const Curve& curve) { said.add(gdp_transform_at(curve, Interval::exactly(0.7))); }),
      of_curves("tail_hint",
                [](Said& said, const Curve& curve) {
                  for (const TailHint& hint : tail_hint(curve)) said.add(hint.value);
                }),
      {"compose",
       [](Said& said) {
         const GdpPair sum = compose({{{0.1, 0.2}, {1e-310, 1e-309}, 0}, {{0.3, 0.4}, {1e-9, 1e-8}, 0}});
         said.add(sum.mu);
         said.add(sum.slack);
       }},
      {"PublicBox",
       [](Said& said) {
         const PublicBox box = PublicBox::chosen_without_data({{0.1, 0.7}, {-0.3, 1e-9}, {0.2, 1.1}});
         said.add(box.l1_diameter());
         said.add(box.rectifying_scale(Interval::exactly(0.3)));
       }},
      of_curves("moments_of", [](Said& said, const Curve& curve) { said.add(moments_of(curve).kl); }),
      {"moments_of plan", [](Said& said) { said.add(moments_of(parse("dp(0.3, 1e-7) | repeat(2)")).kappa3); }},
      of_curves("divergences_of", [](Said& said, const Curve& curve) { said.add(divergences_of(curve).chi_square); }),
      {"berry_esseen",
       [](Said& said) {
         const BerryEsseen bound = berry_esseen(parse("laplace(scale=30) | repeat(10000)"));
         said.add(bound.mu());
         said.add(bound.floor());
         said.add_verdict(bound.certifies());
         said.add(bound.delta_at(Interval::exactly(3)));
         said.add(bound.epsilon_at(Interval::exactly(0.1)));
         said.add(bound.beta_at(Interval::exactly(0.3)));
       }},
      {"BerryEsseen",
       [](Said& said) {
         static const BerryEsseen bound = berry_esseen(parse("laplace(scale=30) | repeat(10000)"));
         said.add(bound.delta_at(Interval::exactly(3)));
         said.add(bound.epsilon_at(Interval::exactly(0.1)));
         said.add(bound.beta_at(Interval::exactly(0.3)));
       }},
      {"central_limit",
       [](Said& said) {
         const CentralLimit limit = central_limit(parse("laplace(scale=30) | repeat(1000)"));
         said.add(limit.mu.value());
         said.add(limit.delta_at(1).value());
         said.add(limit.epsilon_at(1e-5).value());
         said.add(uniform_sampling_limit(0.7, 0.01, 1000).value());
         said.add(poisson_sampling_limit(0.7, 0.01, 1000).value());
       }},
      {"edgeworth",
       [](Said& said) {
         const Edgeworth expansion = edgeworth(parse("laplace(scale=30) | repeat(1000)"));
         said.add(expansion.delta_at(1).value());
         said.add(expansion.epsilon_at(1e-5).value());
       }},
      {"renyi_curve",
       [](Said& said) {
         const RenyiCurve renyi = renyi_curve(parse("laplace(scale=3) | repeat(10)"));
         said.add(renyi.at(2.5));
         said.add(renyi.epsilon_at(Interval::exactly(1e-5)).value);
         said.add(renyi.delta_at(Interval::exactly(2)).value);
         if (const auto rho = renyi.zcdp()) said.add(*rho);
         said.add(epsilon_of_renyi(3, {0.1, 0.2}, Interval::exactly(1e-5)));
         said.add(delta_of_renyi(3, {0.1, 0.2}, Interval::exactly(1)));
         said.add(epsilon_of_zcdp(Interval::exactly(0.1), Interval::exactly(1e-5)).value);
       }},
      {"compare_methods",
       [](Said& said) {
         for (const MethodRow& row : compare_methods(parse("laplace(scale=20) | repeat(100)"), Interval::exactly(1e-5)).rows) {
           said.add(row.epsilon);
           said.add(row.remark);
         }
       }},
      {"operations",
       [](Said& said) {
         const Curve &one = prepared()[0], &other = prepared()[1];
         said.add(inverse(one));
         said.add(symmetrized(other));
         said.add(strongest({one, other}));
         said.add(weakest({one, other}));
         said.add(mixture({{read_number("0.3").value, one}, {read_number("0.7").value, other}}));
         said.add(product({one, other}));
         said.add(with_revealing(one, Interval::exactly(1e-7)));
         said.add(grouped(one, 3));
         said.add(from_guarantees({{Interval::exactly(0.3), Interval::exactly(1e-310)}}));
         said.add(from_tradeoff({{Interval::exactly(0), Interval::exactly(0.9)}, {Interval::exactly(0.9), Interval::exactly(0)}}));
         for (const auto& [epsilon, delta] : to_guarantees(other, {0.1, 0.7})) said.add(delta);
         for (const auto& [epsilon, delta] : corners_of(curve_of("randomized_response(epsilon=0.7) | repeat(3)"))) {
           said.add(epsilon);
           said.add(delta);
         }
         said.add(naming_chance(one, 7));
         said.add(odds_factor(one, Interval::exactly(0.03)));
         said.add(static_cast<double>(at_least_as_private(one, other).verdict));
       }},
      {"approximate",
       [](Said& said) {
         said.add(approximate(prepared()[0], 2).below.area);
         said.add(composed_between_polygons(prepared()[0], 4, 3, Interval::exactly(0.3)));
       }},
      {"check",
       [](Said& said) {
         const BudgetCheck found = check(prepared()[0], read_number("0.7"), read_number("1e-3"));
         said.add(static_cast<double>(found.within));
         said.add(found.delta);
       }},
      {"certify",
       [](Said& said) {
         ReleaseTerms terms;
         terms.rows = 2;
         const Certificate certificate = certify(parse("gaussian(sigma=0.3)"), terms);
         said.add(to_string(certificate.drawn_plan()));
         for (const Guarantee& guarantee : certificate.guarantees()) said.add(guarantee.epsilon);
       }},
      {"release",
       [](Said& said) {
         ReleaseTerms terms;
         terms.grid_exponent = -3;
         const Release released = release(certify(parse("laplace(scale=0.3)"), terms), std::vector{0.7});
         said.add_verdict(released.rows[0][0] * 8 == static_cast<double>(static_cast<long>(released.rows[0][0] * 8)));
       }},
      {"release_keys",
       [](Said& said) {
         ReleaseTerms terms;
         terms.aggregate = Aggregate::keys;
         const std::vector<KeyRow> rows{{"user", "key", 1}};
         said.add(release_keys(certify(parse("partition_selection(keep=[1])"), terms), rows).at(0).key);
       }},
  };
}

/// A floating-point setting of a caller.
struct Choice {
  const char* name;
  int rounding = FE_TONEAREST;
  unsigned flushing = 0;        ///< bits of MXCSR
  unsigned short extended = 0;  ///< bits of the x87 control word to be cleared
  int traps = 0;
};

const std::vector<Choice>& choices() {
  static const std::vector<Choice> all = {
      {"upward", FE_UPWARD},
      {"downward", FE_DOWNWARD},
      {"toward zero", FE_TOWARDZERO},
#if defined(__x86_64__)
      {"results flushed", FE_TONEAREST, 0x8000},
      {"operands flushed", FE_TONEAREST, 0x0040},
      {"both flushed, upward", FE_UPWARD, 0x8040},
      {"53 bits of long double", FE_TONEAREST, 0, 0x0100},
      {"traps", FE_TONEAREST, 0, 0, FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT},
#endif
  };
  return all;
}

#if defined(__x86_64__)
unsigned control() {
  unsigned value = 0;
  __asm__ volatile("stmxcsr %0" : "=m"(value));
  return value & 0xffc0U;
}
#else
unsigned control() { return static_cast<unsigned>(std::fegetround()); }
#endif

/// Applies the setting and restores the old one.
class Chosen {
 public:
  explicit Chosen(const Choice& choice) {
    std::fegetenv(&before_);
    std::fesetround(choice.rounding);
#if defined(__x86_64__)
    unsigned value = 0;
    __asm__ volatile("stmxcsr %0" : "=m"(value));
    value |= choice.flushing;
    __asm__ volatile("ldmxcsr %0" : : "m"(value));
    unsigned short extended = 0;
    __asm__ volatile("fnstcw %0" : "=m"(extended));
    extended = static_cast<unsigned short>(extended & ~choice.extended);
    __asm__ volatile("fldcw %0" : : "m"(extended));
    feenableexcept(choice.traps);
#endif
  }
  Chosen(const Chosen&) = delete;
  Chosen& operator=(const Chosen&) = delete;
  ~Chosen() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_{};
};

TEST(UsualArithmetic, IsRecognised) {
  EXPECT_TRUE(numeric::arithmetic_is_usual());
  for (const Choice& choice : choices()) {
    bool usual = true, inside = false;
    unsigned before = 0, after = 1;
    {
      const Chosen chosen(choice);
      before = control();
      usual = numeric::arithmetic_is_usual();
      numeric::run_in_usual_arithmetic([&] { inside = numeric::arithmetic_is_usual(); });
      after = control();
    }
    EXPECT_FALSE(usual) << choice.name;
    EXPECT_TRUE(inside) << choice.name;
    EXPECT_EQ(before, after) << choice.name;
  }
}

TEST(UsualArithmetic, ComesBackAfterAnError) {
  unsigned before = 0, after = 1;
  bool refused = false;
  {
    const Chosen chosen(choices().front());
    before = control();
    try {
      static_cast<void>(parse("gaussian("));
    } catch (const ParseError&) {
      refused = true;
    }
    after = control();
  }
  EXPECT_TRUE(refused);
  EXPECT_EQ(before, after);
}

TEST(UsualArithmetic, EveryPublicFunctionAnswersTheSame) {
  static_cast<void>(prepared());
  static_cast<void>(composed());
  for (const Question& question : questions()) {
    Said usual;
    question.ask(usual);
    ASSERT_FALSE(usual.numbers.empty() && usual.texts.empty()) << question.name;
    for (const Choice& choice : choices()) {
      Said said;
      unsigned before = 0, after = 1;
      {
        const Chosen chosen(choice);
        before = control();
        question.ask(said);
        after = control();
      }
      EXPECT_TRUE(said == usual) << question.name << " with " << choice.name;
      EXPECT_EQ(before, after) << question.name << " with " << choice.name;
    }
  }
}

/// A decimal comma, and unusual grouping.
class Foreign : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\1"; }
};

TEST(Locale, EveryPublicFunctionAnswersTheSame) {
  static_cast<void>(prepared());
  static_cast<void>(composed());
  for (const Question& question : questions()) {
    Said usual, said;
    question.ask(usual);
    const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Foreign));
    question.ask(said);
    std::locale::global(before);
    EXPECT_EQ(said.texts, usual.texts) << question.name;
    EXPECT_TRUE(said == usual) << question.name;
  }
}

}  // namespace
}  // namespace tradeoff::detail
