// SPDX-License-Identifier: Apache-2.0
#include "sgd_run.h"

#include <cmath>
#include <string>
#include <vector>

#include "plan/neighbours.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::cli {

Number read_run_number(const Options& options, std::string_view name) {
  const std::string& text = *options.find(name);
  try {
    return read_number(text);
  } catch (const ParseError&) {
    throw DomainError("sgd: --" + std::string(name) + " = " + text.substr(0, 40) +
                      " is not a number; write 60000 or 0.001, without separators");
  }
}

namespace {

std::uint64_t read_count(const Options& options, std::string_view name) {
  const double value = read_run_number(options, name).value.lo;
  if (!(value >= 1 && value <= 1e12 && read_run_number(options, name) == exact_number(std::floor(value))))
    throw DomainError("sgd: --" + std::string(name) + " = " + options.find(name)->substr(0, 40) +
                      " is not allowed; it must be a whole number from 1 to 1e12");
  return static_cast<std::uint64_t>(value);
}

/// The numbers of a list: 1,0.5,0.25.
std::vector<Number> read_list(const Options& options, std::string_view name) {
  std::vector<Number> numbers;
  const std::string* text = options.find(name);
  for (std::size_t from = 0; text != nullptr && from <= text->size();) {
    const std::size_t comma = std::min(text->find(',', from), text->size());
    const std::size_t start = text->find_first_not_of(' ', from);
    const std::string one = start < comma ? text->substr(start, comma - start) : std::string();
    try {
      numbers.push_back(read_number(one));
    } catch (const ParseError&) {
      throw DomainError("sgd: --" + std::string(name) + " = " + text->substr(0, 40) +
                        " is not a list of numbers; write them with commas between them, as in 1,0.5,0.25");
    }
    from = comma + 1;
  }
  return numbers;
}

std::string bracketed_list(const Options& options, std::string_view name) {
  std::string text;
  for (const Number& number : read_list(options, name)) text += (text.empty() ? "" : ", ") + number.text;
  return "[" + text + "]";
}

/// The arguments of `matrix(...)` that --matrix and its lists stand for.
std::string read_matrix(const Options& options) {
  const std::string* kind = options.find("matrix");
  const auto demand = [&](std::string_view name, std::string_view of) {
    const bool needed = kind != nullptr && *kind == of;
    if (needed && options.find(name) == nullptr) throw DomainError("sgd: --matrix " + *kind + " needs --" + std::string(name));
    if (!needed && options.find(name) != nullptr) throw DomainError("sgd: --" + std::string(name) + " is for --matrix " + std::string(of));
  };
  demand("coefficients", "toeplitz");
  demand("scales", "blt");
  demand("decays", "blt");
  if (kind == nullptr) return {};
  if (*kind == "toeplitz") return "coefficients=" + bracketed_list(options, "coefficients");
  if (*kind == "blt") return "kind=blt, scales=" + bracketed_list(options, "scales") + ", decays=" + bracketed_list(options, "decays");
  return "kind=" + *kind;
}

/// The batch and the examples: stated, or those of a sampling rate.
void read_batch(const Options& options, SgdRun& run) {
  const bool by_rate = options.find("sample-rate") != nullptr, has_examples = options.find("examples") != nullptr;
  if ((options.find("batch") != nullptr) == by_rate) throw DomainError("sgd: state either --batch M or --sample-rate Q");
  if (!by_rate) {
    if (!has_examples) throw DomainError("sgd: --batch needs --examples; or state --sample-rate Q");
    run.batch = read_count(options, "batch");
    run.examples = read_count(options, "examples");
    return;
  }
  const std::optional<std::uint64_t> examples = has_examples ? std::optional(read_count(options, "examples")) : std::nullopt;
  if (!has_examples && options.find("at-most") != nullptr) throw DomainError("sgd: --at-most needs --examples");
  const BatchOfRate found = batch_of_rate(read_run_number(options, "sample-rate"), examples, run.sampling);
  if (options.find("at-most") != nullptr && found.examples != *examples)
    throw DomainError("sgd: with --at-most, --sample-rate must be a whole number of the examples; or state --batch");
  run.batch = found.batch;
  run.examples = found.examples;
}

}  // namespace

SgdRun read_run(const Options& options) {
  SgdRun run;
  const std::string *sampling = options.find("sampling"), *whose = options.find("neighbours");
  run.noise_is_total = options.find("total-noise") != nullptr;
  if (run.noise_is_total && options.find("noise-multiplier") != nullptr)
    throw DomainError("sgd: state either --noise-multiplier Z or --total-noise Z");
  run.noise_multiplier = "?";
  for (const char* name : {"noise-multiplier", "total-noise"})
    if (options.find(name) != nullptr) run.noise_multiplier = read_run_number(options, name).text;
  if (options.find("epochs") != nullptr) run.epochs = read_run_number(options, "epochs");
  if (options.find("steps") != nullptr) run.steps = read_count(options, "steps");
  if (sampling != nullptr && !sampling->empty()) run.sampling = read_sampling(*sampling);
  read_batch(options, run);
  for (const auto& [word, value] : neighbours_words)
    if (whose != nullptr && *whose == word) run.neighbours = value;
  run.reuse = options.find("reuse") != nullptr;
  if (options.find("groups") != nullptr) run.groups = read_count(options, "groups");
  if (options.find("at-most") != nullptr) run.at_most = read_count(options, "at-most");
  if (options.find("per-user") != nullptr) run.per_user = read_count(options, "per-user");
  if (options.find("layers") != nullptr) run.layers = read_count(options, "layers");
  if (options.find("count-noise") != nullptr) run.count_noise = read_run_number(options, "count-noise");
  run.further_noise_multipliers = read_list(options, "further-noise");
  run.matrix = read_matrix(options);
  return run;
}

}  // namespace tradeoff::detail::cli
