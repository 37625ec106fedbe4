"""How often does one person contribute? The smallest bound that nearly everybody keeps anyway.

| symbol | name here | meaning |
|---|---|---|
| X | – | contributions of one person, chosen at random |
| L | `Bound.bound` | at most this many are counted: the `max_ticks` of a unit |
| p, n | `rate`, `periods` | chance of a contribution in a period, number of periods |
| T | `ticks` | in how many ticks a person could count without a bound |

After Fan 2014 (thesis), 4.1.3. The thesis lets people above the bound opt out; Hubbub enforces the bound instead, so
that everybody is protected and the price is a share of contributions that is dropped. Proofs: docs/proofs/risk.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.exact import whole

MOST_PERIODS = 1_000_000
"""More periods than this are better described by a coarser period: every table is summed over them."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What enforcing one bound would mean."""

    bound: int
    kept: float
    """Share of people who stay within the bound, and of whom nothing is dropped."""
    kept_at_least: float
    """A lower confidence bound of `kept`; the same number where the rate is taken as known."""
    dropped: float
    """Expected share of all contributions that enforcing the bound drops."""
    laplace_noise: float
    """Scale of Laplace noise against the one without a bound: L/T."""
    gaussian_noise: float
    """Standard deviation of Gaussian noise against the one without a bound: sqrt(L/T)."""


@dataclass(frozen=True, slots=True)
class Risk:
    """The chosen bound among its neighbours.

    `certainty` is the chance that a random sample of people leads to a bound that really holds for a share
    `confidence` of people, whatever the distribution; it is 1 where the rate is taken as known.
    """

    chosen: Bound
    candidates: tuple[Bound, ...]
    confidence: float
    certainty: float
    people: int | None
    ticks: int

    @property
    def sentence(self) -> str:
        c = self.chosen
        basis = (
            ""
            if self.people is None
            else f", as far as {self.people:,} people tell with {self.certainty:.4g} certainty"
        )
        return (
            f"Count each person at most {c.bound} times: at least {share(c.kept_at_least)} of people stay within that"
            f"{basis}; {share(c.dropped)} of contributions are dropped, and Laplace noise shrinks to "
            f"{share(c.laplace_noise)} of what a bound of {self.ticks:,} would need."
        )

    def __str__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict[str, Any]:
        facts = asdict(self)
        facts["candidates"] = [asdict(c) for c in self.candidates]
        return {**facts, "sentence": self.sentence}


def risk(
    rate: float | None = None,
    periods: int | None = None,
    *,
    sample: Iterable[int] | None = None,
    confidence: float = 0.999,
    certainty: float = 0.95,
    ticks: int | None = None,
) -> Risk:
    """The smallest bound that nearly everybody keeps: from a public `rate` over `periods`, or a public `sample`.

    >>> print(risk(0.0137, 10))
    Count each person at most 2 times: at least 99.971 % of people stay within that; ...
    """
    if sample is not None and rate is None and periods is None:
        return risk_of_sample(sample, confidence, certainty=certainty, ticks=ticks)
    if sample is None and rate is not None and periods is not None:
        return risk_of_rate(rate, periods, confidence, ticks=ticks)
    raise InvalidParameter(
        "Give `rate` with `periods`, or `sample`, not both.", "A sample of people assumes less (hubbub risk --help)."
    )


def risk_of_rate(rate: float, periods: int, confidence: float = 0.999, *, ticks: int | None = None) -> Risk:
    """From a public rate: a person contributes in each period with chance `rate`, at most once and independently.

    An average rate hides people who contribute far more often; where a sample of people exists, `risk_of_sample`
    assumes nothing.

    >>> influenza = risk_of_rate(0.428 * 0.032, periods=10, confidence=0.999)  # Fan 2014, Eq. 4.6-4.7
    >>> influenza.chosen.bound, f"{influenza.chosen.kept:.2%}"
    (2, '99.97%')
    """
    _share_between("confidence", confidence)
    n = _periods(periods)
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 < rate <= 1:
        raise InvalidParameter(
            f"`rate` must be a chance above 0 and at most 1; got {rate!r}.",
            "If people contribute more than once per period, use shorter periods: 3 per year is 0.25 per month.",
        )
    if _ticks(ticks, n) < n:
        raise InvalidParameter(
            f"`ticks` must be at least `periods`; got ticks={ticks}, periods={n}.",
            "A person counts at most once per tick: with fewer ticks than periods, take a tick as the period.",
        )
    # P(X > L), by the incomplete beta function: no 1 - cdf. (All of scipy.stats would take half a second to load.)
    above: NDArray[np.float64] = np.asarray(special.bdtrc(np.arange(n + 1), n, rate), dtype=np.float64)
    chosen = int(np.argmax(above <= 1 - confidence))
    return _risk(above, above, n * rate, max(chosen, 1), confidence, 1.0, None, _ticks(ticks, n))


