"""Who adds what noise to a sum that nobody sees without it.

Two plans. *Servers*: each of the two adds noise that would suffice alone, so that either may look, lie about its own or
work with any clients. *Shares*: each client adds a share, so that nobody need trust a server with noise; but a client
can leave its share out, so the plan says how many may.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import InvalidParameter
from hubbub.exact import Exact, positive, whole
from hubbub.noise import DiscreteGaussian, DiscreteLaplace, IntegerNoise, PolyaShare
from hubbub.privacy.rounding import at_most
from hubbub.privacy.zcdp import epsilon_of_rho

Integers = NDArray[np.int64]
NAMED_DELTA = Fraction(1, 10**6)
SURE = 2.0**-64
"""Noise is planned for in all but this share of cases, for each number."""


class NoisePlan(ABC):
    """What is added to each number of a sum, by whom, and what that promises."""

    kind: str
    from_clients: bool

    @abstractmethod
    def draw(self, length: int) -> Integers:
        """What one who adds noise adds: a server under `Servers…`, a client under `…Shares`."""

    @abstractmethod
    def variance(self, reports: int) -> float:
        """Of the noise in each number of a sum of so many reports, all having added theirs."""

    @abstractmethod
    def reach(self, reports: int) -> int:
        """How far the noise in a number reaches, but for a chance of 2^-64."""

    @property
    @abstractmethod
    def strength(self) -> Fraction:
        """The epsilon that is promised; at a delta of 1e-6, where there is one."""

    @abstractmethod
    def covers(self, change: int, square_change: int, length: int) -> bool:
        """Whether it was made for numbers of which one client changes no more than this."""

    @property
    @abstractmethod
    def promise(self) -> str:
        """What is promised about one client's answer, in a clause."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """All that makes it this plan and no other, as plain JSON."""


@dataclass(frozen=True)
class ServersLaplace(NoisePlan):
    """Discrete Laplace noise of scale `sensitivity / epsilon` from each server.

    Guarantee
        Protected: what one client answered; or, with the sensitivity of presence, whether it answered.
        Neighbours differ in one client's report; the numbers change by at most `sensitivity` in all (L1).
        Must be enforced by the caller: the bound (Prio3 proves it), one report a client, one opening a query.
        epsilon-differential privacy, pure, for what either server sees together with any clients, and for the result.
        Not covered: two servers that work together; who answered, and how many; time.
        Proof: docs/proofs/gather.md, section 3 (proved, given section 2).

    >>> plan = ServersLaplace.of(epsilon="0.5", sensitivity=2)
    >>> plan.scale, plan.promise
    (Fraction(4, 1), 'by at most a factor e^0.5')
    """

    epsilon: Fraction
    sensitivity: int
    kind = "servers' discrete Laplace"
    from_clients = False

    @classmethod
    def of(cls, epsilon: Exact, sensitivity: int) -> ServersLaplace:
        plan = cls(positive(epsilon, "epsilon"), whole(sensitivity, "sensitivity"))
        plan.noise  # noqa: B018 - a scale that cannot be drawn is refused here
        return plan

    @property
    def scale(self) -> Fraction:
        return self.sensitivity / self.epsilon

    @property
    def noise(self) -> IntegerNoise:
        return DiscreteLaplace(self.scale)

    def draw(self, length: int) -> Integers:
        return self.noise.sample(length)

    def variance(self, reports: int) -> float:  # noqa: ARG002
        return 2 * self.noise.variance

    def reach(self, reports: int) -> int:  # noqa: ARG002
        return 2 * self.noise.quantile(1 - Fraction(SURE) / 4)

    @property
    def strength(self) -> Fraction:
        return self.epsilon

    def covers(self, change: int, square_change: int, length: int) -> bool:  # noqa: ARG002
        return self.sensitivity >= change

    @property
    def promise(self) -> str:
        return f"by at most a factor e^{at_most(self.epsilon)}"

    @property
    def parameters(self) -> dict[str, Any]:
        return {"kind": self.kind, "epsilon": str(self.epsilon), "sensitivity": self.sensitivity}


