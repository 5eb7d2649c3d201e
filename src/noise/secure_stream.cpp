// SPDX-License-Identifier: Apache-2.0
#include "noise/secure_stream.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "noise/platform.h"
#include "noise/secret.h"

namespace tradeoff::detail::noise {
namespace {

// Far below any distinguishing bound of ChaCha20, and often enough to benefit from the reseeding of the system.
constexpr std::uint64_t blocks_per_key = 1ULL << 20;

}  // namespace

void ChaChaStream::Unmap::operator()(State* state) const {
  wipe(state, sizeof *state);
  unmap_secret_pages(state, sizeof *state);
}

ChaChaStream::ChaChaStream(Entropy entropy, Level level)
    : entropy_(entropy), level_(level), state_(new(map_secret_pages(sizeof(State))) State{}) {}

ChaChaStream::~ChaChaStream() = default;

void ChaChaStream::rekey() {
  state_->seeded = false;  // stays false if the source fails
  entropy_(std::as_writable_bytes(std::span(state_->key)));
  state_->position = buffered;
  state_->blocks = 0;
  state_->process = process_id();
  state_->seeded = true;
}

void ChaChaStream::refill() {
  if (state_->blocks >= blocks_per_key) rekey();
  constexpr std::size_t batches = 2 * buffered / chacha_words;
  auto* out = reinterpret_cast<std::uint32_t*>(state_->words.data());
  for (std::size_t i = 0; i < batches; ++i)
    chacha20(state_->key, static_cast<std::uint32_t>(i * chacha_lanes),
             std::span<std::uint32_t, chacha_words>(out + i * chacha_words, chacha_words), level_);
  std::memcpy(state_->key.data(), state_->words.data(), sizeof state_->key);
  wipe(state_->words.data(), sizeof state_->key);
  state_->position = sizeof state_->key / sizeof(std::uint64_t);
  state_->blocks += batches * chacha_lanes;
}

void ChaChaStream::fill(std::span<std::uint64_t> words) {
  if (!state_->seeded || state_->process != process_id()) rekey();
  while (!words.empty()) {
    if (state_->position == buffered) refill();
    const std::size_t count = std::min(words.size(), buffered - state_->position);
    std::uint64_t* from = state_->words.data() + state_->position;
    std::memcpy(words.data(), from, count * sizeof *from);
    wipe(from, count * sizeof *from);
    state_->position += count;
    words = words.subspan(count);
  }
}

SecureStream& thread_stream() {
  static thread_local SecureStream stream;
  return stream;
}

}  // namespace tradeoff::detail::noise
