// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "ledger/amount.h"
#include "linear.h"
#include "place.h"

// Many processes spend from the same accounts while some of them are killed. What they were told is compared with the store afterwards.
namespace tradeoff::detail::test {

struct Race {
  int clients = 8;
  int kills = 0;
  int spends = 50;                       ///< that each client tries
  int total = 0;                         ///< if not 0: that all clients together try instead; the kills are spread over them
  int batch = 1;                         ///< spends in one transaction
  int shared = 2;                        ///< one in this many keys is shared by all clients
  std::function<void()> beside = [] {};  ///< what happens meanwhile, such as a restart of the server
  const char* cap = "1";
  std::function<Ledger(const std::string& url)> open = [](const std::string& url) { return Ledger(url); };
};

/// A number that all processes share.
class SharedCount {
 public:
  SharedCount()
      : count_(new(mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                   std::atomic<int>(0)) {}
  SharedCount(const SharedCount&) = delete;
  SharedCount& operator=(const SharedCount&) = delete;
  ~SharedCount() { munmap(count_, sizeof(std::atomic<int>)); }
  std::atomic<int>& operator*() const { return *count_; }

 private:
  std::atomic<int>* count_;
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

inline std::int64_t race_clock() { return std::chrono::steady_clock::now().time_since_epoch().count(); }  // one for all processes

/// One client: random spends on one to three of the accounts. It writes down each call and each answer, with one write each:
///     call TIME KEY SIGMA ACCOUNT,ACCOUNT
///     answer TIME KEY charged|replayed|conflict|refused SEQUENCE HEAD
///     error TEXT
[[noreturn]] inline void run_client(const Race& race, const std::string& url, const std::string& log, int client, unsigned seed,
                                    const int (&gate)[2], const SharedCount& tried) {
  close(gate[1]);
  char byte = 0;
  static_cast<void>(!read(gate[0], &byte, 1));  // until the parent opens the gate
  const int out = open((log + "." + std::to_string(client)).c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const auto say = [&](const std::string& lines) { static_cast<void>(!write(out, lines.data(), lines.size())); };
  try {
    Ledger ledger = race.open(url);
    std::mt19937 random(seed);
    for (int i = 0; race.total == 0 ? i < race.spends : *tried < race.total; i += race.batch) {
      std::vector<Spend> requests;
      std::string calls, answers;
      const std::string called = std::to_string(race_clock());
      for (int j = 0; j < race.batch; ++j) {
        Spend request;
        std::set<std::string> names;
        for (std::size_t n = 1 + random() % 3; n > 0; --n) names.insert(race_account(random()));
        std::string list;
        for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
        request.accounts.assign(names.begin(), names.end());
        // Some keys are shared by all clients: they meet, and get a conflict or the receipt of another.
        request.key = random() % race.shared == 0 ? "shared" + std::to_string(random() % 200)
                                                  : "c" + std::to_string(client) + "." + std::to_string(i + j) + "." + std::to_string(seed);
        const std::string sigma = std::to_string(8 + 8 * (random() % 2));
        request.plan = "gaussian(sigma=" + sigma + ")";
        calls += "call " + called + " " + request.key + " " + sigma + " " + list + "\n";
        requests.push_back(request);
      }
      say(calls);
      const auto outcomes = ledger.spend_all(requests);
      const std::string answered = std::to_string(race_clock());
      for (std::size_t j = 0; j < outcomes.size(); ++j) {
        const auto* receipt = std::get_if<Receipt>(&outcomes[j]);
        const std::string refusal = receipt == nullptr ? std::get<std::string>(outcomes[j]) : "";
        answers +=
            "answer " + answered + " " + requests[j].key + " " +
            (receipt != nullptr ? (receipt->replayed ? "replayed " : "charged ") + std::to_string(receipt->sequence) + " " + receipt->head
             : refusal.rfind("account '", 0) == 0 ? "refused"
             : refusal.rfind("key '", 0) == 0     ? "conflict"
                                                  : "error " + refusal) +
            "\n";
      }
      say(answers);
      *tried += race.batch;
    }
  } catch (const std::exception& error) {
    say(std::string("error ") + error.what() + "\n");
  }
  _exit(0);
}

inline pid_t start_client(const Race& race, const std::string& url, const std::string& log, int client, unsigned seed, const int (&gate)[2],
                          const SharedCount& tried) {
  const pid_t child = fork();
  if (child == 0) run_client(race, url, log, client, seed, gate, tried);
  return child;
}

/// The operations that one client has written down.
inline std::vector<Operation> read_operations(const std::string& file, RaceResult& result, std::map<std::uint64_t, std::string>& heads) {
  std::vector<Operation> all;
  std::size_t answered = 0;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, key, what;
    std::int64_t time = 0;
    words >> kind;
    if (kind == "call") {
      Operation one;
      std::int64_t sigma = 1;
      std::string list, name;
      words >> one.called >> one.key >> sigma >> list;
      one.cost = 1'000'000'000'000 / (sigma * sigma);
      for (std::istringstream names(list); std::getline(names, name, ',');) one.accounts.push_back(name);
      all.push_back(one);
    } else if (kind == "answer" && words >> time >> key >> what && answered < all.size()) {
      Operation& one = all[answered++];
      one.answered = time;
      one.answer = what == "charged"    ? Answer::charged
                   : what == "replayed" ? Answer::replayed
                   : what == "conflict" ? Answer::conflict
                                        : Answer::refused;
      std::string head;
      if (words >> one.sequence >> head && heads.emplace(one.sequence, head).first->second != head)
        result.violations.push_back("entry " + std::to_string(one.sequence) + " has two heads");
      if (what == "error") result.violations.push_back("a client failed: " + line);
    } else {
      result.violations.push_back("a client failed: " + line);
    }
  }
  return all;
}

/// Compares what the clients were told with what the store holds.
inline void judge(Ledger& ledger, const std::string& log, int clients, RaceResult& result) {
  Log entries;
  std::map<std::uint64_t, std::string> hashes, heads;
  const Verification found = ledger.verify();
  for (const std::string& fault : found.faults) result.violations.push_back("verify: " + fault);
  ledger::Units cap = 0;
  for (unsigned i = 0; i < race_accounts; ++i) {
    const Account account = ledger.account(race_account(i));
    const auto units = [](const std::string& amount) {
      return *ledger::to_units(read_number(amount), ledger::amount_places, ledger::Round::up);
    };
    std::set<std::string> keys;
    ledger::Units sum = 0;
    for (const HistoryEntry& entry : ledger.history(account.name)) {
      if (!keys.insert(entry.key).second) result.violations.push_back("key " + entry.key + " was charged twice");
      entries[entry.sequence].push_back({account.name, entry.key, units(entry.charge.amount)});
      hashes[entry.sequence] = entry.head;
      sum += units(entry.charge.amount);
    }
    cap = units(account.cap);
    if (units(account.spent) > cap) result.violations.push_back(account.name + " is overspent");
    if (sum != units(account.spent)) result.violations.push_back(account.name + " does not add up");
  }
  std::vector<Operation> operations;
  for (int client = 0; client < clients; ++client) {
    const std::string file = log + "." + std::to_string(client);
    for (Operation& one : read_operations(file, result, heads)) operations.push_back(std::move(one));
    std::filesystem::remove(file);
  }
  for (const Operation& one : operations) {
    result.acknowledged += one.answer == Answer::charged || one.answer == Answer::replayed ? 1 : 0;
    result.refused += one.answer == Answer::refused || one.answer == Answer::conflict ? 1 : 0;
    if (one.sequence == 0 || one.answer == Answer::none) continue;
    const auto at = entries.find(one.sequence);
    if (at == entries.end() || at->second.size() != one.accounts.size() || at->second[0].key != one.key)
      result.violations.push_back("key " + one.key + " was acknowledged and is lost");
    else if (hashes[one.sequence] != heads[one.sequence])
      result.violations.push_back("key " + one.key + " was acknowledged as another entry");
  }
  for (std::string& fault : faults_of_history(std::move(operations), entries, cap)) result.violations.push_back(std::move(fault));
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
  const SharedCount tried;
  std::vector<pid_t> clients;
  for (int i = 0; i < race.clients; ++i)
    clients.push_back(start_client(race, place.url(), log, i, seed + static_cast<unsigned>(i), gate, tried));
  close(gate[1]);  // all start at once
  std::thread beside(race.beside);
  std::mt19937 random(seed);
  int next = race.clients;
  while (result.kills < race.kills) {
    do std::this_thread::sleep_for(std::chrono::milliseconds(1 + random() % 15));
    while (race.total != 0 && *tried < race.total / (race.kills + 1) * result.kills);
    const std::size_t victim = random() % clients.size();
    kill(clients[victim], SIGKILL);
    waitpid(clients[victim], nullptr, 0);
    ++result.kills;
    clients[victim] = start_client(race, place.url(), log, next, seed + static_cast<unsigned>(next), gate, tried);
    ++next;
  }
  for (const pid_t client : clients) waitpid(client, nullptr, 0);
  beside.join();
  close(gate[0]);
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Ledger ledger = place.open();
  judge(ledger, log, next, result);
  return result;
}

}  // namespace tradeoff::detail::test
