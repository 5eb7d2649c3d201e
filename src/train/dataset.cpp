// SPDX-License-Identifier: Apache-2.0
#include "train/dataset.h"

#include <algorithm>
#include <cmath>

#include "numeric/conversions.h"
#include "tradeoff/error.h"
#include "train/inflate.h"

namespace tradeoff::detail::train {
namespace {

constexpr std::size_t largest_file = std::size_t{1} << 30;  // bytes, unpacked
constexpr std::size_t most_values = 100'000;                // in a record

[[noreturn]] void refuse(const std::string& name, const std::string& why) { throw DomainError("train: " + name + ": " + why); }

/// Reads a file, decompressing it if it is gzipped.
std::string unpack(std::string_view bytes, const std::string& name) {
  if (!is_gzip(bytes)) return std::string(bytes);
  try {
    return gunzip(bytes, largest_file);
  } catch (const DomainError& error) {
    refuse(name, error.what());
  }
}

std::uint32_t word_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

/// The sizes after the magic number; exactly their product of bytes must follow.
std::vector<std::size_t> read_sizes(std::string_view bytes, std::uint32_t magic, std::size_t dimensions, const std::string& name) {
  if (bytes.size() < 4 + 4 * dimensions)
    refuse(name, "truncated: " + std::to_string(bytes.size()) + " bytes are less than a header of " + std::to_string(4 + 4 * dimensions));
  if (word_at(bytes, 0) != magic)
    refuse(name, "wrong magic number " + std::to_string(word_at(bytes, 0)) + "; a file of " + (dimensions == 3 ? "images" : "labels") +
                     " starts with " + std::to_string(magic));
  std::vector<std::size_t> sizes;
  std::size_t expected = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    sizes.push_back(word_at(bytes, 4 + 4 * i));
    if (sizes[i] == 0 || sizes[i] > largest_file / expected) refuse(name, "its header names a size of " + std::to_string(sizes[i]));
    expected *= sizes[i];
  }
  const std::size_t found = bytes.size() - 4 - 4 * dimensions;
  if (found != expected)
    refuse(name, std::string(found < expected ? "truncated" : "too long") + ": its header promises " + std::to_string(expected) +
                     " bytes of data, but " + std::to_string(found) + " are there");
  return sizes;
}

std::string at_line(std::size_t line) { return "line " + std::to_string(line) + ": "; }

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t start = 0;;) {
    const std::size_t end = line.find(',', start);
    std::string_view field = line.substr(start, end == std::string_view::npos ? end : end - start);
    while (!field.empty() && (field.front() == ' ' || field.front() == '\t')) field.remove_prefix(1);
    while (!field.empty() && (field.back() == ' ' || field.back() == '\t' || field.back() == '\r')) field.remove_suffix(1);
    fields.push_back(field);
    if (end == std::string_view::npos) return fields;
    start = end + 1;
  }
}

bool read_value(std::string_view field, double& value) {
  const auto [end, error] = numeric::from_chars(field.data(), field.data() + field.size(), value);
  return error == std::errc() && end == field.data() + field.size() && std::isfinite(value);
}

/// Whether it can be the name of a column: not a number, or a number that is not finite or too large.
bool is_name(std::string_view field) {
  double value = 0;
  const auto [end, error] = numeric::from_chars(field.data(), field.data() + field.size(), value);
  static_cast<void>(error);
  return !field.empty() && end != field.data() + field.size() && field.find(';') == std::string_view::npos;
}

/// The bound of a column: one for all, or one for each.
double bound_of(const std::vector<double>& bounds, std::size_t column) { return bounds[std::min(column, bounds.size() - 1)]; }

/// Reads the records of a table one by one.
class TableReader {
 public:
  TableReader(const TableTerms& terms, const std::string& name) : terms_(terms), name_(name) {}

  void add(std::string_view text, std::size_t line) {
    const std::vector<std::string_view> fields = split(text);
    double value = 0;
    if (labels_.empty() && line == 1 && std::all_of(fields.begin(), fields.end(), is_name)) return;
    if (width_ == 0) begin(fields.size(), line);
    if (values_in(fields) < 1 || fields.size() > most_values)
      refuse(name_, at_line(line) + "a record has between 1 and " + std::to_string(most_values - 1) + " values" +
                        (terms_.has_labels ? " and a label" : "") + ", separated by commas" +
                        (text.find(';') != std::string_view::npos ? ", not by ;" : ""));
    if (fields.size() != width_)
      refuse(name_, at_line(line) + std::to_string(fields.size()) + " fields, but the first record has " + std::to_string(width_));
    for (std::size_t i = 0; i < values_in(fields); ++i) {
      if (!read_value(fields[i], value))
        refuse(name_,
               at_line(line) + "field " + std::to_string(i + 1) + " '" + std::string(fields[i].substr(0, 40)) + "' is not a finite number");
      const double low = bound_of(terms_.low, i), high = bound_of(terms_.high, i);
      const double inside = std::min(std::max(value, low), high);
      values_.push_back(to_grid(static_cast<float>(2 * (inside - low) / (high - low) - 1)));
    }
    values_.push_back(activation_one);
    if (!terms_.has_labels) {
      labels_.push_back(0);
      return;
    }
    if (!read_value(fields.back(), value) || !(value >= 0 && value < static_cast<double>(terms_.classes)) || value != std::floor(value))
      refuse(name_, at_line(line) + "label '" + std::string(fields.back().substr(0, 40)) + "' is not one of 0.." +
                        std::to_string(terms_.classes - 1));
    labels_.push_back(static_cast<std::uint8_t>(value));
  }

