// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/curve_picture.h"

// What the figures of several papers have in common.
namespace tradeoff::report {

/// The curve of a plan given as text.
[[nodiscard]] Curve curve_of(const std::string& plan);
/// A double in a plan, all its digits.
[[nodiscard]] std::string digits_of(double value);
/// The series in another colour and stroke.
[[nodiscard]] Series styled(Series series, std::size_t colour, Stroke stroke = Stroke::solid);
/// At each place the larger of two series over the same places: what both guarantees say together.
[[nodiscard]] Series larger_of(std::string label, const Series& a, const Series& b);
/// Everything between a trade-off function and guessing.
[[nodiscard]] Series region_of(std::string label, const Series& tradeoff, std::size_t colour);
/// The straight part of the line y = offset - slope x that lies in the unit square, from a few places.
[[nodiscard]] Series straight(std::string label, double offset, double slope);

}  // namespace tradeoff::report
