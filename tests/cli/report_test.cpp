// SPDX-License-Identifier: Apache-2.0
// The privacy statement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "run_command.h"

namespace tradeoff::detail::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* training = "gaussian(sigma=1.1) | poisson(rate=256/60000) | repeat(14063)";

std::string report(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "report");
  const Outcome run = run_command(arguments);
  EXPECT_EQ(run.code, 0) << run.err;
  return run.out;
}

TEST(VerbReport, ContainsEverySection) {
  const std::string text = report({training});
  for (const char* part :
       {"Certified: ε ≤ 2.38169 at δ = 1e-5, for one record of the data.", "finds at most 0.606 % of those who took part",
        "one has exactly one record more than the other", "`sigma = 1.1`", "`sensitivity = 1`", "every record joins a step with the stated",
        "A loader that shuffles", "| 1e-6 | 2.69677 | between 2.6967", "| 1e-10 | 0.592584 | 0.00", "| 0.01 | 0.959793 | 4.03 % |",
        "| as many as misses | 0.387765 |", "| advantage over guessing |", "## What is not covered",
        "Someone who is in more than one record:", "`contour-inversion`", "SHA-256 of plan and neighbours: `", "mu_regret: 0.00",
        "tradeoff report --neighbours add-remove"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(VerbReport, ListsItsAssumptions) {
  const std::string text = report({"dp(epsilon=1, delta=1e-5)", "--unit", "one patient", "--delta", "1e-3", "--title", "Ward 7"});
  for (const char* part : {"# Ward 7", "Certified: ε ≤ 0.998645 at δ = 0.001, for one patient.", "| 1e-6 | none | no finite value |",
                           "No μ covers the whole curve", "they are taken as given", "None: no privacy is claimed from sampling"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_THAT(report({"gaussian(sigma=1) | group(3)"}), HasSubstr("for any 3 records of the data together."));
  // 2.91519 is the value for one record; a group of two would have 3.91519.
  EXPECT_THAT(report({"gaussian(sigma=4) | group(2); laplace(scale=1)"}),
              HasSubstr("ε ≤ 2.91519 at δ = 1e-5, for one record of the data."));
  EXPECT_THAT(text, HasSubstr("The numbers hold where that is one record of the data."));
  EXPECT_THAT(text, HasSubstr("Which data sets are neighbours: NOT STATED"));
  EXPECT_THAT(report({"gaussian(sigma=1)", "--neighbours", "replace-one"}), HasSubstr("The number of records, which counts as public."));
}

TEST(VerbReport, OnePageOfHtml) {
  const std::string page = report({"laplace(scale=1)", "--format", "html", "--title", "<script>x</script>"});
  EXPECT_THAT(page, HasSubstr("<title>&lt;script&gt;x"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("Trade-off function</text>"));
  EXPECT_THAT(page, HasSubstr("Privacy profile</text>"));
}

TEST(VerbReport, FieldsForRegistries) {
  const json statement = json::parse(report({training, "--json", "--unit", "one picture"})).at("statement");
  EXPECT_EQ(statement.at("unit"), "one picture");
  EXPECT_EQ(statement.at("epsilon").size(), 5u);
  EXPECT_EQ(statement.at("mu").at("verdict"), "gdp");
  for (const json& pair : statement.at("mu").at("pairs")) EXPECT_LE(pair.at("regret").at("lo"), pair.at("regret").at("hi"));
  const json& nist = statement.at("nist_sp_800_226");
  EXPECT_EQ(nist.at("unit_of_privacy"), "one picture");
  EXPECT_EQ(nist.at("privacy_parameters"), statement.at("epsilon"));
  EXPECT_TRUE(nist.at("trust_model").is_null());
  EXPECT_TRUE(nist.at("data_collection_exposure").is_null());
  EXPECT_EQ(statement.at("computation").at("sha256_of_plan_and_neighbours").get<std::string>().size(), 64u);
  const json revealed = json::parse(report({"dp(epsilon=1, delta=1e-5)", "--json"})).at("statement").at("mu").at("pairs");
  EXPECT_TRUE(revealed.at(2).at("regret").is_null());
}

/// Whether the members of an object are all known, and the required ones are there.
void expect_members(const json& object, const std::set<std::string>& required, const std::set<std::string>& optional = {}) {
  for (const auto& [name, value] : object.items()) EXPECT_TRUE(required.contains(name) || optional.contains(name)) << name;
  for (const std::string& name : required) EXPECT_TRUE(object.contains(name)) << name;
}

// The form of schemas/deployments-schema.yaml of the registry's repository: nothing but its members, and its words where it lists them.
TEST(VerbReport, EntryForTheDeploymentsRegistry) {
  const auto entry_of = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--json", "--neighbours", "add-remove"});
    return json::parse(report(arguments)).at("statement").at("deployments_registry");
  };
  const json entry = entry_of({training, "--title", "Counts, 2026!", "--date", "2026-11-17", "--unit", "one picture"});
  expect_members(entry, {"url_slug", "status", "tier", "deployment"});
  EXPECT_EQ(entry.at("url_slug"), "counts_2026");
  EXPECT_EQ(entry.at("status"), "Draft");
  EXPECT_EQ(entry.at("tier"), 3);
  const json& deployment = entry.at("deployment");
  expect_members(deployment, {"basic"},
                 {"dp_variant", "privacy_loss", "deployment_model", "accounting", "implementation", "administrative"});
  expect_members(deployment.at("basic"),
                 {"name", "data_curators", "description", "intended_use", "data_product_type", "data_product_region", "publication_date"});
  EXPECT_EQ(deployment.at("basic").at("data_product_type"), "Machine learning model");
  EXPECT_EQ(deployment.at("basic").at("publication_date"), "2026-11-17");
  expect_members(deployment.at("dp_variant"), {}, {"variant_name", "data_domain", "unprotected_quantities"});
  EXPECT_EQ(deployment.at("dp_variant").at("variant_name"), "Approximate DP");
  const json& loss = deployment.at("privacy_loss");
  expect_members(loss, {}, {"privacy_unit", "privacy_unit_details", "privacy_parameters", "privacy_parameters_details"});
  EXPECT_EQ(loss.at("privacy_unit"), "one picture");
  expect_members(loss.at("privacy_parameters"), {"epsilon", "delta"}, {"rho"});
  EXPECT_GE(loss.at("privacy_parameters").at("epsilon").get<double>(), 2.38168972614);
  EXPECT_EQ(loss.at("privacy_parameters").at("delta"), 1e-5);
  expect_members(deployment.at("accounting"), {}, {"post_processing", "composition"});
  expect_members(deployment.at("implementation"), {}, {"mechanisms", "justification", "preprocessing_and_hyperparameter_tuning"});
  expect_members(deployment.at("administrative"), {"registry_authors"}, {"sources", "notes"});

  const json pure = entry_of({"laplace(scale=2)", "--date", "last week"}).at("deployment");
  EXPECT_EQ(pure.at("basic").at("data_product_type"), "Summary statistics");
  EXPECT_EQ(pure.at("basic").at("publication_date"), "1900-01-01");
  EXPECT_EQ(pure.at("dp_variant").at("variant_name"), "Pure DP");
  EXPECT_EQ(pure.at("privacy_loss").at("privacy_parameters").at("epsilon"), 0.5);
  EXPECT_FALSE(pure.at("privacy_loss").at("privacy_parameters").contains("delta"));
}

/// YAML 1.1 reads 1e-5 as a text.
TEST(VerbReport, NumbersOfTheModelCardAreNumbersInYaml) {
  const std::string card = json::parse(report({training, "--json"})).at("statement").at("model_card");
  EXPECT_THAT(card, HasSubstr("  delta: 1.0e-5\n"));
  EXPECT_THAT(card, HasSubstr("  mu_slack: 1.0e-10\n"));
  EXPECT_THAT(card, HasSubstr("  epsilon: 2.38169\n"));
}

TEST(VerbReport, SetsPlansSideBySide) {
  const std::string text = report({"gdp(mu=1)", "--compare", "gdp(mu=0.5)", "--compare", "gdp(mu=2)"});
  EXPECT_THAT(text, HasSubstr("| A | `gdp(mu=1)` |"));
  EXPECT_THAT(text, HasSubstr("| at least as private as A |  | yes | no |"));
  EXPECT_THAT(text, HasSubstr("A  A: gdp(mu=1)"));
  EXPECT_EQ(json::parse(report({"gdp(mu=1)", "--compare", "gdp(mu=0.5)", "--json"})).at("compared_with").size(), 1u);
}

/// The line after "To check, run", as the shell reads it.
std::string command_on(const std::string& page) {
  const std::size_t fence = page.find("```sh\n", page.find("To check, run")) + 6;
  return page.substr(fence, page.find("\n```", fence) - fence);
}

TEST(VerbReport, CommandOnThePageMakesThePageAgain) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"gaussian(sigma=1)"},
           {"laplace(scale=2) | repeat(5)", "--delta", "1e-6", "--unit", "one patient's week", "--title", "It's $HOME `x`", "--relative",
            "0.1"},
           {"gaussian(sigma=2)", "--neighbours", "replace-one", "--compare", "laplace(scale=1); dp(epsilon=1)", "--delta", "1e-3"}}) {
    const std::string page = report(arguments);
    const std::string command = command_on(page);
    ASSERT_THAT(command, testing::StartsWith("tradeoff report "));
    RunOptions shell;
    shell.command = "/bin/sh";
    shell.environment = {{"T", tested_command()}};
    const Outcome again = run_command({"-c", "\"$T\"" + command.substr(std::string("tradeoff").size())}, shell);
    EXPECT_EQ(again.code, 0) << command << again.err;
    EXPECT_EQ(again.out, page) << command;
  }
}

TEST(VerbReport, ShowsATableWithLabels) {
  const auto file = std::filesystem::temp_directory_path() / ("tradeoff_values_" + std::to_string(getpid()) + ".csv");
  const auto with = [&](const char* content, std::vector<std::string> more) {
    std::ofstream(file) << content;
    more.insert(more.begin(), {"report", "--released", file, "discrete_laplace(scale=2)"});
    return run_command(more);
  };
  const std::vector<std::string> disjoint = {"--rows", "disjoint", "--neighbours", "add-remove"};
  const Outcome good = with("region,count\n\"North, South\",12\nWest,3.5\r\n\n", disjoint);
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.out, HasSubstr("| North, South | 12 | ± 6 |\n| West | 3.5 | ± 6 |\n"));
  EXPECT_THAT(with("North,12\nWest,3\n", {}).err, HasSubstr("2 published values, but the plan releases 1; add | repeat(2)"));
  EXPECT_THAT(with("North,12\nWest,many\n", disjoint).err, HasSubstr("line 2: 'many' is not a number; a line is LABEL,NUMBER"));
  EXPECT_THAT(with("region,count\n", disjoint).err, HasSubstr("no values"));
  EXPECT_THAT(with("1\n2\n", {"--rows", "disjoint"}).err, HasSubstr("need add-remove or zero-out neighbours"));
  EXPECT_EQ(run_command({"report", "--rows", "disjoint", "gdp(1)"}).code, 3);
  EXPECT_EQ(run_command({"report", "--released", "/no/such/file", "gdp(1)"}).code, 3);
  std::filesystem::remove(file);
}

