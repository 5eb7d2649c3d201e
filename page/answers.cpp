// SPDX-License-Identifier: Apache-2.0
#include "answers.h"

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <vector>

#include "ask/question.h"
#include "ask/request.h"
#include "numeric/arithmetic.h"
#include "plan/assumed_poisson.h"
#include "plan/neighbours.h"
#include "plan/unknown.h"
#include "plan/vocabulary.h"
#include "report/claim.h"
#include "report/curve_picture.h"
#include "report/curve_table.h"
#include "report/risk.h"
#include "report/statement.h"
#include "report/svg.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"
#include "tradeoff/operations.h"
#include "tradeoff/sgd.h"
#include "tradeoff/targets.h"
#include "tradeoff/version.h"

namespace tradeoff::detail::page {
namespace {

using ask::Field;
using ask::Kind;
using ask::Question;
using ask::Request;
using report::JsonWriter;
using report::SafeEnd;

constexpr std::size_t longest_text = 1U << 20;  // bytes; a longer plan is a mistake or an attack
constexpr std::size_t picture_points = 201;     // as the command line draws
constexpr std::size_t most_plans = 4;           // the colours of more lines cannot be told apart

struct Member {
  std::string name;
  std::string text;
};

std::vector<Member> read_members(std::string_view fields) {
  std::vector<Member> members;
  const auto next = [&fields] {
    const std::size_t end = fields.find('\0');
    if (end == std::string_view::npos) throw ask::RequestError("parse", "a field has no end", "", 0);
    const std::string_view text = fields.substr(0, end);
    fields.remove_prefix(end + 1);
    return std::string(text);
  };
  if (fields.size() > longest_text) throw ask::RequestError("too_large", "the plan is longer than 1 MB", "plan", longest_text);
  while (!fields.empty()) {
    std::string name = next();
    members.push_back({std::move(name), next()});
  }
  return members;
}

const std::string* find(const std::vector<Member>& members, std::string_view name) {
  for (const Member& member : members)
    if (member.name == name) return &member.text;
  return nullptr;
}

/// An interval with the text of its safe end and of its proof: a page must not round.
JsonWriter& write_claim(JsonWriter& out, Interval value, SafeEnd safe = SafeEnd::hi) {
  out.begin_object().key("lo").number(value.lo > -Interval::whole().hi ? value.lo : 0).key("hi");
  if (value.hi < Interval::whole().hi)
    out.number(value.hi);
  else
    out.text("inf");
  const bool finite = value.hi < Interval::whole().hi;
  out.key("claim").text(safe == SafeEnd::lo || finite ? report::claimed(value, safe) : "∞");
  out.key("proof").text(finite ? report::between(value) : "no finite value is proved");
  return out.end_object();
}

void write_texts(JsonWriter& out, std::string_view name, const std::vector<std::string>& texts) {
  out.key(name).begin_array();
  for (const std::string& text : texts) out.text(text);
  out.end_array();
}

/// What the plan says about itself.
void describe(const Plan& plan, Neighbours neighbours, JsonWriter& out) {
  out.key("neighbours").text(to_word(neighbours)).key("neighbours_sentence").text(report::neighbours_sentence(neighbours));
  out.key("unit").text(report::records_text(report::records_protected(plan)));
  write_texts(out, "sampling", report::sampling_assumed(plan));
  if (const std::optional<Plan> assumed = assumed_poisson(plan)) out.key("assumed_poisson").text(to_string(*assumed));
}

// What is seen, in the order in which a reader needs it.

constexpr std::array<Field, 1> delta_field = {{{"delta", "a probability", Kind::number, ask::probability, true}}};

void headline(const Request& request, JsonWriter& out) {
  const Plan plan = request.plan();
  out.key("canonical").text(to_string(plan));
  const bool open = count_unknowns(plan) > 0;
  out.key("unknown").boolean(open);
  if (open) {
    out.key("parameter").text(find_unknown(plan).parameter);
    return;
  }
  const auto curve = request.curve();
  describe(plan, curve->neighbours(), out);
  const auto [epsilon, method, steps] = explained([&] { return curve->epsilon_at(request.number("delta")); });
  write_claim(out.key("epsilon"), epsilon);
  out.key("method").text(to_string(method)).key("steps").steps(steps);
}

constexpr std::array<Field, 1> deltas_field = {{{"deltas", "probabilities", Kind::numbers, ask::probability, true}}};

void epsilons(const Request& request, JsonWriter& out) {
  const auto curve = request.curve();
  out.key("rows").begin_array();
  for (const Number& delta : request.numbers("deltas")) {
    out.begin_object().key("delta").text(delta.text);
    write_claim(out.key("epsilon"), curve->epsilon_at(delta));
    out.end_object();
  }
  out.end_array();
}

constexpr std::array<const char*, 3> shown_slacks = {"1e-5", "1e-8", "1e-10"};  // as in the privacy statement

void mus(const Request& request, JsonWriter& out) {
  const auto curve = request.curve();
  std::vector<Interval> slacks;
  for (const char* text : shown_slacks) slacks.push_back(read_number(text).value);
  const GdpMeasurement found = measure_mu(*curve, slacks);
  out.key("verdict").text(found.verdict == GdpVerdict::gdp ? "gdp" : found.verdict == GdpVerdict::not_gdp ? "not_gdp" : "undecided");
  out.key("rows").begin_array();
  if (found.verdict == GdpVerdict::gdp) {
    write_claim(out.begin_object().key("slack").text("0").key("mu"), found.mu);
    out.end_object();
  }
  for (std::size_t i = 0; i < slacks.size(); ++i) {
    const GdpPair& pair = found.with_slack[i];
    // If rounding raised the slack, the raised slack is stated. [slack-pair]
    out.begin_object().key("slack").text(pair.slack == slacks[i] ? shown_slacks[i] : report::safe_end(pair.slack, SafeEnd::hi, 13));
    write_claim(out.key("mu"), pair.mu);
    out.end_object();
  }
  out.end_array();
}

// The risks that the page tells. Each is one question to the curve, so that a slow plan shows them one by one.

struct RiskTold {
  std::string_view name;
  Interval (*value)(const Curve& curve);
};

constexpr auto risks_told = std::to_array<RiskTold>({
    {"rate", [](const Curve& curve) { return curve.tpr_at(read_number("0.001")); }},
    {"guess", [](const Curve& curve) { return clamp((1.0 + curve.advantage()) * 0.5, 0, 1); }},  // of a coin toss: delta at epsilon = 0
    {"crowd", [](const Curve& curve) { return naming_chance(curve, 1000); }},
    {"odds", [](const Curve& curve) { return odds_factor(curve, read_number("1e-5").value); }},
});

constexpr std::array<Field, 1> risk_fields = {{{"rows", "some of rate, guess, crowd, odds; all by default", Kind::words}}};

void risks(const Request& request, JsonWriter& out) {
  const auto curve = request.curve();
  const std::vector<std::string> wanted = request.has("rows") ? request.words("rows") : std::vector<std::string>{};
  for (const RiskTold& told : risks_told) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), told.name) == wanted.end()) continue;
    const Interval value = told.value(*curve);
    out.key(told.name).begin_object();
    write_claim(out.key("value"), value);
    out.key("per_cent").text(report::safe_end(value * 100.0, SafeEnd::hi, 3)).end_object();
  }
  out.key("introduction").text(report::plain_introduction);
}

