// SPDX-License-Identifier: Apache-2.0
// The functions that JavaScript calls.
#include <cstdlib>
#include <string>

#include "answers.h"

namespace {

std::string last_answer;

}  // namespace

extern "C" {

/// Answers one question; the result is a text in UTF-8 that ends with NUL and stays valid until the next call.
const char* tradeoff_answer(const char* fields, unsigned size) {
  static tradeoff::detail::ask::CurveCache curves;
  last_answer = tradeoff::detail::page::answer({fields, size}, curves);
  return last_answer.c_str();
}

}  // extern "C"