TEST(VerbReport, RefusesAFileWhoseFormatItDoesNotKnow) {
  const auto file = std::filesystem::temp_directory_path() / ("tradeoff_report_" + std::to_string(getpid()) + ".pdf");
  const Outcome run = run_command({"report", "gdp(mu=1)", "--out", file});
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.err, HasSubstr("end it in .md, .html or .json, or give --format"));
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(run_command({"report", "gdp(mu=1)", "--out", file, "--format", "html"}).code, 0);
  EXPECT_TRUE(std::filesystem::remove(file));
}

TEST(VerbReport, WritesTheFormatThatTheFileIsNamedAfter) {
  const auto folder = std::filesystem::temp_directory_path() / ("tradeoff_report_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  for (const auto& [name, start] : {std::pair{"a.html", "<!DOCTYPE html>"}, {"a.json", "{\"statement\""}, {"a.md", "# Privacy"}}) {
    EXPECT_EQ(report({"gdp(mu=1)", "--out", folder / name}), "");
    std::stringstream text;
    text << std::ifstream(folder / name).rdbuf();
    EXPECT_THAT(text.str(), testing::StartsWith(start));
  }
  std::filesystem::remove_all(folder);
}

TEST(Terminal, GetsNoControlCharactersOfAPlan) {
  const auto file = std::filesystem::temp_directory_path() / ("tradeoff_\x1b[31m_" + std::to_string(getpid()));
  std::ofstream(file) << "0,0.1\n";
  for (const char* verb : {"explain", "report", "risk"}) {
    const Outcome run = run_command({verb, "profile(file=\"" + file.string() + "\")  # \x1b[31m"});
    EXPECT_EQ(run.code, 0) << verb << run.err;
    EXPECT_EQ(run.out.find('\x1b'), std::string::npos) << verb;
  }
  std::filesystem::remove(file);
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"\x1b[31m"}, {"risk", "--\x1b[31m"}, {"risk", "gdp(\x1b[31m"}, {"risk", "@\x1b[31m"}, {"tpr", "--fpr", "\x1b[31m", "gdp(1)"}})
    EXPECT_EQ(run_command(arguments).err.find('\x1b'), std::string::npos) << arguments.back();
}

