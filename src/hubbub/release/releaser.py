"""Mechanisms that measure a tick's counts with noise on each."""

from __future__ import annotations

from typing import Any, ClassVar

from hubbub.confidential import Counts
from hubbub.mechanism import Measurement, OnlineMechanism, Traits
from hubbub.mechanism.measurement import NoiseKind
from hubbub.noise import ByteSource
from hubbub.privacy import Guarantee
from hubbub.release.perturbation import Perturbation
from hubbub.released import Cost, Domain


class Releaser(OnlineMechanism):
    """The measuring half that most mechanisms share: each key's count plus independent noise.

    A subclass says how to estimate; it is handed noisy values only.
    """

    traits: ClassVar[Traits] = Traits()

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        self._perturbation = Perturbation(guarantee, source)
        self._noise: NoiseKind = "laplace" if guarantee.kind == "pure" else "gaussian"

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        values = self._perturbation.measure(counts, cost)
        return Measurement(counts.tick, self.keys, values, self._perturbation.variance(cost), cost, self._noise)
