"""Any range of a stream, answered from what was released tick by tick."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Confidential, Counts
from hubbub.errors import InvalidCounts, InvalidParameter, SchemaMismatch
from hubbub.mechanism import REQUIRED, Estimate, Measurement, OnlineMechanism, Option, Traits
from hubbub.mechanism.kinds import Whole, Word
from hubbub.mechanism.measurement import NoiseKind
from hubbub.noise import ByteSource
from hubbub.noise.process import here
from hubbub.privacy import Account, Guarantee
from hubbub.ranges.answer import RangeAnswer
from hubbub.ranges.calibration import Calibration
from hubbub.ranges.chooser import FORECASTS, METHODS, Always, make_chooser
from hubbub.ranges.history import QueryHistory
from hubbub.ranges.old_streams import FAULTY, doubt, is_doubtful
from hubbub.ranges.segment import OneStrategy, Segment, segment_ticks
from hubbub.ranges.strategy import Strategy
from hubbub.ranges.toeplitz import LARGEST_COUNT
from hubbub.ranges.walk import Walk
from hubbub.ranges.window import CONTINUITY, GAUSSIAN_REACH, LAPLACE_REACH, RangeWindow
from hubbub.released import Cost, Domain, Release, Snapshot, Tick

LARGEST_WINDOW = 2**28
_STEPS = 1024
_ZERO = np.zeros(())  # an array already: a plain 0.0 would be made one at every tick


_Step: TypeAlias = tuple[float, NDArray[np.float64], NDArray[np.float64]]
"""What is known of a tick before it comes: its variance, its error per key, and where its interval lies around it."""


class RangeStream(OnlineMechanism):
    """Publishes, for every tick and key, the increment of a noisy prefix; any range of the window is a sum of them.

    The noise of neighbouring ticks is correlated so that it cancels in sums. How, is the `method`: `none`, the paper's
    `rtp` and `rtp-mm` (Fenwick tree as high as the window), `hq-rtp` and `hq-rtp-mm` (the height that suits recent
    queries), `k-ary`, `two-level`, `multi-level`, `toeplitz` (zCDP only), and `auto`, the best of all for recent
    queries. Or give one `strategy` for good.

    Guarantee
        Protects: one `unit`; neighbouring streams differ in the presence of one.
        Enforced by the caller: the unit's `max_ticks` and `max_items`, before counting.
        Formula: a tick costs e = epsilon/max_ticks (pure) or r = rho/max_ticks (zCDP) to a unit present in it; level j
        of the strategy, with share f(j), gets discrete Laplace noise of scale max_items/(f(j) e), or discrete Gaussian
        noise of variance max_items q(j)/(2 f(j) r), where q(j) bounds what several ticks of one unit do to a node.
        A key's count of a tick is cut at `largest_count` (2^62/window; under zCDP and with a delta at most 2^24) before
        anything else: min(x, m) moves by at most one where x does, so the bounds above stay what they are.
        Queries are free: they read released numbers. The choice of strategy looks at queries, not at counts. Counts may
        be chosen by someone who saw earlier releases: pure and approximate guarantees hold as they are; under zCDP a
        `Tree` then keeps rho at every whole order, and up to rho/4 more in (order - 1) x divergence between two.
        Not covered: when releases appear; a copy of the process's memory, which holds the noise of the open segment (a
        snapshot does not: after a restart a new segment begins).
        Reference: Dwork, McSherry, Nissim & Smith 2006, Prop. 1; Li et al. 2010, Prop. 3; Wu et al. 2019.
        Proof: docs/proofs/ranges.md (proved).

    >>> from hubbub.privacy import Event
    >>> from hubbub.released import Keys
    >>> stream = RangeStream(Keys(["visits"]), Guarantee.pure(Event(), 1), window=1024, method="two-level")
    >>> print(stream.guarantee)
    Each event's presence changes any output's probability by at most a factor e^1 = 2.72, ...
    >>> for tick in range(100):
    ...     release = stream.release(Counts.of(stream.keys, Tick(tick), [50]))
    >>> release.cost
    Cost(epsilon=1)
    >>> answer = stream.total(10, 89)
    >>> (answer.first, answer.last, answer.missing, answer.standard_error < 15)
    (10, 89, 0, True)
    """

    name: ClassVar[str] = "ranges"
    state_version: ClassVar[int] = 2
    """1 was written while Toeplitz trees in a row shared one memory: see `restore`."""

    traits: ClassVar[Traits] = Traits(independent_ticks=False, plain=False, exact_intervals=True)

    _length: Option[int] = Option(
        Whole(), REQUIRED, "How many of the last ticks can be asked for. Fixed for the stream.", name="window"
    )
    _asked: Option[str] = Option(Word(*METHODS), "auto", "How noise is spread over time.", name="method")
    _strategy: Option[Strategy | None] = Option(
        OneStrategy(), None, "One strategy for good, in place of what `method` would choose.", name="strategy"
    )
    forecast: Option[str] = Option(
        Word(*FORECASTS), "mean", "How hq-rtp and hq-rtp-mm foresee the length of the next query."
    )
    remembered: Option[int] = Option(Whole(), 256, "How many of the last queries a choice looks at.")

    def __init__(self, keys: Domain, guarantee: Guarantee, *, source: ByteSource | None = None, **options: Any) -> None:
        super().__init__(keys, guarantee, source=source, **options)
        window, strategy = self._length, self._strategy
        if window * len(keys) > LARGEST_WINDOW:
            raise InvalidParameter(
                f"A window of {window:,} ticks for {len(keys):,} keys is too large: 2^28 numbers (2 GB) are the limit.",
                "Use longer ticks, or several streams.",
            )
        self.method = self._asked if strategy is None else strategy.kind
        self._noise: NoiseKind = "laplace" if guarantee.kind == "pure" else "gaussian"
        self._calibration = Calibration(guarantee, source)
        self._chooser = (
            make_chooser(self._asked, window, self._calibration, self.forecast)
            if strategy is None
            else Always(strategy)
        )
        self.history = QueryHistory(window, self.remembered)
        self._window = RangeWindow(keys, window, pure=guarantee.kind == "pure")
        self._reach = LAPLACE_REACH if guarantee.kind == "pure" else GAUSSIAN_REACH
        limit = 2**62 // window
        self.largest_count = limit if guarantee.kind == "pure" else min(limit, LARGEST_COUNT)
        """Counts are cut here: above, the total of a window could leave 64 bits."""
        # The open segment: its mechanism (secret) and how many more ticks it is good for.
        self._walk: Walk | None = None
        self._left = 0
        self._began: object = None  # in which process: a forked child must not go on with the same noise
        self._segment: Segment
        self._opens = False  # whether the next measured tick is the first of its segment
        self._steps: list[_Step] = []  # those of the next ticks, the last one first
        first = self._chooser.choose(self.history)
        if first.size > window:
            raise InvalidParameter(
                f"A segment of {first.size:,} ticks ({first}) is longer than the window of {window:,}.",
                "Nobody could ask for the ranges it is good at: use a smaller tree or a larger window.",
            )
        self._calibration.prepare(first)  # refuses now what it would refuse at the first tick

    # ── what a stream does ───────────────────────────────────────────────────────────────────────────────────────

    def release_many(self, counts: Confidential[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Many ticks at once, from the next one on, one per row: the released increments."""
        values = self._check_table(counts)
        released = np.empty_like(values)
        done = 0
        self._charge_many(len(values))
        while done < len(values):
            if self.begins_segment:
                self._begin(self._next)
                self._open()
            assert self._walk is not None
            part = values[done : done + self._left]
            increments = self._walk.measure_many(part)
            released[done : done + len(part)] = increments
            self._window.append_many(increments)
            self._left -= len(part)
            self._next += len(part)
            done += len(part)
        self._steps = []
        return released

    def total(self, first: int, last: int, key: str | None = None, *, record: bool = True) -> RangeAnswer:
        """The total over ticks `first` to `last`, with its interval; costs nothing. Its length is remembered."""
        answer = self._window.total(first, last, key)
        if record:
            self.history.record(last - first + 1)
        return answer

    def totals(self, first: int, last: int) -> dict[str, RangeAnswer]:
        """The totals of all keys; one query for the history."""
        answers = self._window.totals(first, last)
        self.history.record(last - first + 1)
        return answers

    def variance(self, first: int, last: int) -> float:
        """Of the total's error over ticks `first` to `last`, the same for every key."""
        self._window.sums(first, last)
        return self._window.variance(first, last)

    # ── state ────────────────────────────────────────────────────────────────────────────────────────────────────

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """It holds neither noise nor counts, so it is public: see docs/proofs/ranges.md."""
        facts = {
            "pure": self.guarantee.kind == "pure",
            "window": self._window.window,
            "segments": self._window.state(),
            "lengths": self.history.lengths,
        }
        return facts, {}

    def _restore(self, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:  # noqa: ARG002
        """Go on with a new segment; `recall` the stored releases to ask about earlier ticks."""
        if facts["window"] != self._window.window:
            raise InvalidParameter(
                f"The stored stream has a window of {facts['window']:,} ticks, this one {self._window.window:,}.",
                "Open it with the same window.",
            )
        self._window.restore(facts["next"], facts["segments"])
        self.history.restore(facts["lengths"])
        self._walk, self._left, self._steps = None, 0, []

    def recall(self, releases: Iterable[Release]) -> None:
        """Take the releases of the last ticks back in after `restore`, oldest first."""
        self._window.recall(releases)

    @property
    def begins_segment(self) -> bool:
        """Whether the next measured tick begins a segment, and so looks at `history` for its strategy."""
        return self._left == 0 or self._began != here()

    @property
    def window(self) -> RangeWindow:
        """The released side: answers, and nothing else."""
        return self._window

    def memory(self) -> int:
        """How many numbers per key the open segment holds."""
        return 0 if self._walk is None else self._walk.memory()

    def describe(self) -> dict[str, Any]:
        """The present tree and the recent lengths as plain data, for a picture."""
        return {
            **self._window.describe(),
            "method": self.method,
            "window": self._window.window,
            "next_tick": self._next,
            "oldest_tick": self._window.oldest,
            "lengths": self.history.lengths,
        }

    # ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _measure(self, counts: Counts, cost: Cost) -> Measurement:
        """The measuring half: the walk turns the tick's counts into noisy increments."""
        tick = counts.tick
        values = self._cut(counts.values.reveal())
        if self.begins_segment:
            self._begin(tick.index)
        assert self._walk is not None
        increments = self._walk.measure(values)
        self._left -= 1
        if not self._steps:
            self._foresee()
        return Measurement(tick, self.keys, increments, self._steps[-1][0], cost, self._noise)

    def _estimate(self, tick: Tick, measurement: Measurement | None) -> Estimate:
        """The estimating half: the window, which sees released increments. A tick nobody measured is in no total."""
        if measurement is None or measurement.values is None:
            self._skip(tick, 1)
            endless = np.full(len(self.keys), np.inf)
            return Estimate(np.zeros(len(self.keys)), endless, np.zeros(len(self.keys)), endless.copy())
        if self._opens:
            self._open()
        self._window.append(measurement.values)
        _, errors, offsets = self._steps.pop()
        rows = np.maximum(measurement.values + offsets, _ZERO)
        return Estimate(rows[0], errors, rows[1], rows[2])  # faster than to take `rows` apart

    def _skip(self, tick: Tick, missing: int) -> None:  # noqa: ARG002
        self._window.skip(missing)

    def _expect(self, snapshot: Snapshot) -> None:
        """Refused if more may have been spent under it than its account says."""
        if (snapshot.kind, snapshot.version) != (self.name, FAULTY):
            super()._expect(snapshot)
            return
        if self.method == "auto":
            could_be = bool(doubt("auto", self.guarantee, self._window.window))
        else:
            strategy = self._chooser.choose(self.history)
            ticks = segment_ticks(strategy.size, self._window.window)
            could_be = strategy.forgets and ticks > strategy.size
        if self.guarantee.kind != "pure" and is_doubtful(snapshot.facts, could_be):
            raise SchemaMismatch(
                "The stored state is of a version in which Toeplitz trees in a row cost more than they were charged "
                "for: a unit may have spent more than was promised, and the account does not know.",
                "Start a new stream, whose cost adds up with the old one's; its releases can still be read. "
                "docs/limits.md says how much more it may have been.",
            )

    def _begin(self, start: int) -> None:
        """Choose a strategy and begin a segment of one tree or several."""
        strategy = self._chooser.choose(self.history)
        prepared = self._calibration.prepare(strategy)
        self._left = segment_ticks(strategy.size, self._window.window)
        self._walk = prepared.walk(len(self.keys))
        self._began = here()
        self._segment = Segment(start, strategy, prepared.variances)
        self._opens = True
        self._steps = []

    def _open(self) -> None:
        self._window.open(self._segment)
        self._opens = False

    def _foresee(self) -> None:
        """How wrong the next ticks will be, in a short list made ahead."""
        strategy, done = self._segment.strategy, self._segment.measured
        variances = strategy.step_uses(done, _STEPS) @ np.array(self._segment.variances)
        variances += strategy.rounding(1, 2)
        if done == 0:
            variances[0] += strategy.rounding(0, 1) - strategy.rounding(1, 2)
        variances = variances[::-1]
        errors = np.sqrt(variances)
        reach = self._reach * errors + CONTINUITY
        each = np.broadcast_to(errors[:, None], (_STEPS, len(self.keys)))
        offsets = np.stack([np.zeros(_STEPS), -reach, reach], axis=1)[:, :, None]
        self._steps = list(zip(variances.tolist(), each, offsets, strict=True))

    def _check_table(self, counts: Confidential[NDArray[np.int64]]) -> NDArray[np.int64]:
        values = counts.reveal()
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu" or values.shape[1:] != (len(self.keys),):
            raise InvalidCounts(
                f"Expected whole numbers, one row per tick and one column for each of {len(self.keys):,} keys.",
                "Give a two-dimensional integer array.",
            )
        if (values < 0).any():
            raise InvalidCounts("A count is negative.", "Counts of people cannot be below zero.")
        return self._cut(values).astype(np.int64)

    def _cut(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Counts up to `largest_count`. A refusal would tell that a count was larger, and cost nobody anything."""
        largest = values.item() if values.size == 1 else values.max(initial=0)
        return values if largest <= self.largest_count else np.minimum(values, self.largest_count)

    def _charge_many(self, count: int) -> None:
        """Charge `count` ticks, all or none.

        Only the first and the last `max_ticks` of them are booked one by one: between them a run of equal amounts
        changes neither the largest nor the sliding sum.
        """
        if not count:
            return
        first, reach = self._next, self.guarantee.unit.max_ticks
        probe = Account(self.guarantee)
        probe.restore(self._account.state())
        ticks = [
            *range(first, first + min(count, reach)),
            *range(max(first + reach, first + count - reach), first + count),
        ]
        for tick in ticks:
            probe.charge(tick, self._even_cost)
        self._account = probe
