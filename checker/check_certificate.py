#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Verifies certificates of `tradeoff certify` without any of its code: python-flint (Arb) balls and this one file.

    check_certificate.py FILE...     a certificate each, or one a line (.jsonl); at most LIMIT seconds of work for each

Exit code 0: every certificate is proved true. 1: one is proved false. 3: one is malformed or was changed. 4: one could not be decided.

How it works. A plan is a pair of laws (P, Q); with L = log dP/dQ under Q and M(z) = E_Q[exp(zL); L finite],
    delta(e) = P(L = inf) + C(e),  C(e) = E_Q[(exp L - exp e)+; L finite].
Every answer that a certificate can hold follows from enclosures of delta(e): see `verdict` and `Plan.beta`. Three routes enclose it:
  * Gaussian noise alone: delta(e) = Phi(mu/2 - e/mu) - exp(e) Phi(-mu/2 - e/mu).
  * finite laws and Laplace noise: M is a finite sum of exp(zl) times a polynomial in w over w^m, w = z - 1/2. C(e) is the integral of
    M(z) exp(-(z-1)e) / (z(z-1)) / (2 pi i) over Re z = c > 1, and the residues left of the line give it exactly, term by term.
  * anything with Gaussian or Poisson-sampled Gaussian noise: the trapezoidal sum of that integral with step h. By Poisson summation
    the sum is that of exp((c-1)y) C(e + y) over y = 2 pi m/h, m any integer: m = 0 is wanted, the others are non-negative, and bounded by
    C <= 1 and C(x) <= M(s) exp(-(s-1)x) for every s > 1. What is cut off is bounded by |M| far out (`Gaussian.log_decay`).
