// SPDX-License-Identifier: Apache-2.0
#include "command_request.h"
#include "output_file.h"

namespace tradeoff::detail::cli {

ExitCode run_certify(const Verb& verb, const Options& options) {
  if (const std::string* file = options.find("check")) {
    if (!options.plan.empty() || options.values.size() > 1)
      throw ask::RequestError("parse", "certify --check FILE takes neither a plan nor a question: the certificate holds both", "check", 0);
    Options given = options;
    given.values.clear();
    given.further = {*file};
    return run_verify(verb, given);
  }
  if (options.plan.empty()) throw ask::RequestError("parse", "certify needs a plan", "plan", 0);
  ask::CurveCache curves;
  Options asked = options;
  std::erase_if(asked.values, [](const auto& given) { return given.first->name == "out"; });
  const ask::Answer found = ask::answer(to_request(ask::certify_question, asked, curves));
  write_result(options.find("out"), found.text({}));
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
