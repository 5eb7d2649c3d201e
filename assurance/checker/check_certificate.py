#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verifies certificates of tradeoff without any of its code: python-flint (ball arithmetic by Arb) and this one file.

    check_certificate.py [--released FILE] CERTIFICATE...

Each file is a certificate, or has one certificate per line if its name ends in .jsonl. Exit code 0: every claim of every certificate
is proved true. 1: one is proved false. 3: one is malformed or was changed. 4: one could not be decided. --released FILE: what was released under the certificate, the printed rows
or the model file; its SHA-256 is compared. Of a single certificate, every claim is listed, and what is taken on trust.

What is proved. A certificate states a plan and claims about it: delta at an epsilon, epsilon at a delta, the trade-off function, mu. Each claim
is an interval, and it is proved here that the true value lies in it, from the definitions of the mechanisms and of the claims.

What is taken on trust: `TRUST` below lists it for each kind of certificate. Above all, that the plan is what was run: no text can prove
that noise was drawn.

How delta is enclosed. A plan is a pair of laws (P, Q); with L = log dP/dQ under Q and M(z) = E_Q[exp(zL); L finite],
    delta(e) = P(L = inf) + C(e),  C(e) = E_Q[(exp L - exp e)+; L finite].
Every claim follows from enclosures of delta(e): see `Plan` and `answer_verdict`. These routes enclose it:
  * Gaussian noise alone: delta(e) = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu).
  * noise sampled once: delta(e) = q delta_base(log(1 + (exp e - 1)/q)), and its mirror delta(e) = 1 - exp(e) + exp(e) delta'(-e).
  * a threshold alone: the largest of a few sums of profiles of its noise.
  * one choice among candidates: a law like that of Laplace noise.
  * finite laws: the composition is a finite law, and C(e) a sum over its losses (`Sums`).
  * Laplace noise, also with finite laws: M is a finite sum of exp(zl) times a polynomial in w over w^m, w = z - 1/2. C(e) is the integral of
    M(z) exp(-(z-1)e) / (z(z-1)) / (2 pi i) over Re z = c > 1, and the residues left of the line give it exactly, term by term (`Sums`).
  * everything else: the trapezoidal sum of that integral with step h (`Line`). By Poisson summation the sum is that of
    exp((c-1)y) C(e + y) over y = 2 pi m/h, m any integer: m = 0 is the wanted term, the others are non-negative, and bounded by
    C <= 1 and C(x) <= M(s) exp(-(s-1)x) for every s > 1. Bounds of |M| for large arguments bound the truncation.
  * one epoch of random allocation: puts on a sum of lognormal variables, by the trapezoidal sum of their Laplace transform (`Allocation`);
    of a replaced record: the mean modulus of a sum, by its characteristic function (`ReplacedAllocation`).
Several epochs and several steps of an epoch are not computed: a claim outside simple bounds is refuted, any other is undecided.
A mechanism that is known only to lie between pairs (shuffled batches, capped batches) has one above and some below it: upper ends are proved by
the first, lower ends by one of the others.
Balls include all rounding. Floats only choose parameters: c, h, counts, paths; a poor choice makes a ball wide, but it stays valid.
"""

import bisect
import cmath
import functools
import hashlib
import itertools
import json
import math
import re
import signal
import sys
from fractions import Fraction
from statistics import NormalDist

from flint import acb, acb_mat, arb, arb_poly, arb_series, ctx, fmpq, fmpz

PRECISION = 160  # bits; intervals of double precision need about 60, long sums and small deltas lose some
TERMS = 20_000  # a composition with more terms of different kinds is not tried,
LATTICE = 400_000  # nor one whose losses lie in equal steps with more of them
WORK = 20_000_000  # a quadrature with more products is not tried
LIMIT = 60  # seconds of processor time for one claim, after which it is undecided
EDGE = 50  # exp(-EDGE) is what an approximation may cost, relative to the answer
ALGEBRAIC_EDGE = 30  # the same where the integrand falls off like a power; 10 more where that was not enough
ZERO, HALF, ONE = arb(0), arb(0.5), arb(1)

TRUST = {
    "answer": ["that the plan is what was run on the data, and that its sensitivities are right"],
    "release": [
        "that the noise was really drawn, once, in secret, and added to the values",
        "that the sensitivity of the values is at most what the plan says",
        "that the charged plan follows from the settings (`tradeoff verify` computes it again)",
    ],
    "training": [
        "that the batches and the noise were really drawn, in secret, at every step",
        "that no record's clipped gradient is longer than the sensitivity says",
        "that the charged plan follows from the settings (`tradeoff verify` computes it again)",
    ],
}


class Changed(Exception):
    """Not a certificate, or not as it was written."""


class Undecided(Exception):
    """Nothing is proved."""


def require(condition, reason):
    """Ends the proof as undecided unless the condition holds."""
    if not condition:
        raise Undecided(reason)


def demand(condition, field, reason):
    """Refuses the certificate, naming the field, unless the condition holds."""
    if not condition:
        raise Changed(f"field '{field:.60}' {reason}")


# ---------------------------------------------------------------- numbers ----

UNSIGNED = r"(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,4})?"
NUMBER = rf"[+-]?{UNSIGNED}(/{UNSIGNED})?"


def exact(text):
    """A decimal or a quotient of two, exactly."""
    demand(isinstance(text, str) and re.fullmatch(NUMBER, text, re.ASCII), str(text), "is not a number")
    above, _, below = text.partition("/")
    return Fraction(above) / Fraction(below or 1)


def end(text):
    """An end of an interval: exact, or an infinite float."""
    return math.inf if text == "inf" else -math.inf if text == "-inf" else exact(text)


def ball(value):
    """A ball around an exact fraction."""
    return arb(fmpq(fmpz(value.numerator), fmpz(value.denominator)))


def simple(value):
    """A number of 12 bits near a positive float, so that its multiples are exact."""
    mantissa, exponent = math.frexp(value)
    return arb(math.ldexp(round(math.ldexp(mantissa, 12)), exponent - 12))


def power(value, n):
    """By squaring, which a ball around 0 survives; n >= 1."""
    result = None
    while n:
        result = result if not n & 1 else value if result is None else result * value
        value, n = value * value, n >> 1
    return result


def normal_tail(x):
    """The probability that a standard normal variable exceeds x."""
    return (x / arb(2).sqrt()).erfc() / 2


def between_0_and(bound):
    """Anything from 0 to the bound."""
    return arb(bound / 2, bound / 2)


# ----------------------------------------------------------------- plans ----

# The words that are known here, their arguments, and the defaults of those that have one.
ARGUMENTS = {
    "gaussian": {"sigma": "", "sensitivity": "1", "clip": ""},
    "laplace": {"scale": "", "sensitivity": "1"},
    "truncated_laplace": {"scale": "", "bound": "", "sensitivity": "1"},
    "discrete_gaussian": {"sigma": "", "sensitivity": "1"},
    "discrete_laplace": {"scale": "", "sensitivity": "1"},
    "truncated_discrete_laplace": {"scale": "", "bound": "", "sensitivity": "1"},
    "randomized_response": {"epsilon": "", "choices": "2"},
    "exponential": {"epsilon": "", "weight": "", "sensitivity": "1", "monotone": ""},
    "noisy_max": {"noise": "", "scale": "", "sensitivity": "1", "monotone": "", "candidates": "", "top": "1"},
    "threshold": {"noise": "", "scale": "", "above": "", "partitions": "1", "contribution": "1"},
    "dp": {"epsilon": "", "delta": "0"},
    "gdp": {"mu": ""},
    "pair": {"p": "", "q": ""},
    "repeat": {"times": ""},
    "group": {"size": ""},
    "poisson": {"rate": "", "of": "", "of_is": "", "at_most": "", "examples": ""},
    "sample": {"size": "", "of": "", "rate": ""},
    "allocate": {"steps": "", "passes": "1", "times": "1"},
    "shuffle": {"batches": "", "passes": "1", "reuse": ""},
    "cyclic": {"groups": "", "rate": "", "steps": "", "by": ""},
    "matrix": {
        "sigma": "", "coefficients": "", "lower": "", "kind": "", "scales": "", "decays": "", "steps": "", "participations": "1",
        "separation": "1", "pattern": "", "sensitivity": "", "clip": "",
    },
}  # fmt: skip
WORDS = ("noise", "monotone", "of_is", "reuse", "by", "kind", "pattern")  # arguments that are no numbers
ALL = {"add-remove", "zero-out", "replace-one"}
SPEAKS_OF = {
    "sample": {"replace-one"}, "poisson": ALL, "threshold": {"add-remove"}, "allocate": ALL, "shuffle": {"zero-out", "replace-one"}, "cyclic": ALL,
    "matrix": ALL,
}  # fmt: skip, neighbours
OBJECT = {"": None}  # any members


def pattern(items, between):
    """A regular expression for the text of the plan that has these items; a default may be left out of it."""

    def value(given):
        """A value in its canonical spelling."""
        return r"\[" + ", ".join(map(value, given)) + r"\]" if isinstance(given, list) else re.escape(given)

    def call(one):
        """A call of a source or an operator; its arguments are named."""
        fits(one, {"name": "[a-z_]+", "arguments": OBJECT}, "items")
        name, known, given = one["name"], ARGUMENTS.get(one["name"], {}), one["arguments"]
        require(set(given) <= set(known), "a mechanism or an argument that this checker does not know")
        words = [(("" if name in ("repeat", "group") else key + "=") + value(given[key]), given[key] == known[key]) for key in known if key in given]
        return name + r"\(" + words[0][0] + "".join(f"(, {word})?" if default else f", {word}" for word, default in words[1:]) + r"\)"

    def line(item):
        """A source with its operators."""
        fits(item, {"source": None, "operators": [OBJECT]}, "items")
        first = r"\(" + pattern(item["source"], "; ") + r"\)" if isinstance(item["source"], list) else call(item["source"])
        return r" \| ".join([first, *map(call, item["operators"])])

    return between.join(map(line, items))


def group_size(items):
    """The least number of records that a line protects together."""
    sizes = []
    for item in items:
        size = group_size(item["source"]) if isinstance(item["source"], list) else Fraction(1)
        for call in item["operators"]:
            size *= exact(call["arguments"].get({"group": "size", "poisson": "examples"}.get(call["name"]), "1"))
        sizes.append(size)
    return min(sizes)


# ------------------------------------------------------------------ laws ----
# A law is a pair (P, Q). Every one has: `symmetric` (P against Q is as Q against P), `swapped()` (Q against P), `infinite` (P-mass where Q has
# none), `slack` (at most this P-mass was left out), `unbounded` (no loss is the largest).


class Atoms:
    """Finitely many losses: (loss, Q-mass); `zero`: Q-mass where P has none; `even`: losses in equal steps."""

    def __init__(self, atoms, infinite=ZERO, zero=ZERO, even=False, symmetric=True, slack=ZERO):
        self.atoms, self.infinite, self.zero, self.even = atoms, infinite, zero, even or len(atoms) < 3
        self.symmetric, self.slack, self.unbounded = symmetric, slack, not slack.is_zero()

    def swapped(self):
        """The law of the swapped pair: losses negated, masses under the other distribution."""
        flipped = [(-loss, mass * loss.exp()) for loss, mass in reversed(self.atoms)]
        return self if self.symmetric else Atoms(flipped, self.zero, self.infinite, self.even, False)

    def transform(self, z):
        """E_Q[exp(zL); L finite]."""
        return sum((mass * (z * loss).exp() for loss, mass in self.atoms), ZERO)

    def poisson(self, q):
        """(1-q)Q + qP against Q."""
        atoms = [((1 - q + q * loss.exp()).log(), mass) for loss, mass in self.atoms]
        return Atoms(atoms + ([] if self.zero.is_zero() else [((1 - q).log(), self.zero)]), q * self.infinite, symmetric=False)

    def sampled(self, q):
        """Fixed-size sampling of a symmetric law: the losses above 0 of `poisson`, their mirror images, and the rest of the mass at 0."""
        require(all(loss > 0 or loss <= 0 for loss, _ in self.atoms), "a loss that cannot be told from 0")
        above = [((1 - q + q * loss.exp()).log(), mass) for loss, mass in self.atoms if loss > 0]
        lost = q * self.infinite
        rest = 1 - lost - sum((mass * (1 + loss.exp()) for loss, mass in above), ZERO)
        below = [(-loss, mass * loss.exp()) for loss, mass in reversed(above)]
        return Atoms([*below, (ZERO, rest), *above], lost, lost, even=len(above) == 1)

    def terms(self, n):
        """The sum of n of them: (loss, polynomial in w, order of the pole at w = 0)."""
        if n == 0:
            return [(ZERO, arb_poly([1]), 0)]
        if self.even:
            require(n * len(self.atoms) <= LATTICE, "too many terms")
            masses, first, last = arb_poly([mass for _, mass in self.atoms]) ** n, self.atoms[0][0], self.atoms[-1][0]
            step = (last - first) / max(1, len(self.atoms) - 1)
            return [(n * first + k * step, arb_poly([masses[k]]), 0) for k in range(n * (len(self.atoms) - 1) + 1)]
        require(math.comb(n + len(self.atoms) - 1, n) <= TERMS, "too many terms")
        return list(self._multisets(n, len(self.atoms) - 1))

    def _multisets(self, n, last):
        """As `terms`, of the atoms up to `last`: k times that one, and n - k times those before it."""
        loss, mass = self.atoms[last]
        if last == 0:
            yield n * loss, arb_poly([mass**n]), 0
            return
        for k in range(n + 1):
            for other, poly, order in self._multisets(n - k, last - 1):
                yield other + k * loss, poly * (math.comb(n, k) * mass**k), order


class Laplace:
    """Laplace noise with a = sensitivity/scale, perhaps truncated at t scales. Under Q the losses a and -a have a mass and those between
    the density norm/2 exp(-(a + l)/2), so that M(z) = (exp(za) up(w) + exp(-za) down(w))/w with linear up and down, w = z - 1/2."""

    def __init__(self, a, t=None):
        require(t is None or t >= a, "noise that is truncated below its sensitivity")
        self.a, self.symmetric, self.slack, self.unbounded = a, True, ZERO, False
        edge = (-t).exp() if t is not None else ZERO
        norm = 1 / (2 * (1 - edge))
        self.up = arb_poly([norm * (-a).exp() / 2, norm * ((-a).exp() - edge)])
        self.down = arb_poly([-norm / 2, norm * (1 - edge * a.exp())])
        self.infinite = norm * edge * (a.exp() - 1)

    def swapped(self):
        """Laplace noise is symmetric."""
        return self

    def transform(self, z):
        """E_Q[exp(zL); L finite] in closed form."""
        return ((z * self.a).exp() * self.up(z - HALF) + (-z * self.a).exp() * self.down(z - HALF)) / (z - HALF)

    def terms(self, n):
        """The terms of the n-th power of the transform: (loss, polynomial in w, power of 1/w)."""
        return [((n - 2 * k) * self.a, math.comb(n, k) * self.up ** (n - k) * self.down**k, n) for k in range(n + 1)]


class BoundedRange(Laplace):
    """The pair that dominates every choice whose losses lie in an interval of length a (theorem bounded-range-profile): under Q the losses in
    [-a, a] have the density exp(-(a + l)/2)/(2 (1 - exp(-a))), so that M(z) = (exp(za) exp(-a/2) - exp(-za) exp(a/2))/(4 w sinh(a/2)). One
    choice beside other lines has this pair exactly (adaptive-block); for several it is not the worst case."""

    def __init__(self, a):
        half, other = (a / 2).exp(), (-a / 2).exp()
        self.a, self.symmetric, self.slack, self.unbounded, self.infinite = a, True, ZERO, False, ZERO
        self.up, self.down = arb_poly([other / (2 * (half - other))]), arb_poly([-half / (2 * (half - other))])


class Threshold:
    """Noisy counts of the keys of one user that are at least a threshold (theorem thresholded-counts): of `keys` keys j are new, each hidden
    with probability exp(hidden), and the others carry plain noise. `rest(j)` is the profile of the noise on those."""

    symmetric, slack, alone = False, ZERO, True

    def __init__(self, hidden, keys, rest, unbounded, added=False):
        self.hidden, self.keys, self.rest, self.unbounded, self.added = hidden, keys, rest, unbounded, added
        self.infinite = ZERO if added else 1 - (keys * hidden).exp()

    def swapped(self):
        """A user is added instead of removed."""
        return Threshold(self.hidden, self.keys, self.rest, self.unbounded, not self.added)

    def delta(self, e):
        """The largest over the number of new keys."""
        found = []
        for new in range(self.keys + 1):
            shown, rest = new * self.hidden, self.rest(self.keys - new)
            found.append(rest(e + shown) if self.added else 1 - shown.exp() + shown.exp() * rest(e - shown))
        return functools.reduce(arb.max, found)


def threshold_law(noise, number, count):
    """From the arguments of `threshold`."""
    keys, distance = count["partitions"], (number["above"] - number["contribution"]) / number["scale"]
    require(keys.denominator == 1 and keys <= 40 and count["above"] >= count["contribution"], "a threshold out of range")
    step, plain = number["contribution"] / number["scale"], lambda e: (1 - e.exp()).max(ZERO)
    if noise == "gaussian":
        hidden = (1 - normal_tail(distance)).log()
        return Threshold(hidden, int(keys), lambda n: (lambda e: gaussian_delta(step * arb(n).sqrt(), e)) if n else plain, True)
    require(noise == "laplace", f"a threshold with noise={noise}")
    profiles = {n: Profile([(Laplace(step), n)]) for n in range(1, int(keys) + 1)}
    return Threshold((1 - (-distance).exp() / 2).log(), int(keys), lambda n: profiles[n].delta if n else plain, False)


class Gaussian:
    """N(mu, 1) against N(0, 1), perhaps Poisson-sampled at rate q: L = log(1 - q + q exp(mu y - mu^2/2)), y normal; or its mirror.

    Sampled, M(z) is the integral of f(y) = phi(y) exp(z L(y)) (mirrored: 1 - z for z), by trapezoidal sums. f is analytic in |Im y| < pi/mu,
    so that a sum of step s is off by at most 2 N/(exp(2 pi b/s) - 1), N the integral of |f(y + ib)|. For |b| <= pi/(2 mu) the modulus of
    1 - q + q exp(...) is at most its value at b = 0 and at least that over sqrt 2. N is bounded by twice a sum, where that is safe."""

    columns, falling = None, False  # of noise that a matrix correlates: the shift of each step, and whether they fall

    def __init__(self, mu, q=None, mirrored=False):
        self.mu, self.q, self.mirrored, self.symmetric = mu, q, mirrored, q is None
        self.infinite, self.slack, self.unbounded = ZERO, ZERO, q is None or not mirrored

    def swapped(self):
        """The law of the swapped pair."""
        return self if self.q is None else Gaussian(self.mu, self.q, not self.mirrored)

    def log_ratio(self, y):
        """The loss of the sampled pair at the noise y."""
        return (1 - self.q + self.q * (self.mu * y - self.mu**2 / 2).exp()).log()

    def ends(self, c):
        """Beyond them phi exp(cL) is far below what matters."""
        return -18, 18 + math.ceil(float(self.mu) * max(0.0, c))

    def points(self, c, step):
        """The indices of the quadrature nodes."""
        low, high = self.ends(c)
        require((high - low) / float(step) < WORK / 60, "too many summands")
        return range(math.floor(low / float(step)), math.ceil(high / float(step)) + 1)

    def beyond(self, c, step):
        """Bounds the part of a sum beyond the ends: L' <= mu on the right, exp(cL) <= 1 or (1-q)^c on the left, ratios of neighbours fall."""
        low, high = (arb(one) for one in self.ends(float(c)))
        top = c.max(ZERO)
        right = (top * self.log_ratio(high) - high**2 / 2).exp() / (1 - (step * (top * self.mu - high)).exp())
        left = (-(low**2) / 2).exp() / (1 - (step * low).exp())
        return step * (right + left) * (c.min(ZERO) * (1 - self.q).log()).exp()

    def strip_error(self, log_growth, b, step):
        """What a sum of step s is off by, relative to the same sum on the axis, if |f| grows by exp(log_growth) up to Im y = b."""
        error = 4 * log_growth.exp() / ((2 * arb.pi() * b / step).exp() - 1)
        require(error < 1, "a strip too narrow")  # then the sum on the axis is off by less than half of itself
        return error

    def transforms(self, c, h, count, margin):
        """M(c + ikh), k = 0..count, to about exp(-margin) of M(c). |f(y + ib)| <= f(y) exp(b^2/2 + t b mu) 2^(-c/2 if c < 0), z = c + it."""
        if self.q is None:
            return [(self.mu**2 * z * (z - 1) / 2).exp() for z in (acb(c, k * h) for k in range(count + 1))]
        c, h = (1 - c, -h) if self.mirrored else (c, h)
        b = arb(min(math.pi / 2 / float(self.mu) * 0.999, 6.0))
        growth = b**2 / 2 + abs(h) * count * b * self.mu - c.min(ZERO) * arb(2).log() / 2
        step = simple(2 * math.pi * float(b) / (margin + 3 + float(growth)))
        points = self.points(float(c), step)
        ratios, norm = [self.log_ratio(j * step) for j in points], step / (2 * arb.pi()).sqrt()
        weights = [norm * (c * ratio - (j * step) ** 2 / 2).exp() for j, ratio in zip(points, ratios)]
        beyond = self.beyond(c, step)
        error = (beyond + self.strip_error(growth, b, step) * (sum(weights, ZERO) + beyond)).upper()
        return weighted_waves(weights, ratios, h, count, error)

    def log_transform(self, c, scale):
        """log M(c) at a real c, to far less than 1/scale."""
        if self.q is None:
            return self.mu**2 * c * (c - 1) / 2
        return self.transforms(c, ZERO, 0, EDGE + math.log(scale))[0].real.log()

    def rough(self, c, t=0.0, a=0.0, step=0.15):
        """log of the integral of `log_decay`, not proved: only to choose."""
        if self.q is None:
            return float(self.mu) ** 2 * c * (c - 1) / 2
        mu, q, c, total = float(self.mu), float(self.q), 1 - c if self.mirrored else c, 0.0
        for j in self.points(c, step):
            w = 1 - q + q * cmath.exp(complex(min(700.0, mu * j * step - mu * mu / 2), mu * a))
            total += math.exp(min(700.0, c * math.log(abs(w)) - t * cmath.phase(w) - ((j * step) ** 2 - a * a) / 2))
        return math.log(total * step / math.sqrt(2 * math.pi))

    def fallen(self, c, t):
        """log |M(c + it)/M(c)|, not proved: only to choose."""
        if self.q is None:
            return -(float(self.mu) ** 2) * t * t / 2
        return min(0.0, self.rough(c, t, self.best_path(c, t)) - self.rough(c))

    def best_path(self, c, t):
        return min((math.pi / 2 / float(self.mu) * k / 16 for k in range(1, 13)), key=lambda a: self.rough(c, t, a))

    def log_far(self, c, t, scale):
        """Bounds log |M(c + iv)| for every v >= t > 0."""
        if self.q is None:
            return self.mu**2 * (c * (c - 1) - t * t) / 2
        return self.log_decay(c, t, scale).min(self.log_transform(c, scale))

    def log_decay(self, c, t, scale):
        """Bounds log |M(c + iv)| for every v >= t > 0. On the path y + ia the integrand is at most F(y) = phi(y) exp(a^2/2) |w|^c exp(-t arg w),
        w = 1 - q + q exp(mu(y + ia) - mu^2/2), since arg w > 0. F continues to |Im y| < b = pi/(2 mu) - a by |w|^2 = w(y+ia) w(y-ia) and the
        like for arg w, and grows there by at most exp(b^2/2 + t mu (b-a)+ / 2) 2^(-c/2 if c < 0). Mirrored, the path is y - ia and c is 1 - c."""
        a = arb(self.best_path(float(c), float(t)))
        c, b = 1 - c if self.mirrored else c, arb.pi() / (2 * self.mu) - a
        lost = (a**2 - c.min(ZERO) * arb(2).log()) / 2
        growth = lost + b**2 / 2 + t * self.mu * (b - a).max(ZERO) / 2
        step = simple(2 * math.pi * float(b) / (EDGE + math.log(scale) + 3 + float(growth)))
        axis = total = ZERO
        for j in self.points(float(c), step):
            square, w = (j * step) ** 2 / 2, 1 - self.q + self.q * acb(self.mu * (j * step) - self.mu**2 / 2, self.mu * a).exp()
            total += (c * abs(w).log() - t * w.arg() - square).exp()
            axis += (c * self.log_ratio(j * step) - square).exp()
        beyond, norm = self.beyond(c, step), step / (2 * arb.pi()).sqrt()
        error = self.strip_error(growth, b, step) * (norm * axis + beyond)
        return (norm * total * (a**2 / 2).exp() + beyond * lost.exp() + error).log()


