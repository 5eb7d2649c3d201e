// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "ask/request.h"
#include "numeric/number_text.h"
#include "report/exact_numbers.h"
#include "tradeoff/operations.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 1> guarantees_fields = {
    {{"epsilon", "instead of the corners: the guarantee at each of these", Kind::numbers, at_least_zero}}};

/// The guarantee at each epsilon. The list is valid; it does not describe the curve between its points. [curve-algebra]
Answer answer_list(const Request& request) {
  const auto curve = request.curve();
  const bool both = request.direction() == Direction::worst;
  const auto epsilons = std::make_shared<const std::vector<Number>>(request.numbers("epsilon"));
  auto found = std::make_shared<std::vector<Interval>>();
  for (const Number& epsilon : *epsilons) {
    found->push_back(curve->delta_at(epsilon.value, request.direction()));
  }
  return {[epsilons, found](report::JsonWriter& out) {
            out.begin_object().key("lossless").boolean(false).key("points").begin_array();
            for (std::size_t i = 0; i < found->size(); ++i)
              out.begin_object().key("epsilon").interval((*epsilons)[i].value).key("delta").interval((*found)[i]).end_object();
            out.end_array().end_object();
          },
          [epsilons, found, both, direction = request.direction(), asked = request.plan()](const report::Style& style) {
            std::string text, plan;
            for (std::size_t i = 0; i < found->size(); ++i) {
              const std::string exact = report::exact_delta(asked, (*epsilons)[i], direction, (*found)[i]);
              const std::string delta = claimed((*found)[i], report::SafeEnd::hi, exact);
              text += "epsilon = " + (*epsilons)[i].text + "   delta <= " + delta + "\n";
              // What is read back keeps more digits than a claim.
              plan += (plan.empty() ? "(" : ", (") + (*epsilons)[i].text + ", " +
                      (exact.empty() ? report::safe_end((*found)[i], report::SafeEnd::hi, 10) : delta) + ")";
            }
            if (style.quiet) return text;
            // `constraints` hold in both directions, so a list for one direction is refused.
            if (both) text += "all at once: constraints([" + plan + "]), which forgets what lies between\n";
            return text + "(" + style.remark + ")\n";
          },
          curve};
}

Answer answer_guarantees(const Request& request) {
  if (request.has("epsilon")) return answer_list(request);
  const auto curve = request.curve();
  const auto corners = std::make_shared<const std::vector<Guarantee>>(corners_of(*curve, request.direction()));
  return {[corners](report::JsonWriter& out) {
            out.begin_array();
            for (const Guarantee& corner : *corners)
              out.begin_object().key("epsilon").interval(corner.epsilon).key("delta").interval(corner.delta).end_object();
            out.end_array();
          },
          [corners, direction = request.direction(), plan = request.plan()](const report::Style& style) {
            std::string text;
            for (const Guarantee& corner : *corners) {
              const report::ExactCorner listed = report::exact_corner(plan, direction, corner.epsilon, corner.delta);
              const std::string exact = listed.epsilon.empty() ? report::exact_loss(plan, corner.epsilon) : listed.epsilon;
              const std::string epsilon = claimed(corner.epsilon, report::SafeEnd::hi, exact);
              const Number written{epsilon, *numeric::enclose_decimal(epsilon)};
              const std::string delta = listed.delta.empty() ? report::exact_delta(plan, written, direction, corner.delta) : listed.delta;
              text += "epsilon <= " + epsilon + "   delta <= " + claimed(corner.delta, report::SafeEnd::hi, delta) + "\n";
            }
            return style.quiet ? text : text + "(" + std::to_string(corners->size()) + " corners; " + style.remark + ")\n";
          },
          curve};
}

}  // namespace

constinit const Question guarantees_question{.name = "guarantees",
                                             .meaning = "the corners of an exactly composed plan, or its guarantees at given epsilons",
                                             .fields = guarantees_fields,
                                             .answer = answer_guarantees};

}  // namespace tradeoff::detail::ask
