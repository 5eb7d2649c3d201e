// SPDX-License-Identifier: Apache-2.0
#include "ask/request.h"
#include "report/exact_numbers.h"
#include "tradeoff/limit.h"

namespace tradeoff::detail::ask {

namespace {

// [loss-moments]
Answer answer_divergences(const Request& request) {
  const auto curve = request.curve();
  const Divergences found = divergences_of(*curve, request.direction());
  return {[found](report::JsonWriter& out) {
            out.begin_object().key("total_variation").interval(found.total_variation).key("kl").interval(found.kl);
            out.key("chi_square").interval(found.chi_square).key("lossless").boolean(false).end_object();
          },
          [found, exact = report::exact_moments(request.plan(), *curve),
           variation = report::exact_advantage(request.plan(), found.total_variation),
           square = report::exact_chi_square(request.plan(), request.direction(), found.chi_square)](const report::Style& style) {
            const auto line = [&](const char* name, Interval value, const char* meaning, const std::string& remark,
                                  const std::string& known = {}) {
              return to_text(report::Claim{name, value, report::SafeEnd::hi, meaning, {}, known}, {style.quiet, remark});
            };
            return line("total variation", found.total_variation, "the largest advantage of an attack", style.remark, variation) +
                   line("kl", found.kl, "the mean of the privacy loss", "", exact.first) +
                   line("chi-square", found.chi_square, "the variance of the likelihood ratio", "", square) +
                   (style.quiet ? "" : "each bounds every attack, but the curve cannot be computed from it\n");
          },
          curve};
}

}  // namespace

constinit const Question divergences_question{
    .name = "divergences", .meaning = "total variation, KL and chi-square divergence", .answer = answer_divergences};

}  // namespace tradeoff::detail::ask
