// SPDX-License-Identifier: Apache-2.0
#include "tradeoff/ledger.h"

#include <nanobind/stl/map.h>

#include "bind.h"
#include "text.h"

#ifdef TRADEOFF_WITH_LEDGER
#include "ledger/present.h"
#include "report/json.h"
#endif

namespace tradeoff::detail::python {

#ifdef TRADEOFF_WITH_LEDGER
namespace {

/// The text that `write` makes.
template <class Write>
std::string json_of(const Write& write) {
  report::JsonWriter out;
  write(out);
  return out.str();
}

Number read_stated(const std::string& name, const std::string& text) {
  try {
    return read_number(text);
  } catch (const ParseError&) {
    throw DomainError(name + " = " + text.substr(0, 40) + " is not a number");
  }
}

StatedCap to_cap(const Texts& stated) {
  const auto number = [&](const char* name) {
    const auto found = stated.find(name);
    return found == stated.end() ? std::optional<Number>() : std::optional(read_stated(name, found->second));
  };
  return {number("mu"), number("rho"), number("divergence"), number("advantage"), number("epsilon"), number("delta"), number("slack")};
}

Spend to_spend(const std::vector<std::string>& accounts, const std::string& key, const std::string& plan,
               const std::optional<std::string>& slack) {
  Spend request{accounts, key, plan};
  if (slack) request.slack = read_stated("slack", *slack);
  return request;
}

std::string receipt_json(const Receipt& receipt) {
  return json_of([&](report::JsonWriter& out) { ledger::write_receipt(receipt, out); });
}
std::string account_json(const Account& account) {
  return json_of([&](report::JsonWriter& out) { ledger::write_account(account, out); });
}

/// The functions of Python hold no lock of the interpreter while the store works.
template <class Charge>
std::string charge(Ledger& self, const Spend& request, const Charge& call) {
  const nb::gil_scoped_release unlocked;
  try {
    return receipt_json(call(self, request));
  } catch (const ParseError& error) {
    throw TextError(error, request.plan);
  }
}

std::string spend_all(Ledger& self, const std::vector<std::tuple<std::vector<std::string>, std::string, std::string>>& requests) {
  std::vector<Spend> all;
  for (const auto& [accounts, key, plan] : requests) all.push_back({accounts, key, plan});
  const nb::gil_scoped_release unlocked;
  const auto outcomes = self.spend_all(all);
  return json_of([&](report::JsonWriter& out) {
    out.begin_array();
    for (const auto& one : outcomes) {
      if (const auto* receipt = std::get_if<Receipt>(&one))
        ledger::write_receipt(*receipt, out);
      else
        out.text(std::get<std::string>(one));
    }
    out.end_array();
  });
}

std::string verify_json(Ledger& self, const std::string& expected) {
  const nb::gil_scoped_release unlocked;
  const tradeoff::Verification found = self.verify(expected);
  return json_of([&](report::JsonWriter& out) {
    out.begin_object().key("intact").boolean(found.intact).key("entries").integer(found.entries).key("head").text(found.head);
    out.key("faults").begin_array();
    for (const std::string& fault : found.faults) out.text(fault);
    out.end_array().end_object();
  });
}

}  // namespace

void bind_ledger(nb::module_& module) {
  using namespace nb::literals;
  module.attr("has_ledger") = true;
  nb::class_<Ledger>(module, "Ledger")
      .def(
          "__init__",
          [](Ledger* self, const std::string& url, bool create) {
            const nb::gil_scoped_release unlocked;
            new (self) Ledger(url, create ? Ledger::Open::or_create : Ledger::Open::existing);
          },
          "url"_a, "create"_a)
      .def(
          "create",
          [](Ledger& self, const std::string& name, const std::string& currency, const std::string& neighbours, const std::string& unit,
             const std::string& block_of, const Texts& cap) {
            const AccountTerms terms{name, currency, to_cap(cap), read_neighbours(neighbours), unit, block_of};
            const nb::gil_scoped_release unlocked;
            return account_json(self.create(terms));
          },
          "name"_a, "currency"_a, "neighbours"_a, "unit"_a, "block_of"_a, "cap"_a)
      .def(
          "change_cap",
          [](Ledger& self, const std::string& name, const Texts& cap) {
            const nb::gil_scoped_release unlocked;
            return account_json(self.change_cap(name, to_cap(cap)));
          },
          "name"_a, "cap"_a)
      .def(
          "spend",
          [](Ledger& self, const std::vector<std::string>& accounts, const std::string& key, const std::string& plan,
             const std::optional<std::string>& slack) {
            return charge(self, to_spend(accounts, key, plan, slack), [](Ledger& one, const Spend& request) { return one.spend(request); });
          },
          "accounts"_a, "key"_a, "plan"_a, "slack"_a.none())
      .def(
          "reserve",
          [](Ledger& self, const std::vector<std::string>& accounts, const std::string& key, const std::string& plan,
             const std::optional<std::string>& slack) {
            return charge(self, to_spend(accounts, key, plan, slack),
                          [](Ledger& one, const Spend& request) { return one.reserve(request); });
          },
          "accounts"_a, "key"_a, "plan"_a, "slack"_a.none())
      .def("spend_all", spend_all, "requests"_a)
      .def(
          "use",
          [](Ledger& self, const std::string& account, const std::string& key) {
            const nb::gil_scoped_release unlocked;
            return receipt_json(self.use(account, key));
          },
          "account"_a, "key"_a)
      .def(
          "accounts",
          [](Ledger& self, const std::optional<std::string>& name) {
            const nb::gil_scoped_release unlocked;
            std::vector<std::string> all;
            for (const Account& account : name ? self.accounts(*name) : self.accounts()) all.push_back(account_json(account));
            return all;
          },
          "name"_a.none())
      .def(
          "account",
          [](Ledger& self, const std::string& name) {
            const nb::gil_scoped_release unlocked;
            return account_json(self.account(name));
          },
          "name"_a)
      .def(
          "history",
          [](Ledger& self, const std::string& account) {
            const nb::gil_scoped_release unlocked;
            const std::vector<HistoryEntry> entries = self.history(account);
            return json_of([&](report::JsonWriter& out) { ledger::write_history(entries, out); });
          },
          "account"_a)
      .def("verify", verify_json, "expected_head"_a)
      .def("export", [](Ledger& self) {
        const nb::gil_scoped_release unlocked;
        std::vector<std::string> lines;
        self.export_lines([&](std::string_view line) { lines.emplace_back(line); });
        return lines;
      });
}
#else
void bind_ledger(nb::module_& module) { module.attr("has_ledger") = false; }
#endif

}  // namespace tradeoff::detail::python
