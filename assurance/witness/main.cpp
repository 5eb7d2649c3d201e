// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tradeoff/error.h"
#include "witness.h"

// The witness as a program:
//   tradeoff-witness delta   --epsilon E [--direction D] [--neighbours N] [--confirm LO HI] PLAN
//   tradeoff-witness epsilon --delta D --confirm LO HI [--direction D] [--neighbours N] PLAN
// Exit codes: 0 answered or confirmed, 1 contradicted, 2 bad usage, 3 bad input, 4 it cannot tell.
namespace tradeoff::detail::witness {
namespace {

enum Exit : int { confirmed = 0, contradicted = 1, bad_usage = 2, bad_input = 3, undecided = 4 };

constexpr slong input_bits = 640;
constexpr double decisive = 1e-4;  // a verdict needs at least this relative accuracy of delta

struct Inquiry {
  std::string verb;
  std::map<std::string, std::string> options;
  std::optional<std::pair<std::string, std::string>> claim;
  std::string plan;
};

std::optional<Inquiry> read_arguments(const std::vector<std::string>& arguments) {
  Inquiry inquiry;
  if (arguments.size() < 2) return {};
  inquiry.verb = arguments.front();
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const std::size_t left = arguments.size() - i - 1;
    if (word == "--confirm" && left >= 2) {
      inquiry.claim.emplace(arguments[i + 1], arguments[i + 2]);
      i += 2;
    } else if ((word == "--epsilon" || word == "--delta" || word == "--direction" || word == "--neighbours") && left >= 1) {
      inquiry.options[word] = arguments[++i];
    } else if (word.rfind("--", 0) != 0 && inquiry.plan.empty()) {
      inquiry.plan = word;
    } else {
      return {};
    }
  }
  const bool about_delta = inquiry.verb == "delta" && inquiry.options.contains("--epsilon");
  const bool about_epsilon = inquiry.verb == "epsilon" && inquiry.options.contains("--delta") && inquiry.claim;
  return inquiry.plan.empty() || !(about_delta || about_epsilon) ? std::optional<Inquiry>{} : inquiry;
}

Real number(const std::string& text) {
  const WithPrecision more(input_bits);
  return exact(read_number(text));
}

Direction direction_of(const Inquiry& inquiry) {
  const auto found = inquiry.options.find("--direction");
  if (found == inquiry.options.end() || found->second == "worst") return Direction::worst;
  if (found->second == "remove") return Direction::remove;
  if (found->second == "add") return Direction::add;
  throw DomainError("direction: '" + found->second + "' is not worst, remove or add");
}

Neighbours neighbours_of(const Inquiry& inquiry) {
  const auto found = inquiry.options.find("--neighbours");
  // A direction means that a record is added or removed.
  if (found == inquiry.options.end()) return direction_of(inquiry) == Direction::worst ? Neighbours::unstated : Neighbours::add_remove;
  return found->second == "replace-one" ? Neighbours::replace_one : Neighbours::add_remove;
}

std::string shown(const Real& ball) {
  char* text = arb_get_str(ball.get(), 12, 0);
  std::string result = text;
  flint_free(text);
  return result;
}

bool is_decisive(const Real& delta) {
  const Real width = delta.top() - delta.bottom();
  return (delta.top() * Real(decisive) - width).positive() || (Real(1e-300) - delta.top()).positive();
}

Exit ask_delta(const Witness& witness, const Inquiry& inquiry) {
  const Real delta = witness.delta(number(inquiry.options.at("--epsilon")), direction_of(inquiry));
  std::cout << "witness: delta = " << shown(delta) << "\n";
  if (!inquiry.claim) return confirmed;
  const auto& [low, high] = *inquiry.claim;
  if ((number(low) - delta).positive() || (delta - number(high)).positive()) return contradicted;
  return is_decisive(delta) ? confirmed : undecided;
}

/// The least epsilon at delta lies in [LO, HI]: delta(HI) <= delta, and delta(LO) >= delta unless LO is 0.
Exit ask_epsilon(const Witness& witness, const Inquiry& inquiry) {
  const auto& [low, high] = *inquiry.claim;
  const Real target = number(inquiry.options.at("--delta"));
  bool sure = true;
  const auto check = [&](const std::string& end, bool above) {
    const Real delta = witness.delta(number(end), direction_of(inquiry));
    std::cout << "witness: delta(" << end << ") = " << shown(delta) << "\n";
    sure = sure && is_decisive(delta);
    return above ? !(delta - target).positive() : !(target - delta).positive();
  };
  const bool fits_above = high == "inf" || check(high, true);
  const bool fits_below = !number(low).positive() || check(low, false);
  if (!fits_above || !fits_below) return contradicted;
  return sure ? confirmed : undecided;
}

Exit run(const std::vector<std::string>& arguments) {
  const auto inquiry = read_arguments(arguments);
  if (!inquiry) {
    std::cerr << "tradeoff-witness: delta --epsilon E | epsilon --delta D --confirm LO HI  [--direction D] [--neighbours N] PLAN\n";
    return bad_usage;
  }
  try {
    const Witness witness(parse(inquiry->plan), neighbours_of(*inquiry));
    const Exit code = inquiry->verb == "delta" ? ask_delta(witness, *inquiry) : ask_epsilon(witness, *inquiry);
    if (code == contradicted) std::cout << "witness: this contradicts the claim\n";
    return code;
  } catch (const UnsupportedError& error) {
    std::cout << error.what() << "\n";
    return undecided;
  } catch (const Error& error) {
    std::cerr << "tradeoff-witness: " << error.what() << "\n";
    return bad_input;
  }
}

}  // namespace
}  // namespace tradeoff::detail::witness

int main(int count, char** values) { return tradeoff::detail::witness::run({values + 1, values + count}); }
