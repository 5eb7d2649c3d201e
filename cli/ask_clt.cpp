// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <optional>

#include "asks.h"
#include "estimate.h"
#include "tradeoff/error.h"

namespace tradeoff::cli {
namespace {

/// Theorem 5, or why it does not speak.
struct Proved {
  std::optional<BerryEsseen> bound;
  std::string refusal;
};

Proved find_bound(const Question& question) {
  try {
    return {berry_esseen(question.plan(), question.neighbours(), question.tolerance()), {}};
  } catch (const UnsupportedError& error) {
    return {std::nullopt, error.what()};
  }
}

std::string short_number(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, 6).ptr;
  return {buffer.data(), end};
}

}  // namespace

Answer answer_clt(const Question& question) {
  const CentralLimit limit = central_limit(question.plan(), question.neighbours(), question.tolerance());
  const Proved proved = find_bound(question);
  return {[limit, proved](report::JsonWriter& out) {
            write_estimate(out.begin_object().key("mu"), limit.mu);
            if (limit.revealed.value() > 0) write_estimate(out.key("revealed"), limit.revealed);
            out.key("theorems").begin_array();
            for (const std::string& theorem : limit.theorems) out.text(theorem);
            out.end_array().key("berry_esseen").begin_object();
            if (proved.bound)
              out.key("mu")
                  .interval(proved.bound->mu())
                  .key("gamma")
                  .interval(proved.bound->gamma())
                  .key("revealed")
                  .interval(proved.bound->revealed())
                  .key("floor")
                  .interval(proved.bound->floor());
            else
              out.key("refused").text(proved.refusal);
            out.end_object().end_object();
          },
          [limit, proved](const report::Style& style) {
            std::string text = "mu ~ " + short_number(limit.mu.value()) + " in the limit, an estimate and not a bound\n";
            if (!proved.bound) return text + "no bound: " + proved.refusal + "\n";
            text +=
                to_text(report::Claim{"mu", proved.bound->mu(), report::SafeEnd::hi, "in Theorem 5, which is a guarantee with", {}}, style);
            return text + to_text(report::Claim{"gamma", proved.bound->gamma(), report::SafeEnd::hi, "beside it", {}}, {style.quiet, ""});
          },
          question.curve()};
}

}  // namespace tradeoff::cli
