// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tradeoff::cli {

/// A request that cannot be answered because of one of its fields (or of its text, then `field` is empty).
class RequestError final : public std::runtime_error {
 public:
  RequestError(const char* kind, const std::string& message, std::string field, std::size_t offset)
      : std::runtime_error(message), kind_(kind), field_(std::move(field)), offset_(offset) {}
  [[nodiscard]] const char* kind() const noexcept { return kind_; }
  [[nodiscard]] const std::string& field() const noexcept { return field_; }
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }

 private:
  const char* kind_;
  std::string field_;
  std::size_t offset_;
};

/// One question as it was put, from a line of JSON or from the command line. Numbers stay text: they are exact decimals.
struct Request {
  struct Field {
    std::string name;  ///< a member of an object is `object.member`, as in `target.epsilon`
    std::string text;
    std::size_t offset = 0;  ///< where it stands in the line of JSON
    bool is_string = false;
  };

  std::string id = "null";  ///< JSON, given back as it came
  bool is_typed = false;    ///< on the command line, where fields are options
  std::vector<Field> fields;

  [[nodiscard]] const Field* find(std::string_view name) const {
    for (const Field& field : fields) {
      if (field.name == name) return &field;
    }
    return nullptr;
  }
};

/// Reads one line of JSON. On a fault throws RequestError of kind `parse`, after filling in `request.id` if it could be read.
/// Refused: what is not JSON, duplicate keys, nesting deeper than 64, NUL, a byte order mark, numbers like 1e400.
void read_request(std::string_view line, Request& request);

}  // namespace tradeoff::cli
