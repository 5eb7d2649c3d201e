// SPDX-License-Identifier: Apache-2.0
#include "report/certificate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "noise/digest.h"
#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "plan/neighbours.h"
#include "plan/vocabulary.h"
#include "report/claim.h"

namespace tradeoff::detail::report {
namespace {

using Json = nlohmann::json;  // members are sorted by name, so the canonical form needs no sorting

constexpr const char* format_name = "tradeoff certificate 1";
constexpr std::size_t size_limit = 1'000'000;  // a certificate of a long plan has some thousand bytes
constexpr int depth_limit = 64;                // for nested plans; the plan parser has its own limit
constexpr std::size_t shown_limit = 60;

struct AskWords {
  Ask ask;
  std::string_view name;
  std::string_view argument;
};
constexpr std::array<AskWords, 5> asks = {{{Ask::delta, "delta", "epsilon"},
                                           {Ask::epsilon, "epsilon", "delta"},
                                           {Ask::beta, "beta", "alpha"},
                                           {Ask::tpr, "tpr", "fpr"},
                                           {Ask::mu, "mu", "slack"}}};
constexpr std::array<std::pair<CertificateKind, std::string_view>, 3> kinds = {
    {{CertificateKind::answer, "answer"}, {CertificateKind::release, "release"}, {CertificateKind::training, "training"}}};
constexpr std::array<std::pair<Direction, std::string_view>, 3> directions = {
    {{Direction::worst, "worst"}, {Direction::remove, "remove"}, {Direction::add, "add"}}};

std::string shown(const std::string& text) { return "'" + (text.size() <= shown_limit ? text : text.substr(0, shown_limit) + "...") + "'"; }

// ---- a plan as items: every argument by name, defaults included ----

Json items_of(const Plan& plan);

Json json_of(const Value& value) {
  struct Visitor {
    Json operator()(const Number& number) const { return number.text; }
    Json operator()(const Unknown&) const { throw UnsupportedError("certify: the plan holds a '?'; `calibrate` finds its value"); }
    Json operator()(const std::string& text) const { return text; }
    Json operator()(const Plan& plan) const { return items_of(plan); }
    Json operator()(const Tuple& tuple) const { return list(tuple.items); }
    Json operator()(const List& items) const { return list(items.items); }
    static Json list(const std::vector<Value>& values) {
      Json array = Json::array();
      for (const Value& value : values) array.push_back(json_of(value));
      return array;
    }
  };
  return std::visit(Visitor{}, value.content);
}

Json json_of(const Call& call, Role role) {
  Json arguments = Json::object();
  for (const Argument& argument : call.arguments) {
    if (argument.name == "file") throw UnsupportedError("certify: the plan reads a file, which others cannot check; write its points");
    arguments[argument.name] = json_of(argument.value);
  }
  if (const Word* word = vocabulary().find(role, call.name)) {
    for (const Parameter& parameter : word->parameters)
      if (default_holds(*word, call, parameter)) arguments[std::string(parameter.name)] = parameter.fallback;
  }
  return {{"name", call.name}, {"arguments", std::move(arguments)}};
}

Json items_of(const Plan& plan) {
  Json items = Json::array();
  for (const Line& line : plan.lines) {
    Json operators = Json::array();
    for (const Call& call : line.operators) operators.push_back(json_of(call, Role::operation));
    const auto* call = std::get_if<Call>(&line.source);
    items.push_back({{"source", call ? json_of(*call, Role::source) : items_of(std::get<Plan>(line.source))}, {"operators", operators}});
  }
  return items;
}

// ---- what the plan protects ----

/// The least number of records that a line of the plan protects together.
double group_size(const Plan& plan) {
  double least = infinity;
  for (const Line& line : plan.lines) {
    const auto* inner = std::get_if<Plan>(&line.source);
    double size = inner == nullptr ? 1 : group_size(*inner);
    for (const Call& call : line.operators) {
      const Word* word = vocabulary().find(Role::operation, call.name);
      const bool grouped = word != nullptr && word->records != nullptr && !call.arguments.empty();
      // As written: the analysis refuses a number that is out of range.
      const auto* times = grouped ? std::get_if<Number>(&call.arguments[0].value.content) : nullptr;
      if (times != nullptr) size *= times->value.lo;
      if (word != nullptr && word->examples != nullptr)
        for (const Argument& argument : call.arguments)
          if (const auto* examples = std::get_if<Number>(&argument.value.content); argument.name == "examples" && examples != nullptr)
            size *= examples->value.lo;
    }
    least = std::min(least, size);
  }
  return least;
}

// ---- writing ----

/// Decimals that enclose the interval under any rounding by the reader.
Json json_of(Interval interval) { return {{"lo", numeric::to_text_below(interval.lo)}, {"hi", numeric::to_text_above(interval.hi)}}; }

std::string digest_of(const Json& content) {
  try {
    return noise::sha256(content.dump());
  } catch (const Json::exception&) {  // for bytes that are not UTF-8
    throw CertificateError("", "holds text that is not UTF-8");
  }
}

std::string_view word_of(Direction direction) {
  for (const auto& [value, word] : directions)
    if (value == direction) return word;
  return {};
}

Json json_of(const Evaluation& evaluation) {
  Json counts = Json::object(), settings = Json::object(), errors = Json::object();
  for (const auto& [name, count] : evaluation.counts)
    if (count > 0) counts[name] = std::to_string(count);
  for (const auto& [name, value] : evaluation.settings) settings[name] = numeric::to_text_above(value);
  for (const auto& [name, error] : evaluation.errors) errors[name] = numeric::to_text_above(error);
  return {{"theorem", evaluation.theorem},
          {"direction", word_of(evaluation.direction)},
          {"epsilon", numeric::to_string(numeric::exact_decimal(evaluation.epsilon))},
          {"log_delta", json_of(evaluation.log_delta)},
          {"counts", std::move(counts)},
          {"settings", std::move(settings)},
          {"errors", std::move(errors)}};
}

std::string_view claimed_end(Ask ask) { return ask == Ask::beta ? "lo" : "hi"; }

Json json_of(const CertifiedAnswer& one) {
  Json found = json_of(one.answer), steps = Json::array(), evaluations = Json::array();
  if (one.log10) found["log10"] = json_of(*one.log10);
  for (const Step& step : one.steps) steps.push_back({{"theorem", step.theorem}, {"detail", step.detail}});
  for (const Evaluation& evaluation : one.evaluations) evaluations.push_back(json_of(evaluation));
  return {{"question",
           {{"ask", to_word(one.ask)},
            {std::string(argument_of(one.ask)), one.at},
            {"direction", word_of(one.direction)},
            {"relative", one.relative}}},
          {"answer", std::move(found)},
          {"claim", claimed_end(one.ask)},
          {"method", one.method},
          {"steps", std::move(steps)},
          {"evaluations", std::move(evaluations)}};
}

Json json_of(const Charge& charge) {
  Json guarantees = Json::array();
  for (const CertifiedAnswer& one : charge.guarantees) guarantees.push_back(json_of(one));
  return {{"plan", to_string(charge.plan)}, {"items", items_of(charge.plan)}, {"guarantees", std::move(guarantees)}};
}

Json content_of(const CertificateDocument& document) {
  Json content = json_of(document.charged);
  content["certificate"] = format_name;
  content["kind"] = to_word(document.kind);
  content["version"] = document.version;
  content["neighbours"] = to_word(document.neighbours);
  content["unit"] = unit_of(document.charged.plan);
  if (document.planned) content["planned"] = json_of(*document.planned);
  if (document.kind == CertificateKind::answer) return content;
  content["settings"] = document.settings;
  content["drawn"] = document.drawn;
  content["released"] = document.released;
  return content;
}

// ---- reading ----

/// The error text for invalid JSON, with its position.
std::string what_is_wrong(std::string_view text, const Json::exception& error) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return "the file is empty; a certificate of certify, release or train is expected";
  const auto* place = dynamic_cast<const Json::parse_error*>(&error);
  if (place == nullptr || place->byte > text.size())
    return "ends in the middle: the file was cut off after " + std::to_string(text.size()) + " bytes";
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place->byte), '\n');
  return "is not JSON: wrong at byte " + std::to_string(place->byte) + ", line " + std::to_string(line);
}

