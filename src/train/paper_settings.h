// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/picture.h"
#include "train/certificate.h"

// Reproduces Figure 7 of Dong, Roth and Su: trains the three settings and lists the accuracy and the privacy of each run.
namespace tradeoff::detail::train {

/// A setting of the paper.
struct PaperSetting {
  const char* sigma;        ///< a step is 1/sigma-GDP before sampling
  const char* fixed_noise;  ///< the same in clipping norms for batches of fixed size, where a sum moves by two clipping norms: 2 sigma
  const char* epochs;
  double learning_rate;
  const char* clip;
};
[[nodiscard]] const std::vector<PaperSetting>& paper_settings();

/// A setting with one kind of sampling: its runs and their common guarantee.
struct SettingResult {
  PaperSetting setting;
  TrainingTerms terms;
  std::vector<double> accuracies;  ///< of each run, on records that are not protected
  std::vector<double> seconds;
  RunGuarantee guarantee;
  Interval renyi;  ///< epsilon by a Renyi accountant, at delta = 1e-5
};

/// Trains each setting `runs` times with both kinds of sampling; `public_size` is the size that the rate of Poisson batches uses. `tell` is
/// called after every run.
[[nodiscard]] std::vector<SettingResult> train_settings(const Examples& records, std::uint64_t public_size, const Examples& test,
                                                        std::size_t runs, const std::string& features, std::size_t hidden,
                                                        noise::WordStream& words, const std::function<void(const std::string&)>& tell);

/// The results as a table in Markdown.
[[nodiscard]] std::string to_table(const std::vector<SettingResult>& results);
/// One panel per setting: the proved curves of both kinds of sampling, the limit theorem, and the curve of the pair by a Renyi accountant.
[[nodiscard]] report::Figure to_figure(const std::vector<SettingResult>& results);

}  // namespace tradeoff::detail::train
