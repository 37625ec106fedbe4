"""The experiments of Wu et al. 2019, section 4, with `auto` beside the paper's methods."""

from __future__ import annotations

import gzip
import io
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
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
PATTERN_FIGURES = (6, 7, 8)
LENGTH_FIGURES = (9, 10, 11)
_CHUNK = 8192
_ASKED = 256
_REPORTED = 4000


@dataclass(frozen=True, slots=True)
class Series:
    """A stream to run on: public counts, a tick each, and how many runs it gets.

    `place` is 0, 1 or 2 for a stream like one of the paper's three, None for one that the paper does not have.
    """

    name: str
    counts: NDArray[np.int64]
    window: int
    runs: int
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Size:
    """How much is run."""

    runs: int
    lengths: tuple[int, ...]
    epsilons: tuple[float, ...]
    ticks: tuple[int, ...]

    @classmethod
    def full(cls) -> Size:
        """The paper's sizes and its 30 runs."""
        return cls(30, tuple(2**i for i in range(17)), EPSILONS, (32_768, 65_536, 7_518_579))

    @classmethod
    def quick(cls) -> Size:
        return cls(8, tuple(4**i for i in range(8)), (1.0,), (32_768,))


def streams(size: Size, seed: int) -> list[Series]:
    """Streams of the paper's sizes, and where the data is there, real series repeated to 32,768 ticks.

    The paper's own data is not to be had. Errors do not depend on the counts, since noise is added to them: the real
    series show just that.
    """
    rng = np.random.default_rng(seed)
    names = {32_768: "as Search Logs", 65_536: "as NetTrace", 7_518_579: "as WorldCup98"}
    made = []
    for place, ticks in enumerate(size.ticks):
        level = 200 * np.exp(np.cumsum(rng.normal(0, 0.01, ticks)) % 2)
        window = WINDOW if ticks < 65_536 else 65_536
        made.append(
            Series(f"{names[ticks]}, {ticks:,} ticks", rng.poisson(level), min(window, ticks), size.runs, place)
        )
    for name in ("HEPTH.n4096", "bids"):
        try:
            counts = dpbench(name)
        except InvalidInput:
            continue
        made.append(Series(f"dpbench {name}, 32,768 ticks", np.tile(counts, 8), WINDOW, size.runs))
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
    rows = []
    for series in streams(size, seed) if made is None else made:
        for pattern, low, high in patterns(series, size):
            figure = None if series.place is None else figures(pattern)[series.place]
            for epsilon in epsilons(series, pattern, size):
                for method in METHODS:
                    row = _measure(series, low, high, epsilon, method, f"{seed}, {series.name}, {pattern}")
                    rows.append({"figure": figure, "stream": series.name, "pattern": pattern, **row})
                    done()
    return rows


def figures(pattern: str) -> tuple[int, int, int]:
    """The paper's figures for a pattern's name or a length, one per stream."""
    return LENGTH_FIGURES if pattern.isdigit() else PATTERN_FIGURES


def steps(size: Size, made: list[Series]) -> int:
    """How often `run_wu19` calls `done`."""
    return len(METHODS) * sum(
        len(epsilons(series, pattern, size)) for series in made for pattern, _, _ in patterns(series, size)
    )


def patterns(series: Series, size: Size) -> list[tuple[str, int, int]]:
    """Names, shortest and longest length of what is asked of a stream."""
    asked = [
        (name, low, min(high or series.window, series.window))
        for name, (low, high) in PATTERNS.items()
        if low < series.window
    ]
    lengths = () if series.place is None else size.lengths
    return asked + [(str(length), length, length) for length in lengths if length <= series.window]


def epsilons(series: Series, pattern: str, size: Size) -> tuple[float, ...]:
    """The paper varies epsilon by length only (figures 9 to 11).

    It finds that epsilon changes the size of errors and nothing else; on 7.5 million ticks a few lengths show it.
    """
    if not pattern.isdigit() or (len(series.counts) > LONG and size.lengths.index(int(pattern)) % 4):
        return (1.0,)
    return size.epsilons


