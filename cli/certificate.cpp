// SPDX-License-Identifier: Apache-2.0
#include "certificate.h"

#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

#include "mechanism/vocabulary.h"
#include "noise/digest.h"
#include "numeric/number_text.h"
#include "report/claim.h"

namespace tradeoff::cli {
namespace {

using Json = nlohmann::json;  // members in the order of their names: the canonical form needs no sorting of its own

constexpr const char* format_name = "tradeoff answer 1";
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

Json content_of(const AnswerCertificate& certificate) {
  Json answer = json_of(certificate.answer);
  if (certificate.log10) answer["log10"] = json_of(*certificate.log10);
  Json steps = Json::array();
  for (const Step& step : certificate.steps) steps.push_back({{"theorem", step.theorem}, {"detail", step.detail}});
  std::string_view direction;
  for (const auto& [value, word] : directions)
    if (value == certificate.direction) direction = word;
  return {{"certificate", format_name},
          {"version", certificate.version},
          {"plan", to_string(certificate.plan)},
          {"items", items_of(certificate.plan)},
          {"neighbours", report::to_word(certificate.neighbours)},
          {"question",
           {{"ask", certificate.ask},
            {std::string(field_of_ask(certificate.ask)), certificate.at},
            {"direction", direction},
            {"relative", certificate.relative}}},
          {"answer", std::move(answer)},
          {"claim", certificate.ask == "beta" ? "lo" : "hi"},
          {"method", certificate.method},
          {"steps", std::move(steps)}};
}

// ---- reading ----

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
    throw CertificateError("", std::string("is not JSON: ") + std::string(error.what()).substr(0, 200));
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

void read_question(const Json& question, AnswerCertificate& certificate) {
  certificate.ask = text_at(question, "ask");
  const std::string field(field_of_ask(certificate.ask));
  if (field.empty()) throw CertificateError("ask", "must be delta, epsilon, beta or tpr, not " + shown(certificate.ask));
  allow_only(question, {"ask", field, "direction", "relative"}, "question");
  certificate.at = number_at(question, field, certificate.ask == "delta");
  certificate.relative = number_at(question, "relative", false);
  const std::string& direction = text_at(question, "direction");
  bool known = false;
  for (const auto& [value, word] : directions) {
    if (word != direction) continue;
    certificate.direction = value;
    known = true;
  }
  if (!known) throw CertificateError("direction", "must be worst, remove or add, not " + shown(direction));
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
  allow_only(content, {"certificate", "version", "plan", "items", "neighbours", "question", "answer", "claim", "method", "steps", "digest"},
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
  if (text_at(content, "claim") != (certificate.ask == "beta" ? "lo" : "hi"))
    throw CertificateError("claim", "must name the end that may be claimed: lo for beta, hi otherwise");
  return certificate;
}

}  // namespace tradeoff::cli
