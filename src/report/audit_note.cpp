// SPDX-License-Identifier: Apache-2.0
#include "report/audit_note.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/claim.h"
#include "report/curve_picture.h"
#include "report/label.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::report {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_events = 1000;  // an audit tests a few dozen

/// Members of the result, with an error that names the one that is missing or wrong.
class Reader {
 public:
  Reader(const Json& form, std::string name) : form_(form), name_(std::move(name)) {}

  [[noreturn]] void refuse(const std::string& why) const {
    throw DomainError("--audit " + name_ + ": it is no result of `tradeoff audit --json`: " + why);
  }
  [[nodiscard]] const Json& member(const Json& of, const char* key) const {
    if (!of.is_object() || !of.contains(key)) refuse(std::string("'") + key + "' is missing");
    return of.at(key);
  }
  [[nodiscard]] std::string text(const char* key) const {
    const Json& value = member(form_, key);
    if (!value.is_string()) refuse(std::string("'") + key + "' must be a text");
    return printable(value.get<std::string>());
  }
  [[nodiscard]] double number(const Json& of, const char* key, double most) const {
    const Json& value = member(of, key);
    const double found = value.is_number() ? value.get<double>() : -1;
    if (!(found >= 0 && found <= most)) refuse(std::string("'") + key + "' must be a number that is not negative and not too large");
    return found;
  }
  [[nodiscard]] const Json& list(const char* key) const {
    const Json& value = member(form_, key);
    if (!value.is_array() || value.size() > most_events) refuse(std::string("'") + key + "' must be a list");
    return value;
  }

 private:
  const Json& form_;
  std::string name_;
};

std::string least(double value) { return safe_end(Interval::exactly(value), SafeEnd::lo, 4); }

std::string sentence_of(const AuditNote& note) {
  const std::string pairs = std::to_string(note.pairs) + " pairs of outputs, confidence " + note.confidence + ". ";
  if (note.verdict == "refuted")
    return "Outputs of the program on two neighbouring data sets contradict this plan, by the event " + as_code(note.event) + ": " + pairs;
  if (note.verdict == "consistent")
    return "Outputs of the program on two neighbouring data sets were compared with this plan, and no tested event exceeds it by more than "
           "the margin: " +
           pairs + "This is no proof: events that were not tested, or are rarer than about 3 in the number of pairs, are not seen. ";
  return "Outputs of the program on two neighbouring data sets neither contradict nor support this plan: " + pairs;
}

}  // namespace

AuditNote read_audit_note(const std::string& text, const std::string& name) {
  const Json form = Json::parse(text, nullptr, false);
  const Reader reader(form, name);
  if (form.is_discarded() || !form.is_object()) reader.refuse("it is no JSON object");
  AuditNote note;
  note.verdict = reader.text("verdict");
  if (note.verdict != "refuted" && note.verdict != "consistent" && note.verdict != "inconclusive")
    reader.refuse("the verdict is not known");
  note.confidence = reader.text("confidence");
  note.plan = reader.text("plan");
  note.neighbours = reader.text("neighbours");
  if (reader.text("direction") != "worst")
    throw DomainError("--audit " + name + ": a statement covers both directions; this audit has one");
  if (!form.contains("pairs"))
    throw DomainError("--audit " + name + ": this is an audit of canaries; a statement shows audits of two data sets");
  note.pairs = static_cast<std::uint64_t>(reader.number(form, "pairs", 1e15));
  note.mu_below = reader.number(form, "mu_below", 1e3);
  note.advantage_below = reader.number(form, "advantage_below", 1);
  if (note.verdict == "refuted") {
    const Json& event = reader.member(reader.member(form, "refutation"), "event");
    if (!event.is_string()) reader.refuse("'event' must be a text");
    note.event = printable(event.get<std::string>());
  }
  for (const Json& row : reader.list("band"))
    note.band.emplace_back(reader.number(row, "epsilon", 1e3), reader.number(row, "delta_below", 1));
  for (const Json& row : reader.list("events"))
    note.attacks.emplace_back(reader.number(reader.member(row, "other_rate"), "hi", 1),
                              1 - reader.number(reader.member(row, "likelier_rate"), "lo", 1));
  return note;
}

Series attack_series(std::string label, std::vector<Attack> attacks) {
  attacks.insert(attacks.end(), {{0, 1}, {1, 0}});
  std::sort(attacks.begin(), attacks.end());
  std::vector<Attack> hull;
  for (const Attack& point : attacks) {
    const auto is_above = [&] {
      const auto &a = hull[hull.size() - 2], &b = hull.back();
      return (b.first - a.first) * (point.second - a.second) - (b.second - a.second) * (point.first - a.first) <= 0;
    };
    while (hull.size() >= 2 && is_above()) hull.pop_back();
    hull.push_back(point);
  }
  Series series{.label = std::move(label), .stroke = Stroke::dashed};
  for (const auto& [x, y] : hull) series.spots.push_back({x, Interval::exactly(y)});
  return series;
}

void add_audit(Document& document, const AuditNote& note, const Curve& curve) {
  document.blocks.emplace_back(Heading{"Audit of the program"});
  if (note.verdict == "refuted")
    document.blocks.emplace_back(Highlight{"The audit refuted this plan: the program does not have this privacy."});
  document.blocks.emplace_back(
      Paragraph{sentence_of(note) + "Whatever the program is, all of the following hold at once with that confidence."});
  Table table{{{"", "shown by attacks: at least", "claimed: at most"}}};
  table.rows.push_back({"advantage over guessing", least(note.advantage_below), claimed(curve.advantage(), SafeEnd::hi)});
  for (const auto& [epsilon, delta] : note.band)
    table.rows.push_back(
        {"δ at ε = " + safe_end(Interval::exactly(epsilon), SafeEnd::hi, 4), least(delta), claimed(curve.delta_at(epsilon), SafeEnd::hi)});
  table.rows.push_back({"μ", least(note.mu_below), ""});
  document.blocks.emplace_back(std::move(table));
  Picture picture = tradeoff_axes("Attacks seen in the audit, and the claim");
  picture.series.push_back(tradeoff_series("claimed", curve));
  picture.series.push_back(attack_series("shown by attacks: the program's curve lies below", note.attacks));
  picture.series.push_back(guessing_line());
  const std::string title = picture.title;
  document.blocks.emplace_back(Gallery{{{title, "The claimed trade-off curve, and the bound that the tested events show.", {picture}}}});
}

}  // namespace tradeoff::detail::report
