// SPDX-License-Identifier: Apache-2.0
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <memory>

#include "bind.h"
#include "noise/clipped_sum.h"
#include "noise/coin.h"
#include "noise/grid_noise.h"
#include "noise/noise_table.h"
#include "noise/secure_stream.h"
#include "numeric/arithmetic.h"
#include "tradeoff/error.h"
#include "tradeoff/plan.h"

// What tradeoff.torch needs: exact noise on integers, the data of its kernel for a GPU, and exact batches.
namespace tradeoff::detail::python {
namespace {

using noise::Dyadic;
using noise::GridNoise;

template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using WholeTable = nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<2>>;

/// A new array; its memory is wiped when Python frees it.
template <class T>
std::pair<Array<T>, std::span<T>> new_array(std::size_t count) {
  auto owned = std::make_unique<noise::SecretVector<T>>(count);
  auto* const raw = owned.release();
  const nb::capsule owner(raw, [](void* memory) noexcept { delete static_cast<noise::SecretVector<T>*>(memory); });
  return {Array<T>(raw->data(), {count}, owner), std::span<T>(*raw)};
}

template <class T, class Values>
Array<T> to_array(const Values& values) {
  auto [array, place] = new_array<T>(values.size());
  std::copy(values.begin(), values.end(), place.begin());
  return array;
}

using Gradients = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Adds the clipped integers of the examples to the sums; returns how many were clipped and how many left out. [torch-step]
std::pair<std::uint64_t, std::uint64_t> add_clipped(const std::vector<Gradients>& gradients, const std::vector<Sums>& sums,
                                                    const Input<std::uint8_t>& mask, double step, std::uint64_t bound, double aim,
                                                    unsigned threads) {
  if (gradients.size() != sums.size()) throw DomainError("clip: there must be as many sums as gradients");
  std::vector<noise::GradientRows> parameters;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (gradients[i].shape(0) != mask.size() || gradients[i].shape(1) != sums[i].size())
      throw DomainError("clip: the shapes of gradients, sums and mask do not fit");
    parameters.push_back({gradients[i].data(), gradients[i].shape(1), sums[i].data()});
  }
  const nb::gil_scoped_release unlocked;
  const noise::ClippedRows counts = noise::add_clipped_rows(parameters, std::span(mask.data(), mask.size()), step, bound, threads, aim);
  return {counts.clipped, counts.zeroed};
}

/// Rounded Gaussian noise whose standard deviation is at least `multiplier` times the bound, in steps of the grid. [private-step]
GridNoise noise_for(const std::string& multiplier, std::uint64_t bound) {
  Interval noise{};
  try {
    noise = read_number(multiplier).value;
  } catch (const ParseError&) {
  }
  if (!(noise.lo > 0 && noise.hi < infinity))
    throw DomainError("noise_multiplier = " + multiplier.substr(0, 40) + " is not allowed; it must be a number above 0");
  return {noise::Law::rounded_gaussian, Dyadic::at_least((noise * static_cast<double>(bound)).hi)};
}

Array<std::int64_t> draw(const GridNoise& noise, std::size_t count) {
  auto [array, place] = new_array<std::int64_t>(count);
  {
    const nb::gil_scoped_release unlocked;
    noise.draw(noise::thread_stream(), place);
  }
  return array;
}

/// The value of each word; bits beyond a word come from the secure stream.
Array<std::int64_t> from_words(const GridNoise& noise, const Input<std::uint64_t>& words) {
  auto [array, place] = new_array<std::int64_t>(words.size());
  const nb::gil_scoped_release unlocked;
  for (std::size_t i = 0; i < place.size(); ++i)
    if (!noise::decide_word(noise.data(), words.data()[i], place[i]))
      place[i] = noise.decide_slowly(words.data()[i], place[i], noise::thread_stream());
  return array;
}

/// 1 for each word that the table decides, otherwise 0.
Array<std::uint8_t> decides(const GridNoise& noise, const Input<std::uint64_t>& words) {
  auto [array, place] = new_array<std::uint8_t>(words.size());
  std::int64_t value = 0;
  for (std::size_t i = 0; i < place.size(); ++i) place[i] = noise::decide_word(noise.data(), words.data()[i], value) ? 1 : 0;
  return array;
}

nb::dict kernel_data(const GridNoise& noise) {
  const noise::KernelData& data = noise.data();
  nb::dict fields;
  fields["numerator"] = data.numerator;
  fields["shift"] = data.shift;
  fields["offset_high"] = static_cast<std::uint64_t>(data.offsets[0] >> 64);  // the same in all octaves of a Gaussian
  fields["offset_low"] = static_cast<std::uint64_t>(data.offsets[0]);
  fields["errors"] = to_array<std::uint64_t>(data.errors);
  fields["limits"] = to_array<std::uint64_t>(data.limits);
  return fields;
}

/// The certified table of the normal quantile, a row of eight coefficients for each of 64 cells in each octave.
WholeTable normal_table() {
  constexpr std::size_t columns = std::tuple_size_v<noise::TableRow>;
  const auto& rows = noise::table::normal_rows;
  auto owned = std::make_unique<std::vector<std::uint64_t>>();
  for (const noise::TableRow& row : rows) owned->insert(owned->end(), row.begin(), row.end());
  auto* const raw = owned.release();
  const nb::capsule owner(raw, [](void* memory) noexcept { delete static_cast<std::vector<std::uint64_t>*>(memory); });
  return WholeTable(raw->data(), {raw->size() / columns, columns}, owner);
}

void check_batch(std::uint64_t size, std::uint64_t of) {
  if (!(size >= 1 && size <= of)) throw DomainError("batch must be a whole number between 1 and " + std::to_string(of));
  if (of > 0xFFFFFFFFU) throw TooLargeError("batches of more than 2^32 examples");
}

Array<std::int64_t> poisson_batch(std::uint64_t size, std::uint64_t of, std::uint64_t examples) {
  check_batch(size, of);
  return to_array<std::int64_t>(noise::bernoulli_subset(noise::Coin::rational(size, of), examples, noise::thread_stream()));
}

Array<std::int64_t> fixed_batch(std::uint64_t size, std::uint64_t of) {
  check_batch(size, of);
  return to_array<std::int64_t>(noise::fixed_subset(size, of, noise::thread_stream()));
}

}  // namespace

void bind_noise(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<GridNoise>(module, "GaussianIntegers")
      .def(
          "__init__",
          [](GridNoise* self, const std::string& multiplier, std::uint64_t bound) { new (self) GridNoise(noise_for(multiplier, bound)); },
          "multiplier"_a, "bound"_a)
      .def_prop_ro("scale", [](const GridNoise& noise) { return exact_number(noise.scale().value()).text; })
      .def("draw", draw, "count"_a)
      .def("from_words", from_words, "words"_a)
      .def("decides", decides, "words"_a)
      .def("kernel_data", kernel_data, nb::sig("def kernel_data(self) -> dict[str, typing.Any]"));
  module.def("add_clipped", add_clipped, "gradients"_a, "sums"_a, "mask"_a, "step"_a, "bound"_a, "aim"_a, "threads"_a);
  module.def("normal_table", normal_table);
  module.def("poisson_batch", poisson_batch, "size"_a, "of"_a, "examples"_a);
  module.def("fixed_batch", fixed_batch, "size"_a, "of"_a);
}

}  // namespace tradeoff::detail::python
