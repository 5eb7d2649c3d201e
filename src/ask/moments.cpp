// SPDX-License-Identifier: Apache-2.0
#include "ask/request.h"
#include "report/exact_numbers.h"
#include "tradeoff/limit.h"

namespace tradeoff::detail::ask {

namespace {

Answer answer_moments(const Request& request) {
  const auto curve = request.curve();
  const LossMoments moments = moments_of(request.plan(), request.direction(), request.neighbours(), request.tolerance());
  return {[moments](report::JsonWriter& out) {
            out.begin_object().key("kl").interval(moments.kl).key("kappa2").interval(moments.kappa2).key("kappa3").interval(moments.kappa3);
            out.key("kappa3bar").interval(moments.kappa3bar).key("chi2plus").interval(moments.chi2plus).end_object();
          },
          [moments, exact = report::exact_moments(request.plan(), *curve)](const report::Style& style) {
            const auto line = [&](const char* name, Interval value, const char* meaning, const std::string& remark,
                                  const std::string& known = {}) {
              return to_text(report::Claim{name, value, report::SafeEnd::hi, meaning, {}, known}, {style.quiet, remark});
            };
            return line("kl", moments.kl, "the mean of the privacy loss", style.remark, exact.first) +
                   line("kappa2", moments.kappa2, "its second moment", "", exact.second) +
                   line("kappa3", moments.kappa3, "its absolute third moment", "") +
                   line("kappa3bar", moments.kappa3bar, "the same about its mean", "") +
                   line("chi2plus", moments.chi2plus, "the mean square of max(likelihood ratio - 1, 0)", "");
          },
          curve};
}

}  // namespace

constinit const Question moments_question{
    .name = "moments", .meaning = "the moments of the privacy loss that limit theorems use", .answer = answer_moments};

}  // namespace tradeoff::detail::ask
