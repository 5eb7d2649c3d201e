// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace tradeoff {

/// Base of everything the library throws. `kind()` is the word that `tradeoff query` answers with.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  [[nodiscard]] virtual const char* kind() const noexcept = 0;
};

/// Text that is not a plan (or a number, or a table). `offset()` is the byte at fault.
class ParseError final : public Error {
 public:
  ParseError(const std::string& message, std::size_t offset) : Error(message), offset_(offset) {}
  [[nodiscard]] const char* kind() const noexcept override { return "parse"; }
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }

 private:
  std::size_t offset_;
};

/// A value outside its range. The message names the argument, the value and the allowed range.
class DomainError final : public Error {
 public:
  using Error::Error;
  [[nodiscard]] const char* kind() const noexcept override { return "domain"; }
};

/// A question that has a meaning but no implementation here (yet), or no theorem behind it.
class UnsupportedError final : public Error {
 public:
  using Error::Error;
  [[nodiscard]] const char* kind() const noexcept override { return "unsupported"; }
};

/// A target that was stated and that the plan is not certain to meet. On the command line this is exit code 1.
class UnmetError final : public Error {
 public:
  using Error::Error;
  [[nodiscard]] const char* kind() const noexcept override { return "domain"; }
};

/// A problem above the documented size limits; thrown at once, before any work.
class TooLargeError final : public Error {
 public:
  using Error::Error;
  [[nodiscard]] const char* kind() const noexcept override { return "too_large"; }
};

}  // namespace tradeoff
