// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "fuzz.h"
#include "light_plan.h"
#include "request_line.h"
#include "tradeoff/error.h"

// A line of JSON: it is refused with a fault that lies inside it, or it is answered with JSON whose intervals are in order.
namespace {

using nlohmann::json;
using tradeoff::detail::fuzz::require;

void check_intervals(const json& value) {
  if (value.is_object() && value.contains("lo") && value["lo"].is_number() && value["hi"].is_number())
    require(value["lo"].get<double>() <= value["hi"].get<double>());
  if (value.is_structured())
    for (const json& item : value) check_intervals(item);
}

std::string answer_to(const tradeoff::detail::cli::RequestLine& line) {
  tradeoff::detail::ask::CurveCache curves;
  tradeoff::detail::report::JsonWriter out;
  out.begin_object();
  write_answer(tradeoff::detail::ask::answer(to_request(line, curves)), out);
  return out.end_object().str();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tradeoff::detail::fuzz::TimeLimit limit;
  const std::string_view line = tradeoff::detail::fuzz::to_text(data, size);
  tradeoff::detail::cli::RequestLine request;
  try {
    read_line(line, request);
    require(json::accept(line));
    if (tradeoff::detail::fuzz::is_light_request(line)) check_intervals(json::parse(answer_to(request)));
  } catch (const tradeoff::detail::ask::RequestError& error) {
    require(error.offset() <= size);
    require(*error.what() != '\0');
  } catch (const tradeoff::Error& error) {
    require(*error.what() != '\0');
  }
  require(json::accept(request.id));
  return 0;
}
