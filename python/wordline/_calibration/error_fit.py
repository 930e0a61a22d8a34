"""Fit of raw bit error rates: e + a c^k + b c^m t^n + g c^p r^q, over cycles c, days t and reads r.

Source of the form: B. S. Kim, J. Choi, S. L. Min, Design tradeoffs for SSD reliability, FAST 2019.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from wordline._wordline import WordlineError

CONSTANTS = ("e", "a", "k", "b", "m", "n", "g", "p", "q")
COEFFICIENTS = ("e", "a", "b", "g")
EXPONENT_MOST = 6.0
RATE_LEAST, RATE_MOST = 1e-18, 0.5
STARTS = 24
# The data do not determine a direction whose singular value of the Jacobian is below this share of
# the largest.
RANK_RATIO = 1e-7


class Constant(TypedDict):
    """A constant of the fit and its 95 % confidence interval. `low` and `high` are None if the
    points do not determine it, or if it was `held` and not fitted."""

    name: str
    value: float
    low: float | None
    high: float | None
    held: bool


@dataclass(frozen=True)
class Point:
    """A measured point. `rate` is a ratio; `bits` is 0 unless errors were counted among `bits`
    bits."""

    cycles: float
    days: float
    reads: float
    rate: float
    errors: float = 0.0
    bits: float = 0.0


@dataclass(frozen=True)
class ErrorFit:
    """Result of a fit. `residuals` are natural logarithms of the rate ratio, or deviance residuals
    of Poisson counts if errors were counted; `scale` is their standard deviation."""

    constants: dict[str, Constant]
    residuals: list[float]
    scale: float
    counted: bool
    cost: float
    notes: list[str]


def predicted(constants: Mapping[str, float], cycles: float, days: float, reads: float) -> float:
    """Returns the raw bit error rate of the model."""
    of = constants
    return (
        of["e"]
        + of["a"] * cycles ** of["k"]
        + _added(of["b"], cycles ** of["m"], days, of["n"])
        + _added(of["g"], cycles ** of["p"], reads, of["q"])
    )


def _added(factor: float, wear: float, stress: float, exponent: float) -> float:
    return factor * wear * stress**exponent if stress > 0 else 0.0


def residual(point: Point, rate: float, *, counted: bool) -> float:
    """Returns the residual of a point. The squares sum to twice the negative log-likelihood ratio
    of Poisson counts, or to the squared differences of logarithms."""
    if not counted:
        return math.log(rate / point.rate)
    mean = rate * point.bits
    part = point.errors * math.log(point.errors / mean) if point.errors else 0.0
    return math.copysign(math.sqrt(max(0.0, 2 * (part - point.errors + mean))), mean - point.errors)


def cost(points: Sequence[Point], constants: Mapping[str, float]) -> float:
    """Returns the objective of the fit: half the sum of squared residuals."""
    counted = all(point.bits for point in points)
    rates = (predicted(constants, one.cycles, one.days, one.reads) for one in points)
    both = zip(points, rates, strict=True)
    return sum(residual(one, rate, counted=counted) ** 2 for one, rate in both) / 2


class _Form:
    """Constants that the points determine, and their scaling. A coefficient is fitted as the
    logarithm of its term at the geometric mean of the conditions."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.held: dict[str, float] = dict.fromkeys(CONSTANTS, 0.0)
        self.notes: list[str] = []
        self.terms: dict[str, tuple[str, ...]] = {"e": ()}
        self.centre = {"cycles": _mean(p.cycles for p in points)}
        self._wear(points)
        self._stress(points, "days", ("b", "m", "n"))
        self._stress(points, "reads", ("g", "p", "q"))
        fitted = {name for term, free in self.terms.items() for name in (term, *free)}
        self.free = [name for name in CONSTANTS if name in fitted]

    def _wear(self, points: Sequence[Point]) -> None:
        distinct = len({point.cycles for point in points})
        if distinct < 2:
            self.notes.append(
                "the points have one value of cycles, so e includes wear and a is 0; measure at "
                "three or more values"
            )
            return
        self.terms["a"] = ("k",) if distinct > 2 else ()
        if distinct == 2:
            self.held["k"] = 1.0
            self.notes.append(
                "the points have two values of cycles, so k is held at 1; measure at three or "
                "more values"
            )

    def _stress(self, points: Sequence[Point], column: str, names: tuple[str, str, str]) -> None:
        factor, wear, power = names
        under = [point for point in points if getattr(point, column) > 0]
        if not under:
            return
        self.centre[column] = _mean(getattr(point, column) for point in under)
        cycles = len({point.cycles for point in under if point.cycles > 0})
        values = len({getattr(point, column) for point in under})
        free = ((wear, cycles > 1), (power, values > 1))
        self.terms[factor] = tuple(name for name, is_free in free if is_free)
        if values < 2:
            self.held[power] = 1.0
            self.notes.append(
                f"the points have one value of {column} above 0, so {power} is held at 1; measure "
                "at two or more values"
            )
        if cycles < 2:
            self.notes.append(
                f"the points with {column} above 0 have fewer than two values of cycles above 0, "
                f"so {wear} is held at 0"
            )

    def shifts(self, factor: str) -> dict[str, float]:
        """Returns, by exponent of a term, the logarithm of the geometric mean of its condition."""
        cycles = math.log(self.centre["cycles"])
        if factor == "e":
            return {}
        if factor == "a":
            return {"k": cycles}
        column, wear, power = {"b": ("days", "m", "n"), "g": ("reads", "p", "q")}[factor]
        return {wear: cycles, power: math.log(self.centre[column])}

    def constants(self, values: Sequence[float]) -> dict[str, float]:
        """Converts fitted parameters to the constants of the model."""
        found = self.held | dict(zip(self.free, map(float, values), strict=True))
        for factor in self.terms:
            shift = sum(found[name] * log for name, log in self.shifts(factor).items())
            found[factor] = math.exp(min(700.0, max(-700.0, found[factor] - shift)))
        return found

    def bounds(self) -> tuple[list[float], list[float]]:
        """Returns the lower and the upper bounds of the free constants."""
        rate = (math.log(RATE_LEAST), math.log(RATE_MOST))
        limits = [rate if name in COEFFICIENTS else (0.0, EXPONENT_MOST) for name in self.free]
        return [low for low, _ in limits], [high for _, high in limits]


