// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "ask/estimate.h"
#include "numeric/number_text.h"
#include "report/claim.h"
#include "streams.h"
#include "tradeoff/analyze.h"
#include "verb.h"

namespace tradeoff::detail::cli {
namespace {

using ask::significant;
using ask::write_estimate;

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

ExitCode run_limit(const Verb& verb, const Options& options) {
  return options.plan == "table" ? write_table(options) : run_ask(verb, options);
}

}  // namespace tradeoff::detail::cli
