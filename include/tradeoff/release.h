// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/targets.h"

// Noise is drawn only under a certificate, and a certificate is used once: calibrate -> certify -> release.
namespace tradeoff {

/// The operating system gave no randomness. Nothing was released.
class RandomnessError final : public Error {
 public:
  using Error::Error;
  [[nodiscard]] const char* kind() const noexcept override { return "randomness"; }
};

/// What the rows of a release have to do with each other: all computed from the same data, or each from data of different people.
enum class Rows { composed, disjoint };

/// How values come: any numbers, rounded to the grid with the sensitivity enlarged by what rounding can do; or on the grid already, refused
/// otherwise, with the sensitivity as stated.
enum class Inputs { rounded, on_grid };

/// What is released: the values as they are, or their sum, how many they are, or both (for a mean), over all rows as records.
enum class Aggregate { none, sum, count, mean };

struct Bounds {
  double low;
  double high;
};

/// Everything about a release that is public and fixed before the data is touched.
struct ReleaseTerms {
  Neighbours neighbours = Neighbours::unstated;
  std::uint64_t rows = 1;     ///< runs of the plan: a plan of one run is repeated, a longer one takes at most as many rows as it has runs
  std::uint64_t columns = 1;  ///< values in a row; the plan's sensitivity is that of a row: in l2 norm for `gaussian`, in l1 for all others
  Rows rows_are = Rows::composed;
  Inputs inputs = Inputs::rounded;
  Aggregate aggregate = Aggregate::none;
  std::optional<int> grid_exponent;  ///< step 2^g; by default 2^-20 of the noise or finer for noise on reals, 1 for noise on integers
  std::optional<Bounds> bounds;      ///< values outside are refused, or clipped if `clip`
  bool clip = false;
};

/// One mechanism as it is drawn: exact numbers, in steps of the grid.
struct DrawnMechanism {
  std::string law;                    ///< e.g. "rounded gaussian"
  int grid_exponent = 0;              ///< the step is 2^grid_exponent
  std::uint64_t scale_numerator = 0;  ///< the scale is numerator * 2^-exponent steps (for randomised response: its epsilon)
  int scale_exponent = 0;
  double sensitivity = 0;     ///< in steps, rounding of the inputs included
  std::string norm;           ///< of a row, in which the sensitivity is charged: "l1", "l2"; empty for laws of single values
  std::uint64_t bound = 0;    ///< of truncated noise, in steps
  std::uint64_t choices = 0;  ///< of randomised response
  std::uint64_t times = 1;
  /// What happens to the noisy value after that: clipped to [low, high] steps, then Laplace noise of this scale, rounded.
  struct Rectified {
    std::int64_t low;
    std::int64_t high;
    std::uint64_t scale_numerator;
    int scale_exponent;
  };
  std::optional<Rectified> rectified = std::nullopt;
};

/// A guarantee bound to the noise that will be drawn under it. Made by `certify` alone, used up by `release`, never copied.
class Certificate {
 public:
  Certificate(Certificate&&) noexcept;
  Certificate& operator=(Certificate&&) noexcept;
  ~Certificate();

  /// The plan as it was written, and as it is drawn: exact parameters in steps of the grid. The curve is that of the latter.
  [[nodiscard]] const Plan& plan() const;
  [[nodiscard]] const Plan& drawn_plan() const;
  [[nodiscard]] const std::vector<DrawnMechanism>& mechanisms() const;
  [[nodiscard]] const ReleaseTerms& terms() const;
  [[nodiscard]] const Curve& curve() const;
  /// The least mu for which all of it is mu-GDP, if it is known.
  [[nodiscard]] std::optional<Interval> mu() const;
  /// (delta, the epsilon that goes with it) for some customary delta, 0 first.
  struct Point {
    std::string delta;  ///< as a decimal
    Interval epsilon;
  };
  [[nodiscard]] const std::vector<Point>& guarantee() const;
  /// How these numbers were found.
  [[nodiscard]] const Provenance& provenance() const;

  /// False once `release` has used it; nothing else may then be asked.
  [[nodiscard]] bool is_valid() const { return content_ != nullptr; }

  struct Content;  ///< private
  explicit Certificate(std::unique_ptr<Content> content);
  [[nodiscard]] const Content& content() const { return *content_; }

 private:
  std::unique_ptr<Content> content_;
};

/// Fixes grid and noise for the plan, rounds every parameter to the safe side and computes what that guarantees. Throws UnsupportedError
/// for a plan that says what is guaranteed rather than which noise is added, DomainError for terms that do not fit.
///
/// Every target binds: a `?` in the place of a noise scale (or of the epsilon of randomised response) is found such that the whole release
/// meets them all, rounding included; without a `?` the release must meet them. Throws UnmetError if it is not certain to.
[[nodiscard]] Certificate certify(const Plan& plan, const ReleaseTerms& terms, const Targets& targets = {});

/// What was released: rows of multiples of the grid's step, exactly. For a mean: the noisy sum, then the noisy count.
struct Release {
  std::vector<std::vector<double>> rows;
};

/// Checks every value, then draws the noise. Row by row, `columns` values each. Throws DomainError for NaN, infinities, values out of
/// bounds (unless clipped), off the grid or too large for it, and for sums that are too large; nothing is drawn then.
[[nodiscard]] Release release(Certificate&& certificate, std::span<const double> values);

}  // namespace tradeoff
