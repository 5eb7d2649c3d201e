// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "asks.h"
#include "estimate.h"
#include "inquiry.h"
#include "numeric/number_text.h"
#include "report/claim.h"
#include "report/json.h"
#include "streams.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"

namespace tradeoff::cli {
namespace {

std::string significant(double value, int digits) {
  if (!(std::abs(value) < Interval::whole().hi)) return "inf";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, digits).ptr;
  return {buffer.data(), end};
}

/// How an estimate compares with what is certain.
std::string judgement(double estimate, Interval exact) {
  if (!(exact.hi < Interval::whole().hi)) return "";
  if (estimate < exact.lo) {
    const double short_by = exact.lo - estimate;
    return "UNDER-REPORTS by " + significant(short_by, 3) + " (" + significant(100 * short_by / exact.lo, 3) + " %): not a guarantee";
  }
  if (estimate > exact.hi) return "over-reports by " + significant(100 * (estimate - exact.hi) / exact.hi, 3) + " %";
  return "within the certified interval";
}

/// One thing that a limit theorem says, or why it says nothing.
template <class Value>
struct Said {
  std::optional<Value> value;
  std::string refusal;
};

template <class Ask>
auto ask(Ask&& question) -> Said<decltype(question())> {
  try {
    return {question(), {}};
  } catch (const UnsupportedError& error) {
    return {std::nullopt, error.what()};
  }
}

struct Comparison {
  std::string quantity;   // epsilon or delta
  std::string condition;  // "at delta = 1e-5"
  Interval exact;
  Said<Estimate> clt, edgeworth;
  Said<Interval> berry_esseen;
  std::optional<double> mu;
  std::vector<std::string> theorems;
};

Comparison compare(const Question& question, const Curve& curve) {
  const bool at_delta = question.has("delta");
  if (at_delta == question.has("epsilon")) throw RequestError("domain", "limit: give delta or epsilon, one of them", "delta", 0);
  const Interval given = at_delta ? question.probability("delta") : question.at_least_zero("epsilon");
  const Plan plan = question.plan();
  const Neighbours neighbours = question.neighbours();
  Comparison found;
  found.quantity = at_delta ? "epsilon" : "delta";
  found.condition = at_delta ? "at delta = " + question.text("delta") : "at epsilon = " + question.text("epsilon");
  found.exact = at_delta ? curve.epsilon_at(given, question.direction()) : curve.delta_at(given, question.direction());
  const auto clt = ask([&] { return central_limit(plan, neighbours, question.tolerance()); });
  found.clt.refusal = clt.refusal;
  if (clt.value) {
    found.mu = clt.value->mu.value();
    found.theorems = clt.value->theorems;
    found.clt.value = at_delta ? clt.value->epsilon_at(given.hi) : clt.value->delta_at(given.hi);
  }
  found.edgeworth = ask([&] {
    const Edgeworth expansion = edgeworth(plan, neighbours, question.tolerance());
    return at_delta ? expansion.epsilon_at(given.hi) : expansion.delta_at(given.hi);
  });
  found.berry_esseen = ask([&] {
    const BerryEsseen bound = berry_esseen(plan, neighbours, question.tolerance());
    return at_delta ? bound.epsilon_at(given) : bound.delta_at(given);
  });
  return found;
}

void write_json(const Comparison& found, report::JsonWriter& out) {
  out.begin_object().key("quantity").text(found.quantity).key("exact").interval(found.exact);
  const auto estimate = [&](const char* name, const Said<Estimate>& said) {
    out.key(name);
    if (said.value)
      write_estimate(out, *said.value);
    else
      out.begin_object().key("refused").text(said.refusal).end_object();
  };
  estimate("clt", found.clt);
  if (found.mu) write_estimate(out.key("mu"), Estimate(*found.mu));
  estimate("edgeworth", found.edgeworth);
  out.key("berry_esseen");
  if (found.berry_esseen.value)
    out.interval(*found.berry_esseen.value);
  else
    out.begin_object().key("refused").text(found.berry_esseen.refusal).end_object();
  if (found.clt.value) {
    const double value = found.clt.value->value();
    out.key("clt_verdict").text(value < found.exact.lo ? "under_reports" : value > found.exact.hi ? "over_reports" : "within");
    write_estimate(out.key("clt_short_by"), Estimate(std::max(0.0, found.exact.lo - value)));
  }
  out.end_object();
}

std::string to_lines(const Comparison& found, const report::Style& style) {
  std::string text = to_text(report::Claim{found.quantity, found.exact, report::SafeEnd::hi, found.condition, {}}, style);
  const auto estimate = [&](const char* name, const Said<Estimate>& said) {
    text += "  " + std::string(name);
    text += said.value ? " ~ " + significant(said.value->value(), 6) + "   " + judgement(said.value->value(), found.exact)
                       : ": " + said.refusal;
    text += "\n";
  };
  estimate("central limit", found.clt);
  if (found.mu) {
    text += "    mu ~ " + significant(*found.mu, 6);
    for (const std::string& theorem : found.theorems) text += "; " + theorem;
    text += "\n";
  }
  estimate("Edgeworth", found.edgeworth);
  text += "  Berry-Esseen, a guarantee";
  if (!found.berry_esseen.value)
    text += ": " + found.berry_esseen.refusal;
  else if (found.berry_esseen.value->hi < Interval::whole().hi)
    text += ": " + found.quantity + " <= " + report::safe_end(*found.berry_esseen.value, report::SafeEnd::hi, 6);
  else
    text += ": nothing, this delta is below its floor";
  return text + "\n";
}

/// Settings from the literature: noise, sampling rate, steps, delta.
struct Setting {
  const char* sigma;
  const char* rate;
  const char* steps;
  const char* delta;
};
constexpr std::array<Setting, 10> settings = {{
    {"1", "0.01", "1000", "1e-5"},
    {"1", "0.01", "1000", "1e-8"},
    {"0.8", "0.005", "10000", "1e-5"},
    {"2", "0.02", "5000", "1e-5"},
    {"4", "0.1", "500", "1e-6"},
    {"1", "0.1", "100", "1e-5"},
    {"0.6", "0.001", "50000", "1e-6"},
    {"1.3", "256/60000", "3516", "1e-5"},
    {"1.1", "256/60000", "14063", "1e-5"},
    {"0.7", "256/60000", "10547", "1e-5"},
}};

struct TableRow {
  Setting setting;
  Interval remove, add, uniform;
  Estimate poisson_clt, uniform_clt;
};

TableRow fill(const Setting& setting) {
  const Interval delta = *numeric::enclose_decimal(setting.delta);
  const std::string noise = "gaussian(sigma=" + std::string(setting.sigma) + ") | ";
  const std::string rest = "(rate=" + std::string(setting.rate) + ") | repeat(" + setting.steps + ")";
  const Plan poisson = parse(noise + "poisson" + rest);
  const Plan uniform = parse(noise + "sample" + rest);
  const Curve curve = analyze(poisson);
  return {setting,
          curve.epsilon_at(delta, Direction::remove),
          curve.epsilon_at(delta, Direction::add),
          analyze(uniform).epsilon_at(delta),
          central_limit(poisson).epsilon_at(delta.hi),
          central_limit(uniform).epsilon_at(delta.hi)};
}

std::string right_aligned(std::string text, std::size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

std::string table_line(const TableRow& row) {
  const auto safe = [](Interval value) { return right_aligned(report::safe_end(value, report::SafeEnd::hi, 6), 10); };
  const auto marked = [](Estimate estimate, Interval exact) {
    return right_aligned(significant(estimate.value(), 6), 11) + (estimate.value() < exact.lo ? " <" : "  ");
  };
  const Interval worst{std::max(row.remove.lo, row.add.lo), std::max(row.remove.hi, row.add.hi)};
  return right_aligned(row.setting.sigma, 5) + right_aligned(row.setting.rate, 11) + right_aligned(row.setting.steps, 7) +
         right_aligned(row.setting.delta, 7) + safe(row.remove) + safe(row.add) + marked(row.poisson_clt, worst) + safe(row.uniform) +
         marked(row.uniform_clt, row.uniform) + "\n";
}

void write_json(const TableRow& row, report::JsonWriter& out) {
  out.begin_object().key("sigma").text(row.setting.sigma).key("rate").text(row.setting.rate).key("steps").text(row.setting.steps);
  out.key("delta").text(row.setting.delta).key("remove").interval(row.remove).key("add").interval(row.add);
  write_estimate(out.key("poisson_clt"), row.poisson_clt);
  out.key("uniform").interval(row.uniform);
  write_estimate(out.key("uniform_clt"), row.uniform_clt).end_object();
}

ExitCode write_table(const Options& options) {
  report::JsonWriter out;
  out.begin_object().key("answer").begin_array();
  if (!options.json) {
    write_out(
        "Epsilon of private training, certified, and what central limit theorems say instead (< marks an estimate below the truth):\n"
        "sigma       rate  steps  delta    remove       add  Poisson CLT   samples   CLT (Cor. 4)\n");
  }
  for (const Setting& setting : settings) {
    const TableRow row = fill(setting);
    if (options.json)
      write_json(row, out);
    else
      write_out(table_line(row));
  }
  if (options.json) write_out(out.end_array().end_object().str() + "\n");
  return ExitCode::done;
}

}  // namespace

Answer answer_limit(const Question& question) {
  const auto curve = question.curve();
  const auto found = std::make_shared<const Comparison>(compare(question, *curve));
  return {[found](report::JsonWriter& out) { write_json(*found, out); },
          [found](const report::Style& style) { return to_lines(*found, style); }, curve};
}

ExitCode run_limit(const Verb& verb, const Options& options) {
  return options.plan == "table" ? write_table(options) : run_ask(verb, options);
}

}  // namespace tradeoff::cli
