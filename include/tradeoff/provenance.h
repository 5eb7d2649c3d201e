// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tradeoff {

/// The kind of computation that an answer needed, from the least to the most. An answer that needed several has the last of them.
enum class Method {
  closed_form,  ///< formulas of mechanisms and operators, and searches over them
  exact,        ///< the composed law, listed or summed atom by atom
  contour,      ///< Laplace inversion along a contour, whichever its shape
  lattice,      ///< laws rounded to a lattice, or to cells, on the safe side
};

/// `closed form`, `exact`, `contour` or `lattice`.
[[nodiscard]] const char* to_string(Method method);

/// One theorem that an answer rests on, and what it was used for.
struct Step {
  std::string theorem;  ///< the name of a page of docs/theory
  std::string detail;
};

/// How an answer was found, as the code that computed it recorded.
struct Provenance {
  Method method = Method::closed_form;
  std::vector<Step> steps;
};

/// An answer and how this very answer was found.
template <class Value>
struct Explained {
  Value value;
  Method method = Method::closed_form;
  std::vector<Step> steps;
};

/// Runs the computation on this thread and returns what it recorded.
[[nodiscard]] Provenance provenance_of(const std::function<void()>& computation);

/// `explained([&] { return curve.epsilon_at(1e-5); })` is the answer, its method and its theorems.
template <class Ask>
[[nodiscard]] auto explained(Ask&& ask) {
  std::optional<std::decay_t<decltype(ask())>> value;
  Provenance found = provenance_of([&] { value.emplace(ask()); });
  return Explained<std::decay_t<decltype(ask())>>{std::move(*value), found.method, std::move(found.steps)};
}

}  // namespace tradeoff
