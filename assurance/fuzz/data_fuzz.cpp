// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "ask/request.h"
#include "fuzz.h"
#include "release_input.h"
#include "tradeoff/error.h"
#include "tradeoff/release.h"
#include "train/dataset.h"
#include "train/features.h"
#include "train/inflate.h"

// Data files. The first byte selects the kind of the rest: c, records as comma-separated values; v, values for a release; g, a gzip file;
// anything else, a file of images and one of labels, each preceded by two bytes with the length of the first.
namespace {

using tradeoff::detail::fuzz::require;

constexpr std::size_t largest_content = 1U << 20;  // bytes, unpacked
constexpr std::size_t most_released = 64;          // values

void check_examples(const tradeoff::detail::train::Examples& examples) {
  require(examples.size() == examples.labels.size() && examples.size() > 0);
  for (const auto label : examples.labels) require(label < examples.classes);
  if (examples.image_rows > 0 && examples.size() * examples.width() <= largest_content)
    require(tradeoff::detail::train::orientation_histograms(examples).size() == examples.size());
}

void check_values(std::string_view text) {
  const bool exact = text.starts_with('=');
  if (exact) text.remove_prefix(1);
  const bool labelled = text.starts_with('@');
  if (labelled) text.remove_prefix(1);
  const tradeoff::detail::cli::Table table =
      tradeoff::detail::cli::read_table_of_values(text, exact, std::nullopt, {labelled, labelled && exact});
  require(table.labels.size() == (labelled ? table.rows : 0));
  require(table.values.size() == table.rows * (table.rows == 0 ? 0 : table.columns));
  require(std::all_of(table.values.begin(), table.values.end(), [](double value) { return std::isfinite(value); }));
  if (table.rows == 0 || table.values.size() > most_released) return;
  tradeoff::ReleaseTerms terms;
  terms.rows = table.rows;
  terms.columns = table.columns;
  terms.rows_are = tradeoff::Rows::disjoint;
  if (exact) terms.inputs = tradeoff::Inputs::on_grid;
  const tradeoff::Release released = release(certify(tradeoff::parse("gaussian(sigma=2)"), terms), table.values);
  require(released.rows.size() == table.rows);
  for (const auto& row : released.rows)
    require(row.size() == table.columns && std::all_of(row.begin(), row.end(), [](double value) { return std::isfinite(value); }));
}

void check_images(std::string_view bytes) {
  if (bytes.size() < 2) return;
  const std::size_t length = static_cast<unsigned char>(bytes[0]) * 256U + static_cast<unsigned char>(bytes[1]);
  bytes.remove_prefix(2);
  const std::string_view images = bytes.substr(0, length), labels = bytes.substr(images.size());
  check_examples(tradeoff::detail::train::read_idx(images, labels, 10, "images", "labels"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tradeoff::detail::fuzz::TimeLimit limit;
  if (size == 0) return 0;
  const std::string_view rest = tradeoff::detail::fuzz::to_text(data, size).substr(1);
  try {
    switch (data[0]) {
      case 'c':
        check_examples(tradeoff::detail::train::read_csv(rest, {.low = {-1}, .high = {1}, .classes = 3}, "table"));
        break;
      case 'v':
        check_values(rest);
        break;
      case 'g':
        require(tradeoff::detail::train::gunzip(rest, largest_content).size() <= largest_content);
        break;
      default:
        check_images(rest);
    }
  } catch (const tradeoff::Error& error) {
    require(*error.what() != '\0');
  } catch (const tradeoff::detail::ask::RequestError& error) {
    require(*error.what() != '\0');
  }
  return 0;
}
