// SPDX-License-Identifier: Apache-2.0
#if !defined(_WIN32)
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "command_request.h"
#include "numeric/number_text.h"
#include "plan/neighbours.h"
#include "report/claim.h"
#include "report/exact_numbers.h"
#include "report/json.h"
#include "streams.h"
#include "system.h"
#include "tradeoff/analyze.h"
#include "tradeoff/error.h"
#include "tradeoff/version.h"

namespace tradeoff::detail::cli {
namespace {

using Json = nlohmann::json;

constexpr std::size_t longest_claim = 1'000'000;

/// What somebody claims about a plan: an (epsilon, delta) guarantee.
struct StatedClaim {
  std::string plan;
  std::string neighbours;
  std::string epsilon;
  std::string delta;
};

/// A claim in a form that the Python package reads.
struct OtherForm {
  std::string why;
};

/// The block of a model card that states the claim, or the whole text.
std::string block_of(const std::string& text, const std::string& path) {
  if (!path.ends_with(".md")) return text;
  std::vector<std::string> found;
  for (std::size_t at = text.find("```"); at != std::string::npos; at = text.find("```", at)) {
    const std::size_t start = text.find('\n', at), end = start == std::string::npos ? start : text.find("\n```", start);
    if (end == std::string::npos) break;
    const std::string block = text.substr(start + 1, end - start);
    if (block.find("\"what was run\"") != std::string::npos) found.push_back(block);
    at = end + 4;
  }
  if (found.empty() && (text.find("what was run") != std::string::npos || text.find("privacy:") != std::string::npos))
    throw OtherForm{"'" + path + "': a claim in YAML"};
  if (found.size() != 1)
    throw InputError("'" + path + "': the model card has " + std::to_string(found.size()) +
                     " blocks with \"what was run\"; it must have one");
  return found.front();
}

/// A number as it was written, or as its shortest decimal.
std::string number_text(const Json& value, const std::string& name) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  throw DomainError("claim: '" + name + "' must be a number, or a number as text");
}

std::string text_of(const Json& value, const std::string& name) {
  if (value.is_string()) return value.get<std::string>();
  if (name == "what was run" && value.is_object()) throw OtherForm{"claim: '" + name + "' that is no plan"};
  throw DomainError("claim: '" + name + "' must be a text");
}

StatedClaim read_claim(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("cannot read the claim '" + path + "': " + std::strerror(errno));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.size() > longest_claim) throw InputError("'" + path + "' is longer than 1 MB");
  if (!path.ends_with(".json") && !path.ends_with(".md")) throw OtherForm{"'" + path + "': a file that is neither .json nor .md"};
  Json form;
  try {
    form = Json::parse(block_of(text, path));
  } catch (const Json::parse_error& error) {
    throw InputError("'" + path + "' is no claim: it is not JSON; byte " + std::to_string(error.byte) + " is not expected there");
  }
  if (!form.is_object()) throw DomainError("claim: it must be an object with \"what was run\" and \"claimed\"");
  StatedClaim claim;
  for (const auto& [name, value] : form.items()) {
    if (name == "what was run")
      claim.plan = text_of(value, name);
    else if (name == "neighbours")
      claim.neighbours = text_of(value, name);
    else if (name == "claimed" && value.is_object())
      for (const auto& [quantity, number] : value.items()) {
        if (quantity == "mu" || quantity == "slack" || quantity == "advantage") throw OtherForm{"claim: a claimed " + quantity};
        if (quantity != "epsilon" && quantity != "delta")
          throw DomainError("claim: claimed '" + quantity.substr(0, 40) +
                            "' is not known; known are epsilon and delta, mu (and slack), advantage");
        (quantity == "epsilon" ? claim.epsilon : claim.delta) = number_text(number, quantity);
      }
    else if (name != "name")
      throw DomainError("claim: the member '" + name.substr(0, 40) + "' is not known; known are what was run, claimed, neighbours, name");
  }
  if (claim.plan.empty()) throw DomainError("claim: \"what was run\" is missing");
  if (claim.epsilon.empty() || claim.delta.empty()) throw DomainError("claim: \"claimed\" needs an epsilon and a delta");
  return claim;
}

ask::Answer ask_about(const StatedClaim& claim, const char* question, ask::CurveCache& curves) {
  ask::Request request(*ask::find_question(question), curves, ask::Source::json);
  request.take("plan", claim.plan);
  if (!claim.neighbours.empty()) request.take("neighbours", claim.neighbours);
  if (request.question().find_field("epsilon") != nullptr) request.take("epsilon", claim.epsilon);
  request.take("delta", claim.delta);
  request.complete();
  return ask::answer(request);
}

/// The argument of a call with this name, if it is the only one and a number.
const Number* only_number(const Call& call, std::string_view name, std::string_view argument) {
  if (call.name != name || call.arguments.size() != 1 || call.arguments.front().name != argument) return nullptr;
  return std::get_if<Number>(&call.arguments.front().value.content);
}

