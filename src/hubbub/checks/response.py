"""How what is published answers to each count and to each noise, read off the program as it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.checks.failure import expect
from hubbub.confidential import Confidential, Counts
from hubbub.noise import DiscreteGaussian, DiscreteLaplace
from hubbub.ranges import RangeStream, Strategy
from hubbub.ranges.calibration import Prepared
from hubbub.released import Cost, Domain, Keys, Snapshot, Tick

Noise: TypeAlias = DiscreteLaplace | DiscreteGaussian

Step: TypeAlias = tuple[Literal["ticks", "batch", "skip", "ask", "restart"], int]
"""So many ticks one by one, or at once; so many ticks missed; a question of that length, 256 times; a restart."""

COUNT = 2**15
"""The count that stands for one. Published numbers are whole, so what is read is right to 1/COUNT; and up to it one
key's Toeplitz filter adds in floats, above it in whole numbers: both are run."""


@dataclass(frozen=True)
class Draw:
    """One row of noises, one per key: the `index`-th that `level` of a segment asked for."""

    segment: int
    level: int
    index: int
    noise: Noise


@dataclass(frozen=True)
class Response:
    """published prefix = `counts` x + `noises` z, over the measured ticks of a whole stream.

    `counts[t, s]` is what one more in the s-th measured tick does to the prefix at the t-th; `noises[t, n]` what one
    more in the n-th of `draws` does. `strategies` and `segments` say which segment each measured tick belongs to.
    """

    ticks: NDArray[np.int64]
    counts: NDArray[np.float64]
    noises: NDArray[np.float64]
    draws: Sequence[Draw]
    segments: NDArray[np.int64]
    strategies: Sequence[Strategy | None]
    charged: Any


@dataclass
class _Desk:
    """What one run is given, and what it has asked for: noise is zero but for one impulse in one draw of some keys."""

    keys: int
    impulses: dict[int, int] = field(default_factory=dict)  # number of a draw: the key that gets it
    draws: list[Draw] = field(default_factory=list)
    strategies: list[Strategy | None] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def begin(self, strategy: Strategy | None, size: int) -> int:
        self.strategies.append(strategy)
        self.sizes.append(size)
        return len(self.strategies) - 1


class _Probe:
    """Stands where a noise stood: tells how often it was asked, and answers with zeros and the impulses."""

    def __init__(self, desk: _Desk, segment: int, level: int, noise: Noise) -> None:
        self._desk, self._segment, self._level, self._noise = desk, segment, level, noise
        self._drawn = 0
        self.variance = noise.variance

    def sample(self, n: int) -> NDArray[np.int64]:
        desk = self._desk
        rows, first = n // desk.keys, len(desk.draws)
        out = np.zeros((rows, desk.keys), dtype=np.int64)
        for row in range(rows):
            desk.draws.append(Draw(self._segment, self._level, self._drawn + row, self._noise))
            key = desk.impulses.get(first + row)
            if key is not None:
                out[row, key] = desk.sizes[self._segment]
        self._drawn += rows
        return out.reshape(-1)

    def __getattr__(self, name: str) -> Any:  # what estimators ask of a noise: its quantiles
        return getattr(self._noise, name)


@dataclass
class _Run:
    """One run of the script: published increments, one row per measured tick, and where each belongs."""

    increments: list[NDArray[np.float64]] = field(default_factory=list)
    ticks: list[int] = field(default_factory=list)
    segments: list[int] = field(default_factory=list)
    charged: Any = None


Player: TypeAlias = Callable[[_Desk, Callable[[int], NDArray[np.int64]]], _Run]
"""Plays the script with this desk's noises; the function gives the counts of the m-th measured tick."""


# ── range streams ────────────────────────────────────────────────────────────────────────────────────────────────────


def read_ranges(
    make: Callable[[Domain], RangeStream], script: Sequence[Step], *, width: int | None = None, count: int = COUNT
) -> Response:
    """Everything that `script` does to a stream made by `make`, over all of its segments and restarts.

    `width` keys are run at a time (few keys take other ways through the program than many); all at once if it is None.
    The stream is one that this function makes, and its noise is taken out of it: nothing it says is private.
    """

    def play(desk: _Desk, given: Callable[[int], NDArray[np.int64]]) -> _Run:
        return _play_ranges(make, script, desk, given)

    return _read(play, width, count)


