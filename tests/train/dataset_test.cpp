// SPDX-License-Identifier: Apache-2.0
// Data files: what is read from good ones, and what is said about bad ones.
#include "train/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "small_run.h"
#include "support/scale.h"
#include "tradeoff/error.h"
#include "train/features.h"
#include "train/inflate.h"

namespace tradeoff::detail::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using train::Examples;

std::string word(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255U);
  return bytes;
}
std::string images(std::uint32_t count, const std::string& pixels) { return word(2051) + word(count) + word(2) + word(2) + pixels; }
std::string labels(const std::string& given) { return word(2049) + word(static_cast<std::uint32_t>(given.size())) + given; }

std::string complaint(const std::string& image_bytes, const std::string& label_bytes) {
  try {
    static_cast<void>(train::read_idx(image_bytes, label_bytes, 10, "images.idx", "labels.idx"));
  } catch (const DomainError& error) {
    return error.what();
  }
  return "none";
}

TEST(Idx, IsReadByteByByte) {
  const Examples read = train::read_idx(images(2, std::string("\0\xff\x33\x80\1\2\3\4", 8)), labels({3, 9}), 10, "i", "l");
  EXPECT_EQ(read.size(), 2U);
  EXPECT_EQ(read.width(), 4U);
  EXPECT_EQ(read.inputs(0, 0), 0);
  EXPECT_EQ(read.inputs(0, 1), train::activation_one);
  EXPECT_EQ(read.inputs(0, 2), 205);                    // 51/255 = 0.2
  EXPECT_EQ(read.inputs(1, 4), train::activation_one);  // the bias
  EXPECT_EQ(read.labels, (std::vector<std::uint8_t>{3, 9}));
}

TEST(Idx, BadFilesAreNamedWithTheirFault) {
  const std::string good = images(1, "abcd"), good_labels = labels({1});
  EXPECT_EQ(complaint(good, good_labels), "none");
  EXPECT_THAT(complaint(good.substr(0, 10), good_labels), AllOf(HasSubstr("images.idx"), HasSubstr("truncated")));
  EXPECT_THAT(complaint(good.substr(0, 19), good_labels), AllOf(HasSubstr("images.idx"), HasSubstr("promises 4 bytes of data, but 3")));
  EXPECT_THAT(complaint(good + "e", good_labels), HasSubstr("too long"));
  EXPECT_THAT(complaint(good_labels, good_labels), AllOf(HasSubstr("images.idx"), HasSubstr("truncated")));
  EXPECT_THAT(complaint(word(2049) + good.substr(4), good_labels), AllOf(HasSubstr("images.idx"), HasSubstr("magic number 2049")));
  EXPECT_THAT(complaint(good, good), AllOf(HasSubstr("labels.idx"), HasSubstr("magic number 2051")));
  EXPECT_THAT(complaint(images(2, "abcdefgh"), good_labels), AllOf(HasSubstr("labels.idx"), HasSubstr("1 labels for the 2 images")));
  EXPECT_THAT(complaint(good, labels({10})), AllOf(HasSubstr("labels.idx"), HasSubstr("label 10 of record 1 is not one of 0..9")));
  EXPECT_THAT(complaint(word(2051) + word(0) + word(2) + word(2), labels("")), HasSubstr("a size of 0"));
  EXPECT_THAT(complaint(word(2051) + word(~0U) + word(~0U) + word(~0U), good_labels), HasSubstr("a size of 4294967295"));
  EXPECT_THAT(complaint("", ""), HasSubstr("truncated"));
}

TEST(Csv, IsReadWithinItsDeclaredBounds) {
  const Examples read = train::read_csv("age,income,class\n0, 5,1\r\n10,-3 ,0\n\n99,2.5,2\n", {{0}, {10}, 3}, "people.csv");
  EXPECT_EQ(read.size(), 3U);
  EXPECT_EQ(read.width(), 2U);
  EXPECT_EQ(read.inputs(0, 0), -train::activation_one);
  EXPECT_EQ(read.inputs(0, 1), 0);
  EXPECT_EQ(read.inputs(1, 1), -train::activation_one);  // clipped
  EXPECT_EQ(read.inputs(2, 0), train::activation_one);   // clipped
  EXPECT_EQ(read.inputs(2, 1), -512);
  EXPECT_EQ(read.labels, (std::vector<std::uint8_t>{1, 0, 2}));
}

