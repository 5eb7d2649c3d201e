// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "place.h"

// Many processes spend from the same accounts while some of them are killed. What they were told is compared with the store afterwards.
namespace tradeoff::detail::test {

struct Race {
  int clients = 8;
  int kills = 0;
  int spends = 50;  ///< that each client tries
  int batch = 1;    ///< spends in one transaction
  const char* cap = "1";
  std::function<Ledger(const std::string& url)> open = [](const std::string& url) { return Ledger(url); };
};

struct RaceResult {
  std::vector<std::string> violations;  ///< of the promise; empty if it was kept
  std::size_t acknowledged = 0;
  std::size_t refused = 0;
  int kills = 0;
  double seconds = 0;
};

inline constexpr int race_accounts = 10;
inline std::string race_account(std::size_t number) { return "account" + std::to_string(number % race_accounts); }

/// One client: random spends on one to three of the accounts. It writes "key sequence" after each receipt, "key refused" after a refusal
/// and "key error ..." after anything else, each with one write.
[[noreturn]] inline void run_client(const Race& race, const std::string& url, const std::string& log, int client, unsigned seed,
                                    const int (&gate)[2]) {
  close(gate[1]);
  char byte = 0;
  static_cast<void>(!read(gate[0], &byte, 1));  // until the parent opens the gate
  const int out = open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const auto say = [&](const std::string& line) { static_cast<void>(!write(out, (line + "\n").data(), line.size() + 1)); };
  try {
    Ledger ledger = race.open(url);
    std::mt19937 random(seed);
    for (int i = 0; i < race.spends; i += race.batch) {
      std::vector<Spend> requests;
      for (int j = 0; j < race.batch; ++j) {
        Spend request;
        std::set<std::string> names;
        for (std::size_t n = 1 + random() % 3; n > 0; --n) names.insert(race_account(random()));
        request.accounts.assign(names.begin(), names.end());
        // Half of the keys are shared by all clients: they meet, and get a conflict or the receipt of another.
        request.key = random() % 2 == 0 ? "shared" + std::to_string(random() % 200)
                                        : "c" + std::to_string(client) + "." + std::to_string(i + j) + "." + std::to_string(seed);
        request.plan = "gaussian(sigma=" + std::to_string(8 + 8 * (random() % 2)) + ")";
        requests.push_back(request);
      }
      const auto outcomes = ledger.spend_all(requests);
      for (std::size_t j = 0; j < outcomes.size(); ++j) {
        const auto* receipt = std::get_if<Receipt>(&outcomes[j]);
        say(requests[j].key + " " + requests[j].accounts.front() + " " +
            (receipt != nullptr ? std::to_string(receipt->sequence) + " " + receipt->head
                                : "refused " + std::get<std::string>(outcomes[j])));
      }
    }
  } catch (const std::exception& error) {
    say(std::string("? ? error ") + error.what());
  }
  _exit(0);
}

inline pid_t start_client(const Race& race, const std::string& url, const std::string& log, int client, unsigned seed,
                          const int (&gate)[2]) {
  const pid_t child = fork();
  if (child == 0) run_client(race, url, log, client, seed, gate);
  return child;
}

/// Compares what the clients were told with what the store holds.
inline void judge(Ledger& ledger, const std::string& log, RaceResult& result) {
  std::map<std::pair<std::string, std::string>, std::string> charged;  // account and key: sequence and head
  const Verification found = ledger.verify();
  for (const std::string& fault : found.faults) result.violations.push_back("verify: " + fault);
  for (unsigned i = 0; i < race_accounts; ++i) {
    long double sum = 0;
    for (const HistoryEntry& entry : ledger.history(race_account(i))) {
      if (!charged.emplace(std::pair(race_account(i), entry.key), std::to_string(entry.sequence) + " " + entry.head).second)
        result.violations.push_back("key " + entry.key + " was charged twice");
      sum += std::stold(entry.charge.amount);
    }
    const Account account = ledger.account(race_account(i));
    if (std::stold(account.spent) > std::stold(account.cap)) result.violations.push_back(account.name + " is overspent");
    if (std::abs(sum - std::stold(account.spent)) > 1e-13L) result.violations.push_back(account.name + " does not add up");
  }
  std::ifstream lines(log);
  std::string key, name, what;
  while (lines >> key >> name >> what) {
    std::string rest;
    std::getline(lines, rest);
    if (what == "error") {
      result.violations.push_back("a client failed:" + rest);
    } else if (what == "refused") {
      ++result.refused;
    } else {
      ++result.acknowledged;
      const auto at = charged.find({name, key});
      if (at == charged.end())
        result.violations.push_back("key " + key + " was acknowledged and is lost");
      else if (at->second != what + rest)
        result.violations.push_back("key " + key + " was acknowledged as another entry");
    }
  }
}

inline RaceResult run_race(const Place& place, const Race& race, const std::string& log, unsigned seed) {
  RaceResult result;
  {
    Ledger ledger = place.open();
    for (unsigned i = 0; i < race_accounts; ++i) ledger.create(account(race_account(i), mu_cap(race.cap)));
  }
  const auto start = std::chrono::steady_clock::now();
  int gate[2];
  if (pipe2(gate, O_CLOEXEC) != 0) return result;
  std::vector<pid_t> clients;
  for (int i = 0; i < race.clients; ++i) clients.push_back(start_client(race, place.url(), log, i, seed + static_cast<unsigned>(i), gate));
  close(gate[1]);  // all start at once
  std::mt19937 random(seed);
  int next = race.clients;
  while (result.kills < race.kills) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1 + random() % 15));
    const std::size_t victim = random() % clients.size();
    kill(clients[victim], SIGKILL);
    waitpid(clients[victim], nullptr, 0);
    ++result.kills;
    clients[victim] = start_client(race, place.url(), log, next, seed + static_cast<unsigned>(next), gate);
    ++next;
  }
  for (const pid_t client : clients) waitpid(client, nullptr, 0);
  close(gate[0]);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Ledger ledger = place.open();
  judge(ledger, log, result);
  return result;
}

}  // namespace tradeoff::detail::test
