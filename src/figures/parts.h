// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "report/curve_picture.h"

// Code shared by the figures of several papers.
namespace tradeoff::detail::report {

/// The curve of a plan given as text.
[[nodiscard]] Curve curve_of(const std::string& plan);
/// A double as a number of a plan, with all its digits.
[[nodiscard]] std::string digits_of(double value);
/// The series in another colour and stroke.
[[nodiscard]] Series styled(Series series, std::size_t colour, Stroke stroke = Stroke::solid);
/// At each point the larger of two series over the same points: the guarantee by both together.
[[nodiscard]] Series larger_of(std::string label, const Series& a, const Series& b);
/// The region between a trade-off function and random guessing.
[[nodiscard]] Series region_of(std::string label, const Series& tradeoff, std::size_t colour);
/// The part of the line y = offset - slope x inside the unit square, from a few points.
[[nodiscard]] Series straight(std::string label, double offset, double slope);

}  // namespace tradeoff::detail::report
