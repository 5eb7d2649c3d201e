// SPDX-License-Identifier: Apache-2.0
#include "audit/score.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "numeric/arithmetic.h"
#include "numeric/plain_text.h"

namespace tradeoff::detail::audit {
namespace {

constexpr std::size_t most_bins = 32;        // of the values without an own bin
constexpr std::size_t atom_share = 64;       // a value with this share of the outputs has its own bin
constexpr std::size_t most_correlated = 64;  // coordinates whose covariances are estimated; of more only the variances
constexpr double place_of_zero = 1100;       // above every place of a bit

/// The exponent of the lowest bit that is set.
double lowest_bit(double x) {
  if (x == 0) return place_of_zero;
  int exponent = 0;
  auto digits = static_cast<std::uint64_t>(std::ldexp(std::abs(std::frexp(x, &exponent)), 53));
  int zeros = 0;
  for (; (digits & 1U) == 0; digits >>= 1U) ++zeros;
  return exponent - 53 + zeros;
}

double lowest_bit(std::span<const double> row) {
  double least = place_of_zero;
  for (const double x : row) least = std::min(least, lowest_bit(x));
  return least;
}

Histogram learn(const std::vector<double>& with, const std::vector<double>& without) {
  std::vector<double> all = with;
  all.insert(all.end(), without.begin(), without.end());
  std::sort(all.begin(), all.end());
  Histogram found;
  const std::size_t often = std::max<std::size_t>(4, all.size() / atom_share);
  for (std::size_t i = 0; i < all.size();) {
    const auto next =
        static_cast<std::size_t>(std::upper_bound(all.begin() + static_cast<std::ptrdiff_t>(i), all.end(), all[i]) - all.begin());
    if (next - i >= often) {
      found.ends.push_back(numeric::next_down(all[i]));
      found.ends.push_back(all[i]);
    }
    i = next;
  }
  const std::size_t bins = std::min(most_bins, all.size() / 16);
  for (std::size_t i = 1; i < bins; ++i) found.ends.push_back(all[i * all.size() / bins]);
  std::sort(found.ends.begin(), found.ends.end());
  found.ends.erase(std::unique(found.ends.begin(), found.ends.end()), found.ends.end());
  std::vector<double> first(found.ends.size() + 1, 1), second = first;  // one more than was counted: an empty bin decides nothing
  const auto bin = [&](double x) {
    return static_cast<std::size_t>(std::lower_bound(found.ends.begin(), found.ends.end(), x) - found.ends.begin());
  };
  for (const double x : with) ++first[bin(x)];
  for (const double x : without) ++second[bin(x)];
  for (std::size_t i = 0; i < first.size(); ++i) {
    found.log_odds.push_back(std::log(first[i] / second[i]));
    found.is_empty.push_back(first[i] + second[i] == 2);
  }
  return found;
}

std::vector<double> means_of(Rows rows) {
  std::vector<double> means(rows.columns, 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows.columns; ++j) means[j] += rows.row(i)[j] / static_cast<double>(rows.size());
  return means;
}

/// Solves a x = b for a symmetric positive definite matrix, by Cholesky's factors.
std::vector<double> solve(std::vector<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / a[j * n + j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
  return b;
}

/// The direction of Fisher's linear discriminant, with a small multiple of the variances added to the covariances.
std::vector<double> discriminant(Rows with, Rows without) {
  const std::size_t n = with.columns;
  const std::vector<double> first = means_of(with), second = means_of(without);
  const bool full = n <= most_correlated;
  std::vector<double> covariance(full ? n * n : n, 0.0), difference(n);
  const auto add = [&](Rows rows, const std::vector<double>& mean) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::span<const double> row = rows.row(i);
      for (std::size_t j = 0; j < n; ++j) {
        const double x = row[j] - mean[j];
        if (!full) covariance[j] += x * x;
        for (std::size_t k = 0; full && k <= j; ++k) covariance[j * n + k] += x * (row[k] - mean[k]);
      }
    }
  };
  add(with, first);
  add(without, second);
  constexpr double ridge = 1e-6;
  for (std::size_t j = 0; j < n; ++j) {
    difference[j] = first[j] - second[j];
    double& variance = covariance[full ? j * n + j : j];
    variance = variance * (1 + ridge) + 1e-300;
    if (!full) difference[j] /= variance;
  }
  return full ? solve(covariance, difference) : difference;
}

/// Calls `take(place, value)` for each coordinate, and for each product of two of them, in standard size. Rare large values are cut.
template <class Take>
void expand(std::span<const double> row, const std::vector<double>& centres, const std::vector<double>& sizes, const Take& take) {
  constexpr double largest = 4;
  const auto scaled = [&](std::size_t j) { return std::clamp((row[j] - centres[j]) / sizes[j], -largest, largest); };
  std::size_t place = 0;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const double x = scaled(j);
    take(place++, x);
    for (std::size_t k = 0; k <= j; ++k) take(place++, x * scaled(k));
  }
}

std::vector<double> column(Rows rows, std::size_t j) {
  std::vector<double> found;
  for (std::size_t i = 0; i < rows.size(); ++i) found.push_back(rows.row(i)[j]);
  return found;
}

std::string text_of(double x) {
  numeric::PlainText out;
  out.precision(6);
  out << x;
  return out.str();
}

