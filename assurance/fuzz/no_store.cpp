// SPDX-License-Identifier: Apache-2.0
// Takes the place of src/ledger/open_store.cpp: a fuzzer opens no store.
#include "ledger/store.h"
#include "tradeoff/ledger.h"

namespace tradeoff::detail::ledger {

std::unique_ptr<Store> open_store(const std::string&, bool) { throw StoreError("no store in a fuzzer"); }

}  // namespace tradeoff::detail::ledger