def _mean(values: Any) -> float:
    positive = [value for value in values if value > 0]
    return math.exp(sum(map(math.log, positive)) / len(positive)) if positive else 1.0


def fit_errors(points: Sequence[Point], seed: int = 1) -> ErrorFit:
    """Returns the most likely constants, by least squares from several starting points. Either all
    points have counted errors, or the logarithms of all rates have equal weight. Raises
    WordlineError if there are too few points."""
    import numpy as numpy_
    from scipy import optimize, stats  # pyright: ignore

    np: Any = numpy_
    form = _Form(points)
    counted = all(point.bits for point in points)
    if len(points) <= len(form.free):
        raise WordlineError(
            f"too few points ({len(points)}) to fit {', '.join(form.free)}; measure at least "
            f"{len(form.free) + 1} points, or vary fewer conditions"
        )
    arrays = _Arrays(np, points, form, counted=counted)
    found = _best(np, optimize, arrays, form, seed)
    freedom = len(points) - len(form.free)
    scale = math.sqrt(2 * found.cost / freedom)
    # Counts vary at least as a Poisson distribution; more variation widens the intervals.
    spread = max(1.0, scale) if counted else scale
    quantile = float(stats.t.ppf(0.975, freedom))  # pyright: ignore
    constants = _constants(np, form, found, spread * quantile)
    notes = form.notes + _notes(constants)
    residuals = [float(one) for one in found.fun]
    return ErrorFit(constants, residuals, scale, counted, float(found.cost), notes)


