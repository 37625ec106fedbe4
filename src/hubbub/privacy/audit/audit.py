"""A black-box audit: run a mechanism on two neighbouring streams and see how well they can be told apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter
from hubbub.exact import whole
from hubbub.privacy.audit.bounds import Floats, at_least, at_most, epsilon_between, rho_between
from hubbub.privacy.audit.events import choose
from hubbub.privacy.audit.features import Recorder, Table, tables
from hubbub.privacy.audit.finding import Finding
from hubbub.privacy.audit.scores import scores
from hubbub.privacy.guarantee import Guarantee
from hubbub.privacy.promise import NAMED_DELTA
from hubbub.released import Release

FEWEST_RUNS = 100


class Auditable(Protocol):
    """All that an audit sees of a mechanism: what it promises, and what it publishes."""

    @property
    def guarantee(self) -> Guarantee: ...

    def release(self, counts: Counts) -> Release: ...


def audit(
    make: Callable[[], Auditable],
    one: Sequence[Counts],
    two: Sequence[Counts],
    *,
    runs: int = 20_000,
    confidence: float = 0.999,
    promised: Guarantee | None = None,
    progress: Callable[[int], None] | None = None,
) -> Finding:
    """A lower confidence bound on the epsilon (for a guarantee in zCDP: rho) of the mechanism that `make` makes.

    Each run makes a fresh mechanism and releases a whole stream. A quarter of the runs teaches scores that tell the
    two streams apart, a quarter chooses one event (a set of outputs), and the rest, which had no part in the choice,
    measures it: Clopper-Pearson on both streams, together wrong with a chance of at most 1 - `confidence`
    (docs/proofs/audit.md). `promised` is the guarantee to hold the mechanism to, if not its own. One in zCDP that may
    slip is read as epsilon and delta.

    >>> from fractions import Fraction
    >>> import numpy as np
    >>> from hubbub.privacy import Event
    >>> from hubbub.privacy.audit import neighbours
    >>> from hubbub.released import Cost, Keys
    >>> class Naked:  # no noise at all
    ...     guarantee = Guarantee.pure(Event(), 1)
    ...     def release(self, counts):
    ...         x = np.array([float(counts.tick.index == 1 and counts is pair.with_unit[1])])
    ...         return Release(counts.tick, counts.keys, x, x * 0, x, x)
    >>> pair = neighbours(Event(), Keys(["front"]), ticks=2)
    >>> finding = audit(Naked, pair.with_unit, pair.without, runs=400)
    >>> finding.accepted, finding.event
    (False, "the estimate of 'front' at tick 1 is at least 1")
    """
    if whole(runs, "runs") < FEWEST_RUNS:
        raise InvalidParameter(f"`runs` must be at least {FEWEST_RUNS}; got {runs}.", "20,000 are usual.")
    if isinstance(confidence, bool) or not isinstance(confidence, float) or not 0 < confidence < 1:
        raise InvalidParameter(f"`confidence` must lie between 0 and 1; got {confidence!r}.", "0.999 is usual.")
    if not one or not two or any(counts.keys != one[0].keys for counts in (*one, *two)):
        raise InvalidParameter("Both streams need at least one tick, and the same keys throughout.")
    guarantee = promised or make().guarantee
    if guarantee.rho is not None and guarantee.delta:  # what may slip has no divergence: held to what follows from it
        guarantee = guarantee.to_approximate(guarantee.delta + NAMED_DELTA)
    learning, choosing, measuring = slice(0, runs // 4), slice(runs // 4, runs // 2), slice(runs // 2, runs)
    first, second = _run(make, one, two, runs, progress)
    divergence = _divergence(guarantee)
    error = (1 - confidence) / 2
    measured = runs - runs // 2
    event = choose(scores(first, second, learning), first, second, choosing, measured, error, divergence)
    zcdp = guarantee.rho is not None
    stated = float(guarantee.rho) if guarantee.rho is not None else float(guarantee.epsilon or 0)
    result = partial(Finding, guarantee, "rho" if zcdp else "epsilon", stated)
    if event is None:
        return result(0.0, confidence, runs, "none: no event told the two streams apart", 0.0, 1.0)
    hits, others = event.hits(first.rows(measuring)), event.hits(second.rows(measuring))
    if not event.likelier_on_first:
        hits, others = others, hits
    p, q = at_least(hits, measured, error), at_most(others, measured, error)
    return result(float(divergence(p, q)), confidence, runs, event.sentence, float(p), float(q))


def _run(
    make: Callable[[], Auditable],
    one: Sequence[Counts],
    two: Sequence[Counts],
    runs: int,
    progress: Callable[[int], None] | None,
) -> tuple[Table, Table]:
    ticks = sorted({counts.tick.index for counts in (*one, *two)})
    recorders = [Recorder(one[0].keys, ticks, runs) for _ in range(2)]
    for run in range(runs):
        for recorder, stream in zip(recorders, (one, two), strict=True):
            recorder.record(run, stream, make().release)
        if progress is not None:
            progress(1)
    return tables(*recorders)


def _divergence(guarantee: Guarantee) -> Callable[[Floats, Floats], Floats]:
    if guarantee.rho is not None:
        return rho_between
    return partial(epsilon_between, delta=float(guarantee.delta))
