// SPDX-License-Identifier: Apache-2.0
#include "train/inflate.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tradeoff/error.h"

namespace tradeoff::detail::train {
namespace {

[[noreturn]] void refuse(const char* why) { throw DomainError(std::string("not a sound gzip file: ") + why); }

/// The bits of a deflate stream, the lowest of each byte first.
class Bits {
 public:
  explicit Bits(std::string_view bytes) : bytes_(bytes) {}

  [[nodiscard]] std::uint32_t take(unsigned count) {
    while (held_ < count) {
      if (position_ == bytes_.size()) refuse("it ends too early");
      buffer_ |= std::uint64_t{static_cast<unsigned char>(bytes_[position_++])} << held_;
      held_ += 8;
    }
    const auto value = static_cast<std::uint32_t>(buffer_ & ((std::uint64_t{1} << count) - 1));
    buffer_ >>= count;
    held_ -= count;
    return value;
  }
  void skip_to_byte() { static_cast<void>(take(held_ % 8)); }
  /// The bytes not yet consumed, including whole bytes in the bit buffer.
  [[nodiscard]] std::size_t position() const { return position_ - held_ / 8; }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
  std::uint64_t buffer_ = 0;
  unsigned held_ = 0;
};

/// A canonical prefix code, decoded bit by bit from the number of codes of each length.
class PrefixCode {
 public:
  explicit PrefixCode(std::span<const std::uint8_t> lengths) : symbols_(lengths.size()) {
    for (const std::uint8_t length : lengths) ++counts_[length];
    std::array<std::uint16_t, 17> next{};
    for (std::size_t length = 1; length <= 15; ++length) next[length + 1] = static_cast<std::uint16_t>(next[length] + counts_[length]);
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol)
      if (lengths[symbol] != 0) symbols_[next[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
    counts_[0] = 0;
    int left = 1;
    for (std::size_t length = 1; length <= 15; ++length) {
      left = 2 * left - counts_[length];
      if (left < 0) refuse("it has an impossible code");
    }
  }

  [[nodiscard]] std::uint32_t decode(Bits& bits) const {
    int code = 0, first = 0, index = 0;
    for (std::size_t length = 1; length <= 15; ++length) {
      code |= static_cast<int>(bits.take(1));
      const int count = counts_[length];
      if (code - count < first) return symbols_[static_cast<std::size_t>(index + code - first)];
      index += count;
      first = 2 * (first + count);
      code *= 2;
    }
    refuse("it has an unused code");
  }

 private:
  std::array<int, 16> counts_{};
  std::vector<std::uint16_t> symbols_;
};

class Inflater {
 public:
  Inflater(std::string_view bytes, std::size_t limit) : bytes_(bytes), bits_(bytes), limit_(limit) {}

  [[nodiscard]] std::string run() {
    bool last = false;
    while (!last) {
      last = bits_.take(1) == 1;
      const std::uint32_t kind = bits_.take(2);
      if (kind == 0) {
        copy_stored();
      } else if (kind == 1) {
        read_fixed();
      } else if (kind == 2) {
        read_dynamic();
      } else {
        refuse("it has a block of no known kind");
      }
    }
    return std::move(out_);
  }
  [[nodiscard]] std::size_t position() const { return bits_.position(); }

