// SPDX-License-Identifier: Apache-2.0
// Asks every question about random practical plans and prints quantiles of width and processor time, and the worst by name:
//   survey [--plans N] [--seed N] [--limit SECONDS] [--rows FILE] [--only QUESTION,...]
// Each question is asked of a plan that was just read, so that nothing is reused. Each plan is asked in a process of its own: one that
// exceeds the limit of processor time for a question, or fails, is counted as that. `--rows` keeps every answer.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "plans.h"
#include "tradeoff/tradeoff.h"

namespace {

using tradeoff::Interval;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Settings {
  int plans = 1000;
  std::uint64_t seed = 1;
  double limit = 30;
  std::string rows;
  std::string only;  // first words of questions, separated by commas; all if empty
};

/// One answer: its interval, and what it cost. `failure` says why there is none.
struct Row {
  std::string plan, question, failure;
  Interval found{};
  double seconds = 0;

  /// Relative to the larger end; 0 where the answer is exact.
  [[nodiscard]] double width() const {
    if (!failure.empty()) return infinity;
    if (found.lo == found.hi) return 0;
    const double size = std::max(std::abs(found.lo), std::abs(found.hi));
    if (size == infinity) return infinity;
    return size < 1e-290 ? 0 : (found.hi - found.lo) / size;
  }
};

struct Question {
  std::string name;
  std::function<Interval(const survey::DrawnPlan&)> ask;
};

tradeoff::Curve curve_of(const survey::DrawnPlan& plan) { return tradeoff::analyze(tradeoff::parse(plan.text)); }

/// The noise for the budget that the drawn noise meets with a tenth to spare.
Interval calibrate_noise(const survey::DrawnPlan& plan) {
  const Interval budget = curve_of(plan).epsilon_at(1e-6);
  if (!(budget.hi < 1e6) || budget.hi == 0) return {};  // no budget to meet
  return tradeoff::calibrate(tradeoff::parse(plan.unknown),
                             tradeoff::Guarantee{Interval::exactly(1.1 * budget.hi), Interval::exactly(1e-6)})
      .value;
}

std::vector<Question> questions() {
  const auto exactly = [](double x) { return Interval::exactly(x); };
  std::vector<Question> list;
  for (const double delta : {0.0, 1e-5, 1e-6, 1e-10}) {
    std::ostringstream name;
    name << "epsilon " << delta;
    list.push_back({name.str(), [=](const auto& plan) { return curve_of(plan).epsilon_at(delta); }});
  }
  for (const double epsilon : {0.5, 4.0}) {
    std::ostringstream name;
    name << "delta " << epsilon;
    list.push_back({name.str(), [=](const auto& plan) { return curve_of(plan).delta_at(epsilon); }});
  }
  list.push_back({"beta 0.05", [](const auto& plan) { return curve_of(plan).beta_at(0.05); }});
  list.push_back({"tpr 0.001", [](const auto& plan) { return curve_of(plan).tpr_at(0.001); }});
  list.push_back({"advantage", [](const auto& plan) { return curve_of(plan).advantage(); }});
  list.push_back({"posterior 0.1", [](const auto& plan) { return curve_of(plan).posterior_at(0.1).accuracy; }});
  list.push_back({"mu", [](const auto& plan) { return tradeoff::measure_mu(curve_of(plan)).mu; }});
  list.push_back({"calibrate", calibrate_noise});
  list.push_back(
      {"compare 1e-06", [=](const auto& plan) { return tradeoff::compare_methods(tradeoff::parse(plan.text), exactly(1e-6)).epsilon; }});
  return list;
}

bool is_asked(const std::string& name, const std::string& only) {
  return only.empty() || ("," + only + ",").find("," + name.substr(0, name.find(' ')) + ",") != std::string::npos;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void limit_processor_time(double more) {
  const rlim_t until = static_cast<rlim_t>(std::ceil(processor_seconds() + more));
  const rlimit limit{until, RLIM_INFINITY};
  setrlimit(RLIMIT_CPU, &limit);
}

/// One line an answer, written as soon as it is known: number of the question, seconds, ends or the failure.
[[noreturn]] void answer_all(const survey::DrawnPlan& plan, const std::vector<Question>& list, std::size_t from, double limit, int out) {
  FILE* stream = fdopen(out, "w");
  for (std::size_t i = from; i < list.size(); ++i) {
    if (list[i].name == "calibrate" && plan.unknown.empty()) continue;
    limit_processor_time(limit);
    const double start = processor_seconds();
    try {
      const Interval found = list[i].ask(plan);
      std::fprintf(stream, "%zu %.9g %.17g %.17g\n", i, processor_seconds() - start, found.lo, found.hi);
    } catch (const std::exception& error) {
      std::fprintf(stream, "%zu %.9g ! %s\n", i, processor_seconds() - start, error.what());
    }
    std::fflush(stream);
  }
  std::fprintf(stream, "end\n");
  std::fflush(stream);
  _exit(0);
}

Row read_row(const std::string& line, const survey::DrawnPlan& plan, const std::vector<Question>& list, std::size_t& index) {
  std::istringstream in(line);
  Row row{plan.text, "", "", {}, 0};
  std::string lo, hi;
  in >> index >> row.seconds >> lo;
  row.question = list[index].name;
  if (lo == "!") {
    std::getline(in >> std::ws, row.failure);
  } else {
    in >> hi;
    row.found = {std::strtod(lo.c_str(), nullptr), std::strtod(hi.c_str(), nullptr)};
  }
  return row;
}

std::vector<Row> ask_about(const survey::DrawnPlan& plan, const std::vector<Question>& list, double limit) {
  std::vector<Row> rows;
  for (std::size_t next = 0; next < list.size();) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      answer_all(plan, list, next, limit, ends[1]);
    }
    close(ends[1]);
    FILE* stream = fdopen(ends[0], "r");
    char* line = nullptr;
    std::size_t room = 0;
    bool ended = false;
    while (getline(&line, &room, stream) > 0) {
      std::string text(line);
      text.pop_back();
      ended = text == "end";
      if (ended) break;
      std::size_t index = 0;
      rows.push_back(read_row(text, plan, list, index));
      next = index + 1;
    }
    std::free(line);
    std::fclose(stream);
    int status = 0;
    waitpid(child, &status, 0);
    if (ended) break;
    if (list[next].name == "calibrate" && plan.unknown.empty()) ++next;
    const bool late = WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU;
    rows.push_back({plan.text, list[next].name, late ? "over the limit" : "the process ended", {}, late ? limit : 0});
    ++next;
  }
  return rows;
}

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}

