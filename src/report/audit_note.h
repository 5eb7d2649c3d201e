// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/document.h"
#include "tradeoff/curve.h"

// What an audit of the program showed, as a part of the statement of its plan.
namespace tradeoff::detail::report {

/// An attack, as a point of the plane of error rates: an upper bound of each rate.
using Attack = std::pair<double, double>;

/// The result of `tradeoff audit --json`, as far as readers of a statement need it.
struct AuditNote {
  std::string verdict;  ///< refuted, consistent or inconclusive
  std::string confidence;
  std::string plan;
  std::string neighbours;
  std::uint64_t pairs = 0;
  double mu_below = 0;
  double advantage_below = 0;
  std::string event;                            ///< that refuted the plan
  std::vector<std::pair<double, double>> band;  ///< epsilon, and the delta that is shown there
  std::vector<Attack> attacks;
};

/// Throws DomainError for text that is no result of an audit of two data sets, in both directions.
[[nodiscard]] AuditNote read_audit_note(const std::string& text, const std::string& name);

/// The bound that attacks show, from their error rates: the convex hull, because mixing two attacks is an attack.
[[nodiscard]] Series attack_series(std::string label, std::vector<Attack> attacks);

/// Verdict, bounds and picture. A refutation is emphasised.
void add_audit(Document& document, const AuditNote& note, const Curve& curve);

}  // namespace tradeoff::detail::report
