// SPDX-License-Identifier: Apache-2.0
#include "ledger/store.h"
#include "tradeoff/error.h"

namespace tradeoff::detail::ledger {

std::unique_ptr<Store> open_store(const std::string& url, bool create) {
  const auto starts = [&](const char* with) { return url.rfind(with, 0) == 0; };
  if (starts("sqlite:")) return open_sqlite(url.substr(7), create);
  if (starts("postgresql://") || starts("postgres://")) return open_postgresql(url);
  throw DomainError("store: '" + url.substr(0, 60) + "' is not allowed; write sqlite:PATH or postgresql://USER@HOST/DATABASE");
}

}  // namespace tradeoff::detail::ledger
