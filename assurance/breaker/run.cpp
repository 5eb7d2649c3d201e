// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>

#include "limited.h"
#include "shrink.h"
#include "support/random_plans.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::breaker {
namespace {

using Clock = std::chrono::steady_clock;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// The state of the working process: its position, and its counts.
struct Desk {
  std::uint64_t at = 0;
  bool begun = false;
  Counts counts;
};

Desk& shared_desk() {
  void* memory = mmap(nullptr, sizeof(Desk), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory to share between processes");
  return *new (memory) Desk();
}

/// A single write, so that lines of several processes do not mix.
void print(const std::string& text) { std::cout << text << std::flush; }

enum class Outcome { held, silent, refused, broken };

Outcome outcome_of(const Check& check, Examination& exam, std::string& message) {
  try {
    return check.run(exam) ? Outcome::held : Outcome::silent;
  } catch (const Broken& broken) {
    message = broken.what();
    return Outcome::broken;
  } catch (const Error&) {
    return Outcome::refused;
  } catch (const std::exception& other) {  // every exception of the library is an Error
    message = std::string("threw what is no error of the library: ") + other.what();
    return Outcome::broken;
  }
}

void print_finding(const Check& check, const Trial& trial, const std::string& message, std::uint64_t seed, std::uint64_t index,
                   const Accountant& accountant) {
  limit_processor_time(0);
  constexpr double seconds_per_attempt = 5;
  const Trial small = shrunk(trial, [&](const Trial& candidate) {
    return within(seconds_per_attempt,
                  [&] {
                    Examination exam(candidate, accountant);
                    std::string ignored;
                    return outcome_of(check, exam, ignored) == Outcome::broken;
                  })
        .value_or(false);
  });
  std::ostringstream out;
  out << "BROKEN  " << check.name << " (" << check.laws << "), seed " << seed << ", plan " << index << "\n  " << message
      << "\n  drawn: " << to_text(trial) << "\n  regression: " << check.name << " " << to_text(small) << "\n";
  print(out.str());
}

void try_plan(const Settings& settings, std::uint64_t index, const Accountant& accountant, Desk& desk) {
  const double start = processor_seconds();
  limit_processor_time(settings.seconds_per_plan);
  const Trial drawn = draw(settings.seed, index);
  Trial trial = drawn;
  try {
    Examination first(drawn, accountant);
    trial = aimed(drawn, first, settings.seed, index);
  } catch (const Error&) {
    ++desk.counts.refused;
  }
  Examination exam(trial, accountant);
  test::PlanSource chance(settings.seed ^ (0x5851f42d4c957f2dU * (index + 1)));
  std::size_t number = 0;
  for (const Check& check : checks()) {
    CheckCount& count = desk.counts.checks[number++];
    const bool chosen = chance.chance(check.share);
    if (settings.only != nullptr ? &check != settings.only : !chosen) continue;
    const double before = processor_seconds();
    std::string message;
    switch (outcome_of(check, exam, message)) {
      case Outcome::held:
        ++count.held;
        break;
      case Outcome::silent:
        ++count.silent;
        break;
      case Outcome::refused:
        ++count.refused;
        break;
      case Outcome::broken:
        ++count.broken;
        print_finding(check, trial, message, settings.seed, index, accountant);
        limit_processor_time(settings.seconds_per_plan);
    }
    count.seconds += processor_seconds() - before;
  }
  limit_processor_time(0);
  desk.counts.seconds += processor_seconds() - start;
  desk.counts.add_slow({processor_seconds() - start, index});
}

/// Continues from desk.at until the end, the deadline, or its own end.
void work(const Settings& settings, const Accountant& accountant, Desk& desk, Clock::time_point deadline) {
  const std::uint64_t last = settings.first + settings.plans;
  while (desk.at < last && (settings.minutes <= 0 || Clock::now() < deadline)) {
    desk.begun = true;
    ++desk.counts.plans;
    try_plan(settings, desk.at, accountant, desk);
    desk.begun = false;
    ++desk.at;
  }
}

void note_death(const Settings& settings, Desk& desk, int status) {
  const bool timed_out = WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
  std::ostringstream out;
  if (timed_out) {
    ++desk.counts.out_of_time;
    desk.counts.seconds += settings.seconds_per_plan;
    out << "slow    plan " << desk.at << " took more than " << settings.seconds_per_plan << " s: ";
  } else {
    ++desk.counts.crashed;
    out << "CRASHED plan " << desk.at << " (status " << status << "): ";
  }
  print(out.str() + to_text(draw(settings.seed, desk.at)) + "\n");
  desk.begun = false;
  ++desk.at;
}

}  // namespace

void Counts::add(const Counts& other) {
  plans += other.plans, refused += other.refused, out_of_time += other.out_of_time, crashed += other.crashed, seconds += other.seconds;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    checks[i].held += other.checks[i].held, checks[i].silent += other.checks[i].silent;
    checks[i].refused += other.checks[i].refused, checks[i].broken += other.checks[i].broken;
    checks[i].seconds += other.checks[i].seconds;
  }
  for (const SlowPlan& plan : other.slowest) add_slow(plan);
}