@dataclass(frozen=True)
class ServersGaussian(NoisePlan):
    """Discrete Gaussian noise of variance `square_sensitivity / (2 rho)` from each server.

    Guarantee
        As `ServersLaplace`, but rho-zero-concentrated differential privacy; the numbers change by at most
        `square_sensitivity` in the sum of squares (L2). Better for vectors of which one client changes many numbers.
        Proof: docs/proofs/gather.md, section 3 (proved, given section 2).

    >>> ServersGaussian.of(rho="1/8", square_sensitivity=4).promise
    'by at most a factor e^2.42 but for a chance of 1e-06 (rho 0.125)'
    """

    rho: Fraction
    square_sensitivity: int
    kind = "servers' discrete Gaussian"
    from_clients = False

    @classmethod
    def of(cls, rho: Exact, square_sensitivity: int) -> ServersGaussian:
        plan = cls(positive(rho, "rho"), whole(square_sensitivity, "square_sensitivity"))
        plan.noise  # noqa: B018 - a variance that cannot be drawn is refused here
        return plan

    @property
    def noise(self) -> IntegerNoise:
        return DiscreteGaussian(self.square_sensitivity / (2 * self.rho))

    def draw(self, length: int) -> Integers:
        return self.noise.sample(length)

    def variance(self, reports: int) -> float:  # noqa: ARG002
        return 2 * self.noise.variance

    def reach(self, reports: int) -> int:  # noqa: ARG002
        return 2 * self.noise.quantile(1 - Fraction(SURE) / 4)

    @property
    def strength(self) -> Fraction:
        return epsilon_of_rho(self.rho, NAMED_DELTA)

    def covers(self, change: int, square_change: int, length: int) -> bool:  # noqa: ARG002
        return self.square_sensitivity >= square_change

    @property
    def promise(self) -> str:
        return f"by at most a factor e^{at_most(self.strength)} but for a chance of 1e-06 (rho {at_most(self.rho)})"

    @property
    def parameters(self) -> dict[str, Any]:
        return {"kind": self.kind, "rho": str(self.rho), "square_sensitivity": self.square_sensitivity}


def honest_shares(minimum: int, lying: int) -> int:
    """How many shares of noise there are for sure, from others than the one who is protected.

    Of `minimum` reports in a sum, `lying` may come from clients that leave their noise out or tell it to somebody, one
    of whom is whoever looks; and one is that of the person whom we protect, who may as well not be there.
    """
    whole(minimum, "minimum")
    if isinstance(lying, bool) or not isinstance(lying, int) or lying < 1:
        raise InvalidParameter(
            f"`lying` must be a whole number from 1 on; got {lying!r}.", "A client that looks knows its own noise."
        )
    if minimum - lying - 1 < 1:
        raise InvalidParameter(
            f"Of {minimum:,} reports {lying:,} may lack their noise and one is the person's own: no noise is left.",
            "Ask for more reports, or let the servers add the noise.",
        )
    return minimum - lying - 1


@dataclass(frozen=True)
class LaplaceShares(NoisePlan):
    """Pólya shares: any `minimum - lying - 1` of them sum to discrete Laplace noise of scale `sensitivity / epsilon`.

    Guarantee
        Protected: what one client answered; or, with the sensitivity of presence, whether it answered.
        Neighbours differ in one client's report; the numbers change by at most `sensitivity` in all (L1).
        Must be enforced by the caller: nothing is opened that has fewer than `minimum` reports; at most `lying` of them
        come from clients that leave their noise out or tell it; one report a client, one opening a query.
        epsilon-differential privacy, pure, for every number of reports from `minimum` on.
        Not covered: more liars than that (nobody notices); clients that change the sum; who answered, and how many.
        Proof: docs/proofs/gather.md, section 4 (proved).

    >>> LaplaceShares.of(epsilon=1, sensitivity=1, minimum=1250, lying=100).parts
    1149
    """

    epsilon: Fraction
    sensitivity: int
    minimum: int
    lying: int
    kind = "clients' Polya shares"
    from_clients = True

    @classmethod
    def of(cls, epsilon: Exact, sensitivity: int, minimum: int, lying: int = 1) -> LaplaceShares:
        honest_shares(minimum, lying)
        plan = cls(positive(epsilon, "epsilon"), whole(sensitivity, "sensitivity"), minimum, lying)
        plan.share  # noqa: B018 - a scale that cannot be drawn is refused here
        return plan

    @property
    def parts(self) -> int:
        return honest_shares(self.minimum, self.lying)

    @property
    def share(self) -> PolyaShare:
        return PolyaShare(self.sensitivity / self.epsilon, self.parts)

    def draw(self, length: int) -> Integers:
        return self.share.sample(length)

    def variance(self, reports: int) -> float:
        return self.share.variance * reports

    def reach(self, reports: int) -> int:
        # `reports` shares are covered by so many whole noises; each stays within its own reach.
        times = -(-reports // self.parts)
        return times * self.share.total.quantile(1 - Fraction(SURE) / (2 * times))

    @property
    def strength(self) -> Fraction:
        return self.epsilon

    def covers(self, change: int, square_change: int, length: int) -> bool:  # noqa: ARG002
        return self.sensitivity >= change

    @property
    def promise(self) -> str:
        return (
            f"by at most a factor e^{at_most(self.epsilon)}, if of at least {self.minimum:,} clients in a sum "
            f"at most {self.lying:,} lie about their noise"
        )

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "epsilon": str(self.epsilon), "sensitivity": self.sensitivity,
            "minimum": self.minimum, "lying": self.lying,
        }  # fmt: skip


