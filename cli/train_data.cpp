// SPDX-License-Identifier: Apache-2.0
#include "train_data.h"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "noise/digest.h"
#include "release_input.h"
#include "streams.h"
#include "tradeoff/error.h"
#include "train/features.h"

namespace tradeoff::detail::cli {
namespace {

using train::Examples;

/// The path of a file of the data set, plain or gzipped.
std::string find_file(const std::filesystem::path& directory, const std::string& name) {
  for (const char* ending : {"", ".gz"})
    if (std::filesystem::exists(directory / (name + ending))) return (directory / (name + ending)).string();
  throw InputError("train: " + directory.string() + " has no " + name + " (nor " + name +
                   ".gz); --data is a directory of IDX files or a .csv file");
}

Examples read_pair(const std::string& directory, const std::string& stem, std::size_t classes) {
  const std::string images = find_file(directory, stem + "-images-idx3-ubyte"), labels = find_file(directory, stem + "-labels-idx1-ubyte");
  return train::read_idx(read_data_file(images), read_data_file(labels), classes, images, labels);
}

/// One number, or one for each column, separated by commas.
std::vector<double> read_bounds(const char* name, const std::string& text) {
  std::vector<double> bounds;
  for (std::size_t start = 0;;) {
    const std::size_t end = text.find(',', start);
    bounds.push_back(read_double(name, text.substr(start, end == std::string::npos ? end : end - start)));
    if (end == std::string::npos) return bounds;
    start = end + 1;
  }
}

train::TableTerms read_table_terms(const Options& options) {
  const std::string *low = options.find("low"), *high = options.find("high"), *classes = options.find("classes");
  if (low == nullptr || high == nullptr || classes == nullptr)
    throw DomainError("train: a .csv file needs --low, --high and --classes: bounds that come from the data would reveal it");
  return {read_bounds("low", *low), read_bounds("high", *high), read_whole(options, "classes", 2, 2)};
}

TrainingData read_records(const Options& options, const std::string& data) {
  const std::string* test = options.find("test");
  TrainingData found;
  std::error_code failed;
  if (!std::filesystem::exists(data, failed))
    throw InputError(data == default_data ? "train: Fashion-MNIST is not there; install Debian's dataset-fashion-mnist, or give --data"
                                          : "train: cannot read --data = " + data + ": no such file or directory");
  if (std::filesystem::is_directory(data)) {
    const std::size_t classes = read_whole(options, "classes", 2, 10);
    if (test != nullptr) throw DomainError("train: --test goes with a .csv file; a directory has its own test set");
    if (options.find("low") != nullptr || options.find("high") != nullptr)
      throw DomainError("train: --low and --high go with a .csv file; pixels are bytes");
    found.records = read_pair(data, "train", classes);
    if (options.find("holdout") == nullptr) found.test = read_pair(data, "t10k", classes);
  } else {
    const train::TableTerms terms = read_table_terms(options);
    found.records = train::read_csv(read_data_file(data), terms, data);
    if (test != nullptr) found.test = train::read_csv(read_data_file(*test), terms, *test);
  }
  if (found.test && found.test->width() != found.records.width())
    throw DomainError("train: the test records have " + std::to_string(found.test->width()) + " values, those to train on " +
                      std::to_string(found.records.width()));
  found.test_name = "test records";
  return found;
}

void hold_out(const Options& options, TrainingData& data) {
  if (options.find("holdout") == nullptr) return;
  if (data.test) throw DomainError("train: --holdout and --test are two ways to judge a model; give one of them");
  const std::size_t records = data.records.size(), held = read_whole(options, "holdout", 1, 1);
  if (held >= records) throw DomainError("train: --holdout = " + std::to_string(held) + " must be below the number of records");
  data.test = train::slice(data.records, records - held, records);
  data.records = train::slice(data.records, 0, records - held);
  data.test_name = "records held out";
}

/// The digest of everything in these records that training reads, before features are computed.
std::string digest_of(const Examples& records) {
  const auto bytes = [](const auto* values, std::size_t count) {
    return std::string_view(reinterpret_cast<const char*>(values), count * sizeof *values);  // NOLINT: bytes of integers
  };
  return noise::sha256("records " + std::to_string(records.size()) + ", values " + std::to_string(records.width()) + ", classes " +
                       std::to_string(records.classes) + "\n" +
                       noise::sha256(bytes(records.inputs.data(), static_cast<std::size_t>(records.inputs.size()))) + "\n" +
                       noise::sha256(bytes(records.labels.data(), records.labels.size())) + "\n");
}

}  // namespace

std::string read_data_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path)) throw InputError("cannot read " + path);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) throw InputError("cannot read " + path);
  return bytes;
}

std::uint64_t read_whole(const Options& options, std::string_view name, std::uint64_t least, std::uint64_t otherwise) {
  const std::string* given = options.find(name);
  if (given == nullptr) return otherwise;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), value);
  if (error != std::errc() || end != given->data() + given->size() || value < least || value > 1'000'000'000)
    throw DomainError("train: --" + std::string(name) + " = " + given->substr(0, 40) + " must be a whole number between " +
                      std::to_string(least) + " and 1000000000");
  return value;
}

Examples read_records_to_classify(const Options& options, const std::string& features) {
  const std::string path = *options.find("predict");
  if (!std::filesystem::is_directory(path)) {
    train::TableTerms terms = read_table_terms(options);
    terms.has_labels = false;
    return train::read_csv(read_data_file(path), terms, path);
  }
  const Examples images = read_pair(path, "t10k", read_whole(options, "classes", 2, 10));
  return features == "orientation" ? train::orientation_histograms(images) : images;
}

TrainingData read_training_data(const Options& options, const std::string& features) {
  const std::string* given = options.find("data");
  TrainingData data = read_records(options, given == nullptr ? default_data : *given);
  hold_out(options, data);
  if (options.find("checkpoint") != nullptr) data.digest = digest_of(data.records);
  if (features == "orientation") {
    data.records = train::orientation_histograms(data.records);
    if (data.test) data.test = train::orientation_histograms(*data.test);
  }
  return data;
}

}  // namespace tradeoff::detail::cli
