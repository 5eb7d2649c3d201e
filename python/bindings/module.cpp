// SPDX-License-Identifier: Apache-2.0
#include "bind.h"
#include "text.h"
#include "tradeoff/ledger.h"
#include "tradeoff/release.h"
#include "tradeoff/version.h"

namespace tradeoff::detail::python {
namespace {

void raise(const char* type, const nb::object& error) {
  PyErr_SetObject(nb::module_::import_("tradeoff._errors").attr(type).ptr(), error.ptr());
}

/// The exceptions are Python classes, so that they can be documented, pickled and subclassed.
void translate(const std::exception_ptr& pointer, void*) {
  const auto make = [](const char* type, const auto&... arguments) {
    raise(type, nb::module_::import_("tradeoff._errors").attr(type)(arguments...));
  };
  try {
    std::rethrow_exception(pointer);
  } catch (const TextError& error) {
    make("ParseError", error.what(), error.text(), error.offset());
  } catch (const DomainError& error) {
    make("DomainError", error.what());
  } catch (const UnmetError& error) {
    make("UnmetError", error.what());
  } catch (const UnsupportedError& error) {
    make("UnsupportedError", error.what());
  } catch (const TooLargeError& error) {
    make("TooLargeError", error.what());
  } catch (const RandomnessError& error) {
    make("RandomnessError", error.what());
  } catch (const BudgetError& error) {
    make("BudgetError", error.what());
  } catch (const KeyError& error) {
    make("SpendKeyError", error.what());
  } catch (const StoreError& error) {
    make("StoreError", error.what());
  } catch (const Error& error) {
    make("Error", error.what());
  }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace tradeoff::detail::python

NB_MODULE(_core, module) {
  module.doc() = "The compiled core of tradeoff. Use the package `tradeoff`; this module may change.";
  nanobind::set_leak_warnings(false);  // a curve that a module keeps until the interpreter ends is not a leak
  tradeoff::detail::python::bind_errors(module);
  tradeoff::detail::python::bind_plans(module);
  tradeoff::detail::python::bind_curves(module);
  tradeoff::detail::python::bind_gdp(module);
  tradeoff::detail::python::bind_limits(module);
  tradeoff::detail::python::bind_algebra(module);
  tradeoff::detail::python::bind_risk(module);
  tradeoff::detail::python::bind_calibration(module);
  tradeoff::detail::python::bind_release(module);
  tradeoff::detail::python::bind_ledger(module);
  tradeoff::detail::python::bind_noise(module);
  tradeoff::detail::python::bind_pictures(module);
  tradeoff::detail::python::bind_questions(module);
  tradeoff::detail::python::bind_audit(module);
  module.attr("version") = TRADEOFF_VERSION;
}
