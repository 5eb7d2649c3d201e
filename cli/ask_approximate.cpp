// SPDX-License-Identifier: Apache-2.0
#include "asks.h"
#include "curve/approximate.h"

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

}  // namespace

Answer answer_approximate(const Question& question) {
  const Interval wanted = question.number("pieces");
  const auto pieces = static_cast<std::size_t>(wanted.lo >= 1 && wanted.hi <= 64 ? wanted.lo : 0);
  if (wanted != Interval::exactly(static_cast<double>(pieces))) question.refuse("pieces", "a whole number from 1 to 64");
  const auto curve = question.curve();
  const auto found = std::make_shared<const Approximations>(approximate(*curve->loss(), pieces));
  return {[found](report::JsonWriter& out) {
            out.begin_object();
            write_pieces(out.key("below"), found->below.pieces);
            write_pieces(out.key("above"), found->above.pieces);
            out.key("area_below").interval(found->below.area).key("area_above").interval(found->above.area);
            if (found->area) out.key("area").interval(*found->area);
            write_pieces(out.key("below_published"), found->below_published.pieces);
            out.key("area_below_published").interval(found->below_published.area).end_object();
          },
          [found](const report::Style& style) {
            std::string text = to_lines("From below (safe), largest area:", found->below);
            text += to_lines("From below (safe), smaller first delta:", found->below_published);
            text += to_lines("From above, smallest area:", found->above);
            return style.quiet ? text : text + "(" + style.remark + ")\n";
          },
          curve};
}

}  // namespace tradeoff::cli
