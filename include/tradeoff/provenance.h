// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tradeoff {

/// The kind of computation that an answer needed. An answer that needed several kinds has the last of them in this order.
enum class Method {
  closed_form,  ///< formulas of mechanisms and operators, and searches over them
  exact,        ///< the composed distribution of the loss itself: atoms listed or summed, a density between them by polynomials
  contour,      ///< Laplace inversion along a contour of any shape
  lattice,      ///< distributions rounded to a lattice, or to cells, towards less privacy
};

/// `closed form`, `exact`, `contour` or `lattice`.
[[nodiscard]] const char* to_string(Method method);

/// One theorem that an answer depends on, and its use there.
struct Step {
  std::string theorem;  ///< the name of a page of docs/theory
  std::string detail;
};

/// How an answer was computed, as recorded by the code that computed it.
struct Provenance {
  Method method = Method::closed_form;
  std::vector<Step> steps;
};

/// An answer and how it was computed.
template <class Value>
struct Explained {
  Value value;
  Method method = Method::closed_form;
  std::vector<Step> steps;
};

/// Runs the computation on this thread and returns its result with everything it recorded.
[[nodiscard]] Provenance provenance_of(const std::function<void()>& computation);

/// `explained([&] { return curve.epsilon_at(1e-5); })` returns the answer, its method and its theorems.
template <class Ask>
[[nodiscard]] auto explained(Ask&& ask) {
  std::optional<std::decay_t<decltype(ask())>> value;
  Provenance found = provenance_of([&] { value.emplace(ask()); });
  return Explained<std::decay_t<decltype(ask())>>{std::move(*value), found.method, std::move(found.steps)};
}

}  // namespace tradeoff