TEST(Csv, BadLinesAreNamed) {
  const auto fault = [](const std::string& text) -> std::string {
    try {
      static_cast<void>(train::read_csv(text, {{0}, {1}, 2}, "p.csv"));
    } catch (const DomainError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(fault("1,0\n1,2\n"), HasSubstr("p.csv: line 2: label '2' is not one of 0..1"));
  EXPECT_THAT(fault("1,0\n1,1,1\n"), HasSubstr("line 2: 3 fields, but the first record has 2"));
  EXPECT_THAT(fault("1,0\nx,1\n"), HasSubstr("line 2: field 1 'x' is not a finite number"));
  EXPECT_THAT(fault("1,0\nnan,1\n"), HasSubstr("'nan' is not a finite number"));
  EXPECT_THAT(fault("1,0\n1e999,1\n"), HasSubstr("is not a finite number"));
  EXPECT_THAT(fault("1,0.5\n"), HasSubstr("label '0.5'"));
  EXPECT_THAT(fault("1\n"), HasSubstr("line 1: a record has between 1"));
  EXPECT_THAT(fault(""), HasSubstr("no records"));
  EXPECT_THAT(fault("nan,nan,nan\n1,1,1\n"), HasSubstr("line 1: field 1 'nan' is not a finite number"));  // no names of columns
  EXPECT_THAT(fault("1e400,inf,0\n"), HasSubstr("line 1: field 1 '1e400' is not a finite number"));
  EXPECT_THAT(fault("1;2;0\n3;4;1\n"), HasSubstr("separated by commas, not by ;"));
  EXPECT_THAT(fault("age;class\n3;1\n"), HasSubstr("separated by commas, not by ;"));
  EXPECT_THROW(static_cast<void>(train::read_csv("1,0\n", {{1}, {1}, 2}, "p.csv")), DomainError);
}

TEST(Gzip, StoredAndFixedBlocks) {
  // `printf hello | gzip -n` by a zlib of its own, and the same bytes in a stored block.
  const std::string fixed("\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0", 25);
  EXPECT_EQ(train::gunzip(fixed, 100), "hello");
  const std::string stored("\x1f\x8b\x08\0\0\0\0\0\0\x03\x01\x05\0\xfa\xffhello\x86\xa6\x10\x36\x05\0\0\0", 28);
  EXPECT_EQ(train::gunzip(stored, 100), "hello");
  EXPECT_THROW(static_cast<void>(train::gunzip(fixed, 4)), DomainError);
  for (std::size_t length = 0; length < fixed.size(); ++length)
    EXPECT_THROW(static_cast<void>(train::gunzip(fixed.substr(0, length), 100)), DomainError) << length;
}

const std::filesystem::path fashion = "/usr/share/datasets/fashion-mnist";

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Gzip, FashionMnistIsReadAndDamageIsDetected) {
  const std::string packed = read(fashion / "t10k-labels-idx1-ubyte.gz");
  ASSERT_FALSE(packed.empty()) << "Debian's dataset-fashion-mnist is missing";
  const std::string content = train::gunzip(packed, 1U << 20);
  ASSERT_EQ(content.size(), 10008U);
  EXPECT_EQ(std::vector<int>(content.begin() + 8, content.begin() + 18), (std::vector<int>{9, 2, 1, 1, 6, 1, 4, 6, 5, 7}));
  ReplayForTests words(1);
  const int cases = static_cast<int>(200 * test_scale());
  for (int i = 0; i < cases; ++i) {  // one flipped bit after the header, whose time and name mean nothing
    std::string damaged = packed;
    damaged[40 + words.next() % (packed.size() - 40)] ^= static_cast<char>(1U << words.next() % 8);
    EXPECT_THROW(static_cast<void>(train::gunzip(damaged, 1U << 20)), DomainError);
  }
}

TEST(Features, AreOfOneRecordAtATimeAndOfOneNorm) {
  Examples some = random_images(20, 28, 28, 5);
  some.inputs.row(7).setZero();
  const Examples all = train::orientation_histograms(some), alone = train::orientation_histograms(train::slice(some, 3, 4));
  EXPECT_EQ(all.width(), 392U);
  EXPECT_TRUE(all.inputs.row(3) == alone.inputs.row(0));
  for (Eigen::Index i = 0; i < all.inputs.rows(); ++i) {
    const double norm = all.inputs.row(i).head(392).cast<double>().norm() / train::activation_one;
    EXPECT_NEAR(norm, i == 7 ? 0 : 5, 0.02);
  }
  EXPECT_THROW(static_cast<void>(train::orientation_histograms(random_examples(3, 10, 1))), DomainError);
}

}  // namespace
}  // namespace tradeoff::detail::test
