// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/builder.h"

#include <array>
#include <cmath>

#include "numeric/conversions.h"
#include "tradeoff/error.h"

namespace tradeoff::plan {
namespace {

std::string call_text(std::string_view name, std::initializer_list<Named> arguments) {
  std::string text(name);
  text += '(';
  for (const auto& [argument, amount] : arguments) {
    if (text.back() != '(') text += ", ";
    text.append(argument).append("=").append(amount.text());
  }
  return text + ")";
}

std::string list_text(const std::vector<Amount>& amounts) {
  std::string text = "[";
  for (const Amount& amount : amounts) text += (text.size() > 1 ? ", " : "") + amount.text();
  return text + "]";
}

std::string points_text(std::string_view source, const std::vector<Point>& points) {
  std::string text = std::string(source) + "([";
  for (std::size_t i = 0; i < points.size(); ++i)
    text += (i > 0 ? ", (" : "(") + points[i].first.text() + ", " + points[i].second.text() + ")";
  return text + "])";
}

}  // namespace

Amount::Amount(double value) {
  if (!std::isfinite(value)) throw DomainError("plan: a number of a plan must be finite");
  std::array<char, 64> buffer{};
  const auto end = detail::numeric::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  text_ = read_number({buffer.data(), static_cast<std::size_t>(end - buffer.data())}).text;
}

Amount::Amount(std::string_view text) : text_(text == "?" ? "?" : read_number(text).text) {}

Runs::Runs(std::string_view law, std::initializer_list<Named> arguments) : text_(call_text(law, arguments)) {}

Runs Runs::pmf(const std::vector<Amount>& probabilities) { return Runs("pmf(" + list_text(probabilities) + ")"); }

Builder::Builder(std::string_view source, std::initializer_list<Named> arguments) : text_(call_text(source, arguments)) {}

Builder Builder::then(std::string_view operation, std::initializer_list<Named> arguments) const {
  return then_text(call_text(operation, arguments));
}

Builder Builder::then_text(std::string_view operation) const {
  return Builder((several_ ? "(" + text_ + ")" : text_) + " | " + std::string(operation));
}

Builder Builder::beside(const Builder& other) const {
  Builder both(text_ + "; " + other.text_);
  both.several_ = true;
  return both;
}

Builder noisy_max(const std::string& noise, const Amount& scale, const Amount& sensitivity, const Amount& top) {
  return Builder::of_text("noisy_max(noise=" + noise + ", scale=" + scale.text() + ", sensitivity=" + sensitivity.text() +
                          ", top=" + top.text() + ")");
}

Builder constraints(const std::vector<Point>& points) { return Builder::of_text(points_text("constraints", points)); }

Builder rdp(const std::vector<Point>& points) { return Builder::of_text(points_text("rdp", points)); }

Builder pair(const std::vector<Amount>& p, const std::vector<Amount>& q) {
  return Builder::of_text("pair(p=" + list_text(p) + ", q=" + list_text(q) + ")");
}

}  // namespace tradeoff::plan
