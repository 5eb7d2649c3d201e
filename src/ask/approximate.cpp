// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/approximate.h"

#include <array>

#include "ask/request.h"

namespace tradeoff::detail::ask {
namespace {

constexpr std::array<Field, 3> approximate_fields = {{
    {"pieces", "how many constraints", Kind::number, whole_numbers("a whole number from 1 to 64", 1, 64), true},
    {"times", "also bound delta of so many runs", Kind::number, whole_numbers("a whole number from 1 to 1000000", 1, 1e6)},
    {"epsilon", "with times: at this epsilon", Kind::number, at_least_zero},
}};

void write_pieces(report::JsonWriter& out, const std::vector<Guarantee>& pieces) {
  out.begin_array();
  for (const Guarantee& piece : pieces)
    out.begin_object().key("epsilon").interval(piece.epsilon).key("delta").interval(piece.delta).end_object();
  out.end_array();
}

std::string polygon_lines(const char* title, const Approximation& polygon) {
  std::string text = std::string(title) + "\n";
  for (const Guarantee& piece : polygon.pieces)
    text += "  epsilon " + report::between(piece.epsilon) + ",\n    delta " + report::between(piece.delta) + "\n";
  return text + "  area under it " + report::between(polygon.area) + "\n";
}

/// Bounds on delta of the curve run several times, from polygons of that many slopes. [lattice-chords]
std::optional<Interval> composed_delta(const Request& request, const Curve& curve, std::size_t pieces) {
  if (!request.has("times") && !request.has("epsilon")) return std::nullopt;
  return composed_between_polygons(curve, pieces, request.whole("times"), request.value("epsilon"));
}

Answer answer_approximate(const Request& request) {
  const std::size_t pieces = request.whole("pieces");
  const auto curve = request.curve();
  const auto found = std::make_shared<const Approximations>(approximate(*curve, pieces));
  const std::optional<Interval> composed = composed_delta(request, *curve, pieces);
  return {[found, composed](report::JsonWriter& out) {
            out.begin_object();
            write_pieces(out.key("below"), found->below.pieces);
            write_pieces(out.key("above"), found->above.pieces);
            out.key("area_below").interval(found->below.area).key("area_above").interval(found->above.area);
            if (found->area) out.key("area").interval(*found->area);
            write_pieces(out.key("below_published"), found->below_published.pieces);
            out.key("area_below_published").interval(found->below_published.area);
            if (composed) out.key("composed_delta").interval(*composed);
            out.end_object();
          },
          [found, composed](const report::Style& style) {
            std::string text = polygon_lines("From below (safe), largest area:", found->below);
            text += polygon_lines("From below (safe), smaller first delta:", found->below_published);
            text += polygon_lines("From above, smallest area:", found->above);
            if (composed)
              text += "Composed, between merged chords and tangents of that many slopes: delta " + report::between(*composed) + "\n";
            return style.quiet ? text : text + "(" + style.remark + ")\n";
          },
          curve};
}

}  // namespace

constinit const Question approximate_question{.name = "approximate",
                                              .meaning = "the curve between few (epsilon, delta) constraints from below and from above",
                                              .fields = approximate_fields,
                                              .answer = answer_approximate};

}  // namespace tradeoff::detail::ask