constexpr auto curve_fields = std::to_array<Field>({
    {"view", "tradeoff or profile", Kind::words},
    {"points", "how many points", Kind::number, ask::whole_numbers("a whole number from 2 to 2001", 2, 2001)},
});

report::View view_of(const Request& request) {
  if (!request.has("view") || request.text("view") == "tradeoff") return report::View::tradeoff;
  if (request.text("view") == "profile") return report::View::profile;
  throw ask::RequestError("domain", "view must be tradeoff or profile", "view", 0);
}

report::CurveTable table_of(const Request& request) {
  const std::size_t points = request.has("points") ? static_cast<std::size_t>(request.whole("points")) : picture_points;
  const auto curve = request.curve();
  return view_of(request) == report::View::profile ? report::sample_profile(*curve, request.direction(), points)
                                                   : report::sample_tradeoff(*curve, request.direction(), points);
}

void curve(const Request& request, JsonWriter& out) { out.key("rows").raw(to_json(table_of(request))); }

void csv(const Request& request, JsonWriter& out) { out.key("file").text(to_csv(table_of(request))); }

// What is taken away. Further plans are the fields plan2, plan3 and plan4, each with its own neighbours.

struct Further {
  Plan plan;
  Curve curve;
};

std::vector<Further> further_plans(const Request& request) {
  std::vector<Further> found;
  for (std::size_t i = 2; i <= most_plans; ++i) {
    const std::string number = std::to_string(i);
    if (!request.has("plan" + number)) continue;
    Neighbours neighbours = Neighbours::unstated;
    if (request.has("neighbours" + number))
      for (const auto& [word, value] : neighbours_words)
        if (word == request.text("neighbours" + number)) neighbours = value;
    const Plan plan = parse(request.text("plan" + number));
    found.push_back({plan, analyze(plan, neighbours, request.tolerance())});
  }
  return found;
}