TEST(VerbReport, RefusesWithReasons) {
  const auto refused = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "report");
    const Outcome run = run_command(arguments);
    EXPECT_EQ(run.code, 3) << run.out;
    EXPECT_EQ(run.out, "");
    return run.err;
  };
  EXPECT_THAT(refused({"gdp(mu=1)", "--delta", "2"}), HasSubstr("delta"));
  EXPECT_THAT(refused({"gdp(mu=1)", "--direction", "add"}), HasSubstr("a statement covers both directions at once"));
  EXPECT_THAT(refused({"gdp(mu=1)", "--title", ""}), HasSubstr("--title must be a text of 1 to 200 bytes"));
  EXPECT_THAT(refused({"gdp(mu=1)", "--title", "a\x1b[31m"}), HasSubstr("--title must be a text in UTF-8 without control characters"));
  EXPECT_THAT(refused({"gdp(mu=1)", "--unit", "a\xff"}), HasSubstr("--unit must be a text in UTF-8 without control characters"));
  const std::string error = refused({"gdp(mu=1) | repeat(\x1b[31m\xc2\x9b)"});
  EXPECT_EQ(error.find('\x1b'), std::string::npos);
  EXPECT_EQ(error.find("\xc2\x9b"), std::string::npos);
  EXPECT_THAT(refused({"gdp(mu=1)", "--compare", "gdp(nu=1)"}), HasSubstr("^"));
  std::vector<std::string> many = {"gdp(mu=1)"};
  for (int i = 0; i < 8; ++i) many.insert(many.end(), {"--compare", "gdp(mu=2)"});
  EXPECT_THAT(refused(many), HasSubstr("at most 8 plans"));
  EXPECT_EQ(run_command({"report", "gdp(mu=1)", "gdp(mu=2)"}).code, 2);
}

}  // namespace
}  // namespace tradeoff::detail::test