/// The JSON, or the reason why it is refused. Duplicate keys are refused, because readers disagree about their meaning.
Json read_json(std::string_view text) {
  if (text.size() > size_limit) throw CertificateError("", "is longer than 1000000 bytes");
  std::vector<std::vector<std::string>> keys;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > depth_limit) throw CertificateError("", "is nested deeper than " + std::to_string(depth_limit));
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& name = parsed.get_ref<const std::string&>();
      for (const std::string& known : keys.back())
        if (known == name) throw CertificateError(name.substr(0, shown_limit), "is there twice");
      if (keys.back().size() >= 32) throw CertificateError("", "has an object with more than 32 members");
      keys.back().push_back(name);
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), watch);
  } catch (const Json::exception& error) {
    throw CertificateError("", what_is_wrong(text, error));
  }
}

const Json& member(const Json& object, const std::string& name) {
  if (!object.is_object() || !object.contains(name)) throw CertificateError(name, "is missing");
  return object.at(name);
}

const std::string& text_at(const Json& object, const std::string& name) {
  const Json& found = member(object, name);
  if (!found.is_string()) throw CertificateError(name, "must be a string");
  return found.get_ref<const std::string&>();
}

void allow_only(const Json& object, const std::vector<std::string_view>& names, const std::string& where) {
  if (!object.is_object()) throw CertificateError(where, "must be an object");
  for (const auto& entry : object.items()) {
    bool known = false;
    for (const std::string_view name : names) known = known || name == entry.key();
    if (!known) throw CertificateError(entry.key().substr(0, shown_limit), "is not known" + (where.empty() ? "" : " in '" + where + "'"));
  }
}

