// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <string>

#include "fuzz.h"
#include "noise/digest.h"
#include "report/certificate.h"
#include "tradeoff/error.h"
#include "train/checkpoint.h"

// Certificates, and checkpoints of a training run. Their digest is corrected first, because a fuzzer never guesses it, while an attacker
// computes it. An accepted file is written back unchanged.
namespace {

using tradeoff::detail::fuzz::require;

constexpr std::string_view digest_line = "sha256 = ";

void check_checkpoint(std::string_view body) {
  const std::string text = std::string(body) + std::string(digest_line) + tradeoff::detail::noise::sha256(body) + "\n";
  const tradeoff::detail::train::Progress progress = tradeoff::detail::train::read_progress(text);
  const std::string written = to_text(progress);
  require(to_text(tradeoff::detail::train::read_progress(written)) == written);
}

void check_certificate(std::string_view text) {
  nlohmann::json content = nlohmann::json::parse(text, nullptr, false);
  if (!content.is_object()) return;
  content.erase("digest");
  const std::string body = content.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  content["digest"] = tradeoff::detail::noise::sha256(body);
  const auto certificate =
      tradeoff::detail::report::parse_certificate(content.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  const std::string written = to_json(certificate);
  require(to_json(tradeoff::detail::report::parse_certificate(written)) == written);
}

template <typename Check>
void check_refusal(Check check) {
  try {
    check();
  } catch (const tradeoff::Error& error) {
    require(*error.what() != '\0');
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tradeoff::detail::fuzz::TimeLimit limit;
  const std::string_view text = tradeoff::detail::fuzz::to_text(data, size);
  check_refusal([&] { static_cast<void>(tradeoff::detail::train::read_progress(text)); });
  check_refusal([&] { check_checkpoint(text.substr(0, text.rfind(digest_line))); });
  check_refusal([&] { static_cast<void>(tradeoff::detail::report::parse_certificate(text)); });
  check_refusal([&] { check_certificate(text); });
  return 0;
}
