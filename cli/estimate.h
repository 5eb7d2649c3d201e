// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "report/json.h"
#include "tradeoff/limit.h"

namespace tradeoff::cli {

/// `{"estimate": x}`: never an interval, so that no reader takes it for a bound.
inline report::JsonWriter& write_estimate(report::JsonWriter& out, Estimate estimate) {
  out.begin_object().key("estimate");
  if (estimate.value() < Interval::whole().hi)
    out.number(estimate.value());
  else
    out.text("inf");
  return out.end_object();
}

}  // namespace tradeoff::cli
