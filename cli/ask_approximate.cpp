// SPDX-License-Identifier: Apache-2.0
#include "asks.h"
#include "curve/approximate.h"
#include "curve/curve_state.h"

namespace tradeoff::cli {
namespace {

void write_pieces(report::JsonWriter& out, const std::vector<Constraint>& pieces) {
  out.begin_array();
  for (const Constraint& piece : pieces)
    out.begin_object().key("epsilon").interval(piece.epsilon).key("delta").interval(piece.delta).end_object();
  out.end_array();
}

std::string to_lines(const char* title, const Approximation& polygon) {
  std::string text = std::string(title) + "\n";
  for (const Constraint& piece : polygon.pieces)
    text += "  epsilon " + report::between(piece.epsilon) + ", delta " + report::between(piece.delta) + "\n";
  return text + "  area under it " + report::between(polygon.area) + "\n";
}

/// What polygons of that many slopes say of the curve run several times. [lattice-chords]
std::optional<Interval> composed_delta(const Question& question, const Curve& curve, std::size_t pieces) {
  if (!question.has("times") && !question.has("epsilon")) return std::nullopt;
  const Interval wanted = question.number("times");
  constexpr double most = 1e6;
  const auto times = static_cast<std::uint64_t>(wanted.lo >= 1 && wanted.hi <= most ? wanted.lo : 0);
  if (wanted != Interval::exactly(static_cast<double>(times))) question.refuse("times", "a whole number from 1 to 1000000");
  return composed_between_polygons(loss_of(curve), pieces, times, question.at_least_zero("epsilon"));
}

}  // namespace

Answer answer_approximate(const Question& question) {
  const Interval wanted = question.number("pieces");
  const auto pieces = static_cast<std::size_t>(wanted.lo >= 1 && wanted.hi <= 64 ? wanted.lo : 0);
  if (wanted != Interval::exactly(static_cast<double>(pieces))) question.refuse("pieces", "a whole number from 1 to 64");
  const auto curve = question.curve();
  const auto found = std::make_shared<const Approximations>(approximate(*loss_of(*curve), pieces));
  const std::optional<Interval> composed = composed_delta(question, *curve, pieces);
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
            std::string text = to_lines("From below (safe), largest area:", found->below);
            text += to_lines("From below (safe), smaller first delta:", found->below_published);
            text += to_lines("From above, smallest area:", found->above);
            if (composed)
              text += "Composed, between merged chords and tangents of that many slopes: delta " + report::between(*composed) + "\n";
            return style.quiet ? text : text + "(" + style.remark + ")\n";
          },
          curve};
}

}  // namespace tradeoff::cli