void print_line(const std::string& name, const std::vector<const Row*>& rows) {
  std::vector<double> widths, times;
  int failures = 0, wide = 0, narrow = 0;
  for (const Row* row : rows) {
    failures += !row->failure.empty();
    wide += row->width() > 1e-6;
    narrow += row->width() <= 1e-9;
    widths.push_back(row->width());
    times.push_back(1e3 * row->seconds);
  }
  std::printf("| %-13s | %6zu | %5d | %7.2f | %6d | %8.1e | %8.2f | %8.2f | %8.2f | %8.0f |\n", name.c_str(), rows.size(), failures,
              100.0 * narrow / static_cast<double>(std::max<std::size_t>(rows.size(), 1)), wide, quantile(widths, 1), quantile(times, 0.5),
              quantile(times, 0.9), quantile(times, 0.99), quantile(times, 1));
}

void print_worst(const char* title, std::vector<const Row*> rows, const std::function<double(const Row&)>& size) {
  std::sort(rows.begin(), rows.end(), [&](const Row* a, const Row* b) { return size(*a) > size(*b); });
  std::printf("\n%s\n", title);
  for (std::size_t i = 0; i < std::min<std::size_t>(rows.size(), 20); ++i) {
    const Row& row = *rows[i];
    std::printf("  %8.1e wide  %8.1f ms  %-13s  %s%s%s\n", row.width(), 1e3 * row.seconds, row.question.c_str(), row.plan.c_str(),
                row.failure.empty() ? "" : "  ! ", row.failure.c_str());
  }
}

void print_table(const std::vector<Row>& rows, const std::vector<Question>& list) {
  std::printf("| %-13s | %6s | %5s | %7s | %6s | %8s | %8s | %8s | %8s | %8s |\n", "question", "asked", "fail", "1e-9, %", "> 1e-6",
              "widest", "median", "90 %", "99 %", "worst");
  std::printf("|---------------|-------:|------:|--------:|-------:|---------:|---------:|---------:|---------:|---------:|\n");
  std::vector<const Row*> all;
  for (const Row& row : rows) all.push_back(&row);
  for (const Question& question : list) {
    std::vector<const Row*> some;
    for (const Row* row : all)
      if (row->question == question.name) some.push_back(row);
    print_line(question.name, some);
  }
  print_line("all", all);
  std::printf("\nWidths are relative to the larger end, times are milliseconds of processor time.\n");
  print_worst("The twenty widest:", all, [](const Row& row) { return row.width(); });
  print_worst("The twenty slowest:", all, [](const Row& row) { return row.seconds; });
}

Settings read_settings(int count, char** words) {
  Settings settings;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string word = words[i];
    if (word == "--plans")
      settings.plans = std::atoi(words[i + 1]);
    else if (word == "--seed")
      settings.seed = std::strtoull(words[i + 1], nullptr, 10);
    else if (word == "--limit")
      settings.limit = std::atof(words[i + 1]);
    else if (word == "--rows")
      settings.rows = words[i + 1];
    else if (word == "--only")
      settings.only = words[i + 1];
    else
      count = 0;
  }
  if (count % 2 == 0 || settings.plans <= 0 || settings.limit <= 0) {
    std::fprintf(stderr, "usage: survey [--plans N] [--seed N] [--limit SECONDS] [--rows FILE] [--only QUESTION,...]\n");
    std::exit(2);
  }
  return settings;
}

}  // namespace

int main(int count, char** words) {
  const Settings settings = read_settings(count, words);
  std::vector<Question> list = questions();
  std::erase_if(list, [&](const Question& one) { return !is_asked(one.name, settings.only); });
  std::vector<Row> rows;
  std::ofstream kept(settings.rows);
  int done = 0;
  const auto plans = survey::draw_plans(settings.seed, settings.plans);
  for (const auto& plan : plans) {
    for (Row& row : ask_about(plan, list, settings.limit)) {
      kept << row.question << '\t' << row.width() << '\t' << row.seconds << '\t' << row.found.lo << '\t' << row.found.hi << '\t' << row.plan
           << '\t' << row.failure << '\n';
      rows.push_back(std::move(row));
    }
    if (isatty(2)) std::fprintf(stderr, "\r%d of %zu plans", ++done, plans.size());
  }
  if (isatty(2)) std::fprintf(stderr, "\n");
  std::printf("%d plans, seed %llu, %zu answers\n\n", settings.plans, static_cast<unsigned long long>(settings.seed), rows.size());
  print_table(rows, list);
}
