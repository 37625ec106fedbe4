"""Live runs: a releaser that is given one value after another, and a shelf that holds a few of them for a while."""

from __future__ import annotations

import math
import secrets
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

from hubbub.confidential import Confidential, Counts
from hubbub.errors import InvalidInput, Overloaded
from hubbub.lab.playground.asked import MOST_TICKS, LiveAsked, options_asked
from hubbub.lab.playground.trial import noise_of
from hubbub.methods import make_mechanism
from hubbub.released import Keys, Tick
from hubbub.released.rounding import plus_minus

KEY = Keys(["count"])
_BEGIN = datetime(2000, 1, 3, tzinfo=UTC)
"""Any day will do: only the length of a tick matters, which tells a method of the week and the year."""
MOST_LIVE = 32
IDLE_SECONDS = 900.0
BUSY_SECONDS = 60.0
"""A run that was used so lately is not given up for another."""


class LiveRun:
    """One stream. It keeps the mechanism's state, which has seen noisy values only; values pass through."""

    def __init__(self, asked: LiveAsked) -> None:
        self.guarantee = asked.guarantee(asked.horizon)
        self._held = ExitStack()
        source = self._held.enter_context(noise_of(asked.seed))
        self._releaser = make_mechanism(
            asked.method, KEY, self.guarantee, source=source, **options_asked(asked.method, asked.options)
        )
        self._length = None if asked.seconds is None else timedelta(seconds=asked.seconds)
        self._lock = threading.Lock()

    def step(self, value: Confidential[int | float] | None) -> dict[str, Any]:
        """Release the next value; None is a gap, which is predicted.

        A refusal, such as a horizon that is reached, changes nothing.
        """
        with self._lock:
            tick = self._releaser.next_tick
            if tick >= MOST_TICKS:
                raise InvalidInput(f"A live run here has at most {MOST_TICKS:,} ticks.", "Start a new one.")
            if value is None:
                release = self._releaser.predict(self._tick(tick))
            else:
                release = self._releaser.release(Counts.of(KEY, self._tick(tick), [value.reveal()]))
            spent, budget = float(self._releaser.spent), float(self.guarantee.budget)
        row = release.to_dict()["keys"][0]
        del row["key"]
        return {
            **row,
            "tick": tick,
            "text": plus_minus(row["value"], math.inf if row["standard_error"] is None else row["standard_error"]),
            "cost": float(release.cost.epsilon or release.cost.rho),
            "spent": spent,
            "budget": budget,
        }

    def close(self) -> None:
        self._held.close()

    def _tick(self, index: int) -> Tick:
        return Tick(index) if self._length is None else Tick(index, _BEGIN + index * self._length, self._length)


class Shelf:
    """Holds live runs by unguessable names, a bounded number of them, and lets go of those nobody uses."""

    def __init__(self, most: int = MOST_LIVE, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._runs: dict[str, tuple[LiveRun, float]] = {}
        self._lock = threading.Lock()

    def add(self, run: LiveRun) -> str:
        with self._lock:
            now = self._clock()
            self._sweep(now)
            if len(self._runs) >= self._most:
                oldest = min(self._runs, key=lambda name: self._runs[name][1])
                if now - self._runs[oldest][1] < BUSY_SECONDS:
                    raise Overloaded(
                        f"The Lab holds {self._most} live runs already, all of them in use.",
                        "End one of them, or try again in a minute.",
                        retry_after=BUSY_SECONDS,
                    )
                self._runs.pop(oldest)[0].close()
            name = secrets.token_urlsafe(18)
            self._runs[name] = run, now
            return name

    def get(self, name: str) -> LiveRun:
        with self._lock:
            now = self._clock()
            self._sweep(now)
            if name not in self._runs:
                raise InvalidInput(
                    "This live run is over: runs that nobody uses are dropped after a quarter of an hour.",
                    "Start again; it is a simulation, so nothing is lost.",
                )
            run, _ = self._runs[name]
            self._runs[name] = run, now
            return run

    def drop(self, name: str) -> None:
        with self._lock:
            if name in self._runs:
                self._runs.pop(name)[0].close()

    def clear(self) -> None:
        for name in list(self._runs):
            self.drop(name)

    def __len__(self) -> int:
        return len(self._runs)

    def _sweep(self, now: float) -> None:
        for name in [name for name, (_, used) in self._runs.items() if now - used > IDLE_SECONDS]:
            self._runs.pop(name)[0].close()
