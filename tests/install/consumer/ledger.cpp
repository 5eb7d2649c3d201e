// SPDX-License-Identifier: Apache-2.0
#include <tradeoff/ledger.h>

#include <cstdio>
#include <string>

// A ledger in a new file: an account of mu = 1 affords three spends of mu = 1/2, whose squares add up to 3/4.
int main(int, char** arguments) {
  const std::string file = std::string(arguments[0]) + ".db";
  for (const char* ending : {"", "-wal", "-shm"}) std::remove((file + ending).c_str());
  tradeoff::Ledger ledger("sqlite:" + file, tradeoff::Ledger::Open::or_create);
  tradeoff::AccountTerms terms;
  terms.name = "people";
  terms.cap.mu = tradeoff::read_number("1");
  terms.unit = "one person";
  static_cast<void>(ledger.create(terms));
  for (const char* key : {"first", "second", "third"}) static_cast<void>(ledger.spend({{"people"}, key, "gaussian(sigma=2)"}));
  const std::string left = ledger.account("people").left;
  std::printf("left: %s\n", left.c_str());
  return left == "0.25" && ledger.verify().intact ? 0 : 1;
}