/// The same steps if every record takes part once in an epoch, as loaders that shuffle do: proved without amplification by sampling, for
/// records whose contribution is set to zero. Empty for other plans.
std::string plan_if_shuffled(const Plan& plan) {
  const Line& line = plan.lines.front();
  const Call* source = std::get_if<Call>(&line.source);
  if (plan.lines.size() != 1 || source == nullptr || line.operators.size() != 2) return {};
  const Number *sigma = only_number(*source, "gaussian", "sigma"), *rate = only_number(line.operators[0], "poisson", "rate"),
               *steps = only_number(line.operators[1], "repeat", "times");
  if (sigma == nullptr || rate == nullptr || steps == nullptr) return {};
  const double passes = std::ceil(rate->value.hi * steps->value.hi * (1 - 1e-12));
  return "gaussian(sigma=" + sigma->text + ") | repeat(" + std::to_string(static_cast<std::uint64_t>(std::max(1.0, passes))) + ")";
}

#if defined(_WIN32)
/// Other forms of claims are read by `python -m tradeoff opinion` alone.
std::optional<int> run_program(const std::vector<std::string>&, bool) { return std::nullopt; }
#else
/// Runs a program with the streams of this one; its exit code, or nothing if it cannot be started.
std::optional<int> run_program(const std::vector<std::string>& words, bool silent) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  if (silent) posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments.front(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  if (failed != 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return std::nullopt;
  return WEXITSTATUS(status);
}
#endif

/// The package for Python, if the Python beside this program or that of the PATH has it, judges the claim.
ExitCode ask_python(const OtherForm& form, const std::string& path, bool json) {
  const std::filesystem::path beside = own_folder() / "python3";
  for (const std::string& python : {beside.string(), std::string("python3")}) {
    if (run_program({python, "-c", "import tradeoff._opinion"}, true) != 0) continue;
    std::vector<std::string> words = {python, "-m", "tradeoff", "opinion"};
    if (json) words.emplace_back("--json");
    words.push_back(path);
    const std::optional<int> code = run_program(words, false);
    for (const ExitCode known : {ExitCode::done, ExitCode::check_failed, ExitCode::bad_input, ExitCode::undecided})
      if (code == static_cast<int>(known)) return known;
    throw InputError("'" + path + "': the package tradeoff of " + python + " ended without an opinion");
  }
  throw InputError(
      form.why +
      " is read by the package tradeoff for Python, which is not installed here; install it (`pip install .` in its sources), then use "
      "this command or `python -m tradeoff opinion FILE`");
}

std::string exact_epsilon_of(const Plan& plan, const std::string& delta, Interval found) {
  const auto value = numeric::enclose_decimal(delta);
  return value ? report::exact_epsilon(plan, {delta, *value}, found) : std::string();
}

struct Judgement {
  std::string word;
  ExitCode code;
};
Judgement judge(ask::Outcome outcome) {
  if (outcome == ask::Outcome::answered) return {"holds", ExitCode::done};
  if (outcome == ask::Outcome::no) return {"fails", ExitCode::check_failed};
  return {"undecided", ExitCode::undecided};
}

}  // namespace

ExitCode run_opinion(const Verb&, const Options& options) {
  if (options.further.size() != 1) {
    write_error("tradeoff: opinion reads one claim; see tradeoff opinion --help\n");
    return ExitCode::bad_usage;
  }
  StatedClaim claim;
  try {
    claim = read_claim(options.further.front());
  } catch (const OtherForm& form) {
    return ask_python(form, options.further.front(), options.json);
  }
  ask::CurveCache curves;
  const Judgement verdict = judge(ask_about(claim, "check", curves).outcome);
  const ask::Answer certified = ask_about(claim, "epsilon", curves);
  const Neighbours neighbours = certified.curve->neighbours();
  const Plan parsed = parse(claim.plan);
  const std::string plan = to_string(parsed), other = plan_if_shuffled(parsed);
  std::optional<Interval> shuffled;
  if (!other.empty()) shuffled = ask_about({other, "zero-out", claim.epsilon, claim.delta}, "epsilon", curves).value;
  if (options.json) {
    report::JsonWriter out;
    out.begin_object().key("verdict").text(verdict.word).key("claimed").begin_object().key("epsilon").text(claim.epsilon);
    out.key("delta").text(claim.delta).end_object().key("certified").begin_object().key("epsilon").interval(*certified.value).end_object();
    out.key("plan").text(plan).key("neighbours").text(report::to_word(neighbours)).key("if_shuffled");
    if (shuffled) {
      out.begin_object().key("plan").text(other).key("epsilon").interval(*shuffled).end_object();
    } else {
      out.null();
    }
    write_out(out.key("version").text(TRADEOFF_VERSION).end_object().str() + "\n");
    return verdict.code;
  }
  std::string text = verdict.word + ": the claim epsilon = " + claim.epsilon + " at delta = " + claim.delta + "\n";
  const report::Claim found{
      "epsilon", *certified.value, report::SafeEnd::hi, "", {}, exact_epsilon_of(parsed, claim.delta, *certified.value)};
  text += "    certified: epsilon " + proof_of(found) + "\n    what was run: " + plan + "\n";
  text += "    assumed: the plan is what was run, its sampling included; neighbours: " + std::string(report::to_word(neighbours)) + "\n";
  if (shuffled)
    text += "    if the loader shuffles instead: epsilon <= " + report::claimed(*shuffled, report::SafeEnd::hi) + " is proved, by " +
            other + "\n";
  write_out(text);
  return verdict.code;
}

}  // namespace tradeoff::detail::cli
