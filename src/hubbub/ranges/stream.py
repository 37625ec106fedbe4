"""Any range of a stream, answered from what was released tick by tick."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Confidential, Counts
from hubbub.errors import (
    GuaranteeChanged,
    InvalidCounts,
    InvalidParameter,
    SchemaMismatch,
    TickOutOfOrder,
    UnknownKey,
)
from hubbub.exact import whole
from hubbub.noise import ByteSource
from hubbub.noise.process import here
from hubbub.privacy import Account, Guarantee
from hubbub.ranges.answer import RangeAnswer
from hubbub.ranges.calibration import Calibration
from hubbub.ranges.chooser import Always, make_chooser
from hubbub.ranges.history import QueryHistory
from hubbub.ranges.segment import Segment
from hubbub.ranges.strategy import Strategy
from hubbub.ranges.toeplitz import LARGEST_COUNT
from hubbub.ranges.walk import Walk
from hubbub.ranges.window import CONTINUITY, GAUSSIAN_REACH, LAPLACE_REACH, RangeWindow
from hubbub.released import Cost, Keys, Release, Snapshot, Tick

MOST_MISSING = 1_000_000
"""A longer gap is a wrong clock rather than a pause."""

LARGEST_WINDOW = 2**28
_SEGMENTS = 32
_SHORTEST = 64
_STEPS = 1024


_Step: TypeAlias = tuple[float, NDArray[np.float64], NDArray[np.float64]]
"""What is known of a tick before it comes: its variance, its error a key, and where its interval lies around it."""


class RangeStream:
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
        Queries are free: they read released numbers. The choice of strategy looks at queries, not at counts. Counts may
        be chosen by someone who saw earlier releases: pure and approximate guarantees hold as they are; under zCDP a
        `Tree` then keeps rho at every whole order, and up to rho/4 more in (order - 1) x divergence between two.
        Not covered: when releases appear; a copy of the process's memory, which holds the noise of the open segment (a
        snapshot does not: after a restart a new segment begins).
        Reference: Dwork, McSherry, Nissim & Smith 2006, Prop. 1; Li et al. 2010, Prop. 3; Wu et al. 2019.
        Proof: docs/proofs/ranges.md (proved).

    >>> from hubbub.privacy import Event
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
    state_version: ClassVar[int] = 1

    def __init__(
        self,
        keys: Keys,
        guarantee: Guarantee,
        *,
        window: int,
        method: str = "auto",
        strategy: Strategy | None = None,
        forecast: str = "mean",
        remembered: int = 256,
        source: ByteSource | None = None,
    ) -> None:
        if whole(window, "window") * len(keys) > LARGEST_WINDOW:
            raise InvalidParameter(
                f"A window of {window:,} ticks for {len(keys):,} keys is too large: 2^28 numbers (2 GB) are the limit.",
                "Use longer ticks, or several streams.",
            )
        self.keys = keys
        self.guarantee = guarantee
        self.method = method if strategy is None else strategy.kind
        self._account = Account(guarantee)
        self._cost = self._account.even_cost
        self._calibration = Calibration(guarantee, source)
        self._chooser = (
            make_chooser(method, window, self._calibration, forecast) if strategy is None else Always(strategy)
        )
        self.history = QueryHistory(window, remembered)
        self._window = RangeWindow(keys, window, pure=guarantee.kind == "pure")
        self._reach = LAPLACE_REACH if guarantee.kind == "pure" else GAUSSIAN_REACH
        limit = 2**62 // window
        self.largest_count = limit if guarantee.kind == "pure" else min(limit, LARGEST_COUNT)
        """Counts above this could make the total of a window leave 64 bits."""
        self._next = 0
        # The open segment: its mechanism (secret) and how many more ticks it is good for.
        self._walk: Walk | None = None
        self._left = 0
        self._began: object = None  # in which process: a forked child must not go on with the same noise
        self._segment: Segment
        self._steps: list[_Step] = []  # those of the next ticks, the last one first
        first = self._chooser.choose(self.history)
        if first.size > window:
            raise InvalidParameter(
                f"A segment of {first.size:,} ticks ({first}) is longer than the window of {window:,}.",
                "Nobody could ask for the ranges it is good at: use a smaller tree or a larger window.",
            )
        self._calibration.prepare(first)  # refuses now what it would refuse at the first tick

    # ── what a stream does ───────────────────────────────────────────────────────────────────────────────────────

    def cost(self, tick: Tick) -> Cost:  # noqa: ARG002 - the same for every tick
        """What releasing `tick` will cost."""
        return self._cost

    def check(self, counts: Counts) -> Cost:
        """Raise what `release` would raise; otherwise what it will cost."""
        self._check_counts(counts)
        self._account.check(counts.tick.index, self._cost)
        return self._cost

    def release(self, counts: Counts) -> Release:
        """Charge the tick, then publish its noisy increments. Ticks that were skipped are not in any total."""
        values = self._check_counts(counts)
        index = counts.tick.index
        self._account.charge(index, self._cost)
        if index > self._next:
            self._window.skip(index - self._next)
        self._next = index + 1
        if self.begins_segment:
            self._begin(index)
        assert self._walk is not None
        increments = self._walk.measure(values)
        self._left -= 1
        self._window.append(increments)
        variance, errors, offsets = self._next_step()
        values, lower, upper = np.maximum(increments + offsets, 0.0)
        return Release(counts.tick, self.keys, values, errors, lower, upper, increments, variance, self._cost)

    def predict(self, tick: Tick, lost: Cost | None = None) -> Release:
        """A tick nobody measured: it is missing from every total. `lost` is what a crash had already charged for it."""
        self._check_order(tick.index)
        cost = lost or Cost.nothing()
        self._account.charge(tick.index, cost)
        self._window.skip(tick.index + 1 - self._next)
        self._next = tick.index + 1
        nothing = np.zeros(len(self.keys))
        endless = np.full(len(self.keys), np.inf)
        return Release(tick, self.keys, nothing, endless, nothing.copy(), endless.copy(), None, None, cost)

    def release_many(self, counts: Confidential[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Many ticks at once, from the next one on, one a row: the released increments."""
        values = self._check_table(counts)
        released = np.empty_like(values)
        done = 0
        self._charge_many(len(values))
        while done < len(values):
            if self.begins_segment:
                self._begin(self._next)
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

    def snapshot(self) -> Snapshot:
        """What is needed to go on. It holds neither noise nor counts, so it is public: see docs/proofs/ranges.md."""
        facts = {
            **self._identity(),
            "next": self._next,
            "account": self._account.state(),
            "pure": self.guarantee.kind == "pure",
            "window": self._window.window,
            "segments": self._window.state(),
            "lengths": self.history.lengths,
        }
        return Snapshot(self.name, self.state_version, facts, {})

    def restore(self, snapshot: Snapshot) -> None:
        """Go on after `snapshot` with a new segment; `recall` the stored releases to ask about earlier ticks."""
        facts, identity = snapshot.expect(self.name, self.state_version).facts, self._identity()
        if facts["keys"] != identity["keys"]:
            raise SchemaMismatch(
                "The stored state belongs to a stream with other keys.", "Keys are fixed when a stream is made."
            )
        if facts["guarantee"] != identity["guarantee"]:
            raise GuaranteeChanged(
                "The stored state belongs to a stream with another guarantee: what was spent would be counted wrongly.",
                "Go on with the guarantee it was made with, or start a new stream.",
            )
        if facts["window"] != self._window.window:
            raise InvalidParameter(
                f"The stored stream has a window of {facts['window']:,} ticks, this one {self._window.window:,}.",
                "Open it with the same window.",
            )
        self._next = facts["next"]
        self._account.restore(facts["account"])
        self._window.restore(facts["next"], facts["segments"])
        self.history.restore(facts["lengths"])
        self._walk, self._left, self._steps = None, 0, []

    def recall(self, releases: Iterable[Release]) -> None:
        """Take the releases of the last ticks back in after `restore`, oldest first."""
        self._window.recall(releases)

    @property
    def next_tick(self) -> int:
        return self._next

    @property
    def spent(self) -> Fraction:
        """The most that any one unit has been charged so far."""
        return self._account.spent

    @property
    def begins_segment(self) -> bool:
        """Whether the next measured tick begins a segment, and so looks at `history` for its strategy."""
        return self._left == 0 or self._began != here()

    @property
    def window(self) -> RangeWindow:
        """The released side: answers, and nothing else."""
        return self._window

    def memory(self) -> int:
        """How many numbers a key the open segment holds."""
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

    def _identity(self) -> dict[str, Any]:
        """What a snapshot must agree on: the keys (as a digest, there may be millions) and the guarantee."""
        return {"keys": self._digest, "guarantee": self.guarantee.to_dict()}

    @cached_property
    def _digest(self) -> str:
        return hashlib.sha256(json.dumps(self.keys.names).encode()).hexdigest()

    def _begin(self, start: int) -> None:
        """Choose a strategy and begin a segment of one tree or several."""
        strategy = self._chooser.choose(self.history)
        prepared = self._calibration.prepare(strategy)
        shortest = min(self._window.window, max(_SHORTEST, self._window.window // _SEGMENTS))
        self._left = math.ceil(shortest / strategy.size) * strategy.size
        self._walk = prepared.walk(len(self.keys))
        self._began = here()
        self._segment = Segment(start, strategy, prepared.variances)
        self._window.open(self._segment)
        self._steps = []

    def _next_step(self) -> _Step:
        """How wrong the tick just measured is, from a short list made ahead."""
        if not self._steps:
            strategy, done = self._segment.strategy, self._segment.measured
            variances = strategy.step_uses(done - 1, _STEPS) @ np.array(self._segment.variances)
            variances += strategy.rounding(1, 2)
            if done == 1:
                variances[0] += strategy.rounding(0, 1) - strategy.rounding(1, 2)
            variances = variances[::-1]
            errors = np.sqrt(variances)
            reach = self._reach * errors + CONTINUITY
            each = np.broadcast_to(errors[:, None], (_STEPS, len(self.keys)))
            offsets = np.stack([np.zeros(_STEPS), -reach, reach], axis=1)[:, :, None]
            self._steps = list(zip(variances.tolist(), each, offsets, strict=True))
        return self._steps.pop()

    def _check_counts(self, counts: Counts) -> NDArray[np.int64]:
        if counts.keys is not self.keys and counts.keys != self.keys:
            raise UnknownKey(
                f"The counts have other keys than the stream: {counts.keys!r} instead of {self.keys!r}.",
                "Keys are fixed when a stream is made; start a new stream for other keys.",
            )
        self._check_order(counts.tick.index)
        values = counts.values.reveal()
        self._check_size(values)
        return values

    def _check_table(self, counts: Confidential[NDArray[np.int64]]) -> NDArray[np.int64]:
        values = counts.reveal()
        if not isinstance(values, np.ndarray) or values.dtype.kind not in "iu" or values.shape[1:] != (len(self.keys),):
            raise InvalidCounts(
                f"Expected whole numbers, one row a tick and one column for each of {len(self.keys):,} keys.",
                "Give a two-dimensional integer array.",
            )
        if (values < 0).any():
            raise InvalidCounts("A count is negative.", "Counts of people cannot be below zero.")
        self._check_size(values)
        return values.astype(np.int64)

    def _check_size(self, values: NDArray[np.int64]) -> None:
        largest = values.item() if values.size == 1 else values.max(initial=0)
        if largest > self.largest_count:
            raise InvalidCounts(
                f"A count is above {self.largest_count:,}, the largest that this stream can add up exactly.",
                "Count in a coarser public unit, or use a smaller window.",
            )

    def _check_order(self, index: int) -> None:
        if index < self._next:
            raise TickOutOfOrder(
                f"Tick {index} was released already; the stream is at tick {self._next}.",
                "A tick is released once: a second draw would cost twice and let the noise be averaged out.",
            )
        if index - self._next > MOST_MISSING:
            raise TickOutOfOrder(
                f"Tick {index} lies {index - self._next:,} ticks ahead of the stream.",
                "Check the clock of the source; after so long a pause start a new stream.",
            )

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
            probe.charge(tick, self._cost)
        self._account = probe
