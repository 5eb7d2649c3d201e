// SPDX-License-Identifier: Apache-2.0
// The C interface. No exception leaves a function, and results are written last: a call that fails changes nothing.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <new>
#include <string>

#include "numeric/conversions.h"
#include "tradeoff/c.h"
#include "tradeoff/calibrate.h"
#include "tradeoff/error.h"
#include "tradeoff/gdp.h"
#include "tradeoff/version.h"

struct tradeoff_curve {
  tradeoff::Curve curve;
};

namespace tradeoff::detail::c {
namespace {

thread_local std::array<char, 2048> last_message{};  // of fixed size: keeping a message must not fail

tradeoff_status fail(tradeoff_status status, const char* message) noexcept {
  const std::size_t length = std::min(std::strlen(message), last_message.size() - 1);
  std::memcpy(last_message.data(), message, length);
  last_message[length] = '\0';
  return status;
}

template <typename Action>
tradeoff_status guarded(const Action& action) noexcept {
  try {
    action();
    return TRADEOFF_OK;
  } catch (const ParseError& error) {
    return fail(TRADEOFF_PARSE, error.what());
  } catch (const DomainError& error) {
    return fail(TRADEOFF_DOMAIN, error.what());
  } catch (const UnsupportedError& error) {
    return fail(TRADEOFF_UNSUPPORTED, error.what());
  } catch (const TooLargeError& error) {
    return fail(TRADEOFF_TOO_LARGE, error.what());
  } catch (const UnmetError& error) {
    return fail(TRADEOFF_UNMET, error.what());
  } catch (const std::bad_alloc&) {
    return fail(TRADEOFF_NO_MEMORY, "there is not enough memory");
  } catch (const std::exception& error) {
    return fail(TRADEOFF_INTERNAL, error.what());
  } catch (...) {
    return fail(TRADEOFF_INTERNAL, "an unknown error");
  }
}

template <typename Pointer>
Pointer* given(Pointer* pointer, const char* name) {
  if (pointer == nullptr) throw DomainError(std::string(name) + " is a null pointer");
  return pointer;
}

/// The text of the shortest decimal that rounds to the value.
std::string shortest(const char* name, double value) {
  if (!std::isfinite(value)) throw DomainError(std::string(name) + " is not finite");
  std::array<char, 32> buffer{};  // the shortest decimal of a double has at most 24 characters
  char* const end = numeric::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

/// That decimal as an exact number. Its enclosure contains the double too: no double lies between the decimal and the one nearest to it.
Number number(const char* name, double value) { return read_number(shortest(name, value)); }

Neighbours to_cpp(tradeoff_neighbours neighbours) {
  switch (neighbours) {
    case TRADEOFF_UNSTATED:
      return Neighbours::unstated;
    case TRADEOFF_ADD_REMOVE:
      return Neighbours::add_remove;
    case TRADEOFF_REPLACE_ONE:
      return Neighbours::replace_one;
    case TRADEOFF_ZERO_OUT:
      return Neighbours::zero_out;
  }
  throw DomainError("neighbours = " + std::to_string(static_cast<int>(neighbours)) + " is not a value of tradeoff_neighbours");
}

Direction to_cpp(tradeoff_direction direction) {
  switch (direction) {
    case TRADEOFF_WORST:
      return Direction::worst;
    case TRADEOFF_REMOVE:
      return Direction::remove;
    case TRADEOFF_ADD:
      return Direction::add;
  }
  throw DomainError("direction = " + std::to_string(static_cast<int>(direction)) + " is not a value of tradeoff_direction");
}

tradeoff_interval to_c(Interval value) { return {value.lo, value.hi}; }

tradeoff_neighbours to_c(Neighbours neighbours) {
  switch (neighbours) {
    case Neighbours::add_remove:
      return TRADEOFF_ADD_REMOVE;
    case Neighbours::replace_one:
      return TRADEOFF_REPLACE_ONE;
    case Neighbours::zero_out:
      return TRADEOFF_ZERO_OUT;
    case Neighbours::unstated:
      break;
  }
  return TRADEOFF_UNSTATED;
}

using Question = Interval (Curve::*)(Level, Direction) const;

/// Asks at one level. `name` is the name of the level; only epsilon may be infinite.
tradeoff_status ask(const tradeoff_curve* curve, Question question, const char* name, double level, tradeoff_direction direction,
                    tradeoff_interval* answer, bool may_be_infinite = false) noexcept {
  return guarded([&] {
    const Curve& asked = given(curve, "curve")->curve;
    given(answer, "the result");
    const Direction side = to_cpp(direction);
    if (may_be_infinite && std::isinf(level) && level > 0)
      *answer = to_c((asked.*question)(level, side));
    else
      *answer = to_c((asked.*question)(number(name, level), side));
  });
}

}  // namespace
}  // namespace tradeoff::detail::c

using namespace tradeoff;             // NOLINT(google-build-using-namespace): C has none
using namespace tradeoff::detail::c;  // NOLINT(google-build-using-namespace)

const char* tradeoff_version(void) { return TRADEOFF_VERSION; }

const char* tradeoff_message(void) { return last_message.data(); }

tradeoff_status tradeoff_analyze(const char* plan, tradeoff_neighbours neighbours, double relative, tradeoff_curve** curve) {
  return guarded([&] {
    given(curve, "the result");
    if (!(relative >= 0 && relative <= 1)) throw DomainError("relative must be above 0 and at most 1, or 0 for the default");
    const Tolerance tolerance = relative > 0 ? Tolerance{relative} : Tolerance{};
    *curve = new tradeoff_curve{analyze(parse(given(plan, "plan")), to_cpp(neighbours), tolerance)};
  });
}

void tradeoff_curve_free(tradeoff_curve* curve) { delete curve; }

tradeoff_status tradeoff_curve_neighbours(const tradeoff_curve* curve, tradeoff_neighbours* neighbours) {
  return guarded([&] { *given(neighbours, "the result") = to_c(given(curve, "curve")->curve.neighbours()); });
}

tradeoff_status tradeoff_delta(const tradeoff_curve* curve, double epsilon, tradeoff_direction direction, tradeoff_interval* delta) {
  return ask(curve, &Curve::delta_at, "epsilon", epsilon, direction, delta, true);
}

tradeoff_status tradeoff_log_delta(const tradeoff_curve* curve, double epsilon, tradeoff_direction direction,
                                   tradeoff_interval* log_delta) {
  return ask(curve, &Curve::log_delta_at, "epsilon", epsilon, direction, log_delta, true);
}

tradeoff_status tradeoff_epsilon(const tradeoff_curve* curve, double delta, tradeoff_direction direction, tradeoff_interval* epsilon) {
  return ask(curve, &Curve::epsilon_at, "delta", delta, direction, epsilon);
}

tradeoff_status tradeoff_beta(const tradeoff_curve* curve, double alpha, tradeoff_direction direction, tradeoff_interval* beta) {
  return ask(curve, &Curve::beta_at, "alpha", alpha, direction, beta);
}

tradeoff_status tradeoff_tpr(const tradeoff_curve* curve, double fpr, tradeoff_direction direction, tradeoff_interval* tpr) {
  return ask(curve, &Curve::tpr_at, "fpr", fpr, direction, tpr);
}

tradeoff_status tradeoff_advantage(const tradeoff_curve* curve, tradeoff_direction direction, tradeoff_interval* advantage) {
  return guarded([&] { *given(advantage, "the result") = to_c(given(curve, "curve")->curve.advantage(to_cpp(direction))); });
}

tradeoff_status tradeoff_mu(const tradeoff_curve* curve, double slack, tradeoff_interval* mu) {
  return guarded([&] {
    const Curve& asked = given(curve, "curve")->curve;
    given(mu, "the result");
    if (!(slack >= 0 && slack < 1)) throw DomainError("slack must be at least 0 and below 1");
    if (slack == 0)
      *mu = to_c(measure_mu(asked).mu);
    else
      *mu = to_c(measure_mu(asked, {number("slack", slack).value}).with_slack.at(0).mu);
  });
}

tradeoff_status tradeoff_check(const tradeoff_curve* curve, double epsilon, double delta, tradeoff_verdict* verdict) {
  return guarded([&] {
    given(verdict, "the result");
    const Met met = check(given(curve, "curve")->curve, number("epsilon", epsilon), number("delta", delta)).within;
    *verdict = met == Met::yes ? TRADEOFF_YES : met == Met::no ? TRADEOFF_NO : TRADEOFF_UNDECIDED;
  });
}

tradeoff_status tradeoff_calibrate(const char* plan, tradeoff_neighbours neighbours, const tradeoff_target* targets, size_t count,
                                   tradeoff_calibration* calibration) {
  return guarded([&] {
    given(calibration, "the result");
    std::map<std::string, std::string, std::less<>> stated;
    for (std::size_t i = 0; i < count; ++i) {
      const char* const word = given(given(targets, "targets")[i].word, "the word of a target");
      if (std::find(std::begin(target_words), std::end(target_words), std::string_view(word)) == std::end(target_words))
        throw DomainError("'" + std::string(word, std::min<std::size_t>(std::strlen(word), 40)) +
                          "' is not a target; the words are epsilon, delta, mu, slack, advantage, fpr and tpr");
      if (!stated.emplace(word, shortest(word, targets[i].value)).second)
        throw DomainError("the target " + std::string(word) + " is given twice");
    }
    const auto text_of = [&](std::string_view word) {
      const auto found = stated.find(word);
      return found == stated.end() ? std::nullopt : std::optional(found->second);
    };
    const Calibration found = tradeoff::calibrate(parse(given(plan, "plan")), read_targets(text_of, ""), to_cpp(neighbours));
    tradeoff_calibration result{to_c(found.value), found.safe_end_is_hi ? 1 : 0, {}};
    if (found.printed.size() >= sizeof result.printed) throw UnsupportedError("the decimal of the calibrated value is too long");
    std::memcpy(result.printed, found.printed.data(), found.printed.size());
    *calibration = result;
  });
}
