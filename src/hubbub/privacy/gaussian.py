"""What many Gaussian releases reveal together, more tightly than zCDP can say it.

zCDP describes a mechanism by one number for all orders; the privacy loss distribution (Sommer, Meiser & Mohammadi
2019) keeps the whole distribution. For noise of one fixed variance that proves a smaller epsilon: with variance 870
and 20 changes by 5 % at delta = 1e-9 and by 9 % at 1e-5. It does not apply where the variance is chosen as the stream
goes: there an `Account` adds up rho. See docs/audit.md, "Which accountant".

| symbol | name here | meaning |
|---|---|---|
| s^2 | `variance` | parameter of the discrete Gaussian, P(k) ~ exp(-k^2/(2 s^2)) |
| n | `changes` | how many released numbers one unit changes, each by at most one: max_ticks max_items |
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hubbub.errors import InvalidParameter, MissingExtra
from hubbub.exact import Exact, exact, positive, whole
from hubbub.privacy.zcdp import epsilon_of_rho, rho_of_epsilon

SMALLEST_DELTA = Fraction(1, 10**11)
"""Below this the rounding of a Fourier transform in double precision is no longer small against delta."""

_ROUNDING = 1e-14
"""Taken off delta before epsilon is read from the distribution: above the absolute error of the convolutions."""

_RELATIVE = 1e-4
"""Also taken off, as a share of delta: the library's own probabilities carry relative errors of 1e-13 a term."""

_VARIANCES = (Fraction(1, 100), Fraction(10**10))
"""Below, e^loss leaves double precision; above, the library's loop over the noise's support takes too long."""

_STEP = 1e-3
"""Width of a bin of privacy loss, against the standard deviation 1/s of one release's loss. Bins round upward."""

_PRECISION = 1e-4


@dataclass(frozen=True, slots=True)
class GaussianReleases:
    """Independent discrete Gaussian noise of one `variance` on every released number; a unit alters `changes` of them.

    >>> releases = GaussianReleases(variance=Fraction(870), changes=20)
    >>> f"{float(releases.epsilon('1e-9')):.3f}, by zCDP alone {float(releases.zcdp_epsilon('1e-9')):.3f}"
    '0.826, by zCDP alone 0.871'
    """

    variance: Fraction
    changes: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", positive(self.variance, "variance"))
        whole(self.changes, "changes", "A unit that changes nothing needs no protection.")

    @classmethod
    def of_rho(cls, rho: Exact, releases: int, max_items: int = 1) -> GaussianReleases:
        """`releases` ticks at a cost of `rho` each, drawn as the releasers do: variance max_items/(2 rho)."""
        items = whole(max_items, "max_items")
        return cls(Fraction(items) / (2 * positive(rho, "rho")), whole(releases, "releases") * items)

    @property
    def rho(self) -> Fraction:
        """All of them together in zCDP: n/(2 s^2) (Canonne, Kamath & Steinke 2020, Thm 14)."""
        return Fraction(self.changes) / (2 * self.variance)

    def zcdp_epsilon(self, delta: Exact) -> Fraction:
        """The epsilon that zCDP proves; needs no further package and holds for any delta."""
        return epsilon_of_rho(self.rho, _chance(delta))

    def epsilon(self, delta: Exact) -> Fraction:
        """The smallest epsilon that can be proved at `delta`, rounded up: the better of zCDP and the loss distribution.

        Both hold, so their minimum does. A unit that changes fewer numbers, or a number by less, is covered: its loss
        distribution is dominated by the one that changes all of them.
        """
        chance = _chance(delta)
        simple = epsilon_of_rho(self.rho, chance)
        deviation = math.sqrt(self.variance)
        if chance < SMALLEST_DELTA or not _VARIANCES[0] <= self.variance <= _VARIANCES[1]:
            return simple
        distribution = _library().from_discrete_gaussian_mechanism(
            deviation, 1, value_discretization_interval=_STEP / deviation, use_connect_dots=True
        )
        lowered = float(chance) * (1 - _RELATIVE) - _ROUNDING
        composed = distribution.self_compose(self.changes, tail_mass_truncation=lowered * _RELATIVE)
        tight = composed.get_epsilon_for_delta(lowered)
        return min(simple, Fraction(tight)) if math.isfinite(tight) else simple


def variance_for(epsilon: Exact, delta: Exact, changes: int) -> Fraction:
    """The smallest variance (to 1e-4, rounded up) at which `changes` changed numbers are (`epsilon`, `delta`)-private.

    >>> tight = variance_for(1, "1e-9", changes=20)
    >>> simple = Fraction(20) / (2 * rho_of_epsilon(Fraction(1), Fraction(1, 10**9)))
    >>> GaussianReleases(tight, 20).epsilon("1e-9") <= 1 and tight < simple
    True
    """
    wished, chance = positive(epsilon, "epsilon"), _chance(delta)
    rho = rho_of_epsilon(wished, chance)
    # What zCDP asks for always suffices; the search only ever moves to a variance that was itself tested.
    enough = Fraction(whole(changes, "changes")) / (2 * rho)
    too_little = enough / 4
    while GaussianReleases(too_little, changes).epsilon(chance) <= wished:
        enough, too_little = too_little, too_little / 4
    while enough > too_little * (1 + Fraction(_PRECISION)):
        middle = Fraction(float((enough + too_little) / 2)).limit_denominator(10**6)
        if not too_little < middle < enough:
            break
        if GaussianReleases(middle, changes).epsilon(chance) <= wished:
            enough = middle
        else:
            too_little = middle
    return enough


def _chance(delta: Exact) -> Fraction:
    chance = exact(delta, "delta")
    if not 0 < chance < 1:
        raise InvalidParameter(
            f"`delta` must lie between 0 and 1; got {delta}.", "Gaussian noise gives no pure guarantee; 1e-9 is usual."
        )
    return chance


def _library() -> Any:
    try:
        from dp_accounting.pld import privacy_loss_distribution
    except ImportError:
        raise MissingExtra.of("dp-accounting", "accounting") from None
    return privacy_loss_distribution