class Mixture(Gaussian):
    """A binomial mixture of N(k mu, 1), k <= ahead, against one of N(-k mu, 1), k <= behind, both of rate q: a user with several examples
    under Poisson sampling (behind = 0, theorem user-level-poisson), or one whose examples are replaced (ahead = behind, theorem
    poisson-replace-one). With u(y) and v(y) the densities of both sides relative to N(0, 1), M(z) is the integral of phi u^z v^(1-z), by
    trapezoidal sums as in `Gaussian`. Up to Im y = b <= pi/(2 mu max(ahead, behind)) the terms of u lie within a quarter turn: |u| is at
    most u(y) and at least that over sqrt 2, and its argument is at most ahead mu b; likewise v."""

    def __init__(self, mu, q, ahead, behind, mirrored=False):
        super().__init__(mu, q, mirrored)
        self.ahead, self.behind, self.symmetric, self.unbounded = ahead, behind, ahead == behind, behind > 0 or not mirrored
        self.reach = mu * max(ahead, behind)

    def swapped(self):
        """The law of the swapped pair."""
        return self if self.symmetric else Mixture(self.mu, self.q, self.ahead, self.behind, not self.mirrored)

    def side(self, y, count):
        """u(y) for count = ahead, v(-y) for count = behind; y may be complex."""
        weight = [math.comb(count, k) * self.q**k * (1 - self.q) ** (count - k) for k in range(count + 1)]
        return sum((one * (k * self.mu * y - k**2 * self.mu**2 / 2).exp() for k, one in enumerate(weight)), ZERO)

    def slopes(self, c):
        """Bounds of the derivative of log(u^c v^(1-c)): to the right, and to the left."""
        ahead, behind = self.ahead * self.mu, self.behind * self.mu
        return [c.max(ZERO) * ahead + (c - 1).max(ZERO) * behind, (-c).max(ZERO) * ahead + (1 - c).max(ZERO) * behind]

    def ends(self, c):
        """Beyond them phi u^c v^(1-c) is far below what matters."""
        right, left = (18 + math.ceil(float(slope)) for slope in self.slopes(arb(c)))
        return -left, right

    def log_weight(self, y, c):
        """log(phi u^c v^(1-c)), without the norm of phi."""
        return c * self.side(y, self.ahead).log() + (1 - c) * self.side(-y, self.behind).log() - y**2 / 2

    def beyond(self, c, step):
        """Bounds the part of a sum beyond the ends: ratios of neighbours are at most exp(step (slope - |end|)), and fall."""
        low, high = (arb(one) for one in self.ends(float(c)))
        right, left = self.slopes(c)
        parts = [self.log_weight(end, c).exp() / (1 - (step * (slope - abs(end))).exp()) for end, slope in ((high, right), (low, left))]
        return step * sum(parts, ZERO)

    def halved(self, c):
        """The logarithm of what lower bounds of |u| and |v| cost: a factor of sqrt 2 for each negative power."""
        return ((-c).max(ZERO) + ((c - 1).max(ZERO) if self.behind else ZERO)) * arb(2).log() / 2

    def delta_of_one(self, e):
        """delta(e) of a single step. The loss rises with y: it is above e where y is beyond the place at which it is e (mirrored: before it)."""
        target, low, high = -e if self.mirrored else e, arb(-200), arb(200)
        loss = lambda y: self.side(y, self.ahead).log() - self.side(-y, self.behind).log()  # noqa: E731
        if not self.behind and target <= self.ahead * (1 - self.q).log():  # every loss is larger
            return ZERO if self.mirrored else 1 - e.exp()
        require(loss(low) < target < loss(high), "an epsilon at the end of the losses")
        for _ in range(ctx.prec):
            middle = ((low + high) / 2).mid()
            found = loss(middle)
            if not (found < target or found > target):
                break
            low, high = (middle, high) if found < target else (low, middle)
        place, sign = low.union(high), -1 if self.mirrored else 1
        masses = []
        for count, shift in ((self.ahead, 1), (self.behind, -1)):
            weight = [math.comb(count, k) * self.q**k * (1 - self.q) ** (count - k) for k in range(count + 1)]
            masses.append(sum((one * normal_tail(sign * (place - shift * k * self.mu)) for k, one in enumerate(weight)), ZERO))
        p_mass, q_mass = reversed(masses) if self.mirrored else masses
        return p_mass - e.exp() * q_mass

    def transforms(self, c, h, count, margin):
        """M(c + ikh), k = 0..count, to about exp(-margin) of M(c)."""
        c, h = (1 - c, -h) if self.mirrored else (c, h)
        b = arb(min(math.pi / 2 / float(self.reach) * 0.999, 6.0))
        growth = b**2 / 2 + abs(h) * count * b * self.mu * (self.ahead + self.behind) + self.halved(c)
        step = simple(2 * math.pi * float(b) / (margin + 3 + float(growth)))
        places = [j * step for j in self.points(float(c), step)]
        norm, beyond = step / (2 * arb.pi()).sqrt(), self.beyond(c, step)
        weights = [norm * self.log_weight(y, c).exp() for y in places]
        losses = [self.side(y, self.ahead).log() - self.side(-y, self.behind).log() for y in places]
        error = (beyond + self.strip_error(growth, b, step) * (sum(weights, ZERO) + beyond)).upper()
        return weighted_waves(weights, losses, h, count, error)

    def rough(self, c, t=0.0, a=0.0, step=0.15):
        """log of the integral of `log_decay`, not proved: only to choose."""
        mu, q, c, logs = float(self.mu), float(self.q), 1 - c if self.mirrored else c, []

        def side(y, turn, count):
            weight = (math.comb(count, k) * q**k * (1 - q) ** (count - k) for k in range(count + 1))
            return sum(one * cmath.exp(complex(min(700.0, k * mu * y - k * k * mu * mu / 2), k * mu * turn)) for k, one in enumerate(weight))

        for j in self.points(c, step):
            u, v = side(j * step, a, self.ahead), side(-j * step, -a, self.behind)
            logs.append(c * math.log(abs(u)) + (1 - c) * math.log(abs(v)) - t * (cmath.phase(u) - cmath.phase(v)) - ((j * step) ** 2 - a * a) / 2)
        largest = max(logs)
        return largest + math.log(sum(math.exp(one - largest) for one in logs) * step / math.sqrt(2 * math.pi))

    def best_path(self, c, t):
        return min((math.pi / 2 / float(self.reach) * k / 16 for k in range(1, 13)), key=lambda a: self.rough(c, t, a))

    def log_decay(self, c, t, scale):
        """As for one example: on the path y + ia the integrand is at most phi exp(a^2/2) |u|^c |v|^(1-c) exp(-t (arg u - arg v)), since
        arg u > 0 > arg v; it continues to |Im y| < b = pi/(2 mu max(ahead, behind)) - a."""
        a = arb(self.best_path(float(c), float(t)))
        c, b = 1 - c if self.mirrored else c, arb.pi() / (2 * self.reach) - a
        lost = a**2 / 2 + self.halved(c)
        growth = lost + b**2 / 2 + t * self.mu * (self.ahead + self.behind) * (b - a).max(ZERO) / 2
        step = simple(2 * math.pi * float(b) / (EDGE + math.log(scale) + 3 + float(growth)))
        axis = total = ZERO
        for y in (j * step for j in self.points(float(c), step)):
            u, v = self.side(acb(y, a), self.ahead), self.side(acb(-y, -a), self.behind)
            total += (c * abs(u).log() + (1 - c) * abs(v).log() - t * (u.arg() - v.arg()) - y**2 / 2).exp()
            axis += self.log_weight(y, c).exp()
        beyond, norm = self.beyond(c, step), step / (2 * arb.pi()).sqrt()
        error = self.strip_error(growth, b, step) * (norm * axis + beyond)
        return (norm * total * (a**2 / 2).exp() + beyond * lost.exp() + error).log()