class _Arrays:
    """Rates and residuals of all points as vectors."""

    def __init__(self, np: Any, points: Sequence[Point], form: _Form, *, counted: bool) -> None:
        self.np, self.form, self.counted = np, form, counted
        columns = ("cycles", "days", "reads", "rate", "errors", "bits")
        data = {name: np.array([getattr(one, name) for one in points]) for name in columns}
        self.rate, self.errors, self.bits = data["rate"], data["errors"], data["bits"]
        with np.errstate(divide="ignore"):
            self.log = {
                name: np.log(data[name] / form.centre.get(name, 1.0))
                for name in ("cycles", "days", "reads")
            }

    def rates(self, values: Any) -> Any:
        """Returns the raw bit error rate of the model at each point, for these values of the free
        constants."""
        np, of = self.np, self.form.held | dict(zip(self.form.free, values, strict=True))
        names = {
            "e": (),
            "a": (("k", "cycles"),),
            "b": (("m", "cycles"), ("n", "days")),
            "g": (("p", "cycles"), ("q", "reads")),
        }
        total = np.zeros(len(self.rate))
        for factor in self.form.terms:
            power = np.full(len(self.rate), of[factor])
            for exponent, column in names[factor]:
                # 0^0 is 1 for cycles, and a stress of 0 adds nothing.
                floor = 0.0 if column == "cycles" and of[exponent] == 0 else -np.inf
                none = np.isneginf(self.log[column])
                shown = np.where(none, 0.0, self.log[column])
                power = power + np.where(none, floor, of[exponent] * shown)
            total += np.exp(np.minimum(power, 600.0))
        return np.maximum(total, 1e-300)

    def residuals(self, values: Any) -> Any:
        """Returns the residual of each point, as `residual` does, for these values of the free
        constants."""
        np, rates = self.np, self.rates(values)
        if not self.counted:
            return np.log(rates / self.rate)
        mean, errors = rates * self.bits, self.errors
        part = np.where(errors > 0, errors * np.log(np.maximum(errors, 1e-9) / mean), 0.0)
        return np.sign(mean - errors) * np.sqrt(np.maximum(0.0, 2 * (part - errors + mean)))


def _best(np: Any, optimize: Any, arrays: _Arrays, form: _Form, seed: int) -> Any:
    low, high = form.bounds()
    draw = np.random.default_rng(seed)
    measured = arrays.errors / arrays.bits if arrays.counted else arrays.rate
    measured = measured[measured > 0]
    least, most = math.log(float(measured.min())), math.log(float(measured.max()))
    best: Any = None
    for _ in range(STARTS):
        start = [
            draw.uniform(least - 3, most) if name in COEFFICIENTS else draw.uniform(0.1, 3.5)
            for name in form.free
        ]
        start = np.clip(start, np.array(low) + 1e-6, np.array(high) - 1e-6)
        one = optimize.least_squares(
            arrays.residuals,
            start,
            bounds=(low, high),
            x_scale="jac",
            xtol=1e-10,
            ftol=1e-10,
            gtol=1e-10,
            max_nfev=600,
        )
        if best is None or one.cost < best.cost:
            best = one
    return best


def _constants(np: Any, form: _Form, found: Any, spread: float) -> dict[str, Constant]:
    """Returns the constants with the intervals of the linearised model. The interval of a
    coefficient is that of its logarithm, computed from its term and the exponents with their
    covariance."""
    values = form.constants(found.x)
    inner = [
        place
        for place, (value, low, high) in enumerate(zip(found.x, *form.bounds(), strict=True))
        if low + 1e-3 < value < high - 1e-3
    ]
    _, singular, rows = np.linalg.svd(found.jac[:, inner], full_matrices=False)
    kept = singular > RANK_RATIO * singular.max() if len(singular) else singular
    lost = rows[~kept] if len(singular) else rows
    known = rows[kept] / singular[kept, None] if len(singular) else rows
    made: dict[str, Constant] = {}
    for name in CONSTANTS:
        constant = Constant(
            name=name, value=values[name], low=None, high=None, held=name not in form.free
        )
        made[name] = constant
        weights = _weights(np, form, name, inner)
        if weights is None or bool((abs(lost @ weights) > 1e-4).any()):
            continue
        half = spread * float(np.sqrt(((known @ weights) ** 2).sum()))
        if name in COEFFICIENTS and half < 300:
            constant["low"] = values[name] * math.exp(-half)
            constant["high"] = values[name] * math.exp(half)
        elif name not in COEFFICIENTS:
            constant["low"], constant["high"] = values[name] - half, values[name] + half
    return made


def _weights(np: Any, form: _Form, name: str, inner: list[int]) -> Any:
    """Returns the gradient of a constant, or of the logarithm of a coefficient, with respect to the
    fitted parameters; None if the constant is held or at a bound."""
    if name not in form.free or form.free.index(name) not in inner:
        return None
    weights = np.zeros(len(form.free))
    weights[form.free.index(name)] = 1.0
    for exponent, log in form.shifts(name).items() if name in COEFFICIENTS else ():
        if exponent in form.free:
            weights[form.free.index(exponent)] = -log
    return weights[inner]


def _notes(constants: Mapping[str, Constant]) -> list[str]:
    unknown = [name for name, one in constants.items() if not one["held"] and one["low"] is None]
    if not unknown:
        return []
    return [f"not determined by the points, or at a bound: {', '.join(unknown)}"]
