# SPDX-License-Identifier: Apache-2.0
# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# It reads documents of another program, whose members can be anything.
"""Measurements of OpenDP, in the JSON form that ``opendp.prelude.serialize`` writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from .._errors import DomainError, UnsupportedError
from .._numbers import to_text
from .._plan import Plan, compose


class _Reader:
    """``sensitivity``: how far one person moves what is measured, in the metric of the measurement."""

    def __init__(self, sensitivity: Any) -> None:
        self.sensitivity = sensitivity

    def moved(self, function: str) -> str:
        if self.sensitivity is None:
            raise DomainError(f"sensitivity: {function} does not say how far one person moves its input, in the metric of the measurement")
        if isinstance(self.sensitivity, (list, tuple)):
            raise DomainError(f"sensitivity: {function} needs one number; three are for thresholds")
        return to_text("sensitivity", self.sensitivity)

    def read(self, form: Any) -> Plan:
        if not isinstance(form, Mapping) or "__function__" not in form or not isinstance(form.get("__kwargs__"), Mapping):
            raise DomainError("a measurement of OpenDP must have the members __function__ and __kwargs__, as serialize writes them")
        name, arguments = str(form["__function__"]), form["__kwargs__"]
        reader = _READERS.get(name)
        if reader is None:
            raise UnsupportedError(f"{name} of OpenDP is not supported; supported are {', '.join(sorted(_READERS))}")
        try:
            return reader(self, name, arguments)
        except KeyError as missing:
            raise DomainError(f"{name} of OpenDP has no argument {missing}") from None


def _number_of(name: str, arguments: Mapping[str, Any], key: str) -> str:
    value = arguments[key]
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise DomainError(f"{name}: {key} = {value!r} is not allowed; it must be a number")
    return to_text(key, value)


def _domain_of(name: str, arguments: Mapping[str, Any]) -> tuple[str, bool]:
    """The type of an entry, and whether there are several."""
    domain = arguments["input_domain"]
    several = False
    while isinstance(domain, Mapping):
        inner = domain.get("__kwargs__", {})
        if domain.get("__function__") in ("transformation_output_domain", "measurement_input_domain"):
            kind = _output_type(inner.get("this"))
            if kind is None:
                raise UnsupportedError(f"{name}: the domain is stated by a transformation that is not known here")
            return kind
        if domain.get("__function__") == "map_domain":
            domain, several = inner.get("value_domain"), True
        elif domain.get("__function__") == "vector_domain":
            domain, several = inner.get("atom_domain"), True
        elif domain.get("__function__") == "atom_domain" and isinstance(inner.get("T"), str):
            return inner["T"], several
        else:
            break
    raise UnsupportedError(f"{name}: the domain is not known here; it must be numbers, a vector or a map of numbers")


def _output_type(transformation: Any) -> tuple[str, bool] | None:
    """What a sum, a mean or a count gives: one number of the type of its input."""
    if not isinstance(transformation, Mapping):
        return None
    name, arguments = transformation.get("__function__"), transformation.get("__kwargs__", {})
    if name == "make_chain_tt":
        return _output_type(arguments.get("transformation1"))
    if name == "make_count":
        return str(arguments.get("TO", "i32")), False
    if name in ("make_sum", "make_mean"):
        try:
            return _domain_of(str(name), arguments)[0], False
        except (UnsupportedError, KeyError):
            return None
    if name in ("make_clamp", "make_resize", "make_impute_constant"):
        try:
            return _domain_of(str(name), arguments)
        except (UnsupportedError, KeyError):
            return None
    return None


def _is_whole(kind: str) -> bool:
    return kind[:1] in ("i", "u") and kind[1:].isdigit() or kind in ("isize", "usize", "int")


def _noise(reader: _Reader, name: str, arguments: Mapping[str, Any]) -> Plan:
    """Noise on whole numbers, or on floating-point numbers with the default grid, the finest there is."""
    kind, several = _domain_of(name, arguments)
    scale, moved = _number_of(name, arguments, "scale"), reader.moved(name)
    gaussian = name == "make_gaussian"
    if arguments.get("bounds") is not None:
        raise UnsupportedError(f"{name}: bounds are not supported")
    if _is_whole(kind):
        if gaussian and several:
            raise UnsupportedError("make_gaussian: no plan describes discrete noise on a vector of whole numbers")
        return Plan(f"{'discrete_gaussian(sigma' if gaussian else 'discrete_laplace(scale'}={scale}, sensitivity={moved})")
    if kind not in ("f32", "f64"):
        raise UnsupportedError(f"{name}: noise on {kind} is not known here")
    if arguments.get("k") is not None:
        raise UnsupportedError(f"{name}: k = {arguments['k']} is not supported: noise on a grid that is not the default one")
    return Plan(f"{'gaussian(sigma' if gaussian else 'laplace(scale'}={scale}, sensitivity={moved})")


def _threshold(reader: _Reader, name: str, arguments: Mapping[str, Any]) -> Plan:
    kind, _ = _domain_of(name, arguments)
    if not _is_whole(kind):
        raise UnsupportedError(f"{name}: only whole numbers are supported")
    if not isinstance(reader.sensitivity, (list, tuple)) or len(reader.sensitivity) != 3:
        raise DomainError(f"sensitivity: {name} needs three numbers: partitions of a person, their sum, and the largest")
    partitions, total, largest = (Fraction(to_text("sensitivity", one)) for one in reader.sensitivity)
    if total != (partitions * largest if "laplace" in name else total):
        raise UnsupportedError(f"{name}: a sum of {total} is supported only if it is {partitions} times {largest}")
    if "gaussian" in name and not (partitions == 1 and total == largest):
        raise UnsupportedError(f"{name}: only one partition of a person is supported")
    noise = "discrete_gaussian" if "gaussian" in name else "discrete_laplace"
    scale, above = _number_of(name, arguments, "scale"), _number_of(name, arguments, "threshold")
    return Plan(f"threshold(noise={noise}, scale={scale}, above={above}, partitions={partitions}, contribution={largest})")


def _response(reader: _Reader, name: str, arguments: Mapping[str, Any]) -> Plan:
    """Two neighbouring answers: the truth is kept with probability p, any other answer has probability (1 - p)/(k - 1)."""
    kept = Fraction(_number_of(name, arguments, "prob"))
    choices = 2 if name == "make_randomized_response_bool" else len(arguments["categories"])
    if not (choices >= 2 and 0 < kept < 1):
        raise DomainError(f"{name}: prob = {arguments['prob']!r} of {choices} answers is not allowed")
    other = (1 - kept) / (choices - 1)
    rest = [1 - kept - other] if choices > 2 else []
    p, q = ", ".join(map(str, [kept, other, *rest])), ", ".join(map(str, [other, kept, *rest]))
    return Plan(f"pair(p=[{p}], q=[{q}])")


def _composition(reader: _Reader, name: str, arguments: Mapping[str, Any]) -> Plan:
    measurements = arguments["measurements"]
    if not isinstance(measurements, list) or not measurements:
        raise DomainError(f"{name}: measurements must be a list")
    return compose(*(reader.read(one) for one in measurements))


def _same(key: str) -> Callable[[_Reader, str, Mapping[str, Any]], Plan]:
    """What only states the guarantee in other words, or prepares the input: the sensitivity is that of the measurement."""
    return lambda reader, name, arguments: reader.read(arguments[key])


_READERS: dict[str, Callable[[_Reader, str, Mapping[str, Any]], Plan]] = {
    "make_laplace": _noise,
    "make_geometric": _noise,
    "make_gaussian": _noise,
    "make_laplace_threshold": _threshold,
    "make_gaussian_threshold": _threshold,
    "make_randomized_response_bool": _response,
    "make_randomized_response": _response,
    "make_composition": _composition,
    "make_chain_mt": _same("measurement1"),
    "make_chain_pm": _same("measurement0"),
    "make_zCDP_to_approxDP": _same("measurement"),
    "make_pureDP_to_zCDP": _same("measurement"),
    "make_approximate": _same("measurement"),
    "make_fix_delta": _same("measurement"),
}


def from_opendp(measurement: Any, *, sensitivity: Any = None) -> Plan:
    """The plan of a measurement of OpenDP.

    Args:
        measurement: a ``Measurement`` of OpenDP (0.14 or later), or what ``opendp.prelude.serialize`` writes about one: JSON, or the mapping in it.
        sensitivity: how far one person moves what is measured, in the metric of the measurement: for a chain with transformations that is
            what their map gives. Three numbers for thresholds. A measurement does not say.

    Noise on floating-point numbers is on the finest grid that these have, and taken as continuous.

    >>> form = '{"__function__": "make_randomized_response_bool", "__kwargs__": {"prob": 0.75}}'
    >>> from_opendp(form).text
    'pair(p=[3/4, 1/4], q=[1/4, 3/4])'
    """
    if not isinstance(measurement, (str, Mapping)):
        try:
            from opendp.prelude import serialize  # type: ignore[import-not-found, unused-ignore]
        except ImportError:
            raise UnsupportedError("reading a Measurement needs serialize of OpenDP") from None
        measurement = str(serialize(measurement))
    if isinstance(measurement, str):
        try:
            measurement = json.loads(measurement, parse_float=str)
        except ValueError as error:
            raise DomainError(f"a measurement of OpenDP: it is no JSON: {error}") from None
    return _Reader(sensitivity).read(measurement)