class Observed(Gaussian):
    """One of several pairs, chosen with these weights, and it is seen which (theorem observed-mixture): [(weight, law)], None for a law under
    which nothing happens. The transforms add up; so do the profiles of one step."""

    def __init__(self, cases):
        super().__init__(None, ONE)
        self.cases = cases
        self.symmetric = all(law is None or law.symmetric for _, law in cases)
        self.unbounded = any(law is not None and law.unbounded for _, law in cases)

    def swapped(self):
        """The law of the swapped pair."""
        return self if self.symmetric else Observed([(weight, law and law.swapped()) for weight, law in self.cases])

    def delta_of_one(self, e):
        """delta(e) of a single step."""
        nothing = (1 - e.exp()).max(ZERO)
        return sum((weight * (nothing if law is None else Profile([(law, 1)]).delta(e)) for weight, law in self.cases), ZERO)

    def drawn(self):
        """(chance, mu) if it is one Gaussian or nothing, otherwise None."""
        (chance, law), *rest = self.cases
        return (chance, law.mu) if type(law) is Gaussian and law.q is None and [one for _, one in rest] == [None] else None

    def delta_of_draws(self, n, e):
        """Of n steps of which each is one Gaussian or nothing: as many Gaussians as were drawn. Larger numbers of draws have larger profiles,
        all of them at most 1."""
        chance, mu = self.drawn()
        nothing = (1 - e.exp()).max(ZERO)
        require(n <= 10**5, "too many terms")
        mass, total = (1 - chance) ** n, ZERO
        for k in range(n + 1):
            total += mass * (gaussian_delta(mu * arb(k).sqrt(), e) if k else nothing)
            ratio = (n - k) * chance / ((k + 1) * (1 - chance))  # it falls with k
            mass = mass * ratio
            if ratio < HALF and mass < arb(2) ** -ctx.prec * total:
                return total + between_0_and((2 * mass).upper())
        return total

    def transforms(self, c, h, count, margin):
        """M(c + ikh), k = 0..count."""
        total = [acb(0)] * (count + 1)
        for weight, law in self.cases:
            found = [ONE] * (count + 1) if law is None else law.transforms(c, h, count, margin)
            total = [one + weight * more for one, more in zip(total, found)]
        return total

    def weighted(self, read):
        """log of the sum of weight exp(read(law)), 0 for None."""
        return sum((weight * (ONE if law is None else read(law).exp()) for weight, law in self.cases), ZERO).log()

    def log_transform(self, c, scale):
        """log M(c) at a real c."""
        return self.weighted(lambda law: law.log_transform(c, scale))

    def log_far(self, c, t, scale):
        """Bounds log |M(c + iv)| for every v >= t > 0."""
        return self.weighted(lambda law: law.log_far(c, t, scale))

    def rough(self, c):
        """log M(c), not proved: only to choose."""
        return float(self.weighted(lambda law: arb(law.rough(c))))

    def fallen(self, c, t):
        """log |M(c + it)/M(c)|, not proved: only to choose."""
        return min(0.0, float(self.weighted(lambda law: arb(law.rough(c) + law.fallen(c, t)))) - self.rough(c))