/// An end as the double it was printed from. Any other spelling is refused, so reading loses nothing.
double end_of(const Json& object, const std::string& name, bool below) {
  const std::string& text = text_at(object, name);
  if (text == "inf" || text == "-inf") return (text == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
  const auto enclosed = numeric::enclose_decimal(text);
  if (!enclosed) throw CertificateError(name, "is no decimal: " + shown(text));
  const double value = below ? enclosed->hi : enclosed->lo;
  if ((below ? numeric::to_text_below(value) : numeric::to_text_above(value)) != text)
    throw CertificateError(name, "is not the spelling of a double: " + shown(text));
  return value;
}

Interval interval_at(const Json& object, const std::string& name) {
  const Json& found = member(object, name);
  const Interval interval{end_of(found, "lo", true), end_of(found, "hi", false)};
  if (!(interval.lo <= interval.hi)) throw CertificateError(name, "is empty: its lower end is above the upper one");
  return interval;
}

std::string number_at(const Json& object, const std::string& name, bool infinity_allowed) {
  const std::string& text = text_at(object, name);
  if (infinity_allowed && text == "inf") return text;
  const auto is_canonical = [&text] {
    try {
      return read_number(text).text == text;
    } catch (const Error&) {
      return false;
    }
  };
  if (!is_canonical()) throw CertificateError(name, "is not a number in its canonical spelling: " + shown(text));
  return text;
}

Plan plan_at(const Json& object) {
  const std::string& text = text_at(object, "plan");
  try {
    Plan plan = parse(text);
    if (to_string(plan) != text) throw CertificateError("plan", "is not in its canonical spelling");
    if (items_of(plan) != member(object, "items")) throw CertificateError("items", "is not what the plan says");
    return plan;
  } catch (const ParseError& error) {
    throw CertificateError("plan", std::string("is no plan: ") + error.what());
  } catch (const UnsupportedError& error) {
    throw CertificateError("plan", std::string("cannot be certified: ") + error.what());
  }
}

Direction direction_at(const Json& object) {
  const std::string& found = text_at(object, "direction");
  for (const auto& [value, word] : directions)
    if (word == found) return value;
  throw CertificateError("direction", "must be worst, remove or add, not " + shown(found));
}

Ask ask_at(const Json& question) {
  const std::string& found = text_at(question, "ask");
  for (const AskWords& known : asks)
    if (known.name == found) return known.ask;
  throw CertificateError("ask", "must be delta, epsilon, beta, tpr or mu, not " + shown(found));
}

void read_question(const Json& question, CertifiedAnswer& one) {
  one.ask = ask_at(question);
  const std::string field(argument_of(one.ask));
  allow_only(question, {"ask", field, "direction", "relative"}, "question");
  one.at = number_at(question, field, one.ask == Ask::delta);
  one.relative = number_at(question, "relative", false);
  one.direction = direction_at(question);
  const Interval at = one.at == "inf" ? Interval::exactly(infinity) : read_number(one.at).value, width = read_number(one.relative).value;
  if (one.ask != Ask::delta && !(at.lo >= 0 && at.hi <= 1)) throw CertificateError(field, "must lie between 0 and 1, not " + shown(one.at));
  if (!(width.lo > 0 && width.hi <= 1)) throw CertificateError("relative", "must be above 0 and at most 1, not " + shown(one.relative));
  if (one.ask == Ask::mu && one.direction != Direction::worst)
    throw CertificateError("direction", "must be worst for mu, which covers both directions at once");
}

Neighbours neighbours_at(const Json& content) {
  const std::string& word = text_at(content, "neighbours");
  if (word == to_word(Neighbours::unstated)) return Neighbours::unstated;
  for (const auto& [name, value] : neighbours_words)
    if (word == name) return value;
  throw CertificateError("neighbours", "must be " + all_neighbours_words() + ", or unstated, not " + shown(word));
}

std::vector<Step> steps_at(const Json& content) {
  const Json& found = member(content, "steps");
  if (!found.is_array()) throw CertificateError("steps", "must be an array");
  std::vector<Step> steps;
  for (const Json& step : found) {
    allow_only(step, {"theorem", "detail"}, "steps");
    steps.push_back({text_at(step, "theorem"), text_at(step, "detail")});
  }
  return steps;
}

double point_at(const Json& object, const std::string& name) {
  const std::string& text = text_at(object, name);
  const auto enclosed = numeric::enclose_decimal(text);
  if (!enclosed || enclosed->lo != enclosed->hi || !(std::abs(enclosed->lo) < infinity) ||
      numeric::to_string(numeric::exact_decimal(enclosed->lo)) != text)
    throw CertificateError(name, "is not the exact decimal of a double: " + shown(text));
  return enclosed->lo;
}

const Json& object_at(const Json& object, const std::string& name) {
  const Json& found = member(object, name);
  if (!found.is_object()) throw CertificateError(name, "must be an object");
  return found;
}

/// A positive integer in its canonical spelling.
std::uint64_t count_at(const Json& object, const std::string& name) {
  const std::string& text = text_at(object, name);
  std::uint64_t count = 0;
  const auto [last, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failure != std::errc{} || last != text.data() + text.size() || count == 0 || std::to_string(count) != text)
    throw CertificateError(name, "must be a positive integer, not " + shown(text));
  return count;
}

/// Checks that the errors are bounds and that the enclosure contains their sum.
void require_balance(const Evaluation& evaluation) {
  double sum = 0;
  for (const auto& [name, error] : evaluation.errors) {
    if (!(error >= 0)) throw CertificateError(name, "bounds an error and cannot be negative");
    sum += error;
  }
  const Interval& log = evaluation.log_delta;
  const double width = log.width() == 0 ? 0 : std::expm1(log.width());
  // Allows for sums in another order, and for the rounding of the width.
  if (!(sum <= width * (1 + 1e-9) + 1e-14 * (1 + std::abs(log.lo))))
    throw CertificateError("errors", "add up to more than the width of 'log_delta'");
}

Evaluation evaluation_of(const Json& content) {
  allow_only(content, {"theorem", "direction", "epsilon", "log_delta", "counts", "settings", "errors"}, "evaluations");
  Evaluation evaluation{text_at(content, "theorem"), direction_at(content), point_at(content, "epsilon"),
                        interval_at(content, "log_delta")};
  if (evaluation.direction == Direction::worst) throw CertificateError("direction", "of an evaluation must be remove or add");
  allow_only(content.at("log_delta"), {"lo", "hi"}, "log_delta");
  const Json &counts = object_at(content, "counts"), &settings = object_at(content, "settings"), &errors = object_at(content, "errors");
  for (const auto& entry : counts.items()) evaluation.counts.emplace_back(entry.key(), count_at(counts, entry.key()));
  for (const auto& entry : settings.items()) evaluation.settings.emplace_back(entry.key(), end_of(settings, entry.key(), false));
  for (const auto& entry : errors.items()) evaluation.errors.emplace_back(entry.key(), end_of(errors, entry.key(), false));
  require_balance(evaluation);
  return evaluation;
}

std::vector<Evaluation> evaluations_at(const Json& content) {
  const Json& found = member(content, "evaluations");
  if (!found.is_array()) throw CertificateError("evaluations", "must be an array");
  std::vector<Evaluation> evaluations;
  for (const Json& evaluation : found) evaluations.push_back(evaluation_of(evaluation));
  return evaluations;
}

CertifiedAnswer guarantee_of(const Json& content) {
  allow_only(content, {"question", "answer", "claim", "method", "steps", "evaluations"}, "guarantees");
  CertifiedAnswer one;
  read_question(member(content, "question"), one);
  const Json& found = member(content, "answer");
  allow_only(found, {"lo", "hi", "log10"}, "answer");
  one.answer = interval_at(content, "answer");
  if (found.contains("log10")) {
    allow_only(found.at("log10"), {"lo", "hi"}, "log10");
    one.log10 = interval_at(found, "log10");
  }
  if (text_at(content, "claim") != claimed_end(one.ask))
    throw CertificateError("claim", "must name the end that may be claimed: lo for beta, hi otherwise");
  one.method = text_at(content, "method");
  one.steps = steps_at(content);
  one.evaluations = evaluations_at(content);
  return one;
}

/// A plan and the claims about it.
Charge charge_at(const Json& content) {
  Charge charge{plan_at(content), {}};
  const Json& found = member(content, "guarantees");
  if (!found.is_array() || found.empty()) throw CertificateError("guarantees", "must be an array that is not empty");
  for (const Json& one : found) charge.guarantees.push_back(guarantee_of(one));
  return charge;
}

CertificateKind kind_at(const Json& content) {
  const std::string& found = text_at(content, "kind");
  for (const auto& [value, word] : kinds)
    if (word == found) return value;
  throw CertificateError("kind", "must be answer, release or training, not " + shown(found));
}

Fields fields_of(const Json& content, const std::string& where) {
  if (!content.is_object()) throw CertificateError(where, "must be an object");
  Fields fields;
  for (const auto& entry : content.items()) fields[entry.key()] = text_at(content, entry.key());
  return fields;
}

std::vector<Fields> drawn_at(const Json& content) {
  const Json& found = member(content, "drawn");
  if (!found.is_array()) throw CertificateError("drawn", "must be an array");
  std::vector<Fields> drawn;
  for (const Json& one : found) drawn.push_back(fields_of(one, "drawn"));
  return drawn;
}

std::string sha256_at(const Json& content, const std::string& name) {
  const std::string& text = text_at(content, name);
  if (text.size() != 64 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw CertificateError(name, "must be a SHA-256 in 64 hexadecimal digits, not " + shown(text));
  return text;
}

}  // namespace

std::string_view to_word(Ask ask) {
  for (const AskWords& known : asks)
    if (known.ask == ask) return known.name;
  return {};
}

std::string_view argument_of(Ask ask) {
  for (const AskWords& known : asks)
    if (known.ask == ask) return known.argument;
  return {};
}

std::string_view to_word(CertificateKind kind) {
  for (const auto& [value, word] : kinds)
    if (value == kind) return word;
  return {};
}

std::string unit_of(const Plan& plan) {
  const double size = group_size(plan);
  return size == 1 ? "one record" : "a group of " + numeric::to_string(numeric::exact_decimal(size)) + " records";
}

std::string to_json(const CertificateDocument& document, bool on_one_line) {
  Json content = content_of(document);
  content["digest"] = digest_of(content);
  return on_one_line ? content.dump() : content.dump(2) + "\n";
}

CertificateDocument parse_certificate(std::string_view text) {
  Json content = read_json(text);
  if (text_at(content, "certificate") != format_name)
    throw CertificateError("certificate", std::string("must be '") + format_name + "', not " + shown(text_at(content, "certificate")));
  const std::string digest = text_at(content, "digest");
  content.erase("digest");
  if (digest_of(content) != digest) throw CertificateError("digest", "is not that of the content: it was changed after it was written");
  CertificateDocument document;
  document.kind = kind_at(content);
  document.version = text_at(content, "version");
  document.neighbours = neighbours_at(content);
  document.charged = charge_at(content);
  if (text_at(content, "unit") != unit_of(document.charged.plan))
    throw CertificateError("unit", "must be '" + unit_of(document.charged.plan) + "', which is what the plan says");
  const std::vector<std::string_view> common = {"certificate", "kind", "version", "neighbours", "unit", "plan", "items", "guarantees"};
  if (document.kind == CertificateKind::answer) {
    allow_only(content, common, "");
    return document;
  }
  const bool may_be_planned = document.kind == CertificateKind::training && content.contains("planned");
  if (may_be_planned) {
    allow_only(content.at("planned"), {"plan", "items", "guarantees"}, "planned");
    document.planned = charge_at(content.at("planned"));
  }
  std::vector<std::string_view> known(common);
  known.insert(known.end(), {"settings", "drawn", "released"});
  if (may_be_planned) known.emplace_back("planned");
  allow_only(content, known, "");
  document.settings = fields_of(member(content, "settings"), "settings");
  document.drawn = drawn_at(content);
  document.released = sha256_at(content, "released");
  return document;
}

}  // namespace tradeoff::detail::report