def risk_of_sample(
    contributions: Iterable[int],
    confidence: float = 0.999,
    *,
    certainty: float = 0.95,
    ticks: int | None = None,
) -> Risk:
    """From a public sample of people: how often each of them contributed (0 counts too).

    The share of people above a bound is not known but bounded from above by Clopper-Pearson. The bounds are nested,
    so that the first one that passes is right with chance `certainty` although many were looked at
    (docs/proofs/risk.md).

    >>> risk_of_sample([0] * 9000 + [1] * 900 + [2] * 98 + [7] * 2, confidence=0.999).chosen.bound
    2
    """
    _share_between("confidence", confidence)
    _share_between("certainty", certainty)
    values = _whole_numbers(contributions)
    n, most = len(values), int(values.max())
    limit = _ticks(ticks, max(most, 1))
    if most > limit:
        raise InvalidParameter(
            f"The sample has a person with {most:,} contributions, more than `ticks` = {limit:,}.",
            "A person counts at most once per tick; count distinct ticks, or give the right number of ticks.",
        )
    tally = np.bincount(values, minlength=limit + 1)
    exceed = np.concatenate([np.cumsum(tally[::-1])[::-1][1:], [0]])  # people with more than L, for L = 0 … limit
    observed = exceed / n
    # Clopper-Pearson, upper end: the share at which seeing so few is just `1 - certainty` likely.
    upper = np.where(exceed == n, 1.0, special.betaincinv(exceed + 1, np.maximum(n - exceed, 1), certainty))
    if ticks is not None:
        upper[limit] = 0.0  # nobody can exceed the number of ticks
    passes = upper <= 1 - confidence
    if not passes.any():
        needed = math.ceil(math.log1p(-certainty) / math.log(confidence))
        raise InvalidParameter(
            f"{n:,} people are too few to certify any bound for a share of {confidence:.10g} with certainty "
            f"{certainty:.10g}.",
            f"At least {needed:,} people are needed, or a lower confidence, or `ticks` to fall back on.",
        )
    chosen = max(int(np.argmax(passes)), 1)
    return _risk(observed, upper, float(values.mean()), chosen, confidence, certainty, n, limit)


def share(number: float) -> str:
    """A share in per cent with enough digits to tell it from all (then rounded down) and from nothing.

    >>> share(0.99966), share(0.9999999), share(2e-7), share(0.2)
    ('99.966 %', '99.99999 %', '2e-05 %', '20 %')
    """
    if 0.99 < number < 1:
        digits = max(0, -math.floor(math.log10(100 * (1 - number))))
        digits = min(digits + 1, 12)
        return f"{math.floor(number * 10 ** (digits + 2)) / 10**digits:.{digits}f}".rstrip("0") + " %"
    return f"{100 * number:.3g} %"


def _risk(
    above: NDArray[np.float64],
    above_at_most: NDArray[np.float64],
    mean: float,
    chosen: int,
    confidence: float,
    certainty: float,
    people: int | None,
    ticks: int,
) -> Risk:
    # E[(X - L)+] is the sum of P(X > k) from k = L on: only positive terms, so that small shares keep their digits.
    beyond = np.cumsum(above[::-1])[::-1]
    dropped = beyond / mean if mean > 0 else np.zeros_like(beyond)

    def at(bound: int) -> Bound:
        kept, kept_at_least = 1.0 - float(above[bound]), 1.0 - float(above_at_most[bound])
        noise = bound / ticks
        return Bound(bound, kept, kept_at_least, float(dropped[bound]), noise, math.sqrt(noise))

    return Risk(at(chosen), tuple(at(b) for b in _around(chosen, len(above) - 1)), confidence, certainty, people, ticks)


def _around(chosen: int, last: int) -> list[int]:
    """Some bounds to compare the chosen one with."""
    some = {*range(1, min(chosen, 10) + 1), chosen // 2, chosen - 1, chosen, chosen + 1, chosen + 2, 2 * chosen}
    return sorted(bound for bound in some if 1 <= bound <= last)


def _share_between(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1:
        raise InvalidParameter(f"`{name}` must lie between 0 and 1; got {value!r}.", "0.999 is usual.")


def _periods(periods: int) -> int:
    whole(periods, "periods", "The number of periods a person is watched, e.g. 10 years.")
    if periods > MOST_PERIODS:
        raise InvalidParameter(f"`periods` must be at most {MOST_PERIODS:,}; got {periods:,}.", "Use longer periods.")
    return periods


def _ticks(ticks: int | None, default: int) -> int:
    return default if ticks is None else whole(ticks, "ticks", "The number of ticks the stream will have.")


def _whole_numbers(contributions: Iterable[int]) -> NDArray[np.int64]:
    values = list(contributions)
    if not values:
        raise InvalidInput("The sample holds nobody.", "Give one number of contributions per person, 0 included.")
    for value in values:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value <= MOST_PERIODS:
            raise InvalidInput(
                f"A person's contributions are a whole number from 0 to {MOST_PERIODS:,}; got {value!r}.",
                "The sample must be public: its numbers are not protected.",
            )
    return np.asarray(values, dtype=np.int64)