Noise sampled once needs none of it: delta(e) = q delta_base(log(1 + (exp e - 1)/q)), and its mirror delta(e) = 1 - exp(e) + exp(e) delta'(-e).
Balls carry all rounding. Floats only choose where to look: c, h, counts, paths; a poor choice makes a ball wide, never wrong.
"""
import cmath, functools, hashlib, itertools, json, math, re, signal, sys  # noqa: E401
from fractions import Fraction
from statistics import NormalDist
from flint import acb, acb_mat, arb, arb_poly, arb_series, ctx, fmpq, fmpz
PRECISION = 160  # bits; intervals of double precision need about 60, long sums and small deltas lose some
TERMS, WORK = 20000, 6_000_000  # a finite law with more terms, a sum with more summands is not tried
LIMIT = 60  # seconds of processor time for one certificate, after which it is undecided
EDGE = 50  # exp(-EDGE) is what an approximation may cost, relative to the answer
ZERO, HALF = arb(0), arb(0.5)
class Changed(Exception): """Not a certificate, or not as it was written."""
class Undecided(Exception): """Nothing is proved."""
def require(condition, reason):
    if not condition: raise Undecided(reason)

# ---- numbers and plans as text ----
UNSIGNED = r"(\d{1,400}(\.\d{0,400})?|\.\d{1,400})([eE][+-]?\d{1,4})?"
NUMBER = rf"[+-]?{UNSIGNED}(/{UNSIGNED})?"
ARGUMENTS = {name: dict(word.partition("=")[::2] for word in words) for name, *words in map(str.split, (  # with the defaults
    "gaussian sigma sensitivity=1|laplace scale sensitivity=1|truncated_laplace scale bound sensitivity=1|discrete_gaussian sigma sensitivity=1|"
    "discrete_laplace scale sensitivity=1|truncated_discrete_laplace scale bound sensitivity=1|randomized_response epsilon choices=2|"
    "dp epsilon delta=0|gdp mu|pair p q|repeat times|group size|poisson rate|sample size of rate").split("|"))}
def exact(text):
    """A decimal or a quotient of two, exactly."""
    demand(isinstance(text, str) and re.fullmatch(NUMBER, text, re.ASCII), str(text), "is not a number")
    above, _, below = text.partition("/")
    return Fraction(above) / Fraction(below or 1)
def end(text): return math.inf if text == "inf" else -math.inf if text == "-inf" else exact(text)
def ball(value): return arb(fmpq(fmpz(value.numerator), fmpz(value.denominator)))
def simple(value):
    """A number of 12 bits near a positive float, so that its multiples are exact."""
    mantissa, exponent = math.frexp(value)
    return arb(math.ldexp(round(math.ldexp(mantissa, 12)), exponent - 12))
def power(value, n):
    """By squaring, which a ball around 0 survives."""
    result = None
    while n:
        result = result if not n & 1 else value if result is None else result * value
        value, n = value * value, n >> 1
    return result
def pattern(items, between):
    """A regular expression for the text of the plan that has these items; a default may be left out of it."""
    def value(given): return r"\[" + ", ".join(map(value, given)) + r"\]" if isinstance(given, list) else re.escape(given)
    def call(one):
        fits(one, {"name": "[a-z_]+", "arguments": OBJECT}, "items")
        name, known, given = one["name"], ARGUMENTS.get(one["name"], {}), one["arguments"]
        require(set(given) <= set(known), "a mechanism or an argument that this checker does not know")
        words = [(("" if name in ("repeat", "group") else key + "=") + value(given[key]), given[key] == known[key]) for key in known if key in given]
        return name + r"\(" + words[0][0] + "".join(f"(, {word})?" if default else f", {word}" for word, default in words[1:]) + r"\)"
    def line(item):
        fits(item, {"source": None, "operators": [OBJECT]}, "items")
        first = r"\(" + pattern(item["source"], "; ") + r"\)" if isinstance(item["source"], list) else call(item["source"])
        return r" \| ".join([first, *map(call, item["operators"])])
    return between.join(map(line, items))

# ---- laws ----
class Atoms:
    """Finitely many losses: (loss, Q-mass); `infinite`: P-mass at +inf; `zero`: Q-mass at -inf; `even`: losses in equal steps; `slack`: at
    most this P-mass was left out."""
    def __init__(self, atoms, infinite=ZERO, zero=ZERO, even=False, symmetric=True, slack=ZERO):
        self.atoms, self.infinite, self.zero, self.even = atoms, infinite, zero, even or len(atoms) < 3
        self.symmetric, self.slack = symmetric, slack
    def swapped(self):
        flipped = [(-loss, mass * loss.exp()) for loss, mass in reversed(self.atoms)]
        return self if self.symmetric else Atoms(flipped, self.zero, self.infinite, self.even, False)
    def transform(self, z): return sum((mass * (z * loss).exp() for loss, mass in self.atoms), ZERO)
    def poisson(self, q):
        """(1-q)Q + qP against Q."""
        atoms = [((1 - q + q * loss.exp()).log(), mass) for loss, mass in self.atoms]
        return Atoms(atoms + ([] if self.zero.is_zero() else [((1 - q).log(), self.zero)]), q * self.infinite, symmetric=False)
    def terms(self, n):
        """The sum of n of them: (loss, polynomial in w, order of the pole at w = 0)."""
        if self.even:
            require(n * len(self.atoms) <= TERMS, "too many terms")
            masses, first, last = arb_poly([mass for _, mass in self.atoms]) ** n, self.atoms[0][0], self.atoms[-1][0]
            step = (last - first) / max(1, len(self.atoms) - 1)
            return [(n * first + k * step, arb_poly([masses[k]]), 0) for k in range(n * (len(self.atoms) - 1) + 1)]
        require(n < 20 and len(self.atoms) ** n <= TERMS, "too many terms")
        each = ([loss for loss, _ in self.atoms], [mass for _, mass in self.atoms])
        losses, masses = (itertools.product(values, repeat=n) for values in each)
        return [(sum(loss, ZERO), arb_poly([math.prod(mass, start=arb(1))]), 0) for loss, mass in zip(losses, masses)]
class Laplace:
    """Laplace noise with a = sensitivity/scale, perhaps truncated at t scales. Under Q the losses a and -a have a mass and those between
    the density norm/2 exp(-(a + l)/2), so that M(z) = (exp(za) up(w) + exp(-za) down(w))/w with linear up and down, w = z - 1/2."""
    def __init__(self, a, t=None):
        require(t is None or t >= a, "noise that is truncated below its sensitivity")
        self.a, self.symmetric, self.slack = a, True, ZERO
        edge = (-t).exp() if t is not None else ZERO
        norm = 1 / (2 * (1 - edge))
        self.up = arb_poly([norm * (-a).exp() / 2, norm * ((-a).exp() - edge)])
        self.down = arb_poly([-norm / 2, norm * (1 - edge * a.exp())])
        self.infinite = norm * edge * (a.exp() - 1)
    def swapped(self): return self
    def transform(self, z): return ((z * self.a).exp() * self.up(z - HALF) + (-z * self.a).exp() * self.down(z - HALF)) / (z - HALF)
    def terms(self, n): return [((n - 2 * k) * self.a, math.comb(n, k) * self.up ** (n - k) * self.down ** k, n) for k in range(n + 1)]
class Gaussian:
    """N(mu, 1) against N(0, 1), perhaps Poisson-sampled at rate q: L = log(1 - q + q exp(mu y - mu^2/2)), y normal; or its mirror.
    Sampled, M(z) is the integral of f(y) = phi(y) exp(z L(y)) (mirrored: 1 - z for z), by trapezoidal sums. f is analytic in |Im y| < pi/mu,
    so that a sum of step s is off by at most 2 N/(exp(2 pi b/s) - 1), N the integral of |f(y + ib)|. For |b| <= pi/(2 mu) the modulus of
    1 - q + q exp(...) is at most its value at b = 0 and at least that over sqrt 2. N is bounded by twice a sum, where that is safe."""
    def __init__(self, mu, q=None, mirrored=False):
        self.mu, self.q, self.mirrored, self.symmetric = mu, q, mirrored, q is None
        self.infinite, self.slack = ZERO, ZERO
    def swapped(self): return self if self.q is None else Gaussian(self.mu, self.q, not self.mirrored)
    def log_ratio(self, y): return (1 - self.q + self.q * (self.mu * y - self.mu ** 2 / 2).exp()).log()
    def ends(self, c): return -18, 18 + math.ceil(float(self.mu) * max(0.0, c))  # beyond them phi exp(cL) is far below what matters
    def points(self, c, step):
        low, high = self.ends(c)
        require((high - low) / float(step) < WORK / 20, "too many summands")
        return range(math.floor(low / float(step)), math.ceil(high / float(step)) + 1)
    def beyond(self, c, step):
        """Bounds the part of a sum beyond the ends: L' <= mu on the right, exp(cL) <= 1 or (1-q)^c on the left, ratios of neighbours fall."""
        low, high = (arb(end) for end in self.ends(float(c)))
        top = c.max(ZERO)
        right = (top * self.log_ratio(high) - high ** 2 / 2).exp() / (1 - (step * (top * self.mu - high)).exp())
        left = (-low ** 2 / 2).exp() / (1 - (step * low).exp())
        return step * (right + left) * (c.min(ZERO) * (1 - self.q).log()).exp()
    def strip_error(self, log_growth, b, step):
        """What a sum of step s is off by, relative to the same sum on the axis, if |f| grows by exp(log_growth) up to Im y = b."""
        error = 4 * log_growth.exp() / ((2 * arb.pi() * b / step).exp() - 1)
        require(error < 1, "a strip too narrow")  # then the sum on the axis is off by less than half of itself
        return error
    def transforms(self, c, h, count, margin):
        """M(c + ikh), k = 0..count, to about exp(-margin) of M(c). |f(y + ib)| <= f(y) exp(b^2/2 + t b mu) 2^(-c/2 if c < 0), z = c + it."""
        c, h = (1 - c, -h) if self.mirrored else (c, h)
        b = arb(min(math.pi / 2 / float(self.mu) * 0.999, 6.0))
        growth = b ** 2 / 2 + abs(h) * count * b * self.mu - c.min(ZERO) * arb(2).log() / 2
        step = simple(2 * math.pi * float(b) / (margin + 3 + float(growth)))
        points = self.points(float(c), step)
        require(len(points) * (count + 4) <= WORK, "too many summands")
        ratios, norm = [self.log_ratio(j * step) for j in points], step / (2 * arb.pi()).sqrt()
        weights = [norm * (c * ratio - (j * step) ** 2 / 2).exp() for j, ratio in zip(points, ratios)]
        block = math.isqrt(count) + 1  # exp(i k h L) = coarse * fine: one product each, so that balls do not grow with k
        fine = acb_mat([[acb(ZERO, i * h * ratio).exp() for i in range(block)] for ratio in ratios])
        coarse = acb_mat([[weight * acb(ZERO, i * block * h * ratio).exp() for weight, ratio in zip(weights, ratios)]
                          for i in range(count // block + 1)])
        beyond = self.beyond(c, step)
        error = (beyond + self.strip_error(growth, b, step) * (sum(weights, ZERO) + beyond)).upper()
        return [value + acb(arb(0, error), arb(0, error)) for value in (coarse * fine).entries()[:count + 1]]
    def log_transform(self, c, scale):
        """log M(c) at a real c, to far less than 1/scale."""
        if self.q is None: return self.mu ** 2 * c * (c - 1) / 2
        return self.transforms(c, ZERO, 0, EDGE + math.log(scale))[0].real.log()
    def rough(self, c, t=0.0, a=0.0, step=0.15):
        """log of the integral of `log_decay`, not proved: only to choose."""
        mu, q, c, total = float(self.mu), float(self.q), 1 - c if self.mirrored else c, 0.0
        for j in self.points(c, step):
            w = 1 - q + q * cmath.exp(complex(min(700.0, mu * j * step - mu * mu / 2), mu * a))
            total += math.exp(min(700.0, c * math.log(abs(w)) - t * cmath.phase(w) - ((j * step) ** 2 - a * a) / 2))
        return math.log(total * step / math.sqrt(2 * math.pi))
    def best_path(self, c, t): return min((math.pi / 2 / float(self.mu) * k / 16 for k in range(1, 13)), key=lambda a: self.rough(c, t, a))
    def log_decay(self, c, t, scale):
        """Bounds log |M(c + iv)| for every v >= t > 0. On the path y + ia the integrand is at most F(y) = phi(y) exp(a^2/2) |w|^c exp(-t arg w),
        w = 1 - q + q exp(mu(y + ia) - mu^2/2), since arg w > 0. F continues to |Im y| < b = pi/(2 mu) - a by |w|^2 = w(y+ia) w(y-ia) and the
        like for arg w, and grows there by at most exp(b^2/2 + t mu (b-a)+ / 2) 2^(-c/2 if c < 0). Mirrored, the path is y - ia and c is 1 - c."""
        a = arb(self.best_path(float(c), float(t)))
        c, b = 1 - c if self.mirrored else c, arb.pi() / (2 * self.mu) - a
        lost = (a ** 2 - c.min(ZERO) * arb(2).log()) / 2
        growth = lost + b ** 2 / 2 + t * self.mu * (b - a).max(ZERO) / 2
        step = simple(2 * math.pi * float(b) / (EDGE + math.log(scale) + 3 + float(growth)))
        axis = total = ZERO
        for j in self.points(float(c), step):
            square, w = (j * step) ** 2 / 2, 1 - self.q + self.q * acb(self.mu * (j * step) - self.mu ** 2 / 2, self.mu * a).exp()
            total += (c * abs(w).log() - t * w.arg() - square).exp()
            axis += (c * self.log_ratio(j * step) - square).exp()
        beyond, norm = self.beyond(c, step), step / (2 * arb.pi()).sqrt()
        error = self.strip_error(growth, b, step) * (norm * axis + beyond)
        return (norm * total * (a ** 2 / 2).exp() + beyond * lost.exp() + error).log()
def base_law(call):
    name, given = call["name"], call["arguments"]
    count = {key: exact(value) for key, value in given.items() if isinstance(value, str)}
    number = {key: ball(value) for key, value in count.items()}
    require(all(value > 0 for key, value in count.items() if key != "delta"), "a parameter that is not positive")
    if name in ("gaussian", "gdp"): return Gaussian(number["mu"] if name == "gdp" else number["sensitivity"] / number["sigma"])
    if name in ("laplace", "truncated_laplace"):
        return Laplace(number["sensitivity"] / number["scale"], number["bound"] / number["scale"] if "bound" in number else None)
    if name in ("dp", "randomized_response"):
        require(0 <= count.get("delta", 0) < 1 and count.get("choices", Fraction(2)) in range(2, 10 ** 9), "parameters out of range")
        e, d, others = number["epsilon"].exp(), number.get("delta", ZERO), ball(count.get("choices", Fraction(2)) - 2)
        atoms = [(-number["epsilon"], (1 - d) * e), (ZERO, others), (number["epsilon"], 1 - d)]
        return Atoms([(loss, mass / (e + 1 + others)) for loss, mass in atoms if not mass.is_zero()], d, d, even=True)
    if name in ("discrete_laplace", "truncated_discrete_laplace", "discrete_gaussian"): return integer_noise(name, number, count)
    require(name == "pair", f"{name} starts no line")
    p, q = ([exact(value) for value in given[key]] for key in ("p", "q"))
    require(len(p) == len(q) and sum(p) == sum(q) == 1 and min(p + q) >= 0, "a pair that does not add up to 1 exactly")
    atoms = [((ball(a) / ball(b)).log(), ball(b)) for a, b in zip(p, q) if a > 0 and b > 0]
    infinite, zero = sum(a for a, b in zip(p, q) if b == 0), sum(b for a, b in zip(p, q) if a == 0)
    require(atoms, "a pair of laws apart from each other")
    return Atoms(atoms, ball(Fraction(infinite)), ball(Fraction(zero)), symmetric=False)
def integer_noise(name, number, count):
    """Outcome x has the loss of noise x under Q against noise x - shift under P."""
    shift, bound = count["sensitivity"], count.get("bound")
    require(shift.denominator == 1 and shift <= 1000 and (bound is None or bound >= shift and bound.denominator == 1), "noise of this kind")
    shift, bound = int(shift), None if bound is None else int(bound)
    if name == "discrete_gaussian":
        twice, reach = 2 * number["sigma"] ** 2, int(30 * float(number["sigma"])) + shift + 2
        require(2 * reach < TERMS, "too many terms")
        weight = [(-arb(x) ** 2 / twice).exp() for x in range(reach + 1)]
        rest, left = (2 * weight[x] / (1 - (-arb(2 * x) / twice).exp()) for x in (reach, reach - shift))  # Q- and P-mass beyond, times norm
        norm = 2 * sum(weight, ZERO) - 1 + arb(rest / 2, rest / 2)
        atoms = [(shift * (2 * x - shift) / twice, weight[abs(x)] / norm) for x in range(-reach, reach + 1)]
        return Atoms(atoms, even=True, slack=(left / norm).upper())
    ratio = (-1 / number["scale"]).exp()
    tail, ends = (ZERO, ZERO) if bound is None else (ratio ** (bound + 1 - shift), ratio ** (bound + 1))
    side, norm = (1 - tail) / (1 - ratio), (1 + ratio - 2 * ends) / (1 - ratio)  # side: the sum of ratio^0 .. ratio^(bound - shift)
    masses = [side] + [ratio ** x for x in range(1, shift)] + [side * ratio ** shift]
    lost = (tail - ends) / (1 - ratio) / norm
    return Atoms([((2 * k - shift) / number["scale"], mass / norm) for k, mass in enumerate(masses)], lost, lost, even=True)
def read_laws(items):
    """[(law, how often, (kind, rate) if it is sampled by the closed form)]."""
    laws = []
    for item in items:
        found = read_laws(item["source"]) if isinstance(item["source"], list) else [(base_law(item["source"]), 1, None)]
        for call in item["operators"]:
            given = {key: exact(value) for key, value in call["arguments"].items()}
            if call["name"] == "repeat":
                require(given["times"].denominator == 1 and 0 < given["times"] < 10 ** 9, "a number of repetitions out of range")
                found = [(law, count * int(given["times"]), once) for law, count, once in found]
                continue
            (law, count, once), rate = found[0], given["rate"] if "rate" in given else given["size"] / given.get("of", 1)
            require(len(found) == count == 1 and once is None and rate > 0 and law.symmetric, "sampling or groups of what is composed or sampled")
            require((rate < 1 if call["name"] != "group" else rate.denominator == 1) and len(given) <= 2, "a group or a rate that this checker does not know")
            if isinstance(law, Gaussian) and call["name"] in ("group", "poisson"):
                law = Gaussian(law.mu, ball(rate)) if call["name"] == "poisson" else Gaussian(law.mu * ball(rate))
            elif isinstance(law, Atoms) and law.slack.is_zero() and call["name"] == "poisson":
                law = law.poisson(ball(rate))
            else:
                require(law.infinite.is_zero() and law.slack.is_zero() and call["name"] != "group", "sampling or groups of this noise")
                once = (call["name"], ball(rate))
            found = [(law, 1, once)]
        laws += found
    require(all(count <= 150 or not isinstance(law, Laplace) for law, count, _ in laws), "too many terms")
    require(not any(once for _, _, once in laws) or (len(laws) == 1 and laws[0][1] == 1), "sampled noise of this kind, composed")
    return laws

# ---- delta(e) of one direction ----
class Profile:
    def __init__(self, laws):
        self.laws, self.once, self.line, self.known_terms = [(law, count) for law, count, _ in laws], laws[0][2], None, None
        survive = math.prod(((1 - law.infinite) ** count for law, count in self.laws), start=arb(1))
        self.infinite = ZERO if all(law.infinite.is_zero() for law, _ in self.laws) else 1 - survive
        self.slack = sum((law.slack * count for law, count in self.laws), ZERO)
        law, count = self.laws[0]
        if len(laws) == 1 and count == 1 and isinstance(law, Gaussian) and law.q is not None:
            self.once, self.laws = ("add" if law.mirrored else "poisson", law.q), [(Gaussian(law.mu), 1)]
        self.is_gaussian = all(isinstance(law, Gaussian) and law.q is None for law, _ in self.laws)
        self.needs_line = not self.is_gaussian and any(isinstance(law, Gaussian) for law, _ in self.laws)
    def delta(self, e):
        """At an exact number, a ball, or "inf"."""
        if e == "inf": return self.infinite + arb(self.slack / 2, self.slack / 2)
        e = ball(e) if isinstance(e, Fraction) else e
        return self.plain(e) if self.once is None else self.sampled_once(e, self.once[0])
    def sampled_once(self, e, kind):
        require(kind != "sample" or e >= 0 or e < 0, "an epsilon that cannot be told from 0")
        if kind == "add" or (kind == "sample" and e < 0):
            return 1 - e.exp() + e.exp() * self.sampled_once(-e, "poisson" if kind == "add" else kind)
        rate = self.once[1]
        inside = e.exp() - 1 + rate
        require(inside > 0 or inside < 0, "an epsilon at the end of the losses")
        return rate * self.plain((inside / rate).log()) if inside > 0 else 1 - e.exp()
    def plain(self, e):
        if self.is_gaussian:
            mu = sum((law.mu ** 2 * count for law, count in self.laws), ZERO).sqrt()
            upper, lower = (((e / mu + shift) / arb(2).sqrt()).erfc() / 2 for shift in (-mu / 2, mu / 2))
            return upper - e.exp() * lower
        return self.infinite + (self.by_line(e) if self.needs_line else self.by_residues(e)) + arb(self.slack / 2, self.slack / 2)
    def by_residues(self, e):
        if self.known_terms is None:
            self.known_terms = [(ZERO, arb_poly([1]), 0)]
            for law, count in self.laws:
                more = law.terms(count)
                require(len(self.known_terms) * len(more) <= TERMS, "too many terms")
                self.known_terms = [(a + b, p * q, m + n) for a, p, m in self.known_terms for b, q, n in more]
        # beyond e they count; where that cannot be told, a value between nothing and their residues
        values = ((loss > e, self.residues(loss, e, poly, order)) for loss, poly, order in self.known_terms if not loss <= e)
        return sum((value if surely else value.union(ZERO) for surely, value in values), ZERO)
    @staticmethod
    def residues(loss, e, poly, order):
        """Of exp((loss + e)/2) exp(w (loss - e)) poly(w) / (w^order (w^2 - 1/4)) at w = 1/2, -1/2 and 0."""
        outer = loss.exp() * poly(HALF) / HALF ** order - e.exp() * poly(-HALF) / (-HALF) ** order
        if order == 0: return outer
        ctx.cap = order + 1
        series = arb_series([0, loss - e]).exp() * arb_series(poly) / arb_series([arb(-0.25), 0, 1])
        return outer + ((loss + e) / 2).exp() * series[order - 1]
    @staticmethod
    def log_factor(law, c, n): return law.log_transform(c, n) if isinstance(law, Gaussian) else law.transform(c).log()
    def rough(self, c):  # log M(c), not proved
        return sum(n * (law.rough(c) if getattr(law, "q", None) is not None else float(self.log_factor(law, arb(c), n))) for law, n in self.laws)
    def fallen(self, c, t):  # log |M(c + it)/M(c)|, not proved
        return sum(n * (-float(law.mu) ** 2 * t * t / 2 if law.q is None else min(0.0, law.rough(c, t, law.best_path(c, t)) - law.rough(c)))
                   for law, n in self.laws if isinstance(law, Gaussian))
    def place_line(self, e):
        """Chooses a line near the saddle point, a step and a number of nodes; evaluates M(z)/(z(z-1)) there and bounds what is left out."""
        height = lambda x: self.rough(1 + math.exp(x)) - math.exp(x) * e - x - math.log1p(math.exp(x))  # at c = 1 + exp(x)
        x = min(range(-56, 56, 8), key=lambda k: height(k / 8))
        x = min(range(x - 7, x + 8), key=lambda k: height(k / 8)) / 8
        c, size = 1 + math.exp(x), height(x)
        needs = {s: self.rough(c + s) - (c + s - 1) * e - size + EDGE for s in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)}
        ahead = min(needs, key=lambda s: needs[s] / s)
        h = min(2 * math.pi * (c - 1) / (EDGE - min(0.0, size)), 2 * math.pi * ahead / max(1.0, needs[ahead]))
        t = 8 * h
        while self.fallen(c, t) > -EDGE:
            t *= 1.3
            require(t / h < 20000, "the integrand falls off too slowly")
        c, h, count = simple(c - 1) + 1, simple(h), math.ceil(t / h)
        z = [acb(c, k * h) for k in range(count + 1)]
        values, cut, beyond = [1 / (point * (point - 1)) for point in z], ZERO, ZERO
        for law, n in self.laws:
            if isinstance(law, Gaussian) and law.q is not None:
                found = law.transforms(c, h, count, EDGE + math.log(n))
                far = law.log_decay(c, count * h, n).min(law.log_transform(c, n))
            elif isinstance(law, Gaussian):
                found, far = [(law.mu ** 2 * point * (point - 1) / 2).exp() for point in z], law.mu ** 2 * (z[-1] * (z[-1] - 1)).real / 2
            else:
                found, far = [law.transform(point) for point in z], law.transform(c).log()
            values = [value * power(factor, n) for value, factor in zip(values, found)]
            cut, beyond = cut + n * far, beyond + n * self.log_factor(law, c + ahead, n)
        self.line = (c, h, values, cut, arb(ahead), beyond)
    def by_line(self, e):
        if self.line is None: self.place_line(float(e))
        c, h, values, cut, ahead, beyond = self.line
        block = math.isqrt(len(values)) + 1
        fine, coarse = ([acb(ZERO, -h * e * i * size).exp() for i in range(block)] for size in (1, block))
        total = sum(((value * coarse[k // block] * fine[k % block]).real for k, value in enumerate(values)), -values[0].real / 2)
        tilt = (-(c - 1) * e).exp()
        cut = (cut.exp() * tilt / (arb.pi() * h * (len(values) - 1))).upper()  # |z(z-1)| >= t^2, and the sum of h/t^2 beyond t is below 1/t
        left, right = ((-gap * 2 * arb.pi() / h).exp() for gap in (c - 1, ahead))
        alias = (left / (1 - left) + beyond.exp() * (-(c + ahead - 1) * e).exp() * right / (1 - right)).upper()
        return total * h / arb.pi() * tilt + arb(0, cut) - arb(alias / 2, alias / 2)
    def moments(self):  # mean and deviation of L under Q, about
        above, at, below = (self.rough(z) for z in (0.02, 0.0, -0.02))
        return (above - below) / 0.04, math.sqrt(max((above - 2 * at + below) / 0.0004, 1e-12))
class Plan:
    """Both directions, and the asked one or the worse of both."""
    def __init__(self, laws, direction):
        self.bits = ctx.prec
        ctx.prec += 16 * sum(count for law, count, _ in laws if isinstance(law, Laplace))  # what the residues cancel
        swapped = [(law.swapped(), count, once and ("add" if once[0] == "poisson" else once[0], once[1])) for law, count, once in laws]
        same = all(law.symmetric and (once is None or once[0] != "poisson") for law, _, once in laws)
        self.sides = {"remove": Profile(laws)}
        self.sides["add"] = self.sides["remove"] if same else Profile(swapped)
        self.profiles = [self.sides["remove"]] if same else [self.sides[one] for one in ("remove", "add") if direction in (one, "worst")]
    def delta(self, e): return functools.reduce(arb.max, [profile.delta(e) for profile in self.profiles])
    def beta(self, alpha):
        """The supremum over y = exp(e) of g(y) = 1 - delta - y alpha, which is concave in y: every value of g is a lower bound, and three
        points with the highest in the middle bound it from above by the lines through two of them."""
        if alpha in (0, 1): return 1 - self.delta("inf") if alpha == 0 else ZERO
        g, first = (lambda e: 1 - self.delta(e) - e.exp() * ball(alpha)), self.profiles[0]
        (mean, deviation), smooth = first.moments(), first.needs_line and not first.once
        start = 0.0 if first.once else mean - deviation * NormalDist().inv_cdf(float(alpha))  # the best test, if losses were normal
        wide = 8 + abs(mean) / deviation if first.once else 3 if smooth else 8
        g(arb(start))
        low, high, tiny = arb(start - wide * deviation - 1), arb(start + wide * deviation + 1), arb(2) ** (-3 * self.bits // 8)
        for _ in range(self.bits // 2):
            middle = ((low + high) / 2).mid()
            low, high = (middle, high) if (g(middle + tiny) - g(middle)).mid() > 0 else (low, middle)
        first.line = self.profiles[-1].line = None  # a better one for the place that was found
        for reach in (tiny * 2 ** (3 * k + 4) for k in range(60)):
            values, y = [g(low - reach), g(low), g(low + reach)], [(low - reach).exp(), low.exp(), (low + reach).exp()]
            if values[1] >= values[0] and values[1] >= values[2]:
                rises = [(values[1] - values[0]) / (y[1] - y[0]) * (y[2] - y[1]), (values[1] - values[2]) / (y[2] - y[1]) * (y[1] - y[0])]
                return values[1].union(values[1] + rises[0]).union(values[1] + rises[1])
        return arb(0.5, 0.5)  # not found: anything is possible

# ---- certificates ----
ASKED = {"delta": "epsilon", "epsilon": "delta", "beta": "alpha", "tpr": "fpr"}
TEXT, ENDS, OBJECT = r"(?s:.*)", {"lo": "-?inf|" + NUMBER, "hi": "-?inf|" + NUMBER}, {"": None}
FORM = {  # strings by regular expressions, lists by their elements, objects by their members or, with the name "", all members alike
    "certificate": "tradeoff answer 2", "version": r"\d+\.\d+\.\d+", "plan": TEXT, "items": [OBJECT], "claim": "lo|hi", "digest": "[0-9a-f]{64}",
    "neighbours": "add-remove|replace-one|unstated", "method": "closed form|exact|contour|lattice", "steps": [{"theorem": TEXT, "detail": TEXT}],
    "evaluations": [{"theorem": TEXT, "direction": "remove|add", "epsilon": NUMBER, "log_delta": ENDS, "counts": {"": r"[1-9]\d{0,19}"},
                     "settings": {"": NUMBER}, "errors": {"": "inf|" + UNSIGNED}}], "question": OBJECT, "answer": OBJECT}
def demand(condition, field, reason):
    if not condition: raise Changed(f"field '{field:.60}' {reason}")
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
def content(text):
    """The certificate, if it is one and its digest is right."""
    def unique(pairs):
        names = sorted(name for name, _ in pairs)
        demand(len(dict(pairs)) == len(pairs), "".join([a for a, b in zip(names, names[1:]) if a == b][:1]), "is there twice")
        return dict(pairs)
    demand(0 < len(text.strip()) and len(text) <= 10 ** 6, "certificate", "is missing: the file is empty, or longer than 1000000 bytes")
    try:
        found = json.loads(text, object_pairs_hook=unique, parse_constant=lambda word: demand(False, word, "is not JSON"))
    except json.JSONDecodeError as error:
        raise Changed(f"not JSON, or cut off, at line {error.lineno}, column {error.colno} of {len(text)} characters") from None
    fits(found, FORM, "certificate")
    ask, answer = found["question"].get("ask"), found["answer"]
    demand(ask in ASKED, "ask", "must be delta, epsilon, beta or tpr")
    fits(found["question"], {"ask": TEXT, ASKED[ask]: "inf|" + NUMBER, "direction": "worst|remove|add", "relative": UNSIGNED}, "question")
    fits(answer, {**ENDS, **({"log10": ENDS} if "log10" in answer else {})}, "answer")
    demand(found["claim"] == ("lo" if ask == "beta" else "hi"), "claim", "must name the end that may be claimed")
    canonical = json.dumps({key: found[key] for key in FORM if key != "digest"}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    demand(hashlib.sha256(canonical.encode()).hexdigest() == found["digest"], "digest", "is not that of the content: it was changed")
    for one in found["evaluations"]:  # error terms fit into the enclosure that they explain
        lo, hi, errors = end(one["log_delta"]["lo"]), end(one["log_delta"]["hi"]), sum(end(error) for error in one["errors"].values())
        enough = math.inf in (hi, -lo) or errors <= math.expm1(min(700, hi - lo)) * (1 + 1e-9) + 1e-14 * float(1 + abs(lo))
        demand(enough, "errors", "add up to more than the width of 'log_delta'")
    return found
def inside(truth, lo, hi, least, most):
    """True: the truth is certainly in [lo, hi]. False: certainly not. None: not proved. It is known to lie in [least, most]."""
    below, above = (None if isinstance(value, float) else ball(value) for value in (lo, hi))
    if lo > hi or lo > most or hi < least or (below is not None and truth < below) or (above is not None and truth > above):
        return False
    proved = (lo <= least or (below is not None and truth >= below)) and (hi >= most or (above is not None and truth <= above))
    return True if proved else None
def verdict(found):
    """True, False, or None if nothing is proved: of the answer, and of every enclosure that is stated on the way to it."""
    says, items = {"sample": "replace-one", "poisson": "add-remove"}, found["items"]
    demand(re.fullmatch(pattern(items, "\n"), found["plan"]), "items", "is not what the plan says")
    implied = {says[word] for word in re.findall("[a-z_]+", found["plan"]) if word in says}
    demand(implied <= {found["neighbours"]}, "neighbours", "are not those of the plan")
    laws = read_laws(items)
    require(found["neighbours"] != "replace-one" or all(law.symmetric for law, _, _ in laws), "directions that differ under replace-one neighbours")
    plan = Plan(laws, found["question"]["direction"])
    results = [answer_verdict(plan, found["question"], found["answer"])]
    for one in found["evaluations"] if results[0] else []:
        value, lo, hi = plan.sides[one["direction"]].delta(exact(one["epsilon"])), end(one["log_delta"]["lo"]), end(one["log_delta"]["hi"])
        results.append(lo == -math.inf if value.is_zero() else inside(value.log(), lo, hi, -math.inf, math.inf))
    return False if False in results else None if None in results else True
def answer_verdict(plan, question, answer):
    lo, hi, ask, at = end(answer["lo"]), end(answer["hi"]), question["ask"], question[ASKED[question["ask"]]]
    if ask == "delta":
        truth = plan.delta("inf" if at == "inf" else exact(at))
        result = inside(truth, lo, hi, 0, 1)
        if result is not True or "log10" not in answer or truth.is_zero():
            return result and ("log10" not in answer or answer["log10"]["lo"] == "-inf")
        return inside(truth.log() / arb(10).log(), end(answer["log10"]["lo"]), end(answer["log10"]["hi"]), -math.inf, 0)
    require(0 <= exact(at) <= 1 and "log10" not in answer, "a probability outside [0, 1], or the logarithm of an answer other than delta")
    if ask in ("beta", "tpr"):
        truth = plan.beta(exact(at))
        return inside(truth if ask == "beta" else 1 - truth, lo, hi, 0, 1)
    target = ball(exact(at))  # delta never rises with epsilon, and it is continuous: epsilon* < lo where delta(lo) < target
    above, below = plan.delta("inf" if hi == math.inf else hi), plan.delta("inf" if lo == math.inf else lo) if lo > 0 else None
    if lo > hi or hi < 0 or (hi != math.inf and above > target) or (below is not None and below < target):
        return False
    return True if (hi == math.inf or above <= target) and (below is None or below > target) else None
def check(text):
    """(exit code, words)"""
    found = result = None
    signal.signal(signal.SIGVTALRM, lambda *_: require(False, f"more than {LIMIT} seconds of work"))
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        found = content(text.decode() if isinstance(text, bytes) else text)
        for ctx.prec in (PRECISION, 5 * PRECISION, 15 * PRECISION):
            result = verdict(found) if result is None else result
    except (Changed, Undecided, ArithmeticError, LookupError, TypeError, ValueError, AttributeError, RecursionError, MemoryError) as reason:
        code, kind = (3, "malformed or changed") if found is None or isinstance(reason, Changed) else (4, "undecided")
        return code, f"{kind}: {str(reason):.200}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return {True: (0, "true"), False: (1, "FALSE"), None: (4, "undecided: narrower than this checker's own enclosure")}[result]
def main(paths):
    if not paths or paths[0].startswith("-"):
        return print(__doc__) or 2
    codes = []
    for path in paths:
        try:
            with open(path, "rb") as file:
                found = [check(text) for text in (file if path.endswith(".jsonl") else [file.read()]) if text.strip() or path[-6:] != ".jsonl"]
        except OSError as reason:
            found = [(3, f"cannot be read: {reason.strerror}")]
        codes += [code for code, _ in found]
        print(*(f"{path}:{number}: {words}\n" for number, (code, words) in enumerate(found, 1) if code or len(found) == 1), sep="", end="")
    print(f"{codes.count(0)} of {len(codes)} certificates are proved true")
    return next((code for code in (1, 3, 4) if code in codes), 0)
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
