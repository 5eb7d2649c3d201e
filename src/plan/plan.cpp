// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/plan.h"

namespace tradeoff {

bool operator==(const Plan& a, const Plan& b) { return a.lines == b.lines; }
bool operator==(const Tuple& a, const Tuple& b) { return a.items == b.items; }
bool operator==(const List& a, const List& b) { return a.items == b.items; }
bool operator==(const Value& a, const Value& b) { return a.content == b.content; }
bool operator==(const Argument& a, const Argument& b) { return a.name == b.name && a.value == b.value; }
bool operator==(const Call& a, const Call& b) { return a.name == b.name && a.arguments == b.arguments; }
bool operator==(const Line& a, const Line& b) { return a.source == b.source && a.operators == b.operators; }

}  // namespace tradeoff
