// SPDX-License-Identifier: Apache-2.0
#include "train/paper_settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <numeric>

#include "figures/parts.h"
#include "numeric/number_text.h"
#include "report/claim.h"
#include "tradeoff/sgd.h"

namespace tradeoff::detail::train {
namespace {

using report::safe_end;
using report::SafeEnd;

constexpr std::uint64_t paper_batch = 256;

std::string digits(double value, int decimals) {
  std::array<char, 64> buffer{};
  const int count = std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
  return {buffer.data(), static_cast<std::size_t>(count)};
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// "96.71 ± 0.08", in per cent; the standard deviation of single runs.
std::string spread_of(const std::vector<double>& accuracies) {
  const double mean = mean_of(accuracies);
  double squares = 0;
  for (const double one : accuracies) squares += (one - mean) * (one - mean);
  const std::string text = digits(100 * mean, 2);
  return accuracies.size() < 2 ? text : text + " ± " + digits(100 * std::sqrt(squares / static_cast<double>(accuracies.size() - 1)), 2);
}

TrainingTerms terms_of(const PaperSetting& setting, bool poisson, const Examples& records, std::uint64_t public_size,
                       const std::string& features, std::size_t hidden) {
  const std::uint64_t of = poisson ? public_size : records.size(), batch = std::min(paper_batch, of);
  const Batches batches = poisson ? Batches(PoissonBatches(batch, of)) : Batches(FixedSizeBatches(batch, of));
  return {batches,
          read_number(poisson ? setting.sigma : setting.fixed_noise),
          read_number(setting.clip),
          steps_of_epochs(read_number(setting.epochs), batch, of),
          setting.learning_rate,
          features,
          {records.width(), records.classes, hidden, 0, records.image_rows, records.image_columns},
          0};
}

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string sampling_of(const SettingResult& result) {
  return std::visit([](const auto& batches) { return std::string(batches.name()); }, result.terms.batches);
}

report::Series certified_series(const SettingResult& result, std::size_t colour) {
  const std::string epsilon = safe_end(result.guarantee.guarantees.front().epsilon, SafeEnd::hi, 3);
  return report::styled(
      report::tradeoff_series(sampling_of(result) + ", certified; ε ≤ " + epsilon + " at δ = 1e-5", *result.guarantee.curve), colour);
}

report::Series limit_series(const SettingResult& result, std::size_t colour) {
  const double mu = result.guarantee.limit->value();
  return report::styled(report::tradeoff_series(sampling_of(result) + ", limit theorem (an estimate): μ ≈ " + digits(mu, 3),
                                                report::curve_of("gdp(mu=" + report::digits_of(mu) + ")")),
                        colour, report::Stroke::dashed);
}

report::Series renyi_series(const SettingResult& result, std::size_t colour) {
  const std::string plan = "dp(epsilon=" + report::digits_of(result.renyi.hi) + ", delta=0.00001)";
  return report::styled(report::tradeoff_series(sampling_of(result) + ", Rényi accountant: ε ≤ " + safe_end(result.renyi, SafeEnd::hi, 3),
                                                report::curve_of(plan), Direction::worst, 401),
                        colour, report::Stroke::dotted);
}

}  // namespace

const std::vector<PaperSetting>& paper_settings() {
  static const std::vector<PaperSetting> settings = {
      {"1.3", "2.6", "15", 0.25, "1.5"}, {"1.1", "2.2", "60", 0.15, "1"}, {"0.7", "1.4", "45", 0.25, "1.5"}};
  return settings;
}

std::vector<SettingResult> train_settings(const Examples& records, std::uint64_t public_size, const Examples& test, std::size_t runs,
                                          const std::string& features, std::size_t hidden, noise::WordStream& words,
                                          const std::function<void(const std::string&)>& tell) {
  std::vector<SettingResult> results;
  for (const PaperSetting& setting : paper_settings())
    for (const bool poisson : {false, true}) {
      SettingResult result{setting, terms_of(setting, poisson, records, public_size, features, hidden), {}, {}, {}, {}};
      result.guarantee = guarantee_of(result.terms, result.terms.steps, {"1e-5"});
      result.renyi = renyi_curve(parse(result.guarantee.drawn), neighbours_of(result.terms)).epsilon_at(read_number("1e-5").value).value;
      for (std::size_t run = 0; run < runs; ++run) {
        const double start = processor_seconds();
        Trainer trainer(result.terms, records, words);
        while (!trainer.is_done()) trainer.step();
        result.seconds.push_back(processor_seconds() - start);
        result.accuracies.push_back(evaluate(trainer.averaged_model(), test).accuracy);
        tell("noise " + result.terms.noise.text + ", " + sampling_of(result) + ", run " + std::to_string(run + 1) + " of " +
             std::to_string(runs) + ": " + digits(100 * result.accuracies.back(), 2) + " % in " + digits(result.seconds.back(), 1) + " s");
      }
      results.push_back(std::move(result));
    }
  return results;
}

std::string to_table(const std::vector<SettingResult>& results) {
  std::string text =
      "| noise / clip | epochs | rate | clip | batches | accuracy, % | ε at δ = 1e-5, certified | by Rényi | μ with slack 1e-5 | μ by the "
      "limit "
      "theorem (an estimate) | "
      "advantage | processor seconds a run |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const SettingResult& result : results) {
    const RunGuarantee& guarantee = result.guarantee;
    text += "| " + result.terms.noise.text + " | " + result.setting.epochs + " | " + digits(result.setting.learning_rate, 2) + " | " +
            result.setting.clip + " | " + sampling_of(result) + " | " + spread_of(result.accuracies) + " | " +
            safe_end(guarantee.guarantees.front().epsilon, SafeEnd::hi, 4) + " | " + safe_end(result.renyi, SafeEnd::hi, 4) + " | " +
            safe_end(guarantee.mu_with_slack.front().mu, SafeEnd::hi, 4) + " | " + digits(guarantee.limit->value(), 4) + " | " +
            safe_end(guarantee.advantage, SafeEnd::hi, 3) + " | " + digits(mean_of(result.seconds), 1) + " |\n";
  }
  return text;
}

report::Figure to_figure(const std::vector<SettingResult>& results) {
  report::Figure figure{
      "Private training, three settings",
      "Trade-off functions of three training runs with batches of fixed size (replace-one neighbours) and Poisson batches (add-remove "
      "neighbours): certified, by the limit theorem, and from the pair that a Rényi accountant certifies at delta = 1e-5.",
      {}};
  for (std::size_t i = 0; i + 1 < results.size(); i += 2) {
    const SettingResult &fixed = results[i], &poisson = results[i + 1];
    report::Picture picture = report::tradeoff_axes("σ = " + std::string(fixed.setting.sigma) + ", " + fixed.setting.epochs +
                                                    " epochs: " + digits(100 * mean_of(fixed.accuracies), 1) + " % and " +
                                                    digits(100 * mean_of(poisson.accuracies), 1) + " % right");
    picture.series = {certified_series(fixed, 0), limit_series(fixed, 0),   renyi_series(fixed, 0), certified_series(poisson, 1),
                      limit_series(poisson, 1),   renyi_series(poisson, 1), report::guessing_line()};
    figure.panels.push_back(std::move(picture));
  }
  return figure;
}

}  // namespace tradeoff::detail::train