class Allocation:
    """One step of T, drawn uniformly, carries N(mu, 1) (theorem random-allocation). With S the sum of T independent Y = exp(sx - s^2/2), s = mu
    and x normal, and k = T exp(e): delta(e) = E(S - k)+ / T, and swapped, with k = T exp(-e), exp(e) E(k - S)+ / T.

    A put is the integral of exp(zk) F(z)^T / z^2 / (2 pi i) over Re z = c > 0, F(z) = E exp(-zY), here the trapezoidal sum with step h. By Poisson
    summation the sum is that of exp(-cy) put(k + y) over y = 2 pi m/h: m = 0 is the wanted term; those with m < 0 are 0, since 2 pi/h >= k; those with
    m > 0 are non-negative and at most exp(-cy) (k + y). A call is the put plus T - k.

    With the path of x moved down by a/s, F(z) is the integral of phi(x - ia/s) exp(-z exp(sx - s^2/2 - ia)), which is at most
    exp(a^2/(2 s^2)) F(Re(z exp(-ia))): this bounds F(c + iv) for all v >= t by its value at t. Within |Im| <= b of the path the integrand is at most
    phi(x) exp((a/s + b)^2/2), as long as |arg z - a| + bs <= pi/2, so that a trapezoidal sum over x of step g is off by at most
    2 exp((a/s + b)^2/2)/(exp(2 pi b/g) - 1)."""

    symmetric, slack, infinite, alone, unbounded = False, ZERO, ZERO, True, True
    REACH = 40  # beyond this x the normal density is below exp(-800)

    def __init__(self, mu, steps, mirrored=False):
        self.s, self.steps, self.mirrored, self.lines, self.shown = mu, steps, mirrored, {}, mu

    def swapped(self):
        """A record is added."""
        other = Allocation(self.s, self.steps, not self.mirrored)
        other.lines = self.lines
        return other

    def delta(self, e):
        """By a put on the sum."""
        k = self.steps * (-e if self.mirrored else e).exp()
        put = self.put(k)
        return (e.exp() * put / self.steps if self.mirrored else (put + self.steps - k) / self.steps).max((1 - e.exp()).max(ZERO))

    def transform(self, z, bits):
        """F(z) for Re z > 0 to about 2^-bits."""
        s, turn = self.s, float(z.arg())
        b = min(6.0, 0.98 * math.pi / 2 / float(s))
        a = max(0.0, turn + b * float(s) - 0.985 * math.pi / 2)
        a, b = arb(a), arb(b)
        require(abs(z.arg() - a) + b * s < arb.pi() / 2, "a strip too wide")
        grown = (a / s + b) ** 2 / 2
        g = simple(2 * math.pi * float(b) / (bits * math.log(2) + float(grown) + 1))
        reach = min(self.REACH, math.ceil(math.sqrt(2 * bits * math.log(2) + 2 * float(grown))) + 1)
        points, factor = math.ceil(reach / float(g)), z * acb(-s * s / 2, -a).exp()
        total, ratio = acb(0), (s * g).exp()
        places = [ONE]
        for _ in range(points):
            places.append(places[-1] * ratio)
        for j in range(-points, points + 1):
            y = places[j] if j >= 0 else 1 / places[-j]
            total += (-factor * y - (acb(j * g, -a / s) ** 2) / 2).exp()
        error = 2 * grown.exp() / ((2 * arb.pi() * b / g).exp() - 1) + 2 * (a**2 / (2 * s * s)).exp() * normal_tail(points * g - g)
        error = error.upper()
        return total * g / (2 * arb.pi()).sqrt() + acb(arb(0, error), arb(0, error))

    def log_far(self, c, t):
        """Bounds log |F(c + iv)| for every v >= t: the best of a few turns of the path."""
        found = []
        for share in range(0, 16):
            a = arb.pi() / 2 * share / 16
            real = c * a.cos() + t * a.sin()
            found.append(a**2 / (2 * self.s**2) + self.transform(acb(real), 60 + ctx.prec // self.steps).real.upper().log())
        return functools.reduce(arb.min, found)

    def line(self, k, tilt):
        """(c, h, [F(c + ikh)^T / z^2], log of a bound of |F^T| beyond), to as many bits as the precision has; c k is about `tilt`."""
        c, bits = simple(tilt / float(k)), ctx.prec
        h = simple(min(2 * math.pi * float(c) / (bits * math.log(2)), 6.2 / float(k)))  # 2 pi/h is more than k, and than any k nearby
        size, t = self.steps * float(self.transform(acb(c), 60).real.log()), float(h)
        while self.steps * float(self.log_far(c, arb(t))) > size - bits * math.log(2):
            t *= 1.4
            require(t / float(h) < 30000, "the integrand falls off too slowly")
        count = math.ceil(t / float(h))
        more = bits + 10 + self.steps.bit_length() + max(0, math.ceil(-size / self.steps * 1.45))
        values = [power(self.transform(acb(c, j * h), more), self.steps) / acb(c, j * h) ** 2 for j in range(count + 1)]
        return c, h, values, self.steps * self.log_far(c, count * h)

    def put(self, k):
        """E(k - S)+."""
        near = next((at for at in self.lines if abs(at - float(k)) < 1e-3 * at and self.lines[at][4] == ctx.prec), None)
        if near is None:
            near = float(k)
            self.lines[near] = (*self.line(k, self.best_tilt(float(k))), ctx.prec)
        c, h, values, far, _ = self.lines[near]
        total = values[0].real / 2 + sum(((acb(0, j * h * k).exp() * value).real for j, value in enumerate(values) if j), ZERO)
        cut = ((far + c * k).exp() / (arb.pi() * h * (len(values) - 1))).upper()  # the sum of h/v^2 beyond v is below 1/v
        period = 2 * arb.pi() / h
        require(period >= k, "a step too long")
        ratio = (-c * period).exp()
        alias = (k * ratio / (1 - ratio) + period * ratio / (1 - ratio) ** 2).upper()
        return (total * h / arb.pi() * (c * k).exp() + arb(0, cut) - between_0_and(alias)).max(ZERO)

    def best_tilt(self, k):
        """c k right of the saddle point of exp(ck) F(c)^T / c^2, where digits are lost but fewer nodes are needed; not proved: only to choose."""
        tilts = [1.5**j for j in range(-4, 24)]
        heights = [tilt + self.steps * float(self.transform(acb(tilt / k), 90).real.log()) - 2 * math.log(tilt) for tilt in tilts]
        return max(tilt for tilt, height in zip(tilts, heights) if height <= min(heights) + ctx.prec * 0.2)


class ReplacedAllocation:
    """One step of T, drawn uniformly, carries N(mu, 1) or, under Q, N(-mu, 1) (theorem allocation-replace-one). With x normal, s = mu, b = e/2,
    c = 2 exp(b - s^2/2) and A the sum of T independent X = c sinh(sx - b): delta(e) = E A+ / T, E A+ = (E|A| + T - T exp(e))/2.

    E|A| is 2/pi times the integral of (1 - Re F(u)^T)/u^2 over u > 0, F(u) = E exp(iuX), here the trapezoidal sum of step h over y = log u. With
    the path of x moved up by a/s, F(u) is the integral of phi(x + ia/s) exp(iuc sinh(sx - b + ia)): for |arg u| <= a <= pi/2 the second factor is
    at most 1, so that |F| <= exp(a^2/(2 s^2)), |F'| and |F''| at most that times c E cosh(sx - b) and c^2 E cosh^2(sx - b). On |Im y| <= a let K and C
    bound |F^T| and |(F^T)''|: the integrand is at most C/2 |u| and 2K/|u|, its integral at most 2 sqrt(CK), and the sum is off by at most
    4 sqrt(CK)/(exp(2 pi a/h) - 1). At real u, 1 - Re F^T is between 0 and E A^2 u^2/2, and for u >= U at most exp(Ta^2/(2 s^2)) times the T-th power of
    E exp(-Uc sin a cosh(sx - b)) away from 1."""

    symmetric, slack, infinite, alone, unbounded = True, ZERO, ZERO, True, True

    def __init__(self, mu, steps):
        self.s, self.steps, self.shown = mu, steps, 2 * mu

    def swapped(self):
        """The same."""
        return self

    def delta(self, e):
        """The pair mirrors itself, so that e >= 0 is enough."""
        if e < 0:
            return 1 - e.exp() + e.exp() * self.delta(-e)
        require(e >= 0, "an epsilon that cannot be told from 0")
        before = ctx.prec
        ctx.prec = 2 * before + 60
        try:
            return (self.excess(e, 0.42 * before) / self.steps).max(ZERO)
        finally:
            ctx.prec = before

    @staticmethod
    def grid(b, grown, nats):
        """Step and number of points on each side for an integral over x: a strip of this half width in which the integrand grows by exp(grown)."""
        g = simple(2 * math.pi * float(b) / (nats + float(grown) + 1))
        return g, math.ceil((math.sqrt(2 * (nats + float(grown))) + 2) / float(g))

    @staticmethod
    def grid_error(b, grown, lifted, g, points):
        """Of the sum over the grid: the strip, and what lies beyond, where |phi| is exp(lifted) phi."""
        return 2 * grown.exp() / ((2 * arb.pi() * b / g).exp() - 1) + 2 * lifted.exp() * normal_tail(points * g)

    def log_far(self, c, b, u):
        """Bounds log |F(v)| for every v >= u."""
        width, found = arb(min(6.0, 1.5 / float(self.s))), ZERO
        g, points = self.grid(width, width**2 / 2, 80)
        heights = [(self.s * g * j - b).cosh() for j in range(-points, points + 1)]
        weights = [(-((g * j) ** 2) / 2).exp() for j in range(-points, points + 1)]
        error = self.grid_error(width, width**2 / 2, ZERO, g, points)
        for share in range(1, 9):
            a = arb.pi() / 2 * share / 8
            k = u * c * a.sin()
            mean = g / (2 * arb.pi()).sqrt() * sum((weight * (-k * height).exp() for weight, height in zip(weights, heights)), ZERO) + error
            found = found.min(a**2 / (2 * self.s**2) + mean.upper().log())
        return found

    def waves(self, c, b, nats):
        """F as a function of u, to about exp(-nats)."""
        a = arb(min(1.4, 2 * float(self.s)))
        lift, width = a / self.s, a / self.s * arb(0.98)  # up to pi the imaginary part of sinh is not negative
        grown, lifted = (lift + width) ** 2 / 2, lift**2 / 2
        g, points = self.grid(width, grown, nats)
        norm = g / (2 * arb.pi()).sqrt()
        places = [acb(g * j, lift) for j in range(-points, points + 1)]
        weights = [norm * (-(x**2) / 2).exp() for x in places]
        turns = [acb(0, 1) * c * (self.s * x - b).sinh() for x in places]
        falls = [float(turn.real.mid()) for turn in turns]
        left_out = nats + 50
        error = self.grid_error(width, grown, lifted, g, points) + 4 * lifted.exp() * arb(-left_out + 1).exp()
        around = acb(arb(0, error.upper()), arb(0, error.upper()))
        return lambda u: sum(((u * turn).exp() * weight for weight, turn, fall in zip(weights, turns, falls) if float(u) * fall > -left_out), around)

    def excess(self, e, nats):
        """E A+."""
        s, count, b = self.s, self.steps, e / 2
        c = 2 * (b - s**2 / 2).exp()
        first, second = c * (s**2 / 2).exp() * b.cosh(), c**2 * (1 + (2 * s**2).exp() * (2 * b).cosh()) / 2
        square = count * (second - c**2) + count * (count - 1) * (e.exp() - 1) ** 2  # E A^2; sinh^2 = cosh^2 - 1
        a = arb(min(1.3, float(s) * math.sqrt(20 / count)))
        largest = (count * a**2 / (2 * s**2)).exp()
        bend = largest * (count * (count - 1) * first**2 + count * second)
        inside = 4 * (largest * bend).sqrt()
        h = simple(2 * math.pi * float(a) / (nats + max(0.0, float((inside / count).log())) + 1))
        begin = math.floor((-nats - max(0.0, float((square / count).log()))) / float(h))
        stop, far = 0, None
        while far is None or count * float(far) > -nats:
            stop += max(1, math.ceil(0.25 / float(h)))
            require(stop - begin < 40000, "the integrand falls off too slowly")
            far = self.log_far(c, b, (stop * h).exp())
        wave = self.waves(c, b, nats - begin * float(h) + math.log(count) + 5)
        total = sum(((1 - power(wave((j * h).exp()), count).real) * (-j * h).exp() for j in range(begin, stop + 1)), ZERO)
        step = 1 / (1 - (-h).exp())  # sums of geometric series
        total += between_0_and((square / 2 * ((begin - 1) * h).exp() * step).upper())
        total += (-(stop + 1) * h).exp() * step * (1 + arb(0, (count * far).exp().upper()))
        strip = (inside / ((2 * arb.pi() * a / h).exp() - 1)).upper()
        return ((h * total + arb(0, strip)) * 2 / arb.pi() + count * (1 - e.exp())) / 2


class LargestBatch:
    """The largest of T normal outputs, of which one is shifted by 2 mu or, under Q, by mu: a worst case of shuffled batches (theorem
    shuffled-batches). The best test {largest > x} bounds its delta from below."""

    symmetric, slack, infinite, alone, unbounded = False, ZERO, ZERO, True, True

    def __init__(self, mu, batches, mirrored=False):
        self.mu, self.batches, self.mirrored = mu, batches, mirrored

    def swapped(self):
        """The law of the swapped pair."""
        return LargestBatch(self.mu, self.batches, not self.mirrored)

    def below(self, x, shift):
        """The probability that the largest is at most x."""
        return (1 - normal_tail(x - shift)) * (1 - normal_tail(x)) ** (self.batches - 1)

    def gain(self, x, e):
        """Of the test at x."""
        p, q = self.below(x, 2 * self.mu), self.below(x, self.mu)
        return q - e.exp() * p if self.mirrored else 1 - p - e.exp() * (1 - q)

    def delta(self, e):
        """The best of the tests, in steps that become smaller."""
        place, step = arb(0), 1.0
        for _ in range(40):
            place = max((place + arb(step * j) for j in range(-8, 25) if step == 1.0 or abs(j) <= 2), key=lambda x: float(self.gain(x, e).mid()))
            step = step if step == 1.0 and place > 20 else step / 2
        return self.gain(place, e).max((1 - e.exp()).max(ZERO))


class Between:
    """A mechanism that one pair dominates and that dominates each of some others (theorem bracketed-pair). `loose`: the name of a mechanism whose
    own pair is closer, but not known here; then a false claim may be refuted, and a close one is not proved."""

    def __init__(self, above, below, loose=None):
        self.above, self.below, self.symmetric, self.loose = above, below, above.symmetric, loose


def weighted_waves(weights, losses, h, count, error):
    """The sums of weight exp(ikh loss), k = 0..count, each with this error. Losses may be complex."""
    require(len(losses) * (count + 4) <= WORK, "too many summands")
    block = math.isqrt(count) + 1  # exp(i k h L) = coarse * fine: one product each, so that balls do not grow with k
    turns = [acb(0, 1) * h * loss for loss in losses]
    fine = acb_mat([[(i * turn).exp() for i in range(block)] for turn in turns])
    coarse = acb_mat([[weight * (i * block * turn).exp() for weight, turn in zip(weights, turns)] for i in range(count // block + 1)])
    around = acb(arb(0, error), arb(0, error))
    return [value + around for value in (coarse * fine).entries()[: count + 1]]


# ------------------------------------------- sampled noise with a corner ----


class NormalBase:
    """Gaussian noise as the noise that is sampled. Under Q the noise y is standard normal, and the loss is mu y - mu^2/2."""

    def __init__(self, mu):
        self.mu = self.slope = mu
        self.middle, self.top_atom, self.mass_above = mu / 2, None, normal_tail(mu / 2)  # mass_above: Q-mass of the losses above 0

    def last(self, c):
        """Where the quadrature ends: beyond, density * w^c is far below what matters."""
        return arb(12 + math.ceil(float(self.mu) * max(1.0, c)))

    def height(self, _):
        """How far from the real axis the path of the quadrature is."""
        return arb(min(0.78 / float(self.mu), 1.0))

    def loss(self, y):
        return self.mu * y - self.mu**2 / 2

    def place(self, loss):
        return loss / self.mu + self.mu / 2

    def density(self, y):
        return (-y * y / 2).exp() / (2 * arb.pi()).sqrt()

    def log_slope(self, y):
        """The derivative of the logarithm of the density."""
        return -y

    def density_bound(self, left, right, top):
        """Of |density| for left <= Re y <= right, |Im y| <= top."""
        nearest = left.max(-right).max(ZERO)
        return ((top * top - nearest * nearest) / 2).exp() / (2 * arb.pi()).sqrt()

    def mass(self, left, right):
        """Under Q and under P, between two places; None is infinity."""
        q = normal_tail(left) - (normal_tail(right) if right is not None else ZERO)
        p = normal_tail(left - self.mu) - (normal_tail(right - self.mu) if right is not None else ZERO)
        return q, p

    def beyond(self, c, q):
        """Bounds the integrals of |density w^z| and |density w^(1-z)| on the path beyond the last place, Re z = c >= 1: there
        1 <= |w| <= exp(Re loss) (q + (1-q) exp(-loss at the last place)), and |density| is exp(height^2/2) times that on the axis."""
        last, height = self.last(float(c)), self.height(None)
        require(1 - q + q * self.loss(last).exp() * (self.mu * height).cos() > 1, "a rate too small for this noise")
        most = (c * (q + (1 - q) * (-self.loss(last)).exp()).log()).exp()
        return (height**2 / 2).exp() * (most * (self.mu**2 * c * (c - 1) / 2).exp() * normal_tail(last - c * self.mu) + normal_tail(last))


class LaplaceBase:
    """Laplace noise as the noise that is sampled, a = sensitivity/scale. Under Q the noise y has density exp(-|y|)/2; the loss is 2y - a
    for 0 < y < a, -a with mass 1/2 below that and a with mass exp(-a)/2 above."""

    def __init__(self, a):
        self.a, self.slope = a, arb(2)
        self.middle, self.top_atom, self.mass_above = a / 2, (-a).exp() / 2, (-a / 2).exp() / 2

    def last(self, _):
        return self.a

    def height(self, length):
        return arb(min(0.39, float(length) / 2))

    def loss(self, y):
        return 2 * y - self.a

    def place(self, loss):
        return (loss + self.a) / 2

    def density(self, y):
        return (-y).exp() / 2

    def log_slope(self, _):
        return -ONE

    def density_bound(self, left, _right, _top):
        return (-left).exp() / 2

    def mass(self, left, right):
        right = self.a if right is None else right
        return ((-left).exp() - (-right).exp()) / 2, ((right - self.a).exp() - (left - self.a).exp()) / 2

    def beyond(self, _c, _q):
        return ZERO


class Sampled:
    """Noise that is sampled at rate q, w = 1 - q + q exp(base loss), L = log w. `kind`: "remove" is (1-q)Q + qP against Q, "add" its reverse,
    "fixed" is fixed-size sampling, C_q of the base: the losses above 0 of "remove", their mirror images, and the rest of the mass at 0.

    The law has atoms and a density, M = B + A. A(z) is the integral of density(y) (w^z and/or w^(1-z)) over a half-line or an interval, by
    Gauss-Legendre panels on a path above the real axis, where w^z does not oscillate but falls with Im z >= 0 (for w^(1-z): on its mirror image
    below the axis). A rule of N nodes is exact for polynomials of degree 2N - 1, and if |f| <= F in the ellipse with parameter rho around
    the panel, the Chebyshev coefficients of f are at most 2F/rho^k, so that the rule is off by at most 8 F r/(rho^(2N) (1 - 1/rho)), r half
    the length of the panel. For large Im z, |A(c + iv)| <= C/v (`wave_bound`)."""

    def __init__(self, base, q, kind):
        self.base, self.q, self.kind, self.symmetric = base, q, kind, kind == "fixed"
        self.infinite, self.slack = ZERO, ZERO
        self.first = base.middle if self.symmetric else ZERO
        self.sides = {"remove": (1,), "add": (-1,), "fixed": (1, -1)}[kind]
        top = base.top_atom
        atoms = [] if top is None else [(self.log_ratio(base.a), top)] if self.symmetric else [(self.log_ratio(-base.a), HALF), (self.log_ratio(base.a), top)]
        mirrored = [(-loss, mass * loss.exp()) for loss, mass in reversed(atoms)]
        rest = [(ZERO, (1 - q) * (1 - 2 * base.mass_above))] if self.symmetric else []
        self.atoms = Atoms({"remove": atoms, "add": mirrored, "fixed": mirrored + rest + atoms}[kind], even=True)
        self.unbounded, self._bounds, self._roughs = top is None, {}, {}

    def swapped(self):
        return self if self.symmetric else Sampled(self.base, self.q, "add" if self.kind == "remove" else "remove")

    def log_ratio(self, loss):
        return (1 - self.q + self.q * loss.exp()).log()

    # -- the density part --

    def path(self, c):
        """The corners: from the first place up, along, and down again where the density ends; a corner is (Re, Im)."""
        first, last = self.first, self.base.last(c)
        height = self.base.height(last - first)
        corners = [(first, ZERO), (first, height), (last, height), (last, ZERO)]
        return corners if self.base.top_atom is not None else corners[:3]

    def panels(self, c, t, margin):
        """Pieces (from, to, rho, N) of the path, such that the rules on all of them are off by about exp(-margin) for 0 <= Im z <= t."""
        corners, found = self.path(c), []
        waiting = list(zip(corners, corners[1:]))
        while waiting:
            start, stop = waiting.pop()
            needed, rho = min((self.nodes_needed(start, stop, rho, c, t, margin), rho) for rho in (1.4, 1.7, 2, 2.5, 3, 4, 6, 9, 13))
            if needed <= 60:
                found.append((start, stop, arb(rho), max(4, math.ceil(needed))))
                continue
            middle = tuple(arb(float((a + b) / 2)) if not (a - b).is_zero() else a for a, b in zip(start, stop))
            require(len(found) + len(waiting) < 2000, "a quadrature of too many panels")
            waiting += [(start, middle), (middle, stop)]
        return found

    def nodes_needed(self, start, stop, rho, c, t, margin):
        """About how many; infinitely many if the ellipse leaves the region where w has a positive real part."""
        bound = self.ellipse_bound(start, stop, arb(rho), arb(c), arb(t))
        return math.inf if bound is None else (float(bound.log().mid()) + margin + 3) / (2 * math.log(rho))

    def ellipse_bound(self, start, stop, rho, c, t):
        """Bounds the sum over the sides of |density w^z| in the ellipse around the piece, 0 <= Im z <= t; None where that cannot be done."""
        half = (abs(stop[0] - start[0]) + abs(stop[1] - start[1])) / 2
        along, across = half * ((rho + 1 / rho) / 2 - 1), half * (rho - 1 / rho) / 2
        is_level = (stop[1] - start[1]).is_zero()
        x_more, y_more = (along, across) if is_level else (across, along)
        left, right = start[0].min(stop[0]) - x_more, start[0].max(stop[0]) + x_more
        bottom, top = start[1].min(stop[1]) - y_more, start[1].max(stop[1]) + y_more
        top, dip = top.max(-bottom), (-bottom).max(ZERO)
        angle, turned = self.base.slope * top, self.base.slope * dip
        if not angle < 1.55:
            return None
        low, high = (self.q * self.base.loss(x).exp() for x in (left, right))
        largest, least = 1 - self.q + high, 1 - self.q + low * angle.cos()
        turn = (high * turned.sin() / (1 - self.q + high * turned.cos())).atan()  # the most that arg w is below 0
        powers = sum((((largest if p >= 0 else least).log() * p).exp() for p in (c if side > 0 else 1 - c for side in self.sides)), ZERO)
        return self.base.density_bound(left, right, top) * powers * (t * turn).exp()

    def density_transforms(self, c, h, count, margin):
        """A(c + ikh), k = 0..count, to about exp(-margin)."""
        weights, losses, error, t = [], [], self.base.beyond(c, self.q), h * count
        for start, stop, rho, nodes in self.panels(float(c), float(t), margin):
            half, middle = acb(stop[0] - start[0], stop[1] - start[1]) / 2, acb(stop[0] + start[0], stop[1] + start[1]) / 2
            error += 8 * abs(half) * self.ellipse_bound(start, stop, rho, c, t) / (rho ** (2 * nodes) * (1 - 1 / rho))
            for x, weight in gauss_legendre(nodes, ctx.prec):
                y = middle + half * x
                loss, density = self.log_ratio(self.base.loss(y)), half * weight * self.base.density(y)
                for side in self.sides:
                    value = density * ((c if side > 0 else 1 - c) * loss).exp()
                    weights.append(value if side > 0 else value.conjugate())
                    losses.append(loss if side > 0 else -loss.conjugate())
        return weighted_waves(weights, losses, h, count, error.upper())

    def transforms(self, c, h, count, margin):
        """The transform at c + ikh, k = 0..count."""
        atoms = (self.atoms.transform(acb(c, k * h)) for k in range(count + 1))
        return [one + other for one, other in zip(atoms, self.density_transforms(c, h, count, margin))]

    def log_transform(self, c, scale):
        """The logarithm of the transform at a real point."""
        return (self.atoms.transform(c) + self.density_transforms(c, ZERO, 0, EDGE + math.log(scale))[0].real).log()

    def wave_bound(self, c):
        """C such that |A(c + iv)| <= C/v for every v > 0. With G = density w^p / L', p = c or 1 - c, an integration by parts bounds v |A| by
        G at both ends and the variation of G. That is found cell by cell: |G' / G| = D, and where D does not change its sign G is monotone."""
        if float(c) in self._bounds:
            return self._bounds[float(c)]
        total, cells, last = ZERO, 256, self.base.last(float(c))
        for p in (c if side > 0 else 1 - c for side in self.sides):
            width = (last - self.first) / cells
            values = [self.slope_weight(self.first + k * width, p) for k in range(cells + 1)]
            total += values[0] + 2 * values[-1]  # what lies beyond the last place falls: it varies by its first value
            for k in range(cells):
                cell = (self.first + k * width).union(self.first + (k + 1) * width)
                change = self.log_slope(cell, p)
                if change > 0 or change < 0:
                    total += abs(values[k + 1] - values[k])
                else:
                    total += abs(self.slope_weight(cell, p) * change).upper() * width
        self._bounds[float(c)] = total.upper()
        return self._bounds[float(c)]

    def slope_weight(self, y, p):
        """The density of the sampled loss, per unit of noise, tilted by its power p."""
        loss = self.base.loss(y)
        return self.base.density(y) * ((p + 1) * self.log_ratio(loss) - loss).exp() / (self.base.slope * self.q)

    def log_slope(self, y, p):
        """The derivative of log G."""
        ratio = 1 / (1 + (1 - self.q) / self.q * (-self.base.loss(y)).exp())  # increasing in y: L' over the slope of the base loss
        return self.base.log_slope(y) + self.base.slope * ((p + 1) * ratio - 1)

    def log_far(self, c, t, scale):
        """Bounds log |M(c + iv)| for every v >= t > 0."""
        return (self.atoms.transform(c) + self.wave_bound(c) / t).log().min(self.log_transform(c, scale))

    def tails(self, x):
        """The P-mass and the Q-mass of the density part with a loss above x."""
        p_mass = q_mass = ZERO
        for side in self.sides:
            inside = (side * x).exp() - 1 + self.q
            require(inside > 0 or inside <= 0, "an epsilon at the end of the losses")
            last = None if self.base.top_atom is None else self.base.a
            place = self.first if not inside > 0 else self.base.place((inside / self.q).log()).max(self.first)
            place = place if last is None else place.min(last)
            q, p = self.base.mass(place, last) if side > 0 else self.base.mass(self.first, place)
            mixed = (1 - self.q) * q + self.q * p
            p_mass, q_mass = (p_mass + mixed, q_mass + q) if side > 0 else (p_mass + q, q_mass + mixed)
        return p_mass, q_mass

    # -- floats, only to choose --

    def rough(self, c):
        """log M(c), not proved: only to choose."""
        if c in self._roughs:
            return self._roughs[c]
        first, last, q = float(self.first), float(self.base.last(c)), float(self.q)
        scale, shift = float(self.base.slope), float(self.base.loss(ZERO))
        logs, cells = [float(self.atoms.transform(arb(c)).log())], 400  # of the summands: at a large c they are beyond any float
        for k in range(cells):
            y = first + (last - first) * (k + 0.5) / cells
            log_ratio = math.log(1 - q + q * math.exp(min(700.0, scale * y + shift)))
            log_density = -y * y / 2 - math.log(2 * math.pi) / 2 if self.base.top_atom is None else -y - math.log(2)
            log_mass = log_density + math.log((last - first) / cells)
            logs += [log_mass + (c if side > 0 else 1 - c) * log_ratio for side in self.sides]
        largest = max(logs)
        self._roughs[c] = largest + math.log(sum(math.exp(one - largest) for one in logs))
        return self._roughs[c]

    def fallen(self, c, t):
        """log |M(c + it)/M(c)|, not proved: only to choose."""
        return min(0.0, math.log(float(self.atoms.transform(arb(c))) + float(self.wave_bound(arb(c))) / t) - self.rough(c))


@functools.lru_cache(maxsize=None)
def gauss_legendre(nodes, _precision):
    """Nodes and weights on [-1, 1], at the precision of the moment."""
    return [arb.legendre_p_root(nodes, k, weight=True) for k in range(nodes)]


# ------------------------------------------------------ laws from a plan ----


def base_law(call, neighbours):
    """The distribution of the privacy loss of one source, from the definition of the mechanism."""
    name, given = call["name"], call["arguments"]
    if name == "matrix":
        return matrix_law(given, neighbours)
    count = {key: exact(value) for key, value in given.items() if isinstance(value, str) and key not in WORDS}
    number = {key: ball(value) for key, value in count.items()}
    require(all(value > 0 for key, value in count.items() if key != "delta"), "a parameter that is not positive")
    if name == "gaussian" and "clip" in number:  # theorem clip-norm: a replaced record moves the sum by twice the norm
        require("sensitivity" not in number and neighbours != "unstated", "a clip norm beside a sensitivity, or without neighbours")
        law = Gaussian(number["clip"] / number["sigma"] * (2 if neighbours == "replace-one" else 1))
        law.clipped = True
        return law
    if name in ("gaussian", "gdp"):
        return Gaussian(number["mu"] if name == "gdp" else number["sensitivity"] / number["sigma"])
    if name in ("exponential", "noisy_max"):
        return choice_law(name, given, count, neighbours)
    if name == "threshold":
        return threshold_law(given["noise"], number, count)
    if name in ("laplace", "truncated_laplace"):
        law = Laplace(number["sensitivity"] / number["scale"], number["bound"] / number["scale"] if "bound" in number else None)
        law.largest = count["sensitivity"] / count["scale"]
        return law
    if name in ("dp", "randomized_response"):
        require(0 <= count.get("delta", 0) < 1 and count.get("choices", Fraction(2)) in range(2, 10**9), "parameters out of range")
        e, d, others = number["epsilon"].exp(), number.get("delta", ZERO), ball(count.get("choices", Fraction(2)) - 2)
        atoms = [(-number["epsilon"], (1 - d) * e), (ZERO, others), (number["epsilon"], 1 - d)]
        law = Atoms([(loss, mass / (e + 1 + others)) for loss, mass in atoms if not mass.is_zero()], d, d, even=True)
        law.largest = count["epsilon"]
        return law
    if name in ("discrete_laplace", "truncated_discrete_laplace", "discrete_gaussian"):
        return integer_noise(name, number, count)
    require(name == "pair", f"{name} starts no line")
    p, q = ([exact(value) for value in given[key]] for key in ("p", "q"))
    require(len(p) == len(q) and sum(p) == sum(q) == 1 and min(p + q) >= 0, "a pair that does not add up to 1 exactly")
    atoms = [((ball(a) / ball(b)).log(), ball(b)) for a, b in zip(p, q) if a > 0 and b > 0]
    infinite, zero = sum(a for a, b in zip(p, q) if b == 0), sum(b for a, b in zip(p, q) if a == 0)
    require(atoms, "a pair of laws apart from each other")
    return Atoms(atoms, ball(Fraction(infinite)), ball(Fraction(zero)), symmetric=False)


def choice_law(name, given, count, neighbours):
    """One choice among candidates: how far two utilities move relative to each other, in units of the noise (noisy-max-reduction)."""
    require(given.get("monotone", "false") == "false" or neighbours in ("add-remove", "zero-out"), "utilities that move one way when a record is replaced")
    moved = count.get("sensitivity", Fraction(1)) * (1 if given.get("monotone") == "true" else 2)
    noise = given.get("noise", "gumbel")
    require(noise in ("gumbel", "exponential") and count.get("top", 1) == 1, f"noisy_max with this noise, or several at once: {noise}")
    shift = count["epsilon"] if "epsilon" in count else count["weight"] * moved if name == "exponential" else moved / count["scale"]
    law = Laplace(ball(shift)) if noise == "exponential" else BoundedRange(ball(shift))
    law.chosen, law.largest = True, shift
    return law


def integer_noise(name, number, count):
    """Outcome x has the loss of noise x under Q against noise x - shift under P."""
    shift, bound = count["sensitivity"], count.get("bound")
    require(shift.denominator == 1 and shift <= 1000 and (bound is None or (bound >= shift and bound.denominator == 1)), "noise of this kind")
    shift, bound = int(shift), None if bound is None else int(bound)
    if name == "discrete_gaussian":
        twice, reach = 2 * number["sigma"] ** 2, int(30 * float(number["sigma"])) + shift + 2
        require(2 * reach < LATTICE, "too many terms")
        weight = [(-(arb(x) ** 2) / twice).exp() for x in range(reach + 1)]
        rest, left = (2 * weight[x] / (1 - (-arb(2 * x) / twice).exp()) for x in (reach, reach - shift))  # Q- and P-mass beyond, times norm
        norm = 2 * sum(weight, ZERO) - 1 + between_0_and(rest)
        atoms = [(shift * (2 * x - shift) / twice, weight[abs(x)] / norm) for x in range(-reach, reach + 1)]
        return Atoms(atoms, even=True, slack=(left / norm).upper())
    ratio = (-1 / number["scale"]).exp()
    tail, ends = (ZERO, ZERO) if bound is None else (ratio ** (bound + 1 - shift), ratio ** (bound + 1))
    side, norm = (1 - tail) / (1 - ratio), (1 + ratio - 2 * ends) / (1 - ratio)  # side: the sum of ratio^0 .. ratio^(bound - shift)
    masses = [side] + [ratio**x for x in range(1, shift)] + [side * ratio**shift]
    lost = (tail - ends) / (1 - ratio) / norm
    law = Atoms([((2 * k - shift) / number["scale"], mass / norm) for k, mass in enumerate(masses)], lost, lost, even=True)
    law.largest = count["sensitivity"] / count["scale"]
    return law


def apply_sampling(law, name, rate, examples, neighbours):
    """The distribution after sampling with this rate: Poisson (theorem poisson-subsampling) or fixed size (fixed-size-subsampling)."""
    require(0 < rate < 1, "a rate that is not between 0 and 1")
    q = ball(rate)
    if name == "poisson" and (examples > 1 or neighbours == "replace-one"):
        require(isinstance(law, Gaussian) and examples.denominator == 1 and examples <= 64, "several examples of this noise")
        if not getattr(law, "clipped", False) and neighbours == "replace-one":
            require(examples == 1, "examples that are drawn and replaced, without a clip norm")
            return drawn_gaussian(law, q, neighbours)
        count = int(examples)
        return Mixture(law.mu / 2, q, count, count) if neighbours == "replace-one" else Mixture(law.mu, q, count, 0)
    if isinstance(law, Atoms):
        require(law.slack.is_zero(), "sampling of this noise")
        return law.poisson(q) if name == "poisson" else law.sampled(q)
    require(law.infinite.is_zero(), "sampling of truncated noise")
    if isinstance(law, Gaussian):
        return Gaussian(law.mu, q) if name == "poisson" else Sampled(NormalBase(law.mu), q, "fixed")
    return Sampled(LaplaceBase(law.a), q, "remove" if name == "poisson" else "fixed")


def drawn_gaussian(law, q, neighbours):
    """A Poisson sample of rate q: theorems poisson-subsampling, poisson-replace-one. Without a clip norm it is seen whether a record was drawn."""
    if neighbours != "replace-one":
        return Gaussian(law.mu, q)
    return Mixture(law.mu / 2, q, 1, 1) if getattr(law, "clipped", False) else Observed([(q, law), (1 - q, None)])


def capped_sample(law, rate, of, cap, exactly, neighbours):
    """A Poisson sample of which at most `cap` records are used (theorem capped-poisson)."""
    if cap >= of:
        return drawn_gaussian(law, ball(rate), neighbours)
    require(of <= 10**6, "too many terms")
    q = ball(rate)
    mass = (arb(of).lgamma() - arb(cap + 1).lgamma() - arb(of - cap).lgamma() + cap * q.log() + (of - 1 - cap) * (1 - q).log()).exp()
    overfull = lost = ZERO  # over all numbers of others from the cap on: their chance, and what the record then loses of its rate
    for others in range(cap, of):
        overfull, lost = overfull + mass, lost + mass * (others + 1 - cap) / (others + 1)
        ratio = (of - 1 - others) * q / ((others + 1) * (1 - q))  # it falls
        mass = mass * ratio
        if ratio < HALF and mass < arb(2) ** (-2 * ctx.prec) * overfull:
            rest = (2 * mass).upper()
            overfull, lost = overfull + between_0_and(rest), lost + between_0_and(rest)
            break
    entered = q * cap / (cap + 1) if exactly else q
    if neighbours == "add-remove":
        above = [(1 - overfull, Gaussian(law.mu, q)), (overfull, Gaussian(2 * law.mu, entered))]
    else:
        above = [(1 - overfull, drawn_gaussian(law, q, neighbours)), (overfull * entered, Gaussian(law.mu)), (overfull * (1 - entered), None)]
        if overfull < arb(0.02) and (neighbours != "replace-one" or getattr(law, "clipped", False)):  # who is displaced may as well be hidden
            hidden = Mixture(law.mu if neighbours == "replace-one" else 2 * law.mu, entered, 1, 1)
            if hidden.delta_of_one(ONE) < entered * gaussian_delta(law.mu, ONE):
                above[1:] = [(overfull, hidden)]
    return Between(Observed(above), [drawn_gaussian(law, q * (1 - lost), neighbours)])


def shuffled_batches(law, batches, passes, reuse, neighbours):
    """[(law, how often)]: theorem shuffled-batches."""
    mu = law.mu * arb(passes).sqrt() if reuse else law.mu
    if batches == 1:
        return [(Gaussian(mu), 1 if reuse else passes)]
    below = [Allocation(mu, batches)] if neighbours == "replace-one" else [LargestBatch(mu, batches), Allocation(mu, batches)]
    law = Between(Gaussian(mu), below)
    law.reused = reuse
    return [(law, 1 if reuse else passes)]


def allocated(law, steps, passes, times, neighbours):
    """[(law, how often)]: theorems random-allocation, allocation-replace-one, allocation-blocks. Several steps lie between one of them alone and
    all of them shown."""
    mu, replaced = law.mu * arb(passes).sqrt(), neighbours == "replace-one"
    if steps == times or (replaced and not getattr(law, "clipped", False)):
        return [(Gaussian(mu), times)]
    if replaced and 2 * times == steps:  # the loss is a function of the sum of the outputs
        return [(Gaussian(mu / 2 * arb(steps).sqrt()), 1)]
    one = ReplacedAllocation(mu / 2, steps) if replaced else Allocation(mu, steps)
    above = Gaussian(mu * arb(times).sqrt())
    return [(one if times == 1 else Between(above, [one], "an allocation to several of the steps"), 1)]


def apply_training_sampler(law, call, neighbours):
    """[(law, how often)] of the samplers of training runs."""
    name, given = call["name"], call["arguments"]
    require(type(law) is Gaussian and law.q is None, f"{name} of this noise")
    number = {key: exact(value) for key, value in given.items() if key not in WORDS}
    whole = {key: int(value) for key, value in number.items() if key != "rate"}
    require(all(value.denominator == 1 and value > 0 for key, value in number.items() if key != "rate"), "a number that is not whole")
    if name == "poisson":
        require(0 < number["rate"] < 1, "a rate that is not between 0 and 1")
        exactly = given.get("of_is", "exact") == "exact"
        return [(capped_sample(law, number["rate"], whole["of"], whole["at_most"], exactly, neighbours), 1)]
    if name == "shuffle":
        return shuffled_batches(law, whole["batches"], whole["passes"], given.get("reuse") == "true", neighbours)
    if name == "allocate":
        return allocated(law, whole["steps"], whole["passes"], whole["times"], neighbours)
    require(0 < number["rate"] < 1, "a rate that is not between 0 and 1")
    position, clipped = given.get("by") == "position", getattr(law, "clipped", False)
    require(neighbours != "add-remove" or not position, "groups by position where a record is added")
    require(neighbours != "replace-one" or position or (clipped and law.columns is None), "groups by identity where a record is replaced")
    q, rounds = ball(number["rate"]), -(-whole["steps"] // whole["groups"])
    if law.columns is None:
        return [(drawn_gaussian(law, q, neighbours), rounds)]
    mus, groups, laws = law.columns(), whole["groups"], []
    require(len(mus) == whole["steps"] and law.bandwidth <= groups, "a matrix that is not banded")
    require(law.falling, "columns whose lengths do not fall")  # then every other group has shorter columns than the first
    for mu in mus[::groups]:
        if laws and laws[-1][0].mu.overlaps(mu):
            laws[-1] = (laws[-1][0], laws[-1][1] + 1)
        else:
            laws.append((Gaussian(mu), 1))
    for step, _ in laws:
        step.clipped = clipped
    return [(drawn_gaussian(step, q, neighbours), count) for step, count in laws]


def matrix_law(given, neighbours):
    """Noise that a matrix correlates (theorems matrix-mechanism, matrix-sensitivity): the sensitivity from its definition. A matrix with falling
    coefficients c_0 >= c_1 >= ... >= 0 is worst for a comb of steps; of other matrices all allowed patterns are tried, if they are few."""
    number = {key: exact(value) for key, value in given.items() if isinstance(value, str) and key not in WORDS}
    require(not {"clip", "sensitivity"} <= set(given) and number["sigma"] > 0, "a clip norm beside a sensitivity")
    replaced = neighbours == "replace-one"
    require(neighbours != "unstated" and not (replaced and not {"clip", "sensitivity"} & set(given)), "a matrix without a clip norm")
    distance = number["sensitivity"] if "sensitivity" in number else number.get("clip", Fraction(1)) * (2 if replaced else 1)
    most, apart, kind = int(number["participations"]), int(number["separation"]), given.get("kind")
    every, unit = given.get("pattern") == "every", ball(distance / number["sigma"])
    steps = int(number["steps"]) if "steps" in number else None
    law = None
    if kind == "tree":
        require(most == 1 and steps & (steps - 1) == 0, "several participations in a tree")
        law = Gaussian(unit * arb(steps.bit_length()).sqrt())
        law.columns = lambda: require(False, "a tree that is sampled")
    elif "lower" in given:
        entries = [exact(value) for value in given["lower"]]
        steps = steps or (math.isqrt(8 * len(entries) + 1) - 1) // 2
        require(steps * (steps + 1) // 2 == len(entries) and steps <= 24, "a matrix of this size")
        rows = [entries[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2] for i in range(steps)]
        columns = [[rows[i][j] if i >= j else Fraction(0) for i in range(steps)] for j in range(steps)]
        law = Gaussian(unit * ball(largest_square(columns, most, apart, every)).sqrt())
        law.columns = lambda: [unit * ball(sum(value * value for value in column)).sqrt() for column in columns]
        law.bandwidth = 1 + max(i - j for i in range(steps) for j in range(i + 1) if rows[i][j] or i == j)
    else:
        require(steps <= 20000, "too many terms")
        c, falling = toeplitz_coefficients(given, kind, steps)
        if not falling or every:
            require(kind is None and steps <= 24, "a matrix whose coefficients do not fall, or a fixed order")
            values = [exact(value) for value in given["coefficients"]] + [Fraction(0)] * steps
            columns = [[values[i - j] if i >= j else Fraction(0) for i in range(steps)] for j in range(steps)]
            law = Gaussian(unit * ball(largest_square(columns, most, apart, every)).sqrt())
        else:
            combed = [sum((c[i - j] for j in range(0, min(i + 1, most * apart), apart)), ZERO) for i in range(steps)]
            law = Gaussian(unit * sum((value * value for value in combed), ZERO).sqrt())
        law.bandwidth = 1 + max((i for i in range(steps) if not c[i].is_zero()), default=0)
        squares = list(itertools.accumulate((value * value for value in c), initial=ZERO))
        law.columns, law.falling = (lambda: [unit * squares[steps - j].sqrt() for j in range(steps)]), True
    law.clipped, law.matrix = "sensitivity" not in given, True
    return law


def toeplitz_coefficients(given, kind, steps):
    """Of a Toeplitz matrix, and whether they fall to 0."""
    if kind == "prefix":
        return [ONE] * steps, True
    if kind == "square_root":  # binom(2j, j) / 4^j
        return list(itertools.accumulate(range(1, steps), lambda c, j: c * (2 * j - 1) / (2 * j), initial=ONE)), True
    if kind == "blt":
        scales, decays = ([exact(value) for value in given[key]] for key in ("scales", "decays"))
        require(len(scales) == len(decays) and min(scales + decays) >= 0 and max(decays) <= 1 and sum(scales) <= 1, "coefficients that do not fall")
        powers, rates, c = [ball(value) for value in scales], [ball(value) for value in decays], [ONE]
        while len(c) < steps:
            c.append(sum(powers, ZERO))
            powers = [one * rate for one, rate in zip(powers, rates)]
        return c, True
    require(kind is None and "coefficients" in given, "a matrix of this kind")
    values = [exact(value) for value in given["coefficients"]]
    falling = all(a >= b for a, b in zip(values, values[1:])) and values[-1] >= 0
    return [ball(value) for value in values] + [ZERO] * (steps - len(values)), falling


def largest_square(columns, most, apart, every):
    """The largest square of the length of a sum of columns over the allowed patterns; exact where no two of them have a negative product."""
    steps = len(columns)
    product = [[sum(a * b for a, b in zip(one, other)) for other in columns] for one in columns]
    require(all(value >= 0 for row in product for value in row), "columns with a negative product")
    best, waiting = Fraction(0), [((), 0, Fraction(0))]
    tried = 0
    while waiting:
        pattern_so_far, first, square = waiting.pop()
        tried, best = tried + 1, max(best, square)
        require(tried <= 10**6, "too many patterns")
        if len(pattern_so_far) == most:
            continue
        following = range(first, min(first + 1, steps)) if every and pattern_so_far else range(first, steps)
        for t in following:
            more = product[t][t] + 2 * sum(product[s][t] for s in pattern_so_far)
            waiting.append(((*pattern_so_far, t), t + apart, square + more))
    return best


def units(items):
    """Of every call that samples or groups: whether it speaks of a user's examples."""
    found = set()
    for item in items:
        found |= units(item["source"]) if isinstance(item["source"], list) else set()
        found |= {exact(call["arguments"].get("examples", "1")) > 1 for call in item["operators"] if call["name"] != "repeat"}
    return found


def read_laws(items, neighbours):
    """[(law, how often)]."""
    laws = []
    for item in items:
        inner = isinstance(item["source"], list)
        found = read_laws(item["source"], neighbours) if inner else [(base_law(item["source"], neighbours), 1)]
        for call in item["operators"]:
            given = {key: exact(value) for key, value in call["arguments"].items() if key not in WORDS}
            if call["name"] == "repeat":
                require(given["times"].denominator == 1 and 0 <= given["times"] < 10**9, "a number of repetitions out of range")
                require(not any(getattr(law, "reused", False) for law, _ in found), "an order that all passes share, repeated")
                found = [(law, count * int(given["times"])) for law, count in found]
                continue
            require(len(found) == 1 and found[0][1] == 1, "sampling or groups of what is composed")
            law = found[0][0]
            require(law.symmetric and not isinstance(law, (Sampled, Mixture, Observed, Between)), "sampling or groups of what is sampled")
            require(not getattr(law, "chosen", False), "sampling or groups of a choice")
            if call["name"] == "group":
                require(isinstance(law, Gaussian) and given["size"].denominator == 1 and given["size"] > 0, "groups of this noise")
                found = [(Gaussian(law.mu * ball(given["size"])), 1)]
                continue
            if call["name"] in ("allocate", "shuffle", "cyclic") or "at_most" in given:
                require("examples" not in given, "a largest batch beside several examples")
                found = apply_training_sampler(law, call, neighbours)
                continue
            require(call["name"] in SPEAKS_OF and len(given) <= 2 and not getattr(law, "matrix", False), f"{call['name']} follows no source here")
            rate = given["rate"] if "rate" in given else given["size"] / given["of"]
            found = [(apply_sampling(law, call["name"], rate, given.get("examples", Fraction(1)), neighbours), 1)]
        require(neighbours != "add-remove" or not any(getattr(law, "matrix", False) for law, _ in found), "a matrix where a record is added")
        laws += [(law, count) for law, count in found if count > 0]
    require(all(count <= 150 or not isinstance(law, Laplace) for law, count in laws), "too many terms")
    return laws


# ---------------------------------------------- delta(e) of one direction ----


class Sums:
    """C(e) of a composition of finite laws and Laplace noise, as a finite sum."""

    def __init__(self, laws):
        terms = [(ZERO, arb_poly([1]), 0)]
        for law, count in laws:
            more = law.terms(count)
            require(len(terms) == 1 or len(more) == 1 or len(terms) * len(more) <= TERMS, "too many terms")
            terms = [(a + b, p * q, m + n) for a, p, m in terms for b, q, n in more]
        self.terms = sorted(terms, key=lambda term: float(term[0].mid()))
        self.places = [float(loss.mid()) for loss, _, _ in self.terms]
        self.radius = max(float(loss.rad()) for loss, _, _ in self.terms)
        if all(order == 0 for _, _, order in self.terms):
            self.add_up()
        else:
            self.tails = None

    def add_up(self):
        """Of finite laws: the P-mass and the Q-mass of the k-th loss and all above it."""
        p_mass = q_mass = ZERO
        self.tails = [(ZERO, ZERO)]
        for loss, poly, _ in reversed(self.terms):
            p_mass, q_mass = p_mass + poly[0] * loss.exp(), q_mass + poly[0]
            self.tails.append((p_mass, q_mass))
        self.tails.reverse()

    def value(self, e):
        """Losses above e count; where that cannot be told, a value between nothing and what they would give."""
        near = self.radius + float(e.rad()) + 1e-9 * (1 + abs(float(e.mid())))
        first, last = (bisect.bisect_left(self.places, float(e.mid()) + gap) for gap in (-near, near))
        doubtful = ((loss > e, self.residues(loss, e, poly, order)) for loss, poly, order in self.terms[first:last] if not loss <= e)
        total = sum((value if surely else value.union(ZERO) for surely, value in doubtful), ZERO)
        if self.tails is not None:
            p_mass, q_mass = self.tails[last]
            return total + p_mass - e.exp() * q_mass
        return total + sum((self.residues(loss, e, poly, order) for loss, poly, order in self.terms[last:]), ZERO)

    @staticmethod
    def residues(loss, e, poly, order):
        """Of exp((loss + e)/2) exp(w (loss - e)) poly(w) / (w^order (w^2 - 1/4)) at w = 1/2, -1/2 and 0."""
        outer = loss.exp() * poly(HALF) / HALF**order - e.exp() * poly(-HALF) / (-HALF) ** order
        if order == 0:
            return outer
        ctx.cap = order + 1
        series = arb_series([0, loss - e]).exp() * arb_series(poly) / arb_series([arb(-0.25), 0, 1])
        return outer + ((loss + e) / 2).exp() * series[order - 1]


class Line:
    """C(e) of any composition, by the trapezoidal sum on a line near the saddle point of the epsilon it is made for.

    Of one sampled law with atoms and a density, M^n = (B + A)^n falls off slowly, or not at all. The terms B^n and n B^(n-1) A are left out of
    the sum and added by hand (`by_hand`): the first is a finite law, the second one draw from the density beside a finite law. All the other
    terms are positive measures as well, so that the bounds for Poisson summation hold for them, and far out they are at most
    n(n-1)/2 x^2 (b + x)^(n-2), where b bounds |B| and x = C/v bounds |A|."""

    def __init__(self, laws, e):
        self.laws, self.place = laws, e
        law, count = laws[0]
        self.split = (law, count) if len(laws) == 1 and isinstance(law, Sampled) and 2 <= count <= 5000 else None
        falls_slowly = any(isinstance(law, Sampled) for law, _ in laws)
        self.edge = EDGE if not falls_slowly else ALGEBRAIC_EDGE if ctx.prec <= PRECISION else ALGEBRAIC_EDGE + 10
        c, h, ahead, t = self.choose(e)
        self.c, self.h, self.ahead, count = simple(c - 1) + 1, simple(h), arb(ahead), math.ceil(t / h)
        self.values = self.integrand(count)
        size = math.isqrt(len(self.values)) + 1
        filled = self.values + [acb(0)] * (-len(self.values) % size)
        self.table = acb_mat(len(filled) // size, size, filled)
        self.cut = self.far_out(self.h * count)
        self.beyond = sum((n * self.log_transform(law, self.c + self.ahead, n) for law, n in laws), ZERO)
        self.first_terms = self.hand_terms() if self.split else None

    # -- floats, only to choose --

    @staticmethod
    def rough_law(law, c):
        """log M(c) of one law, not proved: only to choose."""
        return law.rough(c) if isinstance(law, (Gaussian, Sampled)) else float(law.transform(arb(c)).log())

    def rough(self, c):
        """log of the whole transform at c, not proved: only to choose."""
        return sum(n * self.rough_law(law, c) for law, n in self.laws)

    def choose(self, e):
        """The line Re z = c, the step h, how far the transform is known right of the line, and where the sum ends."""
        height = lambda x: self.rough(1 + math.exp(x)) - math.exp(x) * e - x - math.log1p(math.exp(x))  # noqa: E731, at c = 1 + exp(x)
        x = min(range(-56, 72, 8), key=lambda k: height(k / 8))
        x = min(range(x - 7, x + 8), key=lambda k: height(k / 8)) / 8
        c, size = 1 + math.exp(x), height(x)
        needs = {s: self.rough(c + s) - (c + s - 1) * e - size + self.edge for s in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0)}
        ahead = min(needs, key=lambda s: needs[s] / s)
        h = min(2 * math.pi * (c - 1) / (self.edge - min(0.0, size)), 2 * math.pi * ahead / max(1.0, needs[ahead]))
        t = 8 * h
        while self.fallen(c, t) > -self.edge:
            t *= 1.3
            require(t / h < 60000, "the integrand falls off too slowly")
        return c, h, ahead, t

    def fallen(self, c, t):
        """The logarithm of what is cut off, relative to the integrand at c."""
        if self.split:
            law, n = self.split
            b, x = float(law.atoms.transform(arb(c))), float(law.wave_bound(arb(c))) / t
            return math.log(n * (n - 1) / 2 * x * x) + (n - 2) * math.log(b + x) - n * law.rough(c) + math.log(c * (c - 1) / t)
        return sum(n * law.fallen(c, t) for law, n in self.laws if isinstance(law, (Gaussian, Sampled)))

    # -- what is proved --

    @staticmethod
    def log_transform(law, c, n):
        """The logarithm of the transform of one law at a real point."""
        return law.log_transform(c, n) if isinstance(law, (Gaussian, Sampled)) else law.transform(c).log()

    def integrand(self, count):
        """M(z)/(z(z-1)) at the nodes c + ikh."""
        z = [acb(self.c, k * self.h) for k in range(count + 1)]
        values = [1 / (point * (point - 1)) for point in z]
        if self.split:
            law, n = self.split
            density = law.density_transforms(self.c, self.h, count, self.edge + math.log(n) + 5)
            for k, a in enumerate(density):
                b = law.atoms.transform(z[k])
                before = power(b, n - 1)
                values[k] *= power(a + b, n) - before * (b + n * a)
            return values
        for law, n in self.laws:
            if isinstance(law, (Gaussian, Sampled)):
                found = law.transforms(self.c, self.h, count, self.edge + math.log(n) + 5)
            else:
                found = [law.transform(point) for point in z]
            values = [value * power(factor, n) for value, factor in zip(values, found)]
        return values

    def far_out(self, t):
        """Bounds |M(c + iv)|, or what is left of it, for every v >= t."""
        if self.split:
            law, n = self.split
            x = law.wave_bound(self.c) / t
            return n * (n - 1) / 2 * x**2 * (law.atoms.transform(self.c) + x) ** (n - 2)
        logs = (n * (law.log_far(self.c, t, n) if isinstance(law, (Gaussian, Sampled)) else law.transform(self.c).log()) for law, n in self.laws)
        return sum(logs, ZERO).exp()

    def hand_terms(self):
        """B^n, B^(n-1) where it matters, and a bound of what the rest of it contributes."""
        law, n = self.split
        before, tiny = [(loss, poly[0]) for loss, poly, _ in law.atoms.terms(n - 1)], arb(2) ** -ctx.prec
        kept = [(loss, mass) for loss, mass in before if not n * mass * loss.exp() < tiny]
        dropped = sum((n * mass * loss.exp() for loss, mass in before if n * mass * loss.exp() < tiny), ZERO)
        return Sums([(law.atoms, n)]), kept, dropped.upper()

    def by_hand(self, e):
        """The terms that are summed in closed form, outside the integral."""
        law, n = self.split
        atoms, before, dropped = self.first_terms
        total = ZERO
        for loss, mass in before:
            p_mass, q_mass = law.tails(e - loss)
            total += mass * (loss.exp() * p_mass - e.exp() * q_mass)
        return atoms.value(e) + n * total + between_0_and(dropped)

    def value(self, e):
        """C(e) by the trapezoidal sum on this line, with all its errors."""
        c, h, values = self.c, self.h, self.values
        rows, columns = self.table.nrows(), self.table.ncols()  # one product for each factor exp(-ikhe), so that balls do not grow with k
        fine = acb_mat([[acb(ZERO, -h * e * i).exp()] for i in range(columns)])
        coarse = acb_mat([[acb(ZERO, -h * e * i * columns).exp() for i in range(rows)]])
        total = (coarse * (self.table * fine))[0, 0].real - values[0].real / 2
        tilt = (-(c - 1) * e).exp()
        cut = (self.cut * tilt / (arb.pi() * h * (len(values) - 1))).upper()  # |z(z-1)| >= t^2, and the sum of h/t^2 beyond t is below 1/t
        left, right = ((-gap * 2 * arb.pi() / h).exp() for gap in (c - 1, self.ahead))
        alias = (left / (1 - left) + self.beyond.exp() * (-(c + self.ahead - 1) * e).exp() * right / (1 - right)).upper()
        found = total * h / arb.pi() * tilt + arb(0, cut) - between_0_and(alias)
        return found + self.by_hand(e) if self.split else found


class Profile:
    """delta(e) of laws composed."""

    def __init__(self, laws):
        self.laws, self.lines, self.sums = laws, [], None
        survive = math.prod(((1 - law.infinite) ** count for law, count in laws), start=ONE)
        self.infinite = ZERO if all(law.infinite.is_zero() for law, _ in laws) else 1 - survive
        self.slack = sum((law.slack * count for law, count in laws), ZERO)
        self.once, self.is_gaussian, self.needs_line = None, False, False
        if not laws:
            return
        law, count = laws[0]
        if len(laws) == 1 and count == 1 and type(law) is Gaussian and law.q is not None:
            self.once, self.laws = ("add" if law.mirrored else "remove", law.q), [(Gaussian(law.mu), 1)]
        if len(laws) == 1 and count == 1 and isinstance(law, Sampled):
            base = Gaussian(law.base.mu) if isinstance(law.base, NormalBase) else Laplace(law.base.a)
            self.once, self.laws = (law.kind, law.q), [(base, 1)]
        self.is_gaussian = all(isinstance(law, Gaussian) and law.q is None for law, _ in self.laws)
        self.needs_line = not self.is_gaussian and any(isinstance(law, (Gaussian, Sampled)) for law, _ in self.laws)

    def delta(self, e):
        """At an exact number, a ball, or "inf"."""
        if e == "inf":
            return self.infinite + between_0_and(self.slack)
        e = ball(e) if isinstance(e, Fraction) else e
        if not self.laws:  # nothing was run
            return (1 - e.exp()).max(ZERO)
        if getattr(self.laws[0][0], "alone", False):
            return self.laws[0][0].delta(e)
        return self.plain(e) if self.once is None else self.sampled_once(e, self.once[0])

    def sampled_once(self, e, kind):
        """delta of a single sampled step by the formula of the sampling (poisson-subsampling, fixed-size-subsampling)."""
        require(kind != "fixed" or e >= 0 or e < 0, "an epsilon that cannot be told from 0")
        if kind == "add" or (kind == "fixed" and e < 0):
            return 1 - e.exp() + e.exp() * self.sampled_once(-e, "remove" if kind == "add" else kind)
        rate = self.once[1]
        inside = e.exp() - 1 + rate
        require(inside > 0 or inside < 0, "an epsilon at the end of the losses")
        return rate * self.plain((inside / rate).log()) if inside > 0 else 1 - e.exp()

    def gaussian_mu(self):
        """mu of the composition of Gaussians (theorem gaussian-composition)."""
        return sum((law.mu**2 * count for law, count in self.laws), ZERO).sqrt()

    def plain(self, e):
        """delta(e) by the first method that applies."""
        if self.is_gaussian:
            return gaussian_delta(self.gaussian_mu(), e)
        if len(self.laws) == 1 and isinstance(self.laws[0][0], (Mixture, Observed)):
            law, count = self.laws[0]
            if count == 1:
                return law.delta_of_one(e)
            if isinstance(law, Observed) and law.drawn():
                return law.delta_of_draws(count, e)
        if self.needs_line:
            found = self.line_for(float(e)).value(e)
        else:
            self.sums = self.sums or Sums(self.laws)
            found = self.sums.value(e)
        return self.infinite + found + between_0_and(self.slack)

    def line_for(self, e):
        """One that was made for about this epsilon: away from it by x, it is worse by a factor of exp((c-1) x) or less."""
        near = [line for line in self.lines if abs(e - line.place) * (float(line.c) - 1) <= 8]
        if not near:
            near = [Line(self.laws, e)]
            self.lines += near
        return min(near, key=lambda line: abs(e - line.place))

    def largest_loss(self):
        """Exactly, as a Fraction, or None: it is infinite, or not known so well."""
        known = [getattr(law, "largest", None) for law, _ in self.laws]
        if self.once is not None or None in known or not self.infinite.is_zero():
            return None
        return sum((one * count for one, (_, count) in zip(known, self.laws)), Fraction(0))

    def moments(self):
        """Mean and deviation of L under Q, about."""
        above, at, below = (sum(n * Line.rough_law(law, z) for law, n in self.laws) for z in (0.02, 0.0, -0.02))
        return (above - below) / 0.04, math.sqrt(max((above - 2 * at + below) / 0.0004, 1e-12))


def gaussian_delta(mu, e):
    """The profile of N(0, 1) against N(mu, 1) at e (theorem gaussian-profile)."""
    return normal_tail(e / mu - mu / 2) - e.exp() * normal_tail(e / mu + mu / 2)


# -------------------------------------------------------- both directions ----


class Plan:
    """Both directions, and the asked one or the worse of both."""

    def __init__(self, laws, direction):
        self.bits, self.laws = ctx.prec, laws
        ctx.prec += 16 * sum(count for law, count in laws if isinstance(law, Laplace))  # what the residues cancel
        same = all(law.symmetric for law, _ in laws)
        self.sides = {"remove": Profile(laws)}
        self.sides["add"] = self.sides["remove"] if same else Profile([(law.swapped(), count) for law, count in laws])
        self.profiles = [self.sides["remove"]] if same else [self.sides[one] for one in ("remove", "add") if direction in (one, "worst")]

    def delta(self, e):
        """The larger of both directions (theorem two-directions)."""
        return functools.reduce(arb.max, [profile.delta(e) for profile in self.profiles])

    def is_unbounded(self):
        """Whether some direction certainly has losses beyond all bounds."""
        return any(law.unbounded for profile in self.profiles for law, _ in profile.laws)

    def largest_loss(self):
        """Of all directions, exactly; None: infinite, or not known so well."""
        known = [profile.largest_loss() for profile in self.profiles]
        return None if None in known else max(known)

    def beta(self, alpha):
        """The supremum over y = exp(e) of g(y) = 1 - delta - y alpha, which is concave in y: every value of g is a lower bound, and three
        points with the highest in the middle bound it from above by the lines through two of them."""
        if alpha in (0, 1):
            return 1 - self.delta("inf") if alpha == 0 else ZERO
        g, first = (lambda e: 1 - self.delta(e) - e.exp() * ball(alpha)), self.profiles[0]
        (mean, deviation), smooth = first.moments(), first.needs_line and not first.once
        start = 0.0 if first.once else mean - deviation * NormalDist().inv_cdf(float(alpha))  # the best test, if losses were normal
        wide = 8 + abs(mean) / deviation if first.once else 3 if smooth else 8
        noise = math.sqrt(float(g(arb(start)).rad()))  # closer than this, differences of g say nothing
        low, high, tiny = arb(start - wide * deviation - 1), arb(start + wide * deviation + 1), (arb(2) ** (-3 * self.bits // 8)).max(arb(noise))
        for _ in range(self.bits // 2):
            middle = ((low + high) / 2).mid()
            low, high = (middle, high) if (g(middle + tiny) - g(middle)).mid() > 0 else (low, middle)
        for profile in self.profiles:
            profile.lines.clear()  # a better one for the place that was found
        for reach in (tiny * 2 ** (3 * k + 4) for k in range(60)):
            values, y = [g(low - reach), g(low), g(low + reach)], [(low - reach).exp(), low.exp(), (low + reach).exp()]
            if values[1] >= values[0] and values[1] >= values[2]:
                rises = [(values[1] - values[0]) / (y[1] - y[0]) * (y[2] - y[1]), (values[1] - values[2]) / (y[2] - y[1]) * (y[1] - y[0])]
                return values[1].union(values[1] + rises[0]).union(values[1] + rises[1])
        return arb(0.5, 0.5)  # not found: anything is possible


class GaussianBound:
    """The claim that delta(e) <= d + (1 - d) D(e) for every e >= 0, D that of N(mu, 1) against N(0, 1).

    In y = exp(e) both delta and D are convex: between two places delta is at most its chord, and D at least any tangent, here the one in the
    middle. Both are linear, so it is enough to compare them at the two places. Beyond an e with delta(e) <= d nothing is left to prove."""

    def __init__(self, plan, slack):
        self.plan, self.slack, self.known = plan, ball(slack), {}

    def delta(self, e):
        """The profile of the plan at e, computed once."""
        if e not in self.known:
            self.known[e] = self.plan.delta(arb(e))
        return self.known[e]

    def spare(self, mu, e):
        """How much the pair (mu, slack) exceeds the profile at e."""
        return self.slack + (1 - self.slack) * gaussian_delta(mu, arb(e)) - self.delta(e)

    def last(self):
        """An epsilon from which on the slack alone is enough."""
        e = 1.0
        while not self.delta(e) <= self.slack:
            e *= 2
            require(e < 10**6, "a slack that never is enough")
        low = 0.0
        while e - low > 1e-3 * e:
            middle = (low + e) / 2
            low, e = (low, middle) if self.delta(middle) <= self.slack else (middle, e)
        return e

    def holds_between(self, mu, left, right):
        middle = (arb(left) + arb(right)) / 2
        value, slope = gaussian_delta(mu, middle), -normal_tail(middle / mu + mu / 2)
        tangents = (value + slope * (arb(e).exp() - middle.exp()) for e in (left, right))
        return all(self.slack + (1 - self.slack) * tangent >= self.delta(e) for tangent, e in zip(tangents, (left, right)))

    def holds(self, mu):
        """True, or None: not proved."""
        waiting, tried = [(0.0, self.last())], 0
        while waiting:
            left, right = waiting.pop()
            if self.holds_between(mu, left, right):
                continue
            tried += 1
            if tried > 3000 or right - left < 1e-7:
                return None
            waiting += [(left, (left + right) / 2), ((left + right) / 2, right)]
        return True

    def fails(self, mu):
        """True: at some place there is less than nothing to spare. None: none was found."""
        places = sorted(self.known)
        best = min(range(len(places)), key=lambda k: float(self.spare(mu, places[k]).mid()))
        low, high = places[max(0, best - 1)], places[min(len(places) - 1, best + 1)]
        for _ in range(40):
            if any(self.spare(mu, e) < 0 for e in (low, (low + high) / 2, high)):
                return True
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, right) if float(self.spare(mu, left).mid()) < float(self.spare(mu, right).mid()) else (left, high)
        return None


# ---------------------------------------------------------------- claims ----

ASKED = {"delta": "epsilon", "epsilon": "delta", "beta": "alpha", "tpr": "fpr", "mu": "slack"}


def inside(truth, lo, hi, least, most):
    """True: the truth is certainly in [lo, hi]. False: certainly not. None: not proved. It is known to lie in [least, most]."""
    if isinstance(truth, Fraction):
        return lo <= truth <= hi
    below, above = (None if isinstance(value, float) else ball(value) for value in (lo, hi))
    if lo > hi or lo > most or hi < least or (below is not None and truth < below) or (above is not None and truth > above):
        return False
    proved = (lo <= least or (below is not None and truth >= below)) and (hi >= most or (above is not None and truth <= above))
    return True if proved else None


def answer_verdict(plan, question, answer):
    """True, False, or None if nothing is proved."""
    lo, hi, ask, at = end(answer["lo"]), end(answer["hi"]), question["ask"], question[ASKED[question["ask"]]]
    if ask == "delta":
        return delta_verdict(plan.delta("inf" if at == "inf" else exact(at)), answer, lo, hi)
    require(0 <= exact(at) <= 1 and "log10" not in answer, "a probability outside [0, 1], or the logarithm of an answer other than delta")
    if ask == "mu":
        return mu_verdict(plan, exact(at), lo, hi)
    if ask == "epsilon":
        return epsilon_verdict(plan, exact(at), lo, hi)
    truth = plan.beta(exact(at))
    return inside(truth if ask == "beta" else 1 - truth, lo, hi, 0, 1)


def between_verdict(above, below, question, answer):
    """Of a mechanism between pairs: the pair above proves the end on the side of more risk, one of the pairs below the other end. It is false
    if the pair above, or one below, is on the wrong side of the whole interval."""
    least, most = ("0", "inf") if question["ask"] in ("epsilon", "mu") else ("0", "1")
    down, up = {"lo": answer["lo"], "hi": most}, {"lo": least, "hi": answer["hi"]}
    if "log10" in answer:
        down["log10"], up["log10"] = {"lo": answer["log10"]["lo"], "hi": "0"}, {"lo": "-inf", "hi": answer["log10"]["hi"]}
    risky, safe = (down, up) if question["ask"] == "beta" else (up, down)
    return verdict_by_sides(above, below, lambda plan: answer_verdict(plan, question, risky), lambda plan: answer_verdict(plan, question, safe))


def verdict_by_sides(above, below, risky, safe):
    """From the verdicts of both ends. A pair below that cannot be decided proves nothing; another one may."""

    def tried(verdict, plan):
        try:
            return verdict(plan)
        except Undecided:
            return None

    if risky(above) and any(tried(safe, one) for one in below):
        return True
    return False if safe(above) is False or any(tried(risky, one) is False for one in below) else None


def delta_verdict(truth, answer, lo, hi):
    """Whether delta lies in the certified interval, and its logarithm in the certified one if that is stated."""
    result = inside(truth, lo, hi, 0, 1)
    if result is not True or "log10" not in answer or truth.is_zero():
        return result and ("log10" not in answer or answer["log10"]["lo"] == "-inf")
    return inside(truth.log() / arb(10).log(), end(answer["log10"]["lo"]), end(answer["log10"]["hi"]), -math.inf, 0)


def epsilon_verdict(plan, delta, lo, hi):
    """delta(e) never rises with e, and it is continuous: the least epsilon is below lo where delta(lo) is below the target."""
    if lo > hi or hi < 0:
        return False
    if delta == 0 and plan.largest_loss() is not None:  # the least epsilon is the largest loss
        return inside(max(plan.largest_loss(), Fraction(0)), lo, hi, 0, math.inf)
    if delta == 0 and plan.is_unbounded():
        return hi == math.inf
    target = ball(delta)
    above, below = plan.delta("inf" if hi == math.inf else hi), plan.delta("inf" if lo == math.inf else lo) if lo > 0 else None
    if (hi != math.inf and above > target) or (below is not None and below < target):
        return False
    return True if (hi == math.inf or above <= target) and (below is None or below > target) else None


def mu_verdict(plan, slack, lo, hi):
    """The least mu for which the plan is mu-GDP, except with probability `slack`."""
    first = plan.profiles[0]
    if slack == 0 and first.is_gaussian and first.once is None and len(plan.profiles) == 1:
        return inside(first.gaussian_mu(), lo, hi, 0, math.inf)
    require(0 < slack < 1 and 0 < hi < math.inf, "mu without a slack, of noise that is not Gaussian")
    if lo > hi:
        return False
    bound = GaussianBound(plan, slack)
    holds = bound.holds(ball(hi))
    if holds is None:
        return False if bound.fails(ball(hi)) else None
    return True if lo <= 0 or bound.fails(ball(lo)) else None


# ---------------------------------------------------------- certificates ----

TEXT, ENDS = r"(?s:.*)", {"lo": "-?inf|" + NUMBER, "hi": "-?inf|" + NUMBER}
SHA256, STRINGS = "[0-9a-f]{64}", {"": TEXT}
# Strings by regular expressions, lists by their elements, objects by their members or, with the name "", all members alike.
EVALUATION = {
    "theorem": TEXT, "direction": "remove|add", "epsilon": NUMBER, "log_delta": ENDS,
    "counts": {"": r"[1-9]\d{0,19}"}, "settings": {"": NUMBER}, "errors": {"": "inf|" + UNSIGNED},
}  # fmt: skip
GUARANTEE = {
    "question": OBJECT, "answer": OBJECT, "claim": "lo|hi", "method": TEXT,
    "steps": [{"theorem": TEXT, "detail": TEXT}], "evaluations": [EVALUATION],
}  # fmt: skip
CHARGE = {"plan": TEXT, "items": [OBJECT], "guarantees": [GUARANTEE]}
COMMON = {
    "certificate": "tradeoff certificate 1", "kind": "answer|release|training", "version": r"\d+\.\d+\.\d+", "unit": TEXT,
    "neighbours": "add-remove|replace-one|zero-out|unstated", "digest": SHA256, **CHARGE,
}  # fmt: skip
OF_RELEASES = {"settings": STRINGS, "drawn": [STRINGS], "released": SHA256}


def fits(found, form, name):
    """Raises Changed unless the value of this name has this form; None: any."""
    demand(form is None or isinstance(found, type(form)), name, "is of the wrong kind")
    if isinstance(form, str):
        demand(re.fullmatch(form, found, re.ASCII), name, "is not allowed to have this value")
    elif isinstance(form, list):
        for one in found:
            fits(one, form[0], name)
    elif isinstance(form, dict):
        for field in set(form) ^ set(found) if "" not in form else ():
            demand(False, field, f"is missing in '{name}'" if field in form else f"is not known in '{name}'")
        for field, value in found.items():
            fits(value, form.get(field, form.get("")), field)


def parse(text):
    """The JSON; a member that is there twice means different things to different readers."""

    def unique(pairs):
        names = sorted(name for name, _ in pairs)
        demand(len(dict(pairs)) == len(pairs), "".join([a for a, b in zip(names, names[1:]) if a == b][:1]), "is there twice")
        return dict(pairs)

    demand(0 < len(text.strip()) and len(text) <= 10**6, "certificate", "is missing: the file is empty, or longer than 1000000 bytes")
    try:
        return json.loads(text, object_pairs_hook=unique, parse_constant=lambda word: demand(False, word, "is not JSON"))
    except json.JSONDecodeError as error:
        raise Changed(f"not JSON, or cut off, at line {error.lineno}, column {error.colno} of {len(text)} characters") from None


def content(text):
    """The certificate, if it is one and its digest is right."""
    found = parse(text)
    kind = found.get("kind") if isinstance(found, dict) else None
    form = COMMON if kind not in ("release", "training") else {**COMMON, **OF_RELEASES}
    fits(found, {**form, "planned": CHARGE} if kind == "training" and "planned" in found else form, "certificate")
    covered = {key: value for key, value in found.items() if key != "digest"}
    canonical = json.dumps(covered, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    demand(hashlib.sha256(canonical.encode()).hexdigest() == found["digest"], "digest", "is not that of the content: it was changed")
    for charge in charges_of(found):
        demand(charge["guarantees"], "guarantees", "is empty")
        for one in charge["guarantees"]:
            check_guarantee(one)
    return found


def charges_of(found):
    """The charges of a certificate: what was run and, for a run that was stopped early, what was planned."""
    return [found, *([found["planned"]] if "planned" in found else [])]


def check_guarantee(one):
    """The form of a question and of its answer."""
    ask, answer = one["question"].get("ask"), one["answer"]
    demand(ask in ASKED, "ask", "must be delta, epsilon, beta, tpr or mu")
    directions = "worst" if ask == "mu" else "worst|remove|add"
    at = NUMBER if ask != "delta" else "inf|" + NUMBER
    fits(one["question"], {"ask": TEXT, ASKED[ask]: at, "direction": directions, "relative": UNSIGNED}, "question")
    fits(answer, {**ENDS, **({"log10": ENDS} if "log10" in answer else {})}, "answer")
    demand(one["claim"] == ("lo" if ask == "beta" else "hi"), "claim", "must name the end that may be claimed")
    for evaluation in one["evaluations"]:  # error terms fit into the enclosure that they explain
        lo, hi = end(evaluation["log_delta"]["lo"]), end(evaluation["log_delta"]["hi"])
        errors = sum(end(error) for error in evaluation["errors"].values())
        enough = math.inf in (hi, -lo) or errors <= math.expm1(min(700, hi - lo)) * (1 + 1e-9) + 1e-14 * float(1 + abs(lo))
        demand(enough, "errors", "add up to more than the width of 'log_delta'")


def with_bounds(laws):
    """Allocations beside each other or beside other lines: at least the others, or one of them alone, and at most one Gaussian for each."""
    if sum(count for _, count in laws) == 1:
        return laws
    what = "several epochs of an allocation, or one beside other lines"
    drawn = (Allocation, ReplacedAllocation)
    return [(Between(Gaussian(law.shown), [law], what) if isinstance(law, drawn) else law, count) for law, count in laws]


def guarantee_verdict(charge, neighbours, one):
    """True, False or None: of one answer, and of every enclosure that is stated on the way to it."""
    require(len(units(charge["items"])) < 2, "lines about users beside lines about records")
    laws = read_laws(charge["items"], neighbours)
    directed, laws, allowed = sum(count for law, count in laws if not law.symmetric), with_bounds(laws), {"add-remove": math.inf, "zero-out": math.inf, "unstated": 1, "replace-one": 0}
    require(sum(count for law, count in laws if getattr(law, "chosen", False)) <= 1, "several choices, whose worst case is no product of pairs")
    require(all(not getattr(law, "alone", False) for law, _ in laws) or (len(laws) == 1 and laws[0][1] == 1), "a threshold beside other lines, or several times")
    require(directed <= allowed[neighbours], "directions that differ where a record may be replaced")
    direction, evaluations = one["question"]["direction"], one["evaluations"]
    if any(isinstance(law, Between) for law, _ in laws):
        above, below = Plan([(getattr(law, "above", law), count) for law, count in laws], direction), [Plan(side, direction) for side in pairs_below(laws)]
        results = [between_verdict(above, below, one["question"], one["answer"])]
        for evaluation in evaluations if results[0] else []:
            results.append(evaluation_between(above, below, evaluation))
        loose = next((law.loose for law, _ in laws if isinstance(law, Between) and law.loose), None)
        require(loose is None or None not in results, f"cannot check {loose} more closely than between other mechanisms")
    else:
        plan = Plan(laws, direction)
        results = [answer_verdict(plan, one["question"], one["answer"])]
        for evaluation in evaluations if results[0] else []:
            results.append(evaluation_verdict(plan, evaluation, end(evaluation["log_delta"]["lo"]), end(evaluation["log_delta"]["hi"])))
    return False if False in results else None if None in results else True


def pairs_below(laws):
    """The compositions of pairs below: the first of each mechanism, the second of each, and so on. Laws that are known only alone do not compose:
    then one of them alone, and all others without them. Seeing less is seeing less."""
    most = max(len(law.below) for law, _ in laws if isinstance(law, Between))
    found = []
    for k in range(most):
        side = [(law.below[min(k, len(law.below) - 1)] if isinstance(law, Between) else law, count) for law, count in laws]
        lonely = [law for law, _ in side if getattr(law, "alone", False)]
        others = [(law, count) for law, count in side if not getattr(law, "alone", False)]
        found += [[(law, 1)] for law in lonely] + ([others] if others else [])
    return found


def evaluation_verdict(plan, evaluation, lo, hi):
    """Of one enclosure of log delta."""
    value = plan.sides[evaluation["direction"]].delta(exact(evaluation["epsilon"]))
    return lo == -math.inf if value.is_zero() else inside(value.log(), lo, hi, -math.inf, math.inf)


def evaluation_between(above, below, evaluation):
    """As `between_verdict`."""
    lo, hi = end(evaluation["log_delta"]["lo"]), end(evaluation["log_delta"]["hi"])
    risky, safe = (lambda plan: evaluation_verdict(plan, evaluation, -math.inf, hi)), (lambda plan: evaluation_verdict(plan, evaluation, lo, math.inf))
    return verdict_by_sides(above, below, risky, safe)


def check_plan(charge, neighbours):
    """The items are the plan, and its neighbours are those of the certificate."""
    demand(re.fullmatch(pattern(charge["items"], "\n"), charge["plan"]), "items", "is not what the plan says")
    covered = all(neighbours in SPEAKS_OF[word] for word in re.findall("[a-z_]+", charge["plan"]) if word in SPEAKS_OF)
    demand(covered, "neighbours", "are not those of the plan")


def within_limit(work):
    """What the work gives, or Undecided after LIMIT seconds."""
    signal.signal(signal.SIGVTALRM, lambda *_: require(False, f"more than {LIMIT} seconds of work"))
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


FAULTS = (ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError, MemoryError)


def prove(charge, neighbours, one):
    """(verdict, words) of one claim, with more digits if need be."""
    question, result = one["question"], None
    what = f"{question['ask']} at {ASKED[question['ask']]} = {question[ASKED[question['ask']]]:.40}"
    try:
        for precision in (PRECISION, 3 * PRECISION // 2, 5 * PRECISION, 15 * PRECISION):
            ctx.prec = precision
            result = within_limit(lambda: guarantee_verdict(charge, neighbours, one)) if result is None else result
    except (Undecided, *FAULTS) as reason:
        return None, f"{what}: undecided: {str(reason):.200}"
    ends = f"[{one['answer']['lo']:.25}, {one['answer']['hi']:.25}]"
    words = {True: f"proved, in {ends}", False: f"FALSE, not in {ends}", None: "undecided: narrower than this checker's own enclosure"}
    return result, f"{what}: {words[result]}"


def released_digest(kind, bytes_read):
    """SHA-256 of the printed rows, or of the two lines of a model file that hold the parameters."""
    if kind == "training":
        lines = bytes_read.splitlines(keepends=True)
        bytes_read = b"".join(line for name in (b"weights = ", b"average = ") for line in lines if line.startswith(name))
    return hashlib.sha256(bytes_read).hexdigest()


def check(text, released=None):
    """(exit code, words, [a line for each claim])"""
    try:
        found = content(text.decode() if isinstance(text, bytes) else text)
        results = [prove_unit(found)]
        for charge in charges_of(found):
            check_plan(charge, found["neighbours"])
            results += [prove(charge, found["neighbours"], one) for one in charge["guarantees"]]
    except Undecided as reason:
        return 4, f"undecided: {str(reason):.200}", []
    except (Changed, *FAULTS) as reason:
        return 3, f"malformed or changed: {str(reason):.200}", []
    if released is not None:
        same = found["kind"] != "answer" and released_digest(found["kind"], released) == found["released"]
        results.append((same, "what was released: " + ("its SHA-256 is that of the certificate" if same else "ANOTHER SHA-256 than the certificate's")))
    verdicts, lines = [verdict for verdict, _ in results], [words for _, words in results]
    lines += [f"taken on trust: {sentence}" for sentence in TRUST[found["kind"]]]
    if False in verdicts:
        return 1, "FALSE: " + lines[verdicts.index(False)], lines
    return (4, "undecided: " + lines[verdicts.index(None)], lines) if None in verdicts else (0, "true", lines)


def prove_unit(found):
    """Checks that the stated unit of protection follows from the groups in the plan."""
    check_plan(found, found["neighbours"])
    size = group_size(found["items"])
    unit = "one record" if size == 1 else f"a group of {size} records"
    demand(found["unit"] == unit, "unit", "is not what the plan says")
    return True, f"unit: {unit}, as the plan says"


def main(arguments):
    """Checks all certificates of the command line; returns the exit code."""
    released = None
    if len(arguments) > 2 and arguments[0] == "--released":
        try:
            with open(arguments[1], "rb") as file:
                released, arguments = file.read(), arguments[2:]
        except OSError as reason:
            return print(f"{arguments[1]}: cannot be read: {reason.strerror}") or 3
    if not arguments or arguments[0].startswith("-"):
        return print(__doc__) or 2
    codes = []
    for path in arguments:
        try:
            with open(path, "rb") as file:
                is_list = path.endswith(".jsonl")
                found = [check(text, released) for text in (file if is_list else [file.read()]) if text.strip() or not is_list]
        except OSError as reason:
            found = [(3, f"cannot be read: {reason.strerror}", [])]
        codes += [code for code, _, _ in found]
        for number, (code, words, lines) in enumerate(found, 1):
            if code or len(found) == 1:
                print(f"{path}:{number}: {words}", *(lines if len(found) == 1 else []), sep="\n    ")
    print(f"{codes.count(0)} of {len(codes)} certificates are proved true")
    return next((code for code in (1, 3, 4) if code in codes), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