/// The bins of a histogram whose log-odds are on this side of the threshold, as ranges.
std::string ranges_of(const Histogram& histogram, const std::string& name, double threshold, bool above) {
  std::string text;
  std::size_t ranges = 0;
  const std::size_t bins = histogram.log_odds.size();
  const auto chosen = [&](std::size_t i) { return above ? histogram.log_odds[i] >= threshold : histogram.log_odds[i] <= threshold; };
  for (std::size_t i = 0; i < bins; ++i) {
    if (!chosen(i) || histogram.is_empty[i]) continue;
    const std::size_t first = i;
    std::size_t last = i;  // empty bins between chosen ones do not part a range
    while (i + 1 < bins && (chosen(i + 1) || histogram.is_empty[i + 1]))
      if (!histogram.is_empty[++i]) last = i;
    if (++ranges > 4) return text + " or in other ranges";
    if (!text.empty()) text += " or ";
    const bool is_single =
        first == last && first > 0 && last + 1 < bins && numeric::next_up(histogram.ends[first - 1]) == histogram.ends[last];
    if (is_single)
      text += name + " = " + text_of(histogram.ends[last]);
    else if (first == 0 && last + 1 == bins)
      text += "any " + name;
    else if (first == 0)
      text += name + " <= " + text_of(histogram.ends[last]);
    else if (last + 1 == bins)
      text += name + " > " + text_of(histogram.ends[first - 1]);
    else
      text += text_of(histogram.ends[first - 1]) + " < " + name + " <= " + text_of(histogram.ends[last]);
  }
  return text.empty() ? "no output" : text;
}

}  // namespace

double Histogram::at(double x) const {
  return log_odds[static_cast<std::size_t>(std::lower_bound(ends.begin(), ends.end(), x) - ends.begin())];
}

Score Score::linear(Rows with, Rows without) {
  Score score(with.columns == 1 ? Kind::identity : Kind::linear);
  if (with.columns > 1) score.weights_ = discriminant(with, without);
  return score;
}

Score Score::quadratic(Rows with, Rows without) {
  Score score(Kind::quadratic);
  const std::size_t n = with.columns, features = n + n * (n + 1) / 2;
  const std::vector<double> first = means_of(with), second = means_of(without);
  for (std::size_t j = 0; j < n; ++j) {
    const double centre = first[j] / 2 + second[j] / 2;
    double squares = 0;
    for (const Rows rows : {with, without})
      for (std::size_t i = 0; i < rows.size(); ++i) squares += std::pow(rows.row(i)[j] - centre, 2) / static_cast<double>(2 * rows.size());
    const double size = std::sqrt(squares);
    score.centres_.push_back(std::isfinite(centre) ? centre : 0);
    score.sizes_.push_back(std::isfinite(size) && size > 0 ? size : 1);
  }
  std::vector<double> one, other;
  const auto fill = [&](Rows rows, std::vector<double>& values) {
    values.resize(rows.size() * features);
    for (std::size_t i = 0; i < rows.size(); ++i)
      expand(rows.row(i), score.centres_, score.sizes_, [&](std::size_t place, double x) { values[i * features + place] = x; });
  };
  fill(with, one);
  fill(without, other);
  score.weights_ = discriminant({features, one}, {features, other});
  return score;
}

Score Score::binned(Rows with, Rows without) {
  Score score(Kind::binned);
  for (std::size_t j = 0; j < with.columns; ++j) score.histograms_.push_back(learn(column(with, j), column(without, j)));
  return score;
}

Score Score::low_bits(Rows with, Rows without) {
  const auto places = [](Rows rows) {
    std::vector<double> found;
    for (std::size_t i = 0; i < rows.size(); ++i) found.push_back(lowest_bit(rows.row(i)));
    return found;
  };
  Score score(Kind::low_bits);
  score.histograms_.push_back(learn(places(with), places(without)));
  return score;
}

double Score::at(std::span<const double> row) const {
  if (kind_ == Kind::identity) return row.front();
  if (kind_ == Kind::low_bits) return histograms_.front().at(lowest_bit(row));
  double sum = 0;
  if (kind_ == Kind::quadratic) {
    expand(row, centres_, sizes_, [&](std::size_t place, double x) { sum += weights_[place] * x; });
    return std::isnan(sum) ? 0 : sum;
  }
  for (std::size_t j = 0; j < row.size(); ++j) sum += kind_ == Kind::linear ? weights_[j] * row[j] : histograms_[j].at(row[j]);
  return std::isnan(sum) ? 0 : sum;  // overflow of a linear score: any fixed rule is valid
}

std::string Score::describe(double threshold, bool above) const {
  const std::string side = (above ? " >= " : " <= ") + text_of(threshold);
  switch (kind_) {
    case Kind::identity:
      return "output" + side;
    case Kind::linear:
      return "linear score of the output" + side;
    case Kind::quadratic:
      return "quadratic score of the output" + side;
    case Kind::low_bits:
      return ranges_of(histograms_.front(), "exponent of the lowest bit", threshold, above);
    case Kind::binned:
      break;
  }
  return histograms_.size() == 1 ? ranges_of(histograms_.front(), "output", threshold, above) : "sum of the log-odds of the bins" + side;
}

}  // namespace tradeoff::detail::audit
