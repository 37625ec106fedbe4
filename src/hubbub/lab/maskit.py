"""The experiments of Goetz 2012, 3.7: how much each policy shows of days it was not taught, and what it gives away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

from hubbub.contexts import (
    Adversary,
    CoinPolicy,
    ContextChain,
    Hybrid,
    MaskSensitive,
    Policy,
    Probabilistic,
    Secret,
    ceiling,
    largest_rise,
)
from hubbub.contexts.device import Mask
from hubbub.errors import InvalidInput
from hubbub.lab.context_people import Days, Person, made_up, surveyed
from hubbub.lab.experiment_result import ExperimentResult, Row, Table
from hubbub.lab.maskit_again import again_rows, again_table, steps

DELTAS = (0.05, 0.1, 0.2, 0.4)
NUMBERS = (1, 2, 3, 5)
MOST_TIME = 0
ORDERS = ("likeliest", "forward", "backward")
NAMES = ("mask-sensitive", "simulatable", "probabilistic", "remembering", "hybrid")
HYBRID = NAMES[-1]
WORDS = (
    "{people} people of each kind, {days} days each: the first half teaches the chain (plain frequencies, or smoothed "
    "by 1), the second is shown. Nobody of them was looked at while the planners were made. Shown: the part of the "
    "second half. Breached: of the sensitive ticks of the second half (days that the "
    "chain holds for impossible left out), those at which belief rose by more than delta. The paper (Reality Mining, "
    "91 people): mask-sensitive 76.4 %, 54 % of its sensitive states breached; hybrid 75.8 %; simulatable better for "
    "58 % of people; hybrid right for 95 %. 2 points impossible: people for whom no policy that keeps the promise "
    "comes within 2 points of mask-sensitive."
)


def shown_of(policy: Policy, days: Days, random: Random) -> tuple[float, list[list[str | None]]]:
    """The part of the days that is shown (the mean over coins), and one draw of the outputs."""
    data = policy.compile().to_bytes()
    outputs = []
    for day in days:
        mask = Mask(data, random.randrange)
        outputs.append([mask.offer(tick, context) for tick, context in enumerate(day)])
    chosen = policy.chosen if isinstance(policy, Hybrid) else policy
    if isinstance(chosen, CoinPolicy):
        numbers = chosen.chain.numbers
        chances = [chosen.levels[tick, numbers[name]] for day in days for tick, name in enumerate(day)]
        return 1 - float(np.mean(chances)) / chosen.parts, outputs
    return float(np.mean([shown is not None for output in outputs for shown in output])), outputs


def breaches_of(policy: Policy, days: Days, outputs: Sequence[Sequence[str | None]]) -> tuple[int, int, int]:
    """At how many of the sensitive ticks belief rose too far, of how many, and how many days were left out of both."""
    adversary = Adversary(policy)
    sensitive = {name for secret in policy.secrets for name in secret.contexts}
    breached = total = impossible = 0
    for day, output in zip(days, outputs, strict=True):
        try:
            found = {(belief.contexts[0], belief.tick) for belief in adversary.breaches(output)}
        except InvalidInput:
            impossible += 1
            continue
        here = [(name, tick) for tick, name in enumerate(day) if name in sensitive]
        total += len(here)
        breached += sum(place in found for place in here)
    return breached, total, impossible


def try_person(
    person: Person, contexts: Sequence[str], delta: float, seed: int, orders: bool = True, smoothing: float = 0
) -> Row:
    """All policies for one person with these secrets; `orders`: and how the search of coins could go otherwise."""
    chain = ContextChain.fit(person.taught, contexts=person.contexts, smoothing=smoothing)
    secrets = [Secret(*contexts)]
    hybrid = Hybrid.plan(chain, secrets, delta)
    masking = MaskSensitive.plan(chain, secrets, delta)
    policies: dict[str, Any] = dict(
        zip(
            NAMES,
            (masking, hybrid.simulatable, hybrid.probabilistic, hybrid.remembering, hybrid),
            strict=True,
        )
    )
    row: Row = {"person": person.name, "delta": delta, "secrets": len(contexts), "chosen": hybrid.chosen.name}
    row |= {"contexts": chain.size, "ceiling": ceiling(chain, secrets, delta) / chain.ticks}
    row["older"] = hybrid.older.utility / chain.ticks
    for name, policy in policies.items():
        shown, outputs = shown_of(policy, person.tested, Random(seed))
        breached, total, impossible = breaches_of(policy, person.tested, outputs)
        row |= {
            name: shown,
            f"{name} expected": policy.utility / chain.ticks,
            f"{name} breached": breached,
            f"{name} sensitive": total,
            f"{name} left out": impossible / len(person.tested),
        }
    for order in ORDERS if orders else ():
        row[order] = Probabilistic.plan(chain, secrets, delta, order=order).utility / chain.ticks
    other = ContextChain.fit(person.tested, contexts=person.contexts, smoothing=smoothing)
    row["rise for another chain"] = largest_rise(hybrid.probabilistic, other)
    return row


def choose(person: Person, number: int, seed: int) -> list[str]:
    """Sensitive contexts by lot, as in the paper; 0 is where most time is spent (the paper's "home")."""
    if number == MOST_TIME:
        return [Counter(name for day in person.taught for name in day).most_common(1)[0][0]]
    names = sorted({name for day in person.taught for name in day})
    return Random(f"{person.name} {seed}").sample(names, min(number, len(names) - 1))


def maskit_result(quick: bool, seed: int, total: Callable[[int], Any], done: Callable[[], Any]) -> ExperimentResult:
    """Figures 3.5 to 3.9, on made-up people and on groups of a survey."""
    people, days = (6, 120) if quick else (12, 120)
    kinds = {"made up": made_up(seed, people, days), "survey": surveyed(seed, people, days)}
    settings = [(3, 0.1, 0), (3, 0.1, 1)]
    if not quick:
        settings += [(number, delta, 0) for number in (1, MOST_TIME) for delta in DELTAS]
        settings += [(number, 0.1, 0) for number in NUMBERS if number not in (1, 3)]
    total(len(settings) * sum(map(len, kinds.values())) + (0 if quick else steps(people, len(kinds))))
    rows: list[Row] = []
    again: list[Row] = []
    for kind, persons in kinds.items():
        for number, delta, smoothing in settings:
            for person in persons:
                orders = (number, delta, smoothing) == settings[0]
                row = try_person(person, choose(person, number, seed), delta, seed, orders, smoothing)
                rows.append({"kind": kind, "number": number, "smoothing": smoothing, **row})
                done()
        if not quick:
            again += again_rows(kind, persons, lambda person: choose(person, 3, seed), done)
    tables = _tables(rows) + ([again_table(again)] if again else [])
    return ExperimentResult(rows + again, tables, WORDS.format(people=people, days=days))


def _tables(rows: Sequence[Row]) -> list[Table]:
    groups: dict[tuple[str, int, float, float], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["kind"], row["number"], row["delta"], row["smoothing"]), []).append(row)
    shown, breached, wins, most = [], [], [], []
    for (kind, number, delta, smoothing), group in groups.items():
        head = [kind, str(number) if number else "most time", f"{delta:g}", "smoothed" if smoothing else "plain"]
        shown.append([*head, *(f"{_mean(group, name):.1%}" for name in NAMES), f"{_mean(group, 'contexts'):.1f}"])
        cells = []
        for name in (NAMES[0], HYBRID):
            total = sum(row[f"{name} sensitive"] for row in group)
            part = f"{sum(row[f'{name} breached'] for row in group) / total:.1%}" if total else "-"
            cells += [part, str(total), f"{_mean(group, f'{name} left out'):.0%}"]
        breached.append([*head, *cells])
        expected = [_mean(group, name) for name in (f"{NAMES[0]} expected", "older", f"{HYBRID} expected", "ceiling")]
        below = np.mean([row["ceiling"] < row[f"{NAMES[0]} expected"] - 0.02 for row in group])
        most.append([*head, *(f"{share:.1%}" for share in expected), f"{below:.0%}"])
        better = [row["simulatable"] > row["probabilistic"] for row in group]
        right = [row[HYBRID] >= max(row[name] for name in NAMES[1:]) - 1e-9 for row in group]
        orders = [f"{_mean(group, order):.1%}" if order in group[0] else "-" for order in ORDERS]
        rise = f"{_mean(group, 'rise for another chain'):.2f}"
        wins.append([*head, f"{np.mean(better):.0%}", f"{np.mean(right):.0%}", *orders, rise])
    head = ["people", "secrets", "delta", "chain"]
    both = [f"{who}: {what}" for who in ("masking", "hybrid") for what in ("breached", "of ticks", "days left out")]
    return [
        Table("Shown of days that were not taught", [*head, *NAMES, "contexts"], shown),
        Table(
            "Shown on average over days of the chain, beside what no policy can exceed",
            [*head, NAMES[0], "paper's hybrid", HYBRID, "ceiling", "2 points impossible"],
            most,
        ),
        Table("Sensitive ticks at which belief rose by more than delta", [*head, *both], breached),
        Table(
            "Which policy, in which order it is searched (expected part shown), and the rise for another chain",
            [*head, "simulatable better", "hybrid right", *ORDERS, "largest rise"],
            wins,
        ),
    ]


def _mean(rows: Sequence[Row], name: str) -> float:
    return float(np.mean([row[name] for row in rows]))