void Counts::add_slow(SlowPlan plan) {
  if (plan.seconds <= slowest.back().seconds) return;
  slowest.back() = plan;
  std::sort(slowest.begin(), slowest.end(), [](const SlowPlan& a, const SlowPlan& b) { return a.seconds > b.seconds; });
}

std::uint64_t Counts::broken() const {
  std::uint64_t sum = crashed;
  for (const CheckCount& check : checks) sum += check.broken;
  return sum;
}

Trial aimed(Trial trial, Examination& exam, std::uint64_t seed, std::uint64_t index) {
  test::PlanSource source(seed ^ (0x2545f4914f6cdd1dU * (index + 1)));
  if (source.chance(0.4)) return trial;
  const Interval epsilon = exam.answers().epsilon(trial.delta);
  const double aim = epsilon.lo * source.uniform(0.5, 1.1);
  if (aim > 0 && aim < 1e6) trial.epsilon = rounded(aim);
  return trial;
}

Counts try_plans(const Settings& settings, const Accountant& accountant) {
  Desk& desk = shared_desk();
  desk.at = settings.first;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(60 * settings.minutes));
  while (desk.at < settings.first + settings.plans && (settings.minutes <= 0 || Clock::now() < deadline)) {
    const pid_t worker = fork();
    if (worker < 0) throw std::runtime_error("no process to work in");
    if (worker == 0) {
      work(settings, accountant, desk, deadline);
      std::cout.flush();
      _exit(0);
    }
    int status = 0;
    while (waitpid(worker, &status, 0) < 0 && errno == EINTR) {
    }
    if (desk.begun) note_death(settings, desk, status);
  }
  const Counts counts = desk.counts;
  munmap(&desk, sizeof(Desk));
  return counts;
}

std::string to_line(const Settings& settings, const Counts& counts) {
  std::ostringstream out;
  out.precision(6);
  out << "range " << settings.seed << " " << settings.first << " " << settings.plans << " counts " << counts.plans << " " << counts.refused
      << " " << counts.out_of_time << " " << counts.crashed << " " << counts.seconds;
  for (const SlowPlan& plan : counts.slowest) out << " slow " << plan.seconds << " " << plan.index;
  for (std::size_t i = 0; i < checks().size(); ++i) {
    const CheckCount& count = counts.checks[i];
    out << " " << checks()[i].name << " " << count.held << " " << count.silent << " " << count.refused << " " << count.broken << " "
        << count.seconds;
  }
  return out.str() + " end\n";
}

bool read_line(const std::string& line, Settings& settings, Counts& counts) {
  std::istringstream in(line);
  std::string word;
  if (!(in >> word >> settings.seed >> settings.first >> settings.plans) || word != "range") return false;
  if (!(in >> word >> counts.plans >> counts.refused >> counts.out_of_time >> counts.crashed >> counts.seconds) || word != "counts")
    return false;
  for (SlowPlan& plan : counts.slowest) in >> word >> plan.seconds >> plan.index;
  while (in >> word && word != "end") {
    std::size_t at = 0;
    while (at < checks().size() && word != checks()[at].name) ++at;
    if (at == checks().size()) return false;
    CheckCount& count = counts.checks[at];
    in >> count.held >> count.silent >> count.refused >> count.broken >> count.seconds;
  }
  return word == "end";
}

std::string report(const Counts& counts, std::uint64_t seed) {
  std::ostringstream out;
  char text[200];
  std::snprintf(text, sizeof text, "%-14s %-11s %9s %9s %9s %7s %9s\n", "check", "laws", "held", "silent", "refused", "broken", "ms each");
  out << text;
  for (std::size_t i = 0; i < checks().size(); ++i) {
    const CheckCount& count = counts.checks[i];
    const auto runs = static_cast<double>(count.held + count.silent + count.refused + count.broken);
    std::snprintf(text, sizeof text, "%-14s %-11s %9llu %9llu %9llu %7llu %9.2f\n", checks()[i].name, checks()[i].laws,
                  static_cast<unsigned long long>(count.held), static_cast<unsigned long long>(count.silent),
                  static_cast<unsigned long long>(count.refused), static_cast<unsigned long long>(count.broken),
                  runs > 0 ? 1000 * count.seconds / runs : 0);
    out << text;
  }
  for (const SlowPlan& plan : counts.slowest)
    if (plan.seconds > 0) out << "slowest: " << plan.seconds << " s, " << to_text(draw(seed, plan.index)) << "\n";
  out << counts.plans << " plans, seed " << seed << ": " << counts.broken() << " broken, " << counts.crashed << " crashed, "
      << counts.refused << " refused, " << counts.out_of_time << " out of time, " << counts.seconds << " s\n";
  return out.str();
}

}  // namespace tradeoff::detail::breaker