@dataclass(frozen=True)
class GaussianShares(NoisePlan):
    """Discrete Gaussian shares of the given `variance` each. Their sum is not quite a discrete Gaussian: `blur` bounds
    by how much the logarithm of any probability differs.

    Guarantee
        As `LaplaceShares`, but (`epsilon(delta)`, delta)-differential privacy for every delta: the privacy loss exceeds
        epsilon with a chance of at most delta. The numbers, of which there are `length`, change by at most
        `square_sensitivity` in the sum of squares (L2).
        Proof: docs/proofs/gather.md, section 5 (proved).

    >>> shares = GaussianShares.of(variance=2, square_sensitivity=1, length=64, minimum=1002)
    >>> round(shares.epsilon(1e-6), 3), shares.blur < 1e-4
    (0.118, True)
    """

    share_variance: Fraction
    square_sensitivity: int
    length: int
    minimum: int
    lying: int
    kind = "clients' discrete Gaussian shares"
    from_clients = True

    @classmethod
    def of(cls, variance: Exact, square_sensitivity: int, length: int, minimum: int, lying: int = 1) -> GaussianShares:
        honest_shares(minimum, lying)
        given = positive(variance, "variance")
        if given < Fraction(1, 4):
            raise InvalidParameter(
                f"The variance of a share must be at least 1/4; got {variance}: sums of smaller ones are far from "
                "Gaussian.",
                "Count in smaller units, or use Polya shares.",
            )
        plan = cls(given, whole(square_sensitivity, "square_sensitivity"), whole(length, "length"), minimum, lying)
        DiscreteGaussian(given)  # a variance that cannot be drawn is refused here
        try:
            plan.strength  # noqa: B018 - a promise that no number can tell is none
        except OverflowError:
            raise InvalidParameter("The noise is far too small for `square_sensitivity` or `length`.") from None
        return plan

    @property
    def parts(self) -> int:
        return honest_shares(self.minimum, self.lying)

    @property
    def blur(self) -> float:
        """The most by which the logarithm of a probability of the sum of all parts differs from the discrete
        Gaussian's, in each number."""
        return gaussian_blur(float(self.share_variance), self.parts)

    def epsilon(self, delta: float) -> float:
        """The privacy loss exceeds this with a chance of at most delta."""
        if not 0 < delta < 1:
            raise InvalidParameter(f"`delta` must lie between 0 and 1; got {delta}.")
        rho = self.square_sensitivity / (2 * self.parts * float(self.share_variance))
        every = self.length * self.blur
        return (rho + 2 * math.sqrt(rho * (math.log(1 / delta) + every)) + 2 * every) * (1 + 1e-9)

    def draw(self, length: int) -> Integers:
        return DiscreteGaussian(self.share_variance).sample(length)

    def variance(self, reports: int) -> float:
        return DiscreteGaussian(self.share_variance).variance * reports

    def reach(self, reports: int) -> int:
        # A discrete Gaussian is subgaussian with its own parameter (Canonne et al. 2020, Cor. 17), and so are sums.
        return math.ceil(math.sqrt(2 * float(self.share_variance) * reports * math.log(2 / SURE)))

    @property
    def strength(self) -> Fraction:
        return Fraction(self.epsilon(float(NAMED_DELTA)))

    def covers(self, change: int, square_change: int, length: int) -> bool:  # noqa: ARG002
        return self.square_sensitivity >= square_change and self.length >= length

    @property
    def promise(self) -> str:
        return (
            f"by at most a factor e^{at_most(self.strength)} but for a chance of 1e-06, if of at least "
            f"{self.minimum:,} clients in a sum at most {self.lying:,} lie about their noise"
        )

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "kind": self.kind, "variance": str(self.share_variance), "square_sensitivity": self.square_sensitivity,
            "length": self.length, "minimum": self.minimum, "lying": self.lying,
        }  # fmt: skip


def gaussian_blur(variance: float, parts: int) -> float:
    """How far, in the logarithm of any probability, the sum of `parts` discrete Gaussians of this variance can be from
    the discrete Gaussian of `parts` times the variance (docs/proofs/gather.md, section 5).

    >>> gaussian_blur(1.0, 2) < 3e-4
    True
    """
    total = 0.0
    exactly = min(parts - 1, 1000)
    for k in range(1, exactly + 1):
        total += _step(variance * k / (k + 1))
    if parts - 1 > exactly:  # steps only get smaller
        total += (parts - 1 - exactly) * _step(variance * (exactly + 1) / (exactly + 2))
    return total * (1 + 1e-9)


def _step(square: float) -> float:
    """Of adding one more: ln((1 + 2S)/(1 - 2S)), S = the sum of exp(-2 pi^2 square j^2) over j >= 1."""
    x = math.exp(-2 * math.pi**2 * square)
    bound = x / (1 - x**3)
    return math.log1p(2 * bound) - math.log1p(-2 * bound)


def noise_of(parameters: dict[str, Any]) -> NoisePlan:
    """The plan whose `parameters` these are.

    >>> noise_of(ServersLaplace.of(1, 2).parameters)
    ServersLaplace(epsilon=Fraction(1, 1), sensitivity=2)
    """
    given = dict(parameters)
    kinds: dict[str, Callable[..., NoisePlan]] = {
        ServersLaplace.kind: ServersLaplace.of,
        ServersGaussian.kind: ServersGaussian.of,
        LaplaceShares.kind: LaplaceShares.of,
        GaussianShares.kind: GaussianShares.of,
    }
    return kinds[given.pop("kind")](**given)