 private:
  void put(char byte) {
    if (out_.size() == limit_) refuse("its content is larger than expected");
    out_.push_back(byte);
  }
  void copy_stored() {
    bits_.skip_to_byte();
    const std::uint32_t length = bits_.take(16), inverse = bits_.take(16);
    if ((length ^ inverse) != 0xFFFF) refuse("a block has an invalid length");
    for (std::uint32_t i = 0; i < length; ++i) put(static_cast<char>(bits_.take(8)));
  }
  void read_fixed() {
    std::array<std::uint8_t, 288> lengths;
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    std::array<std::uint8_t, 30> distances;
    distances.fill(5);
    read_symbols(PrefixCode(lengths), PrefixCode(distances));
  }
  void read_dynamic() {
    static constexpr std::array<std::uint8_t, 19> order = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const std::size_t literals = bits_.take(5) + 257, distances = bits_.take(5) + 1, given = bits_.take(4) + 4;
    if (literals > 286 || distances > 30) refuse("it has too many codes");
    std::array<std::uint8_t, 19> short_lengths{};
    for (std::size_t i = 0; i < given; ++i) short_lengths[order[i]] = static_cast<std::uint8_t>(bits_.take(3));
    const PrefixCode code(short_lengths);
    std::vector<std::uint8_t> lengths;
    while (lengths.size() < literals + distances) {
      const std::uint32_t symbol = code.decode(bits_);
      if (symbol < 16) {
        lengths.push_back(static_cast<std::uint8_t>(symbol));
        continue;
      }
      if (symbol == 16 && lengths.empty()) refuse("it repeats a length before the first");
      const std::uint8_t repeated = symbol == 16 ? lengths.back() : std::uint8_t{0};
      const std::uint32_t times = symbol == 16 ? 3 + bits_.take(2) : symbol == 17 ? 3 + bits_.take(3) : 11 + bits_.take(7);
      if (lengths.size() + times > literals + distances) refuse("it has too many lengths");
      lengths.insert(lengths.end(), times, repeated);
    }
    const std::span<const std::uint8_t> all(lengths);
    read_symbols(PrefixCode(all.first(literals)), PrefixCode(all.subspan(literals)));
  }
  void read_symbols(const PrefixCode& literals, const PrefixCode& distances) {
    static constexpr std::array<std::uint16_t, 29> length_base = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                                  31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static constexpr std::array<std::uint8_t, 29> length_bits = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                                 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    static constexpr std::array<std::uint16_t, 30> distance_base = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                                    33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                                    1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    static constexpr std::array<std::uint8_t, 30> distance_bits = {0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
                                                                   6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
    for (;;) {
      const std::uint32_t symbol = literals.decode(bits_);
      if (symbol == 256) return;
      if (symbol < 256) {
        put(static_cast<char>(symbol));
        continue;
      }
      if (symbol > 285) refuse("it has an unused length code");
      const std::uint32_t length = length_base[symbol - 257] + bits_.take(length_bits[symbol - 257]);
      const std::uint32_t code = distances.decode(bits_);
      if (code > 29) refuse("it has an unused distance code");
      const std::size_t distance = distance_base[code] + bits_.take(distance_bits[code]);
      if (distance > out_.size()) refuse("it copies from before its start");
      for (std::uint32_t i = 0; i < length; ++i) put(out_[out_.size() - distance]);
    }
  }

  std::string_view bytes_;
  Bits bits_;
  std::size_t limit_;
  std::string out_;
};

std::uint32_t checksum(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value & 1) != 0 ? 0xEDB88320U ^ (value >> 1) : value >> 1;
      made[i] = value;
    }
    return made;
  }();
  std::uint32_t sum = ~0U;
  for (const char byte : bytes) sum = table[(sum ^ static_cast<unsigned char>(byte)) & 0xFFU] ^ (sum >> 8);
  return ~sum;
}

/// Where the compressed data starts.
std::size_t after_header(std::string_view bytes) {
  if (bytes.size() < 18 || !is_gzip(bytes) || bytes[2] != 8) refuse("it has no gzip header");
  const auto flags = static_cast<unsigned char>(bytes[3]);
  std::size_t at = 10;
  const auto skip_text = [&] {
    const std::size_t end = bytes.find('\0', at);
    if (end == std::string_view::npos) refuse("it ends too early");
    at = end + 1;
  };
  if ((flags & 4U) != 0) at += 2 + static_cast<unsigned char>(bytes[10]) + 256U * static_cast<unsigned char>(bytes[11]);
  if (at > bytes.size()) refuse("it ends too early");
  if ((flags & 8U) != 0) skip_text();
  if ((flags & 16U) != 0) skip_text();
  if ((flags & 2U) != 0) at += 2;
  if (at + 8 > bytes.size()) refuse("it ends too early");
  return at;
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.substr(0, 2) == "\x1f\x8b"; }

std::string gunzip(std::string_view bytes, std::size_t limit) {
  const std::size_t start = after_header(bytes);
  Inflater inflater(bytes.substr(start), limit);
  std::string content = inflater.run();
  const std::string_view trailer = bytes.substr(start + inflater.position());
  if (trailer.size() != 8) refuse("it ends too early or goes on after its end");
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(trailer[at + i]);
    return value;
  };
  if (word(0) != checksum(content)) refuse("its checksum is wrong");
  if (word(4) != static_cast<std::uint32_t>(content.size())) refuse("its length is wrong");
  return content;
}

}  // namespace tradeoff::detail::train
