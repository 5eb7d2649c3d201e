// SPDX-License-Identifier: Apache-2.0
#include "certificate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "mechanism/vocabulary.h"
#include "noise/digest.h"
#include "numeric/arithmetic.h"
#include "numeric/number_text.h"
#include "report/claim.h"

namespace tradeoff::cli {
namespace {

using Json = nlohmann::json;  // members in the order of their names: the canonical form needs no sorting of its own

constexpr const char* format_name = "tradeoff answer 2";
constexpr std::size_t size_limit = 1'000'000;  // a certificate of a long plan has some thousand bytes
constexpr int depth_limit = 64;                // plans in plans; the parser of plans has a limit of its own
constexpr std::size_t shown_limit = 60;

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> questions = {
    {{"delta", "epsilon"}, {"epsilon", "delta"}, {"beta", "alpha"}, {"tpr", "fpr"}}};
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
  if (const Word* word = find_word(role, call.name)) {
    for (const Parameter& parameter : word->parameters)
      if (!parameter.fallback.empty() && !arguments.contains(parameter.name)) arguments[std::string(parameter.name)] = parameter.fallback;
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

// ---- writing ----

/// Decimals that enclose the interval, whoever reads them.
Json json_of(Interval interval) { return {{"lo", numeric::to_text_below(interval.lo)}, {"hi", numeric::to_text_above(interval.hi)}}; }

std::string digest_of(const Json& content) {
  try {
    return noise::sha256(content.dump());
  } catch (const Json::exception&) {  // bytes that are not UTF-8
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

Json content_of(const AnswerCertificate& certificate) {
  Json answer = json_of(certificate.answer);
  if (certificate.log10) answer["log10"] = json_of(*certificate.log10);
  Json steps = Json::array();
  for (const Step& step : certificate.steps) steps.push_back({{"theorem", step.theorem}, {"detail", step.detail}});
  Json evaluations = Json::array();
  for (const Evaluation& evaluation : certificate.evaluations) evaluations.push_back(json_of(evaluation));
  return {{"certificate", format_name},
          {"version", certificate.version},
          {"plan", to_string(certificate.plan)},
          {"items", items_of(certificate.plan)},
          {"neighbours", report::to_word(certificate.neighbours)},
          {"question",
           {{"ask", certificate.ask},
            {std::string(field_of_ask(certificate.ask)), certificate.at},
            {"direction", word_of(certificate.direction)},
            {"relative", certificate.relative}}},
          {"answer", std::move(answer)},
          {"claim", certificate.ask == "beta" ? "lo" : "hi"},
          {"method", certificate.method},
          {"steps", std::move(steps)},
          {"evaluations", std::move(evaluations)}};
}

// ---- reading ----

/// Where the text ceases to be JSON, in our own words.
std::string what_is_wrong(std::string_view text, const Json::exception& error) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return "is empty";
  const auto* place = dynamic_cast<const Json::parse_error*>(&error);
  if (place == nullptr || place->byte > text.size())
    return "ends in the middle: the file was cut off after " + std::to_string(text.size()) + " bytes";
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place->byte), '\n');
  return "is not JSON: wrong at byte " + std::to_string(place->byte) + ", line " + std::to_string(line);
}

/// The JSON, or the reason why it is none; a key that is there twice means different things to different readers.
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

void allow_only(const Json& object, std::initializer_list<std::string_view> names, const std::string& where) {
  if (!object.is_object()) throw CertificateError(where, "must be an object");
  for (const auto& entry : object.items()) {
    bool known = false;
    for (const std::string_view name : names) known = known || name == entry.key();
    if (!known) throw CertificateError(entry.key().substr(0, shown_limit), "is not known" + (where.empty() ? "" : " in '" + where + "'"));
  }
}

/// An end as the double it was printed from. Anything but that printing is refused, so nothing is lost or gained by reading.
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

void read_question(const Json& question, AnswerCertificate& certificate) {
  certificate.ask = text_at(question, "ask");
  const std::string field(field_of_ask(certificate.ask));
  if (field.empty()) throw CertificateError("ask", "must be delta, epsilon, beta or tpr, not " + shown(certificate.ask));
  allow_only(question, {"ask", field, "direction", "relative"}, "question");
  certificate.at = number_at(question, field, certificate.ask == "delta");
  certificate.relative = number_at(question, "relative", false);
  certificate.direction = direction_at(question);
}

Neighbours neighbours_at(const Json& content) {
  const std::string& word = text_at(content, "neighbours");
  for (const Neighbours value : {Neighbours::unstated, Neighbours::add_remove, Neighbours::replace_one})
    if (word == report::to_word(value)) return value;
  throw CertificateError("neighbours", "must be add-remove, replace-one or unstated, not " + shown(word));
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

/// A positive integer as it was printed.
std::uint64_t count_at(const Json& object, const std::string& name) {
  const std::string& text = text_at(object, name);
  std::uint64_t count = 0;
  const auto [last, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (failure != std::errc{} || last != text.data() + text.size() || count == 0 || std::to_string(count) != text)
    throw CertificateError(name, "must be a positive integer, not " + shown(text));
  return count;
}

/// The errors are bounds, and the enclosure contains all of them.
void require_balance(const Evaluation& evaluation) {
  double sum = 0;
  for (const auto& [name, error] : evaluation.errors) {
    if (!(error >= 0)) throw CertificateError(name, "bounds an error and cannot be negative");
    sum += error;
  }
  const Interval& log = evaluation.log_delta;
  const double width = log.width() == 0 ? 0 : std::expm1(log.width());
  // Sums in another order, and the rounding of the width.
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

}  // namespace

std::string_view field_of_ask(std::string_view ask) {
  for (const auto& [name, field] : questions)
    if (name == ask) return field;
  return {};
}

std::string to_json(const AnswerCertificate& certificate) {
  Json content = content_of(certificate);
  content["digest"] = digest_of(content);
  return content.dump(2) + "\n";
}

AnswerCertificate parse_certificate(std::string_view text) {
  Json content = read_json(text);
  allow_only(
      content,
      {"certificate", "version", "plan", "items", "neighbours", "question", "answer", "claim", "method", "steps", "evaluations", "digest"},
      "");
  if (text_at(content, "certificate") != format_name) throw CertificateError("certificate", std::string("must be '") + format_name + "'");
  const std::string digest = text_at(content, "digest");
  content.erase("digest");
  if (digest_of(content) != digest) throw CertificateError("digest", "is not that of the content: it was changed after it was written");
  AnswerCertificate certificate;
  certificate.version = text_at(content, "version");
  certificate.plan = plan_at(content);
  certificate.neighbours = neighbours_at(content);
  read_question(member(content, "question"), certificate);
  const Json& answer = member(content, "answer");
  allow_only(answer, {"lo", "hi", "log10"}, "answer");
  certificate.answer = interval_at(content, "answer");
  if (answer.contains("log10")) {
    allow_only(answer.at("log10"), {"lo", "hi"}, "log10");
    certificate.log10 = interval_at(answer, "log10");
  }
  certificate.method = text_at(content, "method");
  certificate.steps = steps_at(content);
  certificate.evaluations = evaluations_at(content);
  if (text_at(content, "claim") != (certificate.ask == "beta" ? "lo" : "hi"))
    throw CertificateError("claim", "must name the end that may be claimed: lo for beta, hi otherwise");
  return certificate;
}

}  // namespace tradeoff::cli
