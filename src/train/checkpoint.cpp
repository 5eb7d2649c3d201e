// SPDX-License-Identifier: Apache-2.0
#include "train/checkpoint.h"

#include <bit>
#include <charconv>
#include <map>

#include "noise/digest.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::train {
namespace {

constexpr std::string_view first_line = "tradeoff model 1\n";
constexpr std::string_view last_line = "sha256 = ";

[[noreturn]] void refuse(const std::string& why) { throw DomainError("train: the checkpoint " + why); }

std::string line(const char* name, const std::string& value) { return std::string(name) + " = " + value + "\n"; }

std::string to_hex(const std::vector<float>& values) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(8 * values.size());
  for (const float value : values)
    for (int shift = 28; shift >= 0; shift -= 4) text += digits[std::bit_cast<std::uint32_t>(value) >> shift & 15U];
  return text;
}

std::vector<float> read_hex(std::string_view text) {
  if (text.size() % 8 != 0) refuse("has an incomplete list of weights");
  std::vector<float> values;
  for (std::size_t at = 0; at < text.size(); at += 8) {
    std::uint32_t bits = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 8, bits, 16);
    if (error != std::errc() || end != text.data() + at + 8) refuse("has a weight that is not a number");
    values.push_back(std::bit_cast<float>(bits));
  }
  return values;
}

std::string parameter_lines(const Progress& progress) {
  return line("weights", to_hex(progress.weights)) + line("average", to_hex(progress.average));
}

/// The lines `name = value`.
class CheckpointFields {
 public:
  explicit CheckpointFields(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n'), middle = text.find(" = ");
      if (end == std::string_view::npos || middle >= end) refuse("has a line that is not `name = value`");
      fields_.emplace(text.substr(0, middle), text.substr(middle + 3, end - middle - 3));
      text.remove_prefix(end + 1);
    }
  }
  [[nodiscard]] bool has(const char* name) const { return fields_.contains(name); }
  [[nodiscard]] std::string text(const char* name) const {
    const auto found = fields_.find(name);
    if (found == fields_.end()) refuse(std::string("lacks ") + name);
    return std::string(found->second);
  }
  [[nodiscard]] std::uint64_t count(const char* name) const {
    const std::string given = text(name);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), value);
    if (error != std::errc() || end != given.data() + given.size()) refuse(std::string(name) + " is no whole number");
    return value;
  }
  [[nodiscard]] Number number(const char* name) const {
    try {
      return read_number(text(name));
    } catch (const ParseError&) {
      refuse(std::string(name) + " is no number");
    }
  }

 private:
  std::map<std::string_view, std::string_view, std::less<>> fields_;
};

Batches read_batches(const CheckpointFields& fields) {
  const std::string sampling = fields.text("sampling");
  if (sampling == FixedSizeBatches::name()) return FixedSizeBatches(fields.count("batch"), fields.count("records"));
  if (sampling == PoissonBatches::name()) return PoissonBatches(fields.count("batch"), fields.count("records"));
  refuse("names a sampling that is neither fixed nor poisson");
}

}  // namespace

std::string to_text(const Progress& progress) {
  const TrainingTerms& terms = progress.terms;
  std::string text(first_line);
  std::visit(
      [&](const auto& batches) {
        text += line("sampling", batches.name()) + line("batch", std::to_string(batches.size())) +
                line("records", std::to_string(batches.of()));
      },
      terms.batches);
  text += line("noise_over_clip", terms.noise.text) + line("clip", terms.clip.text) + line("steps", std::to_string(terms.steps));
  text += line("learning_rate", exact_number(terms.learning_rate).text) + line("features", terms.features);
  const ModelShape& shape = terms.shape;
  text += line("inputs", std::to_string(shape.inputs)) + line("classes", std::to_string(shape.classes)) +
          line("hidden", std::to_string(shape.hidden));
  text += line("filters", std::to_string(shape.filters)) + line("image_rows", std::to_string(shape.image_rows)) +
          line("image_columns", std::to_string(shape.image_columns));
  if (terms.momentum > 0) text += line("momentum", exact_number(terms.momentum).text) + line("velocity", to_hex(progress.velocity));
  text += line("steps_done", std::to_string(progress.steps_done));
  text += parameter_lines(progress);
  return text + std::string(last_line) + noise::sha256(text) + "\n";
}

Progress read_progress(std::string_view text) {
  if (text.substr(0, first_line.size()) != first_line) refuse("is not a model file of this program");
  const std::size_t end = text.rfind(last_line);
  if (end == std::string_view::npos || text.substr(end + last_line.size()) != noise::sha256(text.substr(0, end)) + "\n")
    refuse("is damaged or truncated: its SHA-256 does not fit");
  const CheckpointFields fields(text.substr(first_line.size(), end - first_line.size()));
  TrainingTerms terms{read_batches(fields),
                      fields.number("noise_over_clip"),
                      fields.number("clip"),
                      fields.count("steps"),
                      fields.number("learning_rate").value.lo,
                      fields.text("features"),
                      {},
                      0};
  terms.shape = {fields.count("inputs"),  fields.count("classes"),    fields.count("hidden"),
                 fields.count("filters"), fields.count("image_rows"), fields.count("image_columns")};
  if (fields.has("momentum")) terms.momentum = fields.number("momentum").value.lo;
  check(terms);
  Progress progress{terms, fields.count("steps_done"), read_hex(fields.text("weights")), read_hex(fields.text("average")), {}};
  if (terms.momentum > 0) progress.velocity = read_hex(fields.text("velocity"));
  const std::size_t expected = Model(terms.shape).weights().size();
  if (progress.weights.size() != expected || progress.average.size() != expected) refuse("has not as many weights as its model");
  if (progress.velocity.size() != (terms.momentum > 0 ? expected : 0)) refuse("has not as many velocities as its model has weights");
  if (progress.steps_done > terms.steps) refuse("claims more steps than were planned");
  return progress;
}

std::string parameters_digest(const Progress& progress) { return noise::sha256(parameter_lines(progress)); }

}  // namespace tradeoff::detail::train