  [[nodiscard]] Examples finish() {
    if (labels_.empty()) refuse(name_, "it has no records");
    Examples examples;
    examples.inputs = Eigen::Map<const GridMatrix>(values_.data(), static_cast<Eigen::Index>(labels_.size()),
                                                   static_cast<Eigen::Index>(values_.size() / labels_.size()));
    examples.labels = std::move(labels_);
    examples.classes = terms_.classes;
    return examples;
  }

 private:
  [[nodiscard]] std::size_t values_in(const std::vector<std::string_view>& fields) const {
    return fields.size() - (terms_.has_labels ? 1 : 0);
  }
  /// The first record: there is one bound for all columns, or one for each.
  void begin(std::size_t fields, std::size_t line) {
    width_ = fields;
    const std::size_t values = fields - (terms_.has_labels ? 1 : 0);
    for (const auto& [option, given] : {std::pair("--low", terms_.low.size()), std::pair("--high", terms_.high.size())})
      if (given != 1 && given != values)
        refuse(name_, at_line(line) + "a record has " + std::to_string(values) + " values, but " + option + " has " +
                          std::to_string(given) + " numbers; state one for all columns or one for each");
  }

  const TableTerms& terms_;
  const std::string& name_;
  std::size_t width_ = 0;
  std::vector<std::int16_t> values_;
  std::vector<std::uint8_t> labels_;
};

void check_classes(std::size_t classes) {
  if (classes < 2 || classes > 256) throw DomainError("train: --classes must be a whole number between 2 and 256");
}

}  // namespace

Examples read_idx(std::string_view images, std::string_view labels, std::size_t classes, const std::string& image_name,
                  const std::string& label_name) {
  constexpr std::uint32_t image_magic = 2051, label_magic = 2049;  // unsigned bytes in 3 and in 1 dimension
  check_classes(classes);
  const std::string image_bytes = unpack(images, image_name), label_bytes = unpack(labels, label_name);
  const std::vector<std::size_t> sizes = read_sizes(image_bytes, image_magic, 3, image_name);
  const std::size_t count = read_sizes(label_bytes, label_magic, 1, label_name)[0], width = sizes[1] * sizes[2];
  if (count != sizes[0])
    refuse(label_name, std::to_string(count) + " labels for the " + std::to_string(sizes[0]) + " images of " + image_name);
  if (width >= most_values) refuse(image_name, "images of more than " + std::to_string(most_values) + " pixels are not supported");
  Examples examples;
  examples.classes = classes;
  examples.image_rows = sizes[1];
  examples.image_columns = sizes[2];
  examples.inputs.resize(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(width + 1));
  std::int16_t* out = examples.inputs.data();
  const char* in = image_bytes.data() + 16;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < width; ++j) *out++ = to_grid(static_cast<float>(static_cast<unsigned char>(*in++)) / 255.F);
    *out++ = activation_one;
    const auto label = static_cast<unsigned char>(label_bytes[8 + i]);
    if (label >= classes)
      refuse(label_name,
             "label " + std::to_string(label) + " of record " + std::to_string(i + 1) + " is not one of 0.." + std::to_string(classes - 1));
    examples.labels.push_back(label);
  }
  return examples;
}

Examples read_csv(std::string_view text, const TableTerms& terms, const std::string& name) {
  check_classes(terms.classes);
  const std::size_t bounds = std::max(terms.low.size(), terms.high.size());
  for (std::size_t i = 0; i < bounds; ++i) {
    const double low = bound_of(terms.low, i), high = bound_of(terms.high, i);
    if (!(std::isfinite(low) && std::isfinite(high) && low < high))
      throw DomainError("train: --low and --high must be finite, the lower below the upper");
  }
  TableReader reader(terms, name);
  std::size_t line = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++line;
    if (one.find_first_not_of(" \t\r") != std::string_view::npos) reader.add(one, line);
  }
  return reader.finish();
}

Examples slice(const Examples& all, std::size_t from, std::size_t to) {
  Examples part;
  part.classes = all.classes;
  part.image_rows = all.image_rows;
  part.image_columns = all.image_columns;
  part.inputs = all.inputs.middleRows(static_cast<Eigen::Index>(from), static_cast<Eigen::Index>(to - from));
  part.labels.assign(all.labels.begin() + static_cast<std::ptrdiff_t>(from), all.labels.begin() + static_cast<std::ptrdiff_t>(to));
  return part;
}

}  // namespace tradeoff::detail::train
