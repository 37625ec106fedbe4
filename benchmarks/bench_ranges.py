"""Range streams: ticks a second, queries, a flat cost a tick. Processor time, so that a busy machine does not count."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from hubbub.confidential import Confidential, Counts
from hubbub.noise import DiscreteLaplace
from hubbub.privacy import Event, Guarantee
from hubbub.ranges import METHODS, QueryHistory, RangeStream, Strategy, Toeplitz
from hubbub.ranges.calibration import Calibration
from hubbub.ranges.chooser import make_chooser
from hubbub.release.lpa import Lpa
from hubbub.released import Keys, Tick

WINDOW = 32_768
LONG = 7_518_579
KEYS = Keys(["visits"])
PURE = Guarantee.pure(Event(), 1)
ZCDP = Guarantee.zcdp(Event(), "1/2")


def timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def best(work: Callable[[], float], times: int = 3) -> float:
    return min(work() for _ in range(times))


def stream(method: str, guarantee: Guarantee = PURE) -> RangeStream:
    made = RangeStream(KEYS, guarantee, window=WINDOW, method=method)
    for _ in range(256):
        made.history.record(1024)
    return made


def online(make: Callable[[], RangeStream | Lpa], ticks: int = 8_000) -> float:
    """Ticks a second through `release`, counts ready."""
    counts = [Counts.of(KEYS, Tick(tick), [5]) for tick in range(ticks)]

    def once() -> float:
        made = make()
        return timed(lambda: [made.release(one) for one in counts])

    return ticks / best(once, 7)


def query(method: str, queries: int = 5000) -> float:
    """Microseconds a query of 1,024 ticks."""
    made = stream(method)
    made.release_many(Confidential(np.full((2 * WINDOW, 1), 5)))
    firsts = np.random.default_rng(1).integers(WINDOW, 2 * WINDOW - 1024, queries).tolist()
    return best(lambda: timed(lambda: [made.total(first, first + 1023) for first in firsts])) / queries * 1e6


def batch(method: str, ticks: int, guarantee: Guarantee = PURE) -> float:
    """Seconds for a replay."""
    made = stream(method, guarantee)
    counts = np.full((min(ticks, 2**20), 1), 5)

    def replay() -> None:
        left = ticks
        while left:
            part = counts[: min(left, len(counts))]
            made.release_many(Confidential(part))
            left -= len(part)

    return timed(replay)


def accuracy() -> list[dict[str, Any]]:
    """Expected squared errors at epsilon 1, exactly as the strategies in force give them."""
    calibration = Calibration(PURE)
    choosers = {method: make_chooser(method, WINDOW, calibration) for method in ("rtp", "hq-rtp", "auto")}
    goals = {256: 2, 512: 3, 1024: 4, 2048: 4, 4096: 4, 8192: 4}
    rows = []
    for length in (2**i for i in range(16)):
        history = QueryHistory(WINDOW)
        history.record(length)
        error = {}
        for method, chooser in choosers.items():
            strategy = chooser.choose(history)
            error[method] = calibration.error(strategy, strategy.mean_uses(np.array([length]))[0])
        rows.append(
            {
                "what": f"squared error, length {length:,}, auto", "value": error["auto"],
                "peer": f"hq-rtp {error['hq-rtp']:,.0f} (rtp {error['rtp']:,.0f})",
                "ratio": error["auto"] / error["hq-rtp"], "goal": f"<= 1/{goals.get(length, 1)}",
                "limit": 1 / goals.get(length, 1),
            }
        )  # fmt: skip
    for size, best_known in ((1024, 10.71), (16_384, 17.27)):
        toeplitz = Toeplitz(size)
        value = toeplitz.square_weights(1)[0] * toeplitz.uses(0, size)[0]
        rows.append(
            {
                "what": f"largest prefix variance x 2 rho, toeplitz over {size:,}", "value": value,
                "peer": f"exact square root {best_known}", "ratio": value / best_known, "goal": "<= 1.1", "limit": 1.1,
            }
        )  # fmt: skip
    gaussian = Calibration(ZCDP)
    chooser = make_chooser("auto", WINDOW, gaussian)
    for length in (16, 60, 256, 1024, 4096, 16_384):
        history = QueryHistory(WINDOW)
        history.record(length)

        def error(strategy: Strategy, asked: int = length) -> float:
            return gaussian.error(strategy, strategy.mean_uses(np.array([asked]))[0])

        chosen = chooser.choose(history)
        plain = min((Toeplitz(2**i) for i in range(6, 16)), key=error)
        rows.append(
            {
                "what": f"zcdp, squared error, length {length:,}, auto: {chosen}", "value": error(chosen),
                "peer": f"{plain} {error(plain):,.1f}", "ratio": error(chosen) / error(plain), "goal": "<= 0.9",
                "limit": 0.9,
            }
        )  # fmt: skip
    return rows


def main() -> list[dict[str, Any]]:
    plain = best(lambda: timed(lambda: DiscreteLaplace(1).sample(LONG)))
    rows: list[dict[str, Any]] = []
    for method in ("rtp", "hq-rtp", "auto"):
        seconds = batch(method, LONG)
        rows.append(
            {
                "what": f"replay of {LONG:,} ticks, {method}", "value": seconds, "unit": "s",
                "peer": "drawing one Laplace noise a tick", "ratio": seconds / plain, "goal": "<= 30 s", "limit": 30,
            }
        )  # fmt: skip
    part = 500_000  # a tick at a time: a fifteenth of the stream stands for all
    seconds = batch("toeplitz", part, ZCDP)
    rows.append(
        {
            "what": f"replay of {part:,} ticks, toeplitz (zcdp), x 15", "value": seconds * LONG / part, "unit": "s",
            "peer": "drawing one Laplace noise a tick", "ratio": seconds * LONG / part / plain, "goal": "<= 30 s",
            "limit": 30,
        }
    )  # fmt: skip
    bare = {guarantee: online(lambda g=guarantee: Lpa(KEYS, g)) for guarantee in (PURE, ZCDP)}
    asked = [(method, PURE) for method in METHODS if method != "toeplitz"] + [("toeplitz", ZCDP), ("auto", ZCDP)]
    for method, guarantee in asked:
        speed = online(lambda m=method, g=guarantee: stream(m, g))
        rows.append(
            {
                "what": f"online, one key, {method} ({guarantee.kind})", "value": speed, "unit": "ticks/s",
                "peer": f"lpa, noise a tick: {bare[guarantee]:,.0f}", "ratio": speed / bare[guarantee],
                "goal": ">= 50,000", "limit": None,
            }
        )  # fmt: skip
    for method in ("rtp", "auto"):
        rows.append(
            {
                "what": f"query of 1,024 ticks, {method}",
                "value": query(method),
                "unit": "us",
                "goal": "<= 20",
                "limit": 20,
            }
        )
    short, long = (best(lambda n=n: batch("auto", n), 2) / n for n in (10**5, 10**7))
    rows.append(
        {
            "what": "cost a tick after 10^7 ticks", "value": long * 1e6, "unit": "us", "peer": "after 10^5 ticks",
            "ratio": long / short, "goal": "flat: ratio about 1", "limit": 1.5,
        }
    )  # fmt: skip
    short, long = (best(lambda n=n: batch("toeplitz", n, ZCDP), 2) / n for n in (5 * 10**4, 5 * 10**5))
    rows.append(
        {
            "what": "cost a tick after 500,000 ticks, toeplitz (zcdp)", "value": long * 1e6, "unit": "us",
            "peer": "after 50,000 ticks", "ratio": long / short, "goal": "flat: ratio about 1", "limit": 1.5,
        }
    )  # fmt: skip
    return rows + accuracy()


if __name__ == "__main__":
    from benchmarks.__main__ import show

    show("bench_ranges", main())
