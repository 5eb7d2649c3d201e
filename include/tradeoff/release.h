// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/guarantee.h"
#include "tradeoff/targets.h"

// Noise is drawn only under a certificate, and a certificate is used once: calibrate, then certify, then release.
namespace tradeoff {

/// The operating system returned no random bytes. Nothing was released.
class RandomnessError final : public Error {
 public:
  using Error::Error;
  [[nodiscard]] const char* kind() const noexcept override { return "randomness"; }
};

/// How the rows of a release are related: all are computed from the same data, or each from the data of different people.
enum class Rows { composed, disjoint };

/// How values are given. `rounded`: any numbers; they are rounded to the grid, and the sensitivity grows by the rounding. `on_grid`:
/// multiples of the step, refused otherwise; the sensitivity stays as stated.
enum class Inputs { rounded, on_grid };

/// What is released: the values themselves, or their sum, their count, or both (for a mean), where each row is a record; or the keys of a
/// table of users and keys.
enum class Aggregate { none, sum, count, mean, keys };

struct Bounds {
  double low;
  double high;
};

/// Everything about a release that is public and fixed before the data are read.
struct ReleaseTerms {
  Neighbours neighbours = Neighbours::unstated;
  /// runs of the plan: a plan of one run is repeated for each row; a longer plan takes at most as many rows as it has runs
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;  ///< values in a row; the plan's sensitivity is that of a row: in l2 norm for `gaussian`, in l1 for all others
  Rows rows_are = Rows::composed;
  Inputs inputs = Inputs::rounded;
  Aggregate aggregate = Aggregate::none;
  /// the step is 2^g; by default 2^-20 of the noise scale or finer for noise on reals, 1 for noise on integers
  std::optional<int> grid_exponent;
  std::optional<Bounds> bounds;  ///< values outside are refused, or clipped if `clip` is set
  bool clip = false;
};

/// One mechanism as it is drawn: exact parameters, in steps of the grid.
struct DrawnMechanism {
  std::string law;                    ///< e.g. "rounded gaussian"
  int grid_exponent = 0;              ///< the step is 2^grid_exponent
  std::uint64_t scale_numerator = 0;  ///< the scale is numerator * 2^-exponent steps (for randomised response: its epsilon)
  int scale_exponent = 0;
  double sensitivity = 0;     ///< in steps, including the rounding of the inputs
  std::string norm;           ///< the norm of a row that the sensitivity uses: "l1" or "l2"; empty for mechanisms on single values
  std::uint64_t bound = 0;    ///< the bound of truncated noise, in steps
  std::uint64_t choices = 0;  ///< the number of choices of randomised response
  std::uint64_t times = 1;
  /// What is done to the noisy value afterwards: it is clipped to [low, high] steps, then rounded Laplace noise of this scale is added.
  struct Rectified {
    std::int64_t low;
    std::int64_t high;
    std::uint64_t scale_numerator;
    int scale_exponent;
  };
  std::optional<Rectified> rectified = std::nullopt;
};

/// The deltas at which a certificate states its epsilon.
inline constexpr std::array<const char*, 4> certified_deltas = {"0", "1e-5", "1e-7", "1e-9"};

namespace detail {
struct CertificateContent;  // src/noise/certificate.h: private
}

/// A guarantee for the noise that will be drawn under it. Only `certify` makes one; `release` uses it up; it cannot be copied.
class Certificate {
 public:
  Certificate(Certificate&&) noexcept;
  Certificate& operator=(Certificate&&) noexcept;
  ~Certificate();

  /// The plan as written, and the plan as drawn, whose parameters are exact and in steps of the grid. The curve is that of the plan as
  /// drawn.
  [[nodiscard]] const Plan& plan() const;
  [[nodiscard]] const Plan& drawn_plan() const;
  [[nodiscard]] const std::vector<DrawnMechanism>& mechanisms() const;
  [[nodiscard]] const ReleaseTerms& terms() const;
  [[nodiscard]] const Curve& curve() const;
  /// The least mu for which the whole release is mu-GDP, if it is known.
  [[nodiscard]] std::optional<Interval> mu() const;
  /// What it guarantees at each of `certified_deltas`.
  [[nodiscard]] const std::vector<Guarantee>& guarantees() const;
  /// How these numbers were computed.
  [[nodiscard]] const Provenance& provenance() const;

  /// False once `release` has used it; then no other member may be called.
  [[nodiscard]] bool is_valid() const { return content_ != nullptr; }

 private:
  friend struct detail::CertificateContent;
  explicit Certificate(std::unique_ptr<detail::CertificateContent> content);

  std::unique_ptr<detail::CertificateContent> content_;
};

/// Chooses the grid and the noise for the plan, rounds every parameter to the safe side and computes the guarantee of the result. Throws
/// UnsupportedError for a plan that states a guarantee instead of a noise distribution, and DomainError for terms that do not fit.
/// The release must meet every target. A `?` in place of a noise scale (or of the epsilon of randomised response) is solved for, so that
/// the whole release meets all targets, rounding included. Throws UnmetError if that is not proved.
[[nodiscard]] Certificate certify(const Plan& plan, const ReleaseTerms& terms, const Targets& targets = {});

/// What was released: rows of exact multiples of the grid step. For a mean: the noisy sum, then the noisy count.
struct Release {
  std::vector<std::vector<double>> rows;
};

/// Checks every value, then draws the noise. The values are given row by row, `columns` in each row. Throws DomainError for NaN,
/// infinities, values out of bounds (unless clipped), off the grid or too large for it, and for sums that are too large; then nothing is
/// drawn.
[[nodiscard]] Release release(Certificate&& certificate, std::span<const double> values);

/// A user and a key, with how much the user adds to the count of the key; several rows of one user and key are added.
struct KeyRow {
  std::string user;
  std::string key;
  std::uint64_t count = 1;
};

/// A key that is released, and its noisy count if the plan is a `threshold`.
struct ReleasedKey {
  std::string key;
  std::optional<std::int64_t> count;
};

/// For a certificate with `Aggregate::keys`, whose plan is one line `threshold` with discrete noise, or `partition_selection`. Bounds what
/// every user contributes: at most `partitions` keys, chosen at random among those of the user, and at most `contribution` to the count of
/// each. Then draws. The keys are in the order of their bytes, not in that of the rows. Throws DomainError for a count of 0 or above 2^50;
/// then nothing is drawn.
[[nodiscard]] std::vector<ReleasedKey> release_keys(Certificate&& certificate, std::span<const KeyRow> rows);

}  // namespace tradeoff
