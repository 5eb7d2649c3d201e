// SPDX-License-Identifier: Apache-2.0
// `sgd` with every sampler, and `compare --sampling`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

Outcome sgd(std::vector<std::string> more) {
  more.insert(more.begin(), {"sgd", "--delta", "1e-5"});
  return run_command(more);
}

json answer_of(std::vector<std::string> more) {
  more.insert(more.end(), {"--json", "--quiet"});
  const Outcome found = sgd(more);
  EXPECT_EQ(found.code, 0) << found.err;
  return json::parse(found.out.empty() ? "{}" : found.out);
}

const std::vector<std::string> small = {"--noise-multiplier", "1", "--batch", "10", "--examples", "100", "--epochs", "1"};

std::vector<std::string> small_with(const std::vector<std::string>& more) {
  std::vector<std::string> all = small;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// The run for which a Poisson accountant says 1.43: the truth lies in [7.99, 8.00]. (One Gaussian per epoch above: 8.0037.)
TEST(SgdSampling, ShufflingShowsWhatIsAssumedBesideWhatIsCertain) {
  const std::vector<std::string> run = {"--noise-multiplier", "0.6", "--batch",    "1",       "--examples", "1000",
                                        "--epochs",           "1",   "--sampling", "shuffled"};
  const json found = answer_of(run);
  EXPECT_EQ(found["neighbours"], "zero-out");
  EXPECT_EQ(found["plan"], "gaussian(sigma=0.6) | shuffle(batches=1000)");
  EXPECT_GE(found["epsilon"]["lo"], 7.98);
  EXPECT_LE(found["epsilon"]["hi"], 8.004);
  EXPECT_EQ(found["poisson_accountant"]["proved"], false);
  EXPECT_NEAR(found["poisson_accountant"]["epsilon"]["hi"].get<double>(), 1.43, 0.01);
}

// Each number of such a plan takes long: the text names the verbs for the risk and the picture instead of asking dozens.
TEST(SgdSampling, SeveralShuffledPassesAreAnswered) {
  const Outcome run = sgd({"--noise-multiplier", "2", "--batch", "50", "--examples", "1000", "--epochs", "20", "--sampling", "shuffled"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("Assumed and certain"));
  EXPECT_THAT(run.out, HasSubstr("Further numbers about this plan"));
}

/// An epsilon of each sampler that a note of the mathematics states: sections 2.8 and 7.
TEST(SgdSampling, EverySamplerAnswers) {
  const auto epsilon = [](const std::vector<std::string>& more) {
    std::vector<std::string> run = {"--noise-multiplier", "1"};
    run.insert(run.end(), more.begin(), more.end());
    return answer_of(run)["epsilon"];
  };
  const json allocated = epsilon({"--batch", "1", "--examples", "100", "--epochs", "1", "--sampling", "allocated"});
  EXPECT_LE(allocated["lo"], 0.62095);
  EXPECT_GE(allocated["hi"], 0.62092);
  const json user = epsilon({"--batch", "1", "--examples", "100", "--steps", "1000", "--per-user", "2"});
  EXPECT_LE(user["lo"], 3.97915);
  EXPECT_GE(user["hi"], 3.97905);
  // Turns of 4 groups: each example has a quarter of the steps at 4 times the rate.
  const json cyclic = epsilon({"--batch", "1", "--examples", "100", "--steps", "1000", "--sampling", "cyclic", "--groups", "4"});
  const json rounds = epsilon({"--batch", "4", "--examples", "100", "--steps", "250"});
  EXPECT_EQ(cyclic, rounds);
  // A record that is replaced loses more than one that is added or removed, and less than twice that.
  const json added = epsilon({"--batch", "1", "--examples", "100", "--steps", "1000"});
  const json replaced = epsilon({"--batch", "1", "--examples", "100", "--steps", "1000", "--neighbours", "replace-one"});
  EXPECT_GT(replaced["lo"], added["hi"]);
}

TEST(SgdSampling, ReleasesOnOneBatchAreStated) {
  const std::string split = sgd(small_with({"--count-noise", "5", "--json", "--quiet"})).out;
  EXPECT_THAT(split, HasSubstr("(gaussian(sigma=1); gaussian(sigma=5, sensitivity=1/2)) | poisson(rate=10/100)"));
  EXPECT_THAT(split, HasSubstr("All together have the noise multiplier 0.995037190"));  // 1/sqrt(1 + 1/100)
  const std::string total =
      sgd({"--total-noise", "1", "--count-noise", "5", "--batch", "10", "--examples", "100", "--steps", "10", "--json", "--quiet"}).out;
  EXPECT_THAT(total, HasSubstr("Noise multiplier of each gradient release: 1.005037816"));  // 1/sqrt(1 - 1/100), rounded up
  EXPECT_THAT(sgd(small_with({"--total-noise", "1"})).err, HasSubstr("state either --noise-multiplier Z or --total-noise Z"));
  const Outcome user = sgd(small_with({"--per-user", "3"}));
  EXPECT_THAT(user.out, HasSubstr("Unit of privacy: one user, who owns at most 3 examples."));
}

TEST(SgdSampling, MatricesAreNamedAsTheirLibrariesDo) {
  const std::vector<std::string> run = {"--noise-multiplier", "2", "--batch", "10",     "--examples", "100",
                                        "--epochs",           "2", "--json",  "--quiet"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = run;
    all.insert(all.end(), more.begin(), more.end());
    return sgd(all);
  };
  EXPECT_THAT(with({"--sampling", "shuffled", "--matrix", "square_root"}).out,
              HasSubstr("matrix(sigma=2, kind=square_root, steps=20, participations=2, clip=1)"));
  EXPECT_THAT(with({"--sampling", "shuffled", "--matrix", "blt", "--scales", "0.3,0.1", "--decays", "0.9,0.5"}).out,
              HasSubstr("kind=blt, scales=[0.3, 0.1], decays=[0.9, 0.5]"));
  EXPECT_THAT(with({"--sampling", "cyclic", "--groups", "2", "--matrix", "toeplitz", "--coefficients", "1,0.5"}).out,
              HasSubstr("coefficients=[1, 0.5], steps=20, clip=1) | cyclic(groups=2, rate=20/100, steps=20)"));
  EXPECT_THAT(with({"--sampling", "shuffled", "--matrix", "toeplitz"}).err, HasSubstr("--matrix toeplitz needs --coefficients"));
  EXPECT_THAT(with({"--coefficients", "1"}).err, HasSubstr("--coefficients is for --matrix toeplitz"));
  EXPECT_THAT(with({"--sampling", "shuffled", "--matrix", "toeplitz", "--coefficients", "1,,2"}).err,
              HasSubstr("is not a list of numbers"));
  EXPECT_THAT(with({"--matrix", "prefix"}).err, HasSubstr("no amplification by poisson sampling is proved"));
}

std::vector<std::string> compare_with(const std::vector<std::string>& more) {
  std::vector<std::string> all = {"compare", "--sampling", "--delta", "1e-5"};
  all.insert(all.end(), small.begin(), small.end());
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

TEST(CompareSampling, TheSameRunUnderEverySampler) {
  const Outcome found = run_command(compare_with({"--json"}));
  ASSERT_EQ(found.code, 0) << found.err;
  const json rows = json::parse(found.out)["samplers"];
  ASSERT_EQ(rows.size(), 10U);
  for (const json& row : rows) {
    EXPECT_FALSE(row.contains("refused")) << row;
    EXPECT_LE(row["epsilon"]["lo"], row["epsilon"]["hi"]) << row;
    EXPECT_THAT(row["assumes"].get<std::string>(), HasSubstr(row["neighbours"].get<std::string>() + " neighbours"));
    // Each row is what `sgd` and `epsilon` say of its plan.
    const Outcome alone = run_command(
        {"epsilon", "--delta", "1e-5", "--neighbours", row["neighbours"].get<std::string>(), row["plan"].get<std::string>(), "--json"});
    EXPECT_EQ(json::parse(alone.out)["answer"], row["epsilon"]) << row;
  }
  // One Gaussian per epoch is above all of them; a shuffled order is no better than a draw for each example.
  const auto of = [&](const std::string& name, const std::string& neighbours) {
    for (const json& row : rows)
      if (row["sampler"] == name && row["neighbours"] == neighbours) return row["epsilon"];
    return json();
  };
  EXPECT_GE(of("shuffled", "zero-out")["hi"], of("allocated", "add-remove")["lo"]);
  EXPECT_LE(of("shuffled", "zero-out")["hi"], 4.3773);
  EXPECT_EQ(of("allocated, draw reused", "add-remove"), of("allocated", "add-remove"));  // one epoch
}

TEST(CompareSampling, IsATableAndAPicture) {
  const std::string table = run_command(compare_with({})).out;
  EXPECT_THAT(table, HasSubstr("sampler"));
  EXPECT_THAT(table, HasSubstr("shuffled, order reused"));
  EXPECT_THAT(table, HasSubstr("Each assumes:"));
  EXPECT_THAT(run_command(compare_with({"--format", "svg"})).out, HasSubstr("<svg"));
  EXPECT_THAT(run_command(compare_with({"--format", "term"})).out, HasSubstr("poisson, replace-one"));
}

TEST(CompareSampling, RefusesWhatItCannotUse) {
  EXPECT_THAT(run_command({"compare", "--sampling", "--delta", "1e-5"}).err, HasSubstr("compare --sampling needs --noise-multiplier"));
  EXPECT_THAT(run_command(compare_with({"gaussian(1)"})).err, HasSubstr("and no plan"));
  EXPECT_THAT(run_command(compare_with({"--people", "10"})).err, HasSubstr("no use for --people"));
  EXPECT_THAT(run_command({"compare", "--delta", "1e-5", "--batch", "1", "gaussian(1)"}).err, HasSubstr("--batch needs --sampling"));
  EXPECT_THAT(run_command({"compare", "--delta", "1e-5"}).err, HasSubstr("plan is required"));
}

/// A report of a plan with another sampler shows both numbers; one of Poisson sampling has nothing to compare.
TEST(ReportSampling, ShowsWhatIsAssumedBesideWhatIsCertain) {
  const std::string capped = run_command({"report", "--neighbours", "zero-out", "gaussian(0.6) | poisson(rate=0.5, of=4, at_most=2)"}).out;
  EXPECT_THAT(capped, HasSubstr("a Poisson accountant says, for "));
  const std::string plain = run_command({"report", "gaussian(2) | poisson(0.01)"}).out;
  EXPECT_THAT(plain, Not(HasSubstr("Poisson accountant")));
}

}  // namespace
}  // namespace tradeoff::detail::test