constexpr auto picture_fields = std::to_array<Field>({
    {"view", "tradeoff or profile", Kind::words},
    {"plan2", "a plan to compare with", Kind::plan},
    {"plan3", "a plan to compare with", Kind::plan},
    {"plan4", "a plan to compare with", Kind::plan},
    {"neighbours2", "the neighbours of plan2", Kind::words},
    {"neighbours3", "the neighbours of plan3", Kind::words},
    {"neighbours4", "the neighbours of plan4", Kind::words},
});

void picture(const Request& request, JsonWriter& out) {
  std::vector<report::NamedCurve> shown = {{to_string(request.plan()), *request.curve()}};
  for (const Further& one : further_plans(request)) shown.push_back({to_string(one.plan), one.curve});
  report::Picture drawn = report::draw_curves(view_of(request), shown, request.direction(), picture_points);
  std::string description = drawn.y.label + " over " + drawn.x.label + " for:";
  for (const report::Series& series : drawn.series) description += series.label.empty() ? "" : " " + series.label + ";";
  description.back() = '.';
  const std::string title = drawn.title;
  out.key("file").text(report::to_svg({title, description, {std::move(drawn)}}));
}

constexpr auto statement_fields = std::to_array<Field>({
    {"delta", "the delta of the headline", Kind::number, ask::probability},
    {"plan2", "a plan to compare with", Kind::plan},
    {"plan3", "a plan to compare with", Kind::plan},
    {"plan4", "a plan to compare with", Kind::plan},
    {"neighbours2", "the neighbours of plan2", Kind::words},
    {"neighbours3", "the neighbours of plan3", Kind::words},
    {"neighbours4", "the neighbours of plan4", Kind::words},
});

void statement(const Request& request, JsonWriter& out) {
  report::Context context;
  if (request.has("delta")) context.delta = read_number(request.text("delta"));
  std::vector<report::Statement> made = {report::make_statement(context, request.plan(), *request.curve())};
  for (const Further& one : further_plans(request)) made.push_back(report::make_statement(context, one.plan, one.curve));
  out.key("file").text(report::to_html(report::to_document(made)));
}

Targets targets_of(const Request& request) {
  try {
    const auto text_of = [&request](std::string_view word) {
      const std::string name = "target." + std::string(word);
      return request.has(name) ? std::optional(request.text(name)) : std::nullopt;
    };
    return read_targets(text_of, "");
  } catch (const DomainError& error) {
    throw ask::RequestError("domain", error.what(), "target", 0);
  }
}

/// Whether a plan meets a target. The page scales the noise of a whole plan by a factor and asks; only the answers are claimed.
void meeting(const Request& request, JsonWriter& out) {
  const Targets targets = targets_of(request);
  const Met met = meets(*request.curve(), targets);
  out.key("met").text(met == Met::yes ? "yes" : met == Met::no ? "no" : "undecided").key("target").text(to_string(targets));
}

struct PageQuestion {
  Question row;
  void (*write)(const Request& request, JsonWriter& out);
};

const std::array<PageQuestion, 9>& page_questions() {
  static const std::array<PageQuestion, 9> questions = {{
      {{.name = "headline", .meaning = "what the plan says, and epsilon at one delta", .fields = delta_field}, headline},
      {{.name = "epsilons", .meaning = "epsilon at several deltas", .fields = deltas_field}, epsilons},
      {{.name = "mus", .meaning = "mu with slack"}, mus},
      {{.name = "risks", .meaning = "what attackers can do", .fields = risk_fields}, risks},
      {{.name = "curve", .meaning = "points of the curve", .fields = curve_fields}, curve},
      {{.name = "csv", .meaning = "points of the curve, as a table", .fields = curve_fields}, csv},
      {{.name = "picture", .meaning = "a picture of the curve", .fields = picture_fields}, picture},
      {{.name = "meets", .meaning = "whether a target is met", .fields = ask::calibrate_question.fields}, meeting},
      {{.name = "statement", .meaning = "the privacy statement", .fields = statement_fields}, statement},
  }};
  return questions;
}

/// The questions of `tradeoff query` that the page offers; naming them one by one leaves the code of the others out.
constexpr std::array<const Question*, 6> shared_questions = {&ask::epsilon_question,   &ask::delta_question,     &ask::beta_question,
                                                             &ask::advantage_question, &ask::calibrate_question, &ask::certify_question};