def run_times(made: list[Series], *, seed: int = 2019) -> list[dict[str, Any]]:
    """Figure 12: processor seconds of one run a stream and method; window 32,768, epsilon 1, queries of all lengths."""
    rows = []
    for series in made:
        if series.place is None:
            continue
        alone = replace(series, window=min(WINDOW, series.window), runs=1)
        for method in METHODS:
            # The best of several, as others may be using the machine; a long run averages by itself.
            turns = 1 if len(series.counts) > LONG else 5
            measured = [_measure(alone, 1, alone.window, 1.0, method, f"{seed}, {turn}") for turn in range(turns)]
            seconds = min(row["seconds"] for row in measured)
            rows.append({"figure": 12, "stream": series.name, "method": method, "seconds": seconds})
    return rows


def _measure(series: Series, low: int, high: int, epsilon: float, method: str, name: str) -> dict[str, Any]:
    """All runs at once, a key each: their noises are independent, and all hear the same queries.

    What is drawn follows from `name`, epsilon and method alone: any part of the experiment can be repeated by itself.
    """
    seed = zlib.crc32(f"{name}, {epsilon}, {method}".encode())
    rng = np.random.default_rng(seed)
    with simulation(seed) as source:
        return _run(series, low, high, epsilon, method, rng, source)


def _run(
    series: Series, low: int, high: int, epsilon: float, method: str, rng: np.random.Generator, source: ByteSource
) -> dict[str, Any]:
    keys = Keys([f"run {i}" for i in range(series.runs)])
    guarantee = Guarantee.pure(Event(), str(epsilon))
    stream = RangeStream(keys, guarantee, window=series.window, method=method, source=source)
    ticks = len(series.counts)
    chunk = min(_CHUNK, series.window // 4)
    lengths = rng.integers(low, high + 1, _REPORTED)
    ends = rng.integers(lengths, ticks + 1)
    order = np.argsort(ends, kind="stable")
    ends, starts = ends[order], (ends - lengths)[order]
    # Row (t-1) modulo `rows` is the error of the prefix of t ticks. A ring as long as the window and a little more is
    # enough for queries that are answered when their last tick has come; the whole stream would not fit in memory.
    rows = (series.window // chunk + 2) * chunk
    errors = np.zeros((rows, series.runs), dtype=np.int64)
    squares, stated = [], []
    began = time.process_time()
    for start in range(0, ticks, chunk):
        for length in rng.integers(low, high + 1, _ASKED).tolist():
            stream.history.record(length)
        part = series.counts[start : start + chunk, None]
        released = stream.release_many(Confidential(np.repeat(part, series.runs, axis=1)))
        np.cumsum(released - part, axis=0, out=released)
        errors[start % rows : start % rows + len(part)] = released + errors[(start - 1) % rows]
        due = slice(*np.searchsorted(ends, [start + 1, start + len(part) + 1]))
        squares.append((errors[(ends[due] - 1) % rows] - errors[(starts[due] - 1) % rows]).astype(np.float64) ** 2)
        for first, end in zip(starts[due].tolist(), ends[due].tolist(), strict=True):
            if first >= stream.window.oldest:  # the window still holds it, and so can say how wrong it is
                stated.append(stream.variance(first, end - 1))
    seconds = time.process_time() - began
    each = np.concatenate(squares).mean(axis=0)
    return {
        "epsilon": epsilon,
        "method": method,
        "runs": series.runs,
        "error": float(each.mean()),
        "standard_error": float(each.std(ddof=1) / np.sqrt(len(each))) if len(each) > 1 else None,
        "stated": float(np.mean(stated)) if len(stated) == len(ends) else None,  # of the same queries, or not at all
        "strategy": stream.describe()["title"],
        "seconds": seconds,
    }
