"""Planning what is shown of a person's contexts, beside the paper's ISPRIVATE written plainly, in one run.

python -m benchmarks contexts
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from hubbub.contexts import (
    CoinPolicy,
    ContextChain,
    Hybrid,
    Probabilistic,
    Remembering,
    Secret,
    Simulatable,
    best_possible,
)
from hubbub.contexts.device import Mask
from hubbub.contexts.secret import targets
from hubbub.contexts.walk import holds

DELTA = Fraction(1, 10)
LIMIT = "pieces between two shown contexts: their number grows with (contexts x ticks)^2"


def person(contexts: int, ticks: int, seed: int = 1) -> ContextChain:
    """Somebody who stays where he is half of the time, and otherwise goes to one of three places; half of all states
    cannot occur."""
    rng = np.random.default_rng(seed)
    open_states = rng.random((ticks, contexts)) < 0.5
    open_states[:, 0] = True
    moves = np.zeros((ticks - 1, contexts, contexts))
    for tick in range(ticks - 1):
        for place in range(contexts):
            ends = rng.choice(contexts, size=min(3, contexts), replace=False)
            moves[tick, place, ends] = rng.integers(1, 5, size=len(ends))
            moves[tick, place, place] += 8
            moves[tick, place] *= open_states[tick + 1]
            moves[tick, place, 0] += 1
    start = rng.integers(1, 9, size=contexts) * open_states[0]
    return ContextChain.of_weights([f"place {k}" for k in range(contexts)], start.astype(float), moves)


def is_private(chain: ContextChain, sensitive: list[int], levels: Any, parts: int, delta: float) -> bool:
    """Goetz 2012, Alg. 2 with the shorter outputs of 3.4.5: every secret, tick and piece, its belief reckoned alone."""
    first, moves = chain.steps.first.tolist(), chain.steps.moves.tolist()
    prior, ticks, size = chain.steps.prior.tolist(), chain.ticks, chain.size
    hide = (levels / parts).tolist()

    def forward(t1: int, i: int, t2: int) -> list[list[float]]:
        """[t][k]: suppressed after t1, in k at t; the tick t2 itself is not suppressed yet."""
        found = [first if t1 < 0 else moves[t1][i]]
        for t in range(t1 + 1, t2):
            here = [value * hide[t][k] for k, value in enumerate(found[-1])]
            found.append([sum(here[k] * moves[t][k][j] for k in range(size)) for j in range(size)])
        return found

    for s in sensitive:
        for t in range(ticks):
            limit = prior[t][s] + delta
            if hide[t][s] < 1 and prior[t][s] > 0 and limit < 1:
                return False
            for t1 in range(-1, t):
                for i in range(size) if t1 >= 0 else (0,):
                    if t1 >= 0 and (hide[t1][i] >= 1 or prior[t1][i] <= 0):
                        continue
                    for t2 in range(t + 1, ticks):
                        ahead = forward(t1, i, t2)
                        at = ahead[t - t1 - 1][s] * hide[t][s]
                        onward = forward(t, s, t2)[-1]
                        for j in range(size):
                            if hide[t2][j] < 1 and ahead[-1][j] > 0 and at * onward[j] > limit * ahead[-1][j]:
                                return False
                    total = sum(value * hide[ticks - 1][k] for k, value in enumerate(forward(t1, i, ticks - 1)[-1]))
                    if t < ticks - 1:
                        onward = forward(t, s, ticks - 1)[-1]
                        at = forward(t1, i, t)[-1][s] * hide[t][s]
                        at *= sum(value * hide[ticks - 1][k] for k, value in enumerate(onward))
                    else:
                        at = forward(t1, i, t)[-1][s] * hide[t][s]
                    if at > limit * total > 0:
                        return False
    return True


def seconds(what: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    answer = what()
    return time.process_time() - begin, answer


def main() -> list[dict[str, Any]]:
    return [*planning(), *checking(), *deciding(), *beside_the_best()]


def planning() -> list[dict[str, Any]]:
    rows = []
    for contexts, ticks, goals in ((20, 48, ("<= 1 s", "<= 10 s", "<= 10 s")), (100, 96, ("<= 300 s", "<= 300 s"))):
        chain, secrets = person(contexts, ticks), [Secret("place 1", "place 2", "place 3")]
        kinds = (Simulatable, Probabilistic, Remembering) if contexts == 20 else (Simulatable, Probabilistic)
        for kind, goal in zip(kinds, goals, strict=True):
            taken, policy = seconds(lambda kind=kind, chain=chain, secrets=secrets: kind.plan(chain, secrets, DELTA))
            what = f"{kind.name}, {contexts} contexts, {ticks} ticks (shows {policy.utility / ticks:.0%})"
            rows.append({"what": what, "value": taken, "unit": "s", "goal": goal, "limit": LIMIT})
            if contexts == 20:
                for form, data in (("compact", policy.compile().to_bytes()), ("JSON", policy.compile().to_json())):
                    rows.append({"what": f"file, {form}", "value": len(data), "unit": "bytes", "goal": "<= 64,000"})
    return rows


def checking() -> list[dict[str, Any]]:
    """One check of a whole plan that holds, so that neither stops early."""
    chain, secrets = person(16, 24), [Secret("place 1")]
    policy = Probabilistic.plan(chain, secrets, DELTA)
    bounds = targets(chain, chain.steps, secrets, DELTA)
    ours, kept = min(seconds(lambda: holds(chain.steps, bounds, policy.levels, policy.parts)) for _ in range(20))
    plainly, also = seconds(lambda: is_private(chain, [1], policy.levels, policy.parts, float(DELTA)))
    assert kept
    assert also
    what = "check of a plan, 16 contexts, 24 ticks"
    return [{"what": what, "value": ours * 1000, "unit": "ms", "peer": f"ISPRIVATE, plainly: {plainly * 1000:.0f} ms",
             "ratio": plainly / ours, "goal": ">= 50"}]  # fmt: skip


def deciding() -> list[dict[str, Any]]:
    chain, secrets = person(20, 48), [Secret("place 1", "place 2", "place 3")]
    hybrid = Hybrid.plan(chain, secrets, DELTA)
    day = list(enumerate(chain.sample(np.random.default_rng(1))))
    rows = []
    # Of a plan's chances most are 0 or 1 and need no coin: here every tick tosses one.
    half = CoinPolicy(chain, secrets, DELTA, np.full((chain.ticks, chain.size), 5), 10)
    half.name = "a coin at every tick"
    for policy in (hybrid.simulatable, hybrid.probabilistic, hybrid.remembering, half):
        data = policy.compile().to_bytes()
        best = float("inf")
        for _ in range(50):
            mask = Mask(data)
            begin = time.perf_counter()
            for tick, context in day:
                mask.offer(tick, context)
            best = min(best, (time.perf_counter() - begin) / len(day))
        rows.append({"what": f"a decision, {policy.name}", "value": best * 1e6, "unit": "us", "goal": "<= 5"})
    return rows


def beside_the_best() -> list[dict[str, Any]]:
    """What is shown of small chains, as a part of what any policy could show (a linear programme)."""
    random, shown = Random(1), {}
    most = 0.0
    for _ in range(200):
        size, ticks = 3, 3
        numbers = [random.choice([0, 1, 1, 2, 3, 7]) for _ in range(size * size * ticks)]
        weights = np.array(numbers).reshape(ticks, size, size)
        weights[:, :, 0] += 1
        chain = ContextChain.of_weights("abc", weights[0, 0].astype(float), weights[1:].astype(float))
        secrets = [Secret("b")]
        most += best_possible(chain, secrets, DELTA)
        tried = {"simulatable": Simulatable.plan(chain, secrets, DELTA)}
        for levels in (10, 1000):
            for order in ("likeliest", "forward", "backward", "best"):
                for search in ("greedy", "linear"):
                    if (search, order) != ("linear", "likeliest"):
                        tried[f"{search}, {order}, {levels} levels"] = Probabilistic.plan(
                            chain, secrets, DELTA, levels=levels, search=search, order=order
                        )
        coins = tried["greedy, best, 10 levels"].levels
        tried["remembering, 10 levels"] = Remembering.plan(chain, secrets, DELTA, coins=[coins])
        tried["remembering, 200 levels"] = Remembering.plan(chain, secrets, DELTA, levels=200)
        for name, policy in tried.items():
            shown[name] = shown.get(name, 0.0) + policy.utility
        both = max(tried["simulatable"].utility, tried["greedy, best, 10 levels"].utility)
        shown["the paper's hybrid, 10 levels"] = shown.get("the paper's hybrid, 10 levels", 0.0) + both
    return [
        {"what": f"shown, {name}", "value": total / 600, "unit": "of ticks", "peer": f"best of all: {most / 600:.3f}",
         "ratio": total / most}
        for name, total in shown.items()
    ]  # fmt: skip
