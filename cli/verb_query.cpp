// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <new>
#include <vector>

#include "request_line.h"
#include "streams.h"
#include "tradeoff/error.h"
#include "verb.h"

namespace tradeoff::detail::cli {
namespace {

constexpr std::size_t line_limit = 16U << 20;     // bytes; a longer line is refused without being stored, so memory is bounded
constexpr std::size_t chunk_size = 64U << 10;     // bytes read at a time
constexpr std::size_t output_limit = 256U << 10;  // bytes of answers that are buffered before they are written

void write_fault(const char* kind, const char* message, const std::string& field, std::size_t at, report::JsonWriter& out) {
  out.key("error").begin_object().key("kind").text(kind).key("message").text(message).key("at").integer(at);
  if (!field.empty()) out.key("field").text(field);
  out.end_object();
}

/// Answers one line. No input line can end the program.
class Responder {
 public:
  [[nodiscard]] std::string respond(std::string_view line) {
    RequestLine read;
    report::JsonWriter body;
    try {
      read_line(line, read);
      write_answer(ask::answer(to_request(read, curves_)), body);
    } catch (const ask::RequestError& error) {
      body = fault(error.kind(), error.what(), error.field(), error.offset());
    } catch (const ParseError& error) {
      body = fault(error.kind(), error.what(), "plan", error.offset());
    } catch (const Error& error) {
      body = fault(error.kind(), error.what(), "plan", 0);
    } catch (const std::bad_alloc&) {
      body = fault("too_large", "not enough memory to answer", "plan", 0);
    } catch (const std::exception& error) {
      body = fault("unsupported", error.what(), "plan", 0);
    }
    return envelope(read.id, body);
  }

  [[nodiscard]] static std::string refuse_long_line() {
    return envelope("null", fault("too_large", "the line is longer than 16 MiB", "", line_limit));
  }

 private:
  static report::JsonWriter fault(const char* kind, const char* message, const std::string& field, std::size_t at) {
    report::JsonWriter out;
    write_fault(kind, message, field, at, out);
    return out;
  }
  static std::string envelope(const std::string& id, const report::JsonWriter& body) { return "{\"id\":" + id + "," + body.str() + "}\n"; }

  ask::CurveCache curves_;
};

/// Splits standard input into lines and writes the answers. It flushes all answers before it waits for more input, so a peer that sends one
/// line and waits gets its answer.
class Conversation {
 public:
  void run() {
    std::vector<char> chunk(chunk_size);
    for (;;) {
      const std::size_t count = read_in(chunk.data(), chunk.size());
      if (count == 0) break;
      take({chunk.data(), count});
      flush();
    }
    if (!line_.empty() || skipping_) end_line();
    flush();
  }

 private:
  void take(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t newline = bytes.find('\n');
      const std::string_view piece = bytes.substr(0, newline);
      if (newline != std::string_view::npos && line_.empty() && !skipping_) {
        say(responder_.respond(piece));  // the common case: a whole line, which is not copied
      } else {
        add(piece);
        if (newline != std::string_view::npos) end_line();
      }
      bytes.remove_prefix(newline == std::string_view::npos ? bytes.size() : newline + 1);
    }
  }

  void add(std::string_view piece) {
    if (line_.size() + piece.size() > line_limit) skipping_ = true;
    if (skipping_) {
      line_ = {};
    } else {
      line_ += piece;
    }
  }

  void end_line() {
    say(skipping_ ? Responder::refuse_long_line() : responder_.respond(line_));
    line_.clear();
    if (line_.capacity() > chunk_size) line_.shrink_to_fit();
    skipping_ = false;
  }

  void say(const std::string& answer_line) {
    pending_ += answer_line;
    if (pending_.size() >= output_limit) flush();
  }

  void flush() {
    write_out(pending_);
    pending_.clear();
  }

  Responder responder_;
  std::string line_;  // the start of a line whose end was not read yet
  bool skipping_ = false;
  std::string pending_;
};

}  // namespace

ExitCode run_query(const Verb&, const Options&) {
  Conversation().run();
  return ExitCode::done;
}

}  // namespace tradeoff::detail::cli