Request to_request(const Question& question, const std::vector<Member>& members, ask::CurveCache& curves) {
  Request request(question, curves, ask::Source::json);
  for (const Member& member : members)
    if (member.name != "ask") request.take(member.name, member.text);
  request.complete();
  return request;
}

std::uint64_t whole(const std::vector<Member>& members, std::string_view name) {
  const std::string* text = find(members, name);
  if (text == nullptr || text->empty()) throw ask::RequestError("parse", std::string(name) + " is missing", std::string(name), 0);
  const Interval value = read_number(*text).value;
  constexpr auto range = ask::whole_numbers("a whole number from 1 to 1e12", 1, 1e12);
  if (!range.holds(value))
    throw ask::RequestError("domain", std::string(name) + " = " + text->substr(0, 40) + " must be a whole number from 1 to 1e12",
                            std::string(name), 0);
  return static_cast<std::uint64_t>(value.lo);
}

std::string answer_members(const std::vector<Member>& members, ask::CurveCache& curves);

/// The plan of a training run, which has no plan yet. With `delta`, also the headline of that plan, so that a slider asks once a move.
void training(const std::vector<Member>& members, ask::CurveCache& curves, JsonWriter& out) {
  const auto text_of = [&](std::string_view name) {
    const std::string* text = find(members, name);
    return text == nullptr ? std::string() : *text;
  };
  SgdRun run;
  run.noise_multiplier = text_of("noise");
  run.batch = whole(members, "batch");
  run.examples = whole(members, "examples");
  run.epochs = read_number(text_of("epochs"));
  run.sampling = read_sampling(text_of("sampling"));
  for (const auto& [word, value] : neighbours_words)
    if (word == text_of("neighbours")) run.neighbours = value;
  const SgdPlan made = to_plan(run);
  out.key("plan").text(made.plan).key("unit").text(made.unit).key("remark").text(made.remark);
  out.key("neighbours").text(to_word(made.neighbours)).key("protects").text(made.protects);
  out.key("allowed").begin_array();
  for (const Neighbours one : neighbours_of(run.sampling)) out.text(to_word(one));
  out.end_array();
  if (const std::string* delta = find(members, "delta")) {
    std::vector<Member> asked = {{"ask", "headline"}, {"plan", made.plan}, {"delta", *delta}};
    if (const std::string neighbours = text_of("neighbours"); !neighbours.empty()) asked.push_back({"neighbours", neighbours});
    out.key("headline").raw(answer_members(asked, curves));
  }
}

void write_answer(const std::vector<Member>& members, ask::CurveCache& curves, JsonWriter& out) {
  const std::string* name = find(members, "ask");
  if (name == nullptr) throw ask::RequestError("parse", "field 'ask' is missing", "ask", 0);
  if (*name == "version") {
    out.key("version").text(TRADEOFF_VERSION);
    return;
  }
  if (*name == "training") return training(members, curves, out);
  for (const PageQuestion& question : page_questions())
    if (question.row.name == *name) return question.write(to_request(question.row, members, curves), out);
  for (const Question* const row : shared_questions) {
    if (row->name != *name) continue;
    const ask::Answer found = ask::answer(to_request(*row, members, curves));
    ask::write_answer(found, out);
    out.key("text").text(found.text({}));
    return;
  }
  throw ask::RequestError("parse", "ask '" + name->substr(0, 40) + "' is not known", "ask", 0);
}

std::string fault(const char* kind, const char* message, const std::string& field, std::size_t at) {
  JsonWriter out;
  out.begin_object().key("error").begin_object().key("kind").text(kind).key("message").text(message).key("at").integer(at);
  return out.key("field").text(field).end_object().end_object().str();
}

std::string out_of_memory() {
  return fault("too_large", "not enough memory in a browser to answer; the command line may have it", "plan", 0);
}

std::string answer_members(const std::vector<Member>& members, ask::CurveCache& curves) {
  try {
    JsonWriter out;
    out.begin_object();
    write_answer(members, curves, out);
    return out.end_object().str();
  } catch (const ask::RequestError& error) {
    return fault(error.kind(), error.what(), error.field(), error.offset());
  } catch (const ParseError& error) {
    return fault(error.kind(), error.what(), "plan", error.offset());
  } catch (const Error& error) {
    return fault(error.kind(), error.what(), "plan", 0);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& error) {
    return fault("unsupported", error.what(), "plan", 0);
  }
}

}  // namespace

std::string answer(std::string_view fields, ask::CurveCache& curves) {
  try {
    return answer_members(read_members(fields), curves);
  } catch (const ask::RequestError& error) {
    return fault(error.kind(), error.what(), error.field(), error.offset());
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

}  // namespace tradeoff::detail::page
