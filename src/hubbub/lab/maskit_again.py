"""Plans that were made when fewer days were known, seen by somebody who knows the habits of all days."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hubbub.contexts import ContextChain, Probabilistic, Secret, hindsight
from hubbub.lab.context_people import Person
from hubbub.lab.experiment_result import Row, Table

KNOWN = (15, 30, 60)
PEOPLE = 4
DELTA = 0.1


def steps(people: int, kinds: int) -> int:
    return min(PEOPLE, people) * kinds * len(KNOWN) * 2


def again_rows(
    kind: str, persons: Sequence[Person], choose: Callable[[Person], list[str]], done: Callable[[], Any]
) -> list[Row]:
    """A row for each plan. Coins only: of them the largest rise is known exactly."""
    rows: list[Row] = []
    for person in persons[:PEOPLE]:
        secrets = [Secret(*choose(person))]
        for smoothing in (0, 1):
            final = ContextChain.fit(person.days, contexts=person.contexts, smoothing=smoothing)
            for known in KNOWN:
                chain = ContextChain.fit(person.days[:known], contexts=person.contexts, smoothing=smoothing)
                policy = Probabilistic.plan(chain, secrets, DELTA)
                look = hindsight(policy, final)
                rows.append(
                    {
                        "kind": kind,
                        "person": person.name,
                        "again": True,
                        "smoothing": smoothing,
                        "days": known,
                        "shown": policy.utility / chain.ticks,
                        "rise": look.rise,
                        "keeps": look.keeps,
                    }
                )
                done()
    return rows


def again_table(rows: Sequence[Row]) -> Table:
    groups: dict[tuple[str, int, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["kind"], row["smoothing"], row["days"]), []).append(row)
    lines = []
    for (kind, smoothing, days), group in groups.items():
        rises = [row["rise"] for row in group]
        lines.append(
            [
                kind,
                "smoothed" if smoothing else "plain",
                str(days),
                f"{np.mean([row['shown'] for row in group]):.1%}",
                f"{np.mean(rises):.2f}",
                f"{max(rises):.2f}",
                f"{sum(row['keeps'] for row in group)} of {len(group)}",
            ]
        )
    columns = ["people", "chain", "days known", "shown", "largest rise", "at most", "kept delta = 0.1"]
    return Table("Plans made when fewer days were known, for who knows the chain of all days", columns, lines)
