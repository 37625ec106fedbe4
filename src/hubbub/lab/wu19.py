"""The experiments of Wu et al. 2019, section 4, with `auto` beside the paper's methods."""

from __future__ import annotations

import gzip
import io
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.confidential import Confidential
from hubbub.errors import InvalidInput
from hubbub.lab.data import find
from hubbub.noise import ByteSource, simulation
from hubbub.privacy import Event, Guarantee
from hubbub.ranges import RangeStream
from hubbub.released import Keys

METHODS = ("rtp", "rtp-mm", "hq-rtp", "hq-rtp-mm", "auto")
PATTERNS = {"small": (1, 1024), "middle": (1025, 8192), "large": (8193, None)}
"""Section 4.2.1: lengths of the three query patterns; the last ends at the window."""

EPSILONS = (1.0, 0.1, 0.01)
WINDOW = 32_768
LONG = 10**6
_CHUNK = 8192
_ASKED = 256
_REPORTED = 4000


@dataclass(frozen=True, slots=True)
class Series:
    """A stream to run on: public counts, a tick each, and how many runs it gets."""

    name: str
    counts: NDArray[np.int64]
    window: int
    runs: int
    is_sample: bool = False


@dataclass(frozen=True, slots=True)
class Size:
    """How much is run."""

    runs: int
    runs_of_long: int
    lengths: tuple[int, ...]
    epsilons: tuple[float, ...]
    ticks: tuple[int, ...]

    @classmethod
    def full(cls) -> Size:
        """The paper's sizes and 30 runs; the stream of 7.5 million ticks averages over itself and gets 2."""
        return cls(30, 2, tuple(2**i for i in range(17)), EPSILONS, (32_768, 65_536, 7_518_579))

    @classmethod
    def quick(cls) -> Size:
        return cls(8, 1, tuple(4**i for i in range(8)), (1.0,), (32_768,))


def streams(size: Size, seed: int) -> list[Series]:
    """Streams of the paper's sizes, and where the data is there, real series repeated to 32,768 ticks.

    The paper's own data is not to be had. Errors do not depend on the counts, since noise is added to them: the real
    series show just that.
    """
    rng = np.random.default_rng(seed)
    names = {32_768: "as Search Logs", 65_536: "as NetTrace", 7_518_579: "as WorldCup98"}
    made = []
    for ticks in size.ticks:
        level = 200 * np.exp(np.cumsum(rng.normal(0, 0.01, ticks)) % 2)
        runs = size.runs_of_long if ticks > LONG else size.runs
        window = WINDOW if ticks < 65_536 else 65_536
        made.append(Series(f"{names[ticks]}, {ticks:,} ticks", rng.poisson(level), min(window, ticks), runs))
    for name in ("HEPTH.n4096", "bids"):
        try:
            counts = dpbench(name)
        except InvalidInput:
            continue
        made.append(Series(f"dpbench {name}, 32,768 ticks", np.tile(counts, 8), WINDOW, size.runs, is_sample=True))
    return made


def dpbench(name: str) -> NDArray[np.int64]:
    """One of the benchmark's series of 4,096 counts."""
    with gzip.open(find(f"dpbench/1D/{name}.npy.gz")) as file:
        counts: NDArray[np.int64] = np.load(io.BytesIO(file.read()))
    return counts


def run_wu19(
    size: Size, *, seed: int = 2019, done: Callable[[], Any] = lambda: None, made: list[Series] | None = None
) -> list[dict[str, Any]]:
    """One row a figure, stream, pattern or length, epsilon and method: mean squared error and its standard error."""
    rng = np.random.default_rng(seed)
    rows = []
    with simulation(seed) as source:
        for series in streams(size, seed) if made is None else made:
            for pattern, low, high in patterns(series, size):
                figure = "9-11" if pattern.isdigit() else "6-8"
                for epsilon in epsilons(series, pattern, size):
                    for method in METHODS:
                        row = _measure(series, low, high, epsilon, method, rng, source)
                        rows.append({"figure": figure, "stream": series.name, "pattern": pattern, **row})
                        done()
    return rows


def steps(size: Size, made: list[Series]) -> int:
    """How often `run_wu19` calls `done`."""
    return len(METHODS) * sum(
        len(epsilons(series, pattern, size)) for series in made for pattern, _, _ in patterns(series, size)
    )


def patterns(series: Series, size: Size) -> list[tuple[str, int, int]]:
    """Names, shortest and longest length of what is asked of a stream."""
    found = [
        (name, low, min(high or series.window, series.window))
        for name, (low, high) in PATTERNS.items()
        if low < series.window
    ]
    if series.is_sample:
        return found
    # A pass over 7.5 million ticks takes long: every fourth length stands for figure 11.
    lengths = size.lengths[:: 4 if len(series.counts) > LONG else 1]
    return found + [(str(length), length, length) for length in lengths if length <= series.window]


def epsilons(series: Series, pattern: str, size: Size) -> tuple[float, ...]:
    """The paper varies epsilon by length only (figures 9 to 11)."""
    return size.epsilons if pattern.isdigit() and len(series.counts) <= LONG else (1.0,)


def _measure(
    series: Series, low: int, high: int, epsilon: float, method: str, rng: np.random.Generator, source: ByteSource
) -> dict[str, Any]:
    """All runs at once, a key each: their noises are independent, and all hear the same queries."""
    keys = Keys([f"run {i}" for i in range(series.runs)])
    guarantee = Guarantee.pure(Event(), str(epsilon))
    stream = RangeStream(keys, guarantee, window=series.window, method=method, source=source)
    ticks = len(series.counts)
    errors = np.zeros((ticks + 1, series.runs), dtype=np.int64)
    began = time.process_time()
    for start in range(0, ticks, _CHUNK):
        for length in rng.integers(low, high + 1, _ASKED).tolist():
            stream.history.record(length)
        part = series.counts[start : start + _CHUNK, None]
        released = stream.release_many(Confidential(np.repeat(part, series.runs, axis=1)))
        errors[start + 1 : start + 1 + len(part)] = np.cumsum(released - part, axis=0) + errors[start]
    seconds = time.process_time() - began
    lengths = rng.integers(low, high + 1, _REPORTED)
    ends = rng.integers(lengths, ticks + 1)
    squares = (errors[ends] - errors[ends - lengths]).astype(np.float64) ** 2
    recent = ends > ticks - series.window + lengths  # what the window still holds, and so can say how wrong it is
    said = zip((ends - lengths)[recent].tolist(), (ends - 1)[recent].tolist(), strict=True)
    stated = [stream.variance(a, b) for a, b in said][:1000]
    each = squares.mean(axis=0)
    return {
        "epsilon": epsilon,
        "method": method,
        "runs": series.runs,
        "error": float(each.mean()),
        "standard_error": float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else None,
        "stated": float(np.mean(stated)) if stated else None,
        "strategy": stream.describe()["title"],
        "seconds_per_million": seconds / ticks / series.runs * 1e6,
    }
