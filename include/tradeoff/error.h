// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace tradeoff {

/// Base class of all exceptions of the library. `kind()` is the word that `tradeoff query` prints in its error.
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

/// A question that is meaningful but not implemented, or that no theorem covers.
class UnsupportedError final : public Error {
 public:
  using Error::Error;
  [[nodiscard]] const char* kind() const noexcept override { return "unsupported"; }
};

/// A stated target that the plan is not proved to meet. The command line exits with code 1.
class UnmetError final : public Error {
 public:
  using Error::Error;
  [[nodiscard]] const char* kind() const noexcept override { return "domain"; }
};

/// A problem above the documented size limits. It is thrown before any work is done.
class TooLargeError final : public Error {
 public:
  using Error::Error;
  [[nodiscard]] const char* kind() const noexcept override { return "too_large"; }
};

}  // namespace tradeoff
