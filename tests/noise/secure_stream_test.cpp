// SPDX-License-Identifier: Apache-2.0
// The cipher against OpenSSL, word for word; the stream against forks and failing sources. [secure-words]
#include "noise/secure_stream.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <type_traits>
#include <vector>

#include "noise/replay.h"
#include "tradeoff/release.h"

namespace tradeoff::detail::test {
namespace {

using noise::ChaChaStream;
using noise::Level;
using noise::SecureStream;

using Batch = std::array<std::uint32_t, noise::chacha_words>;

/// The ChaCha20 output of OpenSSL for the same key and counter, in the order of the lanes.
Batch by_openssl(const std::array<std::uint32_t, 8>& key, std::uint32_t counter) {
  std::array<unsigned char, 16> start{};
  std::memcpy(start.data(), &counter, 4);
  std::vector<unsigned char> zeros(64 * noise::chacha_lanes), stream(zeros.size());
  int written = 0;
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  EVP_EncryptInit_ex(context, EVP_chacha20(), nullptr, reinterpret_cast<const unsigned char*>(key.data()), start.data());
  EVP_EncryptUpdate(context, stream.data(), &written, zeros.data(), static_cast<int>(zeros.size()));
  EVP_CIPHER_CTX_free(context);
  Batch words{};
  for (std::size_t block = 0; block < noise::chacha_lanes; ++block)
    for (std::size_t i = 0; i < 16; ++i) std::memcpy(&words[noise::chacha_lanes * i + block], &stream[64 * block + 4 * i], 4);
  return words;
}

TEST(ChaCha, IsThatOfOpenSslAtEveryLevel) {
  ReplayForTests random(1);
  for (int i = 0; i < 200; ++i) {
    std::array<std::uint32_t, 8> key{};
    for (std::uint32_t& word : key) word = static_cast<std::uint32_t>(random.next());
    const auto counter = static_cast<std::uint32_t>(random.next()) >> 1;
    const Batch expected = by_openssl(key, counter);
    for (const Level level : {Level::portable, Level::avx2, Level::avx512}) {
      if (level > noise::best_level()) continue;
      Batch found{};
      noise::chacha20(key, counter, found, level);
      ASSERT_EQ(found, expected) << static_cast<int>(level);
    }
  }
}

int entropy_calls = 0;
void counting_entropy(std::span<std::byte> bytes) {
  ++entropy_calls;
  std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>(entropy_calls));
}
void failing_entropy(std::span<std::byte> bytes) {
  std::fill(bytes.begin(), bytes.end(), std::byte{7});  // these bytes must not be used
  throw RandomnessError("no entropy");
}
int calls_before_failure = 0;
void exhausted_entropy(std::span<std::byte> bytes) {
  if (calls_before_failure-- <= 0) throw RandomnessError("no entropy");
  noise::system_entropy(bytes);
}

// The words are those of the cipher: after each 4 KiB the first 32 bytes are the next key and are never returned.
TEST(Stream, IsTheCipherWithKeyErasure) {
  entropy_calls = 0;
  ChaChaStream stream(counting_entropy);
  std::array<std::uint32_t, 8> key{};
  std::memset(key.data(), 1, sizeof key);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::uint32_t> expected;
    for (std::uint32_t batch = 0; batch < 4; ++batch) {
      const Batch words = by_openssl(key, 16 * batch);
      expected.insert(expected.end(), words.begin(), words.end());
    }
    std::memcpy(key.data(), expected.data(), sizeof key);
    std::vector<std::uint64_t> found(512 - 4);
    stream.fill(found);
    ASSERT_EQ(std::memcmp(found.data(), expected.data() + 8, 8 * found.size()), 0);
  }
  EXPECT_EQ(entropy_calls, 1);
}

TEST(Stream, TakesANewKeyAfterAMillionBlocks) {
  entropy_calls = 0;
  ChaChaStream stream(counting_entropy);
  std::vector<std::uint64_t> words(508 * 1024);  // the output of 2^16 blocks
  for (int i = 0; i < 16; ++i) stream.fill(words);
  EXPECT_EQ(entropy_calls, 1);
  stream.fill(std::span(words).first(1));
  EXPECT_EQ(entropy_calls, 2);
}

TEST(Stream, ReleasesNothingAfterAFailure) {
  ChaChaStream never(failing_entropy);
  std::vector<std::uint64_t> words(8, 42);
  EXPECT_THROW(never.fill(words), RandomnessError);
  EXPECT_THROW(never.fill(words), RandomnessError);
  EXPECT_EQ(words, std::vector<std::uint64_t>(8, 42));

  calls_before_failure = 1;
  ChaChaStream later(exhausted_entropy);
  std::vector<std::uint64_t> many(508 * 1024 * 16);
  later.fill(many);
  EXPECT_THROW(later.fill(words), RandomnessError);
  EXPECT_EQ(words, std::vector<std::uint64_t>(8, 42));
}

TEST(Stream, ParentAndChildrenNeverShareWords) {
  SecureStream stream;
  static_cast<void>(stream.next());  // the buffer now contains words that a child must not repeat
  std::set<std::uint64_t> seen;
  for (int child = 0; child < 4; ++child) {
    std::array<int, 2> channel{};
    ASSERT_EQ(pipe(channel.data()), 0);
    const pid_t process = fork();
    if (process == 0) {
      const std::uint64_t word = stream.next();
      _exit(write(channel[1], &word, sizeof word) == sizeof word ? 0 : 1);
    }
    std::uint64_t word = 0;
    ASSERT_EQ(read(channel[0], &word, sizeof word), static_cast<ssize_t>(sizeof word));
    waitpid(process, nullptr, 0);
    close(channel[0]);
    close(channel[1]);
    EXPECT_TRUE(seen.insert(word).second);
  }
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(seen.insert(stream.next()).second);
}

TEST(Stream, CannotBeCopied) {
  static_assert(!std::is_copy_constructible_v<SecureStream> && !std::is_copy_assignable_v<SecureStream>);
  EXPECT_NE(&noise::thread_stream(), nullptr);
}

}  // namespace
}  // namespace tradeoff::detail::test
