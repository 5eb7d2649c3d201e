// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "analyze/parts_of_plan.h"
#include "bind.h"
#include "plan/lexer.h"
#include "plan/unknown.h"
#include "plan/vocabulary.h"
#include "report/paper_sentence.h"
#include "text.h"
#include "tradeoff/analyze.h"
#include "tradeoff/compare.h"
#include "tradeoff/sgd.h"

namespace tradeoff::detail::python {
namespace {

/// The plan followed by the operators; a plan of several lines is put into parentheses.
std::string apply(const std::string& text, const std::string& operators) {
  const std::string base = "gdp(1)|";  // any source: only the part after it is used
  try {
    Plan plan = parse(text);
    const Plan carrier = parse(base + operators);
    if (carrier.lines.size() != 1) throw ParseError("operators must be on one line", 0);
    if (plan.lines.size() != 1) plan = Plan{{Line{std::move(plan), {}}}};
    auto& applied = plan.lines.front().operators;
    applied.insert(applied.end(), carrier.lines.front().operators.begin(), carrier.lines.front().operators.end());
    return to_string(plan);
  } catch (const ParseError& error) {
    throw TextError(ParseError(error.what(), error.offset() - std::min(error.offset(), base.size())), operators);
  }
}

/// All of them on the same data.
std::string compose(const std::vector<std::string>& texts) {
  Plan all;
  for (const std::string& text : texts) {
    with_plan(text, [&](Plan plan) {
      std::move(plan.lines.begin(), plan.lines.end(), std::back_inserter(all.lines));
      return 0;
    });
  }
  return to_string(all);
}

std::string spell_number(const std::string& name, const std::string& text) {
  (void)read_argument(name.c_str(), text);
  return read_number(text).text;
}

/// Throws what the analysis throws for a number out of range; a plan with `?` is not checked.
void check_ranges(const Plan& plan) {
  if (count_unknowns(plan) == 0) (void)parts_of_plan(plan, Neighbours::unstated, {});
}

// A plan as nested lists and tuples, for conversions: lines are (source, operators), a source is a call or lines, a call is (name,
// {argument: value}), a value is the text of a number or a word, or a list of values, or lines.
nb::list to_tree(const Plan& plan);

nb::object to_tree(const Value& value) {
  if (const auto* number = std::get_if<Number>(&value.content)) return nb::cast(number->text);
  if (std::holds_alternative<Unknown>(value.content)) return nb::cast("?");
  if (const auto* text = std::get_if<std::string>(&value.content)) return nb::cast(*text);
  if (const auto* plan = std::get_if<Plan>(&value.content)) return to_tree(*plan);
  nb::list items;
  const bool tuple = std::holds_alternative<Tuple>(value.content);
  for (const Value& item : tuple ? std::get<Tuple>(value.content).items : std::get<List>(value.content).items) items.append(to_tree(item));
  return items;
}

nb::tuple to_tree(const Call& call) {
  nb::dict arguments;
  for (const Argument& argument : call.arguments) arguments[argument.name.c_str()] = to_tree(argument.value);
  return nb::make_tuple(call.name, arguments);
}

nb::list to_tree(const Plan& plan) {
  nb::list lines;
  for (const Line& line : plan.lines) {
    nb::list operators;
    for (const Call& call : line.operators) operators.append(to_tree(call));
    lines.append(nb::make_tuple(std::visit([](const auto& source) { return nb::object(to_tree(source)); }, line.source), operators));
  }
  return lines;
}

const char* role_word(Role role) {
  return role == Role::source ? "source" : role == Role::operation ? "operator" : role == Role::tail ? "tail" : "law";
}

nb::list list_vocabulary() {
  nb::list words;
  for (const Word& word : vocabulary()) {
    nb::list parameters;
    for (const Parameter& parameter : word.parameters) {
      parameters.append(nb::make_tuple(parameter.name, parameter.meaning, parameter.fallback, parameter.form));
    }
    words.append(nb::make_tuple(word.name, role_word(word.role), usage(word), word.meaning, relations_of(word), parameters));
  }
  return words;
}

/// A DP-SGD run in the arguments of Python, and the plan of it.
SgdRun sgd_run(const std::string& noise_multiplier, std::uint64_t batch, std::uint64_t examples, const std::optional<std::string>& epochs,
               const std::optional<std::uint64_t>& steps) {
  SgdRun run;
  run.noise_multiplier = noise_multiplier;
  run.batch = batch;
  run.examples = examples;
  run.steps = steps;
  if (epochs) {
    static_cast<void>(read_argument("epochs", *epochs));
    run.epochs = read_number(*epochs);
  }
  return run;
}

/// The plan of a run, its neighbours and, if a delta is given, the sentence for a paper.
nb::tuple sgd(const std::string& noise_multiplier, std::uint64_t batch, std::uint64_t examples, const std::optional<std::string>& epochs,
              const std::optional<std::uint64_t>& steps, const std::string& sampling, const std::string& neighbours, bool reuse,
              const std::optional<std::uint64_t>& groups, const std::optional<std::uint64_t>& at_most, std::uint64_t per_user,
              std::uint64_t layers, const std::optional<std::string>& count_noise, const std::vector<std::string>& further,
              bool noise_is_total, const std::string& matrix, const std::optional<std::string>& delta) {
  SgdRun run = sgd_run(noise_multiplier, batch, examples, epochs, steps);
  run.sampling = read_sampling(sampling);
  run.neighbours = read_neighbours(neighbours);
  run.reuse = reuse;
  run.groups = groups;
  run.at_most = at_most;
  run.per_user = per_user;
  run.layers = layers;
  if (count_noise) run.count_noise = read_number(*count_noise);
  for (const std::string& one : further) run.further_noise_multipliers.push_back(read_number(one));
  run.noise_is_total = noise_is_total;
  run.matrix = matrix;
  const SgdPlan training = to_plan(run);
  std::string sentence;
  if (delta) {
    static_cast<void>(read_argument("delta", *delta));
    const Number at = read_number(*delta);
    if (!(at.value.lo >= 0 && at.value.hi <= 1)) throw DomainError("delta = " + *delta + " is not allowed; it must be between 0 and 1");
    const nb::gil_scoped_release unlocked;
    sentence = report::sentence_for_paper(run, analyze(parse(training.plan), training.neighbours).epsilon_at(at), at);
  }
  return nb::make_tuple(training.plan, neighbours_word(training.neighbours), sentence);
}

/// The rows of a comparison of samplers: sampler, neighbours, plan, what it assumes, the ends of epsilon, and why it was refused.
nb::list samplers(const std::string& noise_multiplier, std::uint64_t batch, std::uint64_t examples,
                  const std::optional<std::string>& epochs, const std::optional<std::uint64_t>& steps,
                  const std::optional<std::uint64_t>& groups, const std::optional<std::uint64_t>& at_most, const std::string& delta) {
  SgdRun run = sgd_run(noise_multiplier, batch, examples, epochs, steps);
  run.groups = groups;
  run.at_most = at_most;
  static_cast<void>(read_argument("delta", delta));
  const std::vector<SamplerRow> rows = [&] {
    const nb::gil_scoped_release release;
    return compare_samplers(run, read_number(delta));
  }();
  nb::list found;
  for (const SamplerRow& row : rows)
    found.append(nb::make_tuple(row.sampler, neighbours_word(row.training ? row.training->neighbours : row.run.neighbours),
                                row.training ? row.training->plan : "", row.training ? row.training->remark : "", row.epsilon.lo,
                                row.epsilon.hi, row.refused));
  return found;
}

}  // namespace

void bind_plans(nb::module_& module) {
  using namespace nb::literals;
  module.def(
      "canonical", [](const std::string& text) { return with_plan(text, [](const Plan& plan) { return to_string(plan); }); }, "text"_a);
  module.def(
      "with_tables", [](const std::string& text) { return with_plan(text, [](const Plan& plan) { return to_string(with_tables(plan)); }); },
      "text"_a);
  module.def(
      "check_ranges", [](const std::string& text) { with_plan(text, [](const Plan& plan) { return check_ranges(plan), 0; }); }, "text"_a);
  module.def(
      "count_lines", [](const std::string& text) { return with_plan(text, [](const Plan& plan) { return plan.lines.size(); }); }, "text"_a);
  module.def(
      "count_unknowns", [](const std::string& text) { return with_plan(text, [](const Plan& plan) { return count_unknowns(plan); }); },
      "text"_a);
  module.def(
      "substitute",
      [](const std::string& text, double value) {
        return with_plan(text, [&](Plan plan) { return to_string(substitute(std::move(plan), exact_number(value))); });
      },
      "text"_a, "value"_a);
  module.def(
      "substitute_text",
      [](const std::string& text, const std::string& value) {
        return with_plan(text, [&](Plan plan) { return to_string(substitute(std::move(plan), read_number(value))); });
      },
      "text"_a, "value"_a);
  module.def(
      "tree", [](const std::string& text) { return with_plan(text, [](const Plan& plan) { return to_tree(plan); }); }, "text"_a,
      nb::sig("def tree(text: str) -> list[typing.Any]"));
  module.def("apply", apply, "text"_a, "operators"_a);
  module.def("compose", compose, "texts"_a);
  module.def(
      "sgd", sgd, "noise_multiplier"_a, "batch"_a, "examples"_a, "epochs"_a.none(), "steps"_a.none(), "sampling"_a, "neighbours"_a,
      "reuse"_a, "groups"_a.none(), "at_most"_a.none(), "per_user"_a, "layers"_a, "count_noise"_a.none(), "further"_a, "noise_is_total"_a,
      "matrix"_a, "delta"_a.none(),
      nb::sig("def sgd(noise_multiplier: str, batch: int, examples: int, epochs: str | None, steps: int | None, sampling: str, "
              "neighbours: str, reuse: bool, groups: int | None, at_most: int | None, per_user: int, layers: int, count_noise: str | None, "
              "further: Sequence[str], noise_is_total: bool, matrix: str, delta: str | None) -> tuple[str, str, str]"));
  module.def(
      "batch_of_rate",
      [](const std::string& rate, const std::optional<std::uint64_t>& examples, const std::string& sampling) {
        static_cast<void>(read_argument("sample_rate", rate));
        const BatchOfRate found = batch_of_rate(read_number(rate), examples, read_sampling(sampling));
        return nb::make_tuple(found.batch, found.examples);
      },
      "rate"_a, "examples"_a.none(), "sampling"_a,
      nb::sig("def batch_of_rate(rate: str, examples: int | None, sampling: str) -> tuple[int, int]"));
  module.def(
      "samplers", samplers, "noise_multiplier"_a, "batch"_a, "examples"_a, "epochs"_a.none(), "steps"_a.none(), "groups"_a.none(),
      "at_most"_a.none(), "delta"_a,
      nb::sig(
          "def samplers(noise_multiplier: str, batch: int, examples: int, epochs: str | None, "
          "steps: int | None, groups: int | None, at_most: int | None, delta: str) -> list[tuple[str, str, str, str, float, float, str]]"));
  module.def("spell_number", spell_number, "name"_a, "text"_a);
  module.def("quote", [](const std::string& text) { return quote(text); }, "text"_a);
  module.def("point_at", [](const std::string& text, std::size_t offset) { return point_at(text, offset); }, "text"_a, "offset"_a);
  module.def("vocabulary", list_vocabulary,
             nb::sig("def vocabulary() -> list[tuple[str, str, str, str, str, list[tuple[str, str, str, int]]]]"));
}

}  // namespace tradeoff::detail::python
