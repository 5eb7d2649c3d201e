// SPDX-License-Identifier: Apache-2.0
#include "request_line.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "plan/did_you_mean.h"
#include "report/json.h"

namespace tradeoff::detail::cli {
namespace {

using ask::RequestError;

constexpr std::size_t depth_limit = 64;     // a request needs depth 2; a deeper id is a mistake or an attack
constexpr std::size_t message_limit = 200;  // a message may quote a part of the input

/// An input iterator that counts the bytes read, so that an error found by the caller has a position too.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

/// Receives the events of the JSON reader. After the first error it continues only to find the id for the answer.
class Reader {
 public:
  Reader(std::string_view line, RequestLine& request) : line_(line), furthest_(line.data()), request_(request) {}

  void read() {
    nlohmann::json::sax_parse(CountingIterator(line_.data(), &furthest_), CountingIterator(line_.data() + line_.size(), &furthest_), this);
    if (fault_) throw RequestError(*fault_);
  }

  bool null() { return scalar("null", "null", false); }
  bool boolean(bool value) { return scalar(value ? "true" : "false", "true or false", false); }
  bool number_integer(std::int64_t value) { return scalar(std::to_string(value), nullptr, false); }
  bool number_unsigned(std::uint64_t value) { return scalar(std::to_string(value), nullptr, false); }
  bool number_float(double, const std::string& text) { return scalar(text, nullptr, false); }
  bool string(const std::string& text) {
    if (text.find('\0') != std::string::npos) note("a string holds the character NUL", path_, key_offset_);
    return scalar(text, nullptr, true);
  }
  bool binary(const std::vector<std::uint8_t>&) { return false; }  // does not occur in JSON text

  bool start_object(std::size_t) { return enter(true); }
  bool start_array(std::size_t) { return enter(false); }
  bool end_object() { return leave(true); }
  bool end_array() { return leave(false); }
  bool key(const std::string& name);
  bool parse_error(std::size_t position, const std::string& token, const nlohmann::json::exception& error);

 private:
  struct Level {
    bool is_object = false;
    std::vector<std::string> keys;
  };

  [[nodiscard]] std::size_t offset() const { return static_cast<std::size_t>(furthest_ - line_.data()); }
  [[nodiscard]] bool in_id() const { return !levels_.empty() && !levels_.front().keys.empty() && levels_.front().keys.back() == "id"; }
  [[nodiscard]] std::size_t key_start() const;
  void note(const std::string& message, const std::string& field, std::size_t at) {
    if (!fault_) fault_.emplace("parse", message.substr(0, message_limit), field, at);
  }
  bool scalar(const std::string& text, const char* wrong_type, bool is_string);
  bool enter(bool is_object);
  bool leave(bool is_object);
  void finish_id();