def _play_ranges(
    make: Callable[[Domain], RangeStream],
    script: Sequence[Step],
    desk: _Desk,
    given: Callable[[int], NDArray[np.int64]],
) -> _Run:
    keys = Keys([f"key {i}" for i in range(desk.keys)])
    run, starts = _Run(), list[int]()
    stream = _probed(make(keys), desk, starts)
    tick = 0
    for what, amount in script:
        if what == "ticks":
            for _ in range(amount):
                counts = given(len(run.ticks))
                release = stream.release(Counts.of(keys, Tick(tick), counts))
                assert release.measurements is not None
                run.increments.append(release.measurements.astype(np.float64))
                run.ticks.append(tick)
                tick += 1
        elif what == "batch":
            table = np.array([given(len(run.ticks) + i) for i in range(amount)])
            rows = stream.release_many(Confidential(table))
            run.increments.extend(rows.astype(np.float64))
            run.ticks.extend(range(tick, tick + amount))
            tick += amount
        elif what == "skip":
            stream.predict(Tick(tick + amount - 1))
            tick += amount
        elif what == "ask":
            stream.history.restore([amount] * stream.history.size)
        else:
            snapshot = Snapshot.from_bytes(stream.snapshot().to_bytes())
            stream = make(keys)
            stream.restore(snapshot)
            stream = _probed(stream, desk, starts)
    run.segments = (np.searchsorted(starts, run.ticks, side="right") - 1).tolist()
    run.charged = stream.spent
    return run


def _probed(stream: RangeStream, desk: _Desk, starts: list[int]) -> RangeStream:
    """The same stream with the noises of `desk` in the place of its own; where its segments start goes to `starts`."""
    honest = stream._calibration.prepare

    def prepare(strategy: Strategy) -> Prepared:
        prepared = honest(strategy)
        segment = desk.begin(strategy, strategy.impulse)
        probes = [_Probe(desk, segment, level, noise) for level, noise in enumerate(prepared.noises)]
        return replace(prepared, noises=tuple(probes))  # type: ignore[arg-type]

    def begin(start: int, usual: Callable[[int], None] = stream._begin) -> None:
        usual(start)
        starts.append(start)

    stream._calibration.prepare = prepare  # type: ignore[method-assign]
    stream._begin = begin  # type: ignore[method-assign]
    return stream


# ── mechanisms that measure each tick by itself ──────────────────────────────────────────────────────────────────────


def read_releaser(
    make: Callable[[Domain], Any], ticks: int, *, width: int | None = None, count: int = COUNT
) -> Response:
    """The measurements of a mechanism that spends alike at every tick, whatever it has seen."""

    def play(desk: _Desk, given: Callable[[int], NDArray[np.int64]]) -> _Run:
        keys = Keys([f"key {i}" for i in range(desk.keys)])
        releaser = make(keys)
        honest = releaser._perturbation.noise
        known: dict[Cost, _Probe] = {}

        def noise(cost: Cost) -> _Probe:
            if cost not in known:
                known[cost] = _Probe(desk, desk.begin(None, 1 << 20), 0, honest(cost))
            return known[cost]

        releaser._perturbation.noise = noise
        run = _Run()
        for tick in range(ticks):
            release = releaser.release(Counts.of(keys, Tick(tick), given(tick)))
            run.increments.append(release.measurements.astype(np.float64))
            run.ticks.append(tick)
            run.segments.append(0)
        run.charged = releaser.spent
        return run

    return _read(play, width, count)


# ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _read(play: Player, width: int | None, count: int) -> Response:
    keys = width or 5  # more than take the way of few keys
    silent = _Desk(keys)
    first = play(silent, lambda _: np.zeros(keys, dtype=np.int64))
    ticks = len(first.ticks)
    while True:
        wanted = ticks + len(silent.draws)
        at_once = width or wanted + 1  # one key stays silent, where there is room: it must not hear the others
        answers = np.zeros((ticks, wanted))
        for start in range(0, wanted, at_once):
            chosen = range(start, min(start + at_once, wanted))
            desk = _Desk(at_once, {i - ticks: key for key, i in enumerate(chosen) if i >= ticks})
            counted = {i: key for key, i in enumerate(chosen) if i < ticks}
            run = play(desk, lambda m, at=counted, many=at_once: _one(m, at, many, count))  # type: ignore[misc]
            paths = np.cumsum(run.increments, axis=0)
            answers[:, start : start + len(chosen)] = paths[:, : len(chosen)]
            expect(
                not paths[:, len(chosen) :].any(),
                "A key without counts and noise has published something: keys are not apart.",
            )
        if width is not None or len(desk.draws) == len(silent.draws):
            break
        silent = desk  # with more keys, noise was drawn in other portions: once more, now that their number is known
    sizes = np.array([desk.sizes[draw.segment] for draw in desk.draws], dtype=np.float64)
    return Response(
        np.array(run.ticks),
        answers[:, :ticks] / count,
        answers[:, ticks:] / sizes,
        desk.draws,
        np.array(run.segments),
        desk.strategies,
        run.charged,
    )


def _one(tick: int, counted: dict[int, int], keys: int, count: int) -> NDArray[np.int64]:
    counts = np.zeros(keys, dtype=np.int64)
    if tick in counted:
        counts[counted[tick]] = count
    return counts
