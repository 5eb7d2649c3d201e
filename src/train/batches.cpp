// SPDX-License-Identifier: Apache-2.0
#include "train/batches.h"

#include <numeric>
#include <utility>

#include "tradeoff/error.h"

namespace tradeoff::detail::train {
namespace {

void check(std::uint64_t size, std::uint64_t of) {
  if (!(size >= 1 && size <= of))
    throw DomainError("train: --batch must be a whole number between 1 and the number of records, " + std::to_string(of));
  if (of > 0xFFFFFFFFU) throw TooLargeError("train: more than 2^32 records");
}

}  // namespace

FixedSizeBatches::FixedSizeBatches(std::uint64_t size, std::uint64_t of) : size_(size), of_(of) { check(size, of); }

// The first places of a Fisher-Yates shuffle: whatever the order before, every ordered choice is equally likely. [private-step]
void FixedSizeBatches::draw(noise::WordStream& source, Batch& batch) {
  if (order_.empty()) {
    order_.resize(of_);
    std::iota(order_.begin(), order_.end(), 0U);
  }
  noise::BufferedStream words(source);
  batch.resize(size_);
  for (std::uint64_t i = 0; i < size_; ++i) {
    std::swap(order_[i], order_[i + noise::uniform_below(of_ - i, words)]);
    batch[i] = order_[i];
  }
}

std::string FixedSizeBatches::operation() const { return "sample(size=" + std::to_string(size_) + ", of=" + std::to_string(of_) + ")"; }

PoissonBatches::PoissonBatches(std::uint64_t size, std::uint64_t of)
    : size_(size), of_(of), coin_((check(size, of), noise::Coin::rational(size, of))) {}

void PoissonBatches::draw(noise::WordStream& source, Batch& batch, std::size_t records) const {
  noise::BufferedStream words(source);
  batch.clear();
  for (std::size_t i = 0; i < records; ++i)
    if (coin_.toss(words)) batch.push_back(i);
}

std::string PoissonBatches::operation() const { return "poisson(rate=" + std::to_string(size_) + "/" + std::to_string(of_) + ")"; }

}  // namespace tradeoff::detail::train