  std::string_view line_;
  const char* furthest_;
  RequestLine& request_;
  std::optional<RequestError> fault_;
  std::vector<Level> levels_;
  std::string path_;  // the field being read
  std::size_t key_offset_ = 0;
  report::JsonWriter id_;
};

/// The position of the key that was just read: its closing quote is the last byte read.
std::size_t Reader::key_start() const {
  std::size_t quote = offset() - 1;
  while (quote > 0) {
    quote = line_.rfind('"', quote - 1);
    std::size_t backslashes = 0;
    while (backslashes < quote && line_[quote - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) break;
  }
  return quote;
}

bool Reader::key(const std::string& name) {
  Level& level = levels_.back();
  const std::size_t start = key_start();
  const bool duplicate = std::find(level.keys.begin(), level.keys.end(), name) != level.keys.end();
  if (duplicate) note("duplicate key '" + name + "'", name, start);
  if (levels_.size() > 1 && in_id()) {
    id_.key(name);
  } else if (levels_.size() == 1) {
    path_ = name;
    key_offset_ = start;
  } else if (levels_.size() == 2 && levels_.front().is_object) {
    path_ = levels_.front().keys.back() + '.' + name;
    key_offset_ = start;
  }
  // Limits the number of keys, because the search for a duplicate key is linear.
  if (level.keys.size() >= 1000) {
    note("an object with more than 1000 keys", path_, start);
    return false;
  }
  level.keys.push_back(name);
  return true;
}

bool Reader::scalar(const std::string& text, const char* wrong_type, bool is_string) {
  if (levels_.empty()) {
    note("a request is a JSON object, {\"plan\": ..., \"ask\": ...}", "", 0);
  } else if (in_id()) {
    is_string ? id_.text(text) : id_.raw(text);
    if (levels_.size() == 1) finish_id();
  } else if (!levels_.back().is_object || levels_.size() > 2 || wrong_type != nullptr) {
    note("field '" + path_ + "' must be a number or a string" + (wrong_type ? std::string(", not ") + wrong_type : ""), path_, key_offset_);
  } else if (path_ == "target") {
    note("field 'target' must be an object such as {\"epsilon\": 1, \"delta\": 1e-5}", path_, key_offset_);
  } else if (!fault_) {
    request_.members.push_back({path_, text, key_offset_, is_string});
  }
  return true;
}

bool Reader::enter(bool is_object) {
  if (levels_.size() >= depth_limit) {
    note("nesting deeper than " + std::to_string(depth_limit), path_, offset() - 1);
    return false;
  }
  if (levels_.empty() && !is_object) {
    note("a request is a JSON object, not an array", "", 0);
  } else if (!levels_.empty() && in_id()) {
    is_object ? id_.begin_object() : id_.begin_array();
  } else if (!levels_.empty() && (levels_.size() > 1 || !is_object || path_ != "target")) {
    note("field '" + path_ + "' must be a number or a string, not " + (is_object ? "an object" : "an array"), path_, key_offset_);
  }
  levels_.push_back({is_object, {}});
  return true;
}

bool Reader::leave(bool is_object) {
  levels_.pop_back();
  if (!levels_.empty() && in_id()) {
    is_object ? id_.end_object() : id_.end_array();
    if (levels_.size() == 1) finish_id();
  }
  return true;
}

void Reader::finish_id() {
  if (request_.id == "null") request_.id = id_.str();
  id_ = {};
}

bool Reader::parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) {
  std::string message = error.what();
  // Drops the position from "[json.exception.parse_error.101] parse error at line 1, column 9: syntax error ...", because the offset gives
  // it.
  if (const auto end = message.find("] "); end != std::string::npos) message.erase(0, end + 2);
  if (message.rfind("parse error at line", 0) == 0) {
    if (const auto end = message.find(": "); end != std::string::npos) message.erase(0, end + 2);
  }
  note("not JSON: " + message, "", position == 0 ? 0 : std::min(position - 1, line_.size()));
  return false;
}

const ask::Question& question_of(const RequestLine& line) {
  const auto* given = line.find("ask");
  if (given == nullptr) throw RequestError("parse", "field 'ask' is missing", "ask", 0);
  if (const ask::Question* found = ask::find_question(given->text)) return *found;
  std::vector<std::string_view> names;
  for (const ask::Question* question : ask::questions()) names.push_back(question->name);
  throw RequestError("parse", "ask '" + given->text.substr(0, 40) + "' is not known" + did_you_mean(given->text, names), "ask",
                     given->offset);
}

}  // namespace

void read_line(std::string_view text, RequestLine& line) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") throw RequestError("parse", "the line begins with a byte order mark", "", 0);
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) throw RequestError("parse", "the line holds a NUL byte", "", nul);
  Reader(text, line).read();
}

ask::Request to_request(const RequestLine& line, ask::CurveCache& curves) {
  ask::Request request(question_of(line), curves, ask::Source::json);
  for (const RequestLine::Member& member : line.members)
    if (member.name != "ask") request.take(member.name, member.text, member.offset, member.is_string);
  request.complete();
  return request;
}

}  // namespace tradeoff::detail::cli
