"""The most that any policy could show, for small chains: a linear programme."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.policy import check_secrets
from hubbub.contexts.secret import Secret, check_delta
from hubbub.errors import InvalidParameter
from hubbub.exact import Exact

_LARGEST = 200_000

Path = tuple[int, ...]
Output = tuple[int, ...]
HIDDEN = -1


def best_possible(chain: ContextChain, secrets: Sequence[Secret], delta: Exact) -> float:
    """The largest average number of contexts that a policy may show within delta, whatever it remembers.

    Variables are Pr[path so far, output so far]; that they continue each other and that beliefs stay within their
    bounds is linear in them. There are (2 contexts)^ticks of them, so this measures planners and is none itself.

    >>> chain = ContextChain(("s", "x"), ("1/2", "1/2"), [])
    >>> round(best_possible(chain, [Secret("s")], "1/4"), 6)
    0.333333
    """
    secrets, rise = check_secrets(secrets), check_delta(delta)
    if (2 * chain.size) ** chain.ticks > _LARGEST:
        raise InvalidParameter(
            f"{chain.size} contexts and {chain.ticks} ticks are too many to try every policy.",
            "It is meant for chains of about 3 contexts and 4 ticks.",
        )
    steps = chain.steps
    number: dict[tuple[Path, Output], int] = {((), ()): 0}
    equal: list[tuple[int, int, float]] = []
    gain: list[float] = [0.0]
    rows = 0
    layer: list[tuple[Path, Output]] = [((), ())]
    for tick in range(chain.ticks):
        following = []
        for path, output in layer:
            chances = steps.first if not path else steps.moves[tick - 1][path[-1]]
            for context in np.flatnonzero(chances > 0).tolist():
                for shown in (HIDDEN, context):
                    key = (*path, context), (*output, shown)
                    number[key] = len(gain)
                    gain.append(float(shown != HIDDEN))
                    equal.append((rows, number[key], 1.0))
                    following.append(key)
                equal.append((rows, number[path, output], -float(chances[context])))
                rows += 1
        layer = following
    bounds = _bounds(chain, secrets, float(rise), layer, number)
    columns = len(gain)
    matrix = coo_array((_part(equal, 2), (_part(equal, 0), _part(equal, 1))), shape=(rows, columns)).tocsr()
    limit = coo_array((_part(bounds, 2), (_part(bounds, 0), _part(bounds, 1))), shape=(_rows(bounds), columns)).tocsr()
    # Whoever hides everything keeps every bound, so there always is a solution.
    solved = linprog(  # type: ignore[call-overload]  # the stubs know no sparse tables
        -np.array(gain),
        A_ub=limit,
        b_ub=np.zeros(limit.shape[0]),
        A_eq=matrix,
        b_eq=np.zeros(rows),
        bounds=[(1, 1)] + [(0, 1)] * (columns - 1),
        method="highs",
    )
    return -float(solved.fun)


def _bounds(
    chain: ContextChain,
    secrets: Sequence[Secret],
    delta: float,
    days: list[tuple[Path, Output]],
    number: dict[tuple[Path, Output], int],
) -> list[tuple[int, int, float]]:
    """Pr[secret, output] - (prior + delta) Pr[output] <= 0, a row for each secret, tick and output of a whole day."""
    entries: list[tuple[int, int, float]] = []
    rows: dict[tuple[object, ...], int] = {}
    paths = {path: _chance(chain, path) for path, _ in days}
    for place, secret in enumerate(secrets):
        rise = delta if secret.delta is None else float(secret.delta)
        members = [chain.number(name) for name in secret.contexts]
        groups = [tuple(members)] if secret.together else [(member,) for member in members]
        ticks = secret.ticks(chain)
        for group in groups:
            for when in [tuple(ticks)] if secret.sometime else [(tick,) for tick in ticks]:
                hits = {path: any(path[tick] in group for tick in when) for path in paths}
                prior = sum(chance for path, chance in paths.items() if hits[path])
                if prior + rise >= 1:
                    continue
                for path, output in days:
                    row = rows.setdefault((place, group, when, output), len(rows))
                    entries.append((row, number[path, output], float(hits[path]) - prior - rise))
    return entries


def _chance(chain: ContextChain, path: Path) -> float:
    chance = float(chain.steps.first[path[0]])
    for tick in range(1, len(path)):
        chance *= float(chain.steps.moves[tick - 1][path[tick - 1], path[tick]])
    return chance


def _part(entries: list[tuple[int, int, float]], which: int) -> list[float]:
    return [entry[which] for entry in entries]


def _rows(entries: list[tuple[int, int, float]]) -> int:
    return max((entry[0] for entry in entries), default=-1) + 1
