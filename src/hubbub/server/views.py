"""Answers that both the API and the pages give."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hubbub.detectors import Change
from hubbub.server import clock, list_words
from hubbub.server.channel import Channel
from hubbub.server.picture import row_of
from hubbub.server.ranking import Ranking
from hubbub.server.sums import total_of
from hubbub.server.words import attested_of
from hubbub.store import Decision, Stream

if TYPE_CHECKING:
    from hubbub.server.desk import Desk

LAST_DEBITS = 60


def top_of(channel: Channel, most: int) -> dict[str, Any]:
    """The ranking at the latest tick. Keys that cannot be told apart share a bracket and stand in it by name."""
    if not channel.history:
        return {"tick": None, "moment": "", "predicted": False, "top": []}
    release = channel.history[-1]
    ranking, total = Ranking.of_release(release), total_of(release)
    marked = {change.key: change for change in (channel.picture.changes if channel.picture else ())}
    rows = [
        row_of(release, i, total, ranking.of(i), marked.get(release.keys.names[i])).to_dict()
        for i in ranking.order(release.keys.names, most)
    ]
    return {
        "tick": release.tick.index,
        "moment": clock.moment(release.tick),
        "predicted": release.is_predicted,
        "top": rows,
    }


def alerts_of(channel: Channel) -> list[dict[str, Any]]:
    """Changes of the recent past, the latest first; consecutive ticks of one key are one alert."""
    runs: list[list[Change]] = []
    open_runs: dict[tuple[str, str], list[Change]] = {}
    for change in channel.changes:
        run = open_runs.get((change.key, change.kind))
        if run is not None and change.tick - run[-1].tick <= 1:
            run.append(change)
        else:
            runs.append([change])
            open_runs[change.key, change.kind] = runs[-1]
    newest = channel.last_tick
    return [
        {
            "key": run[0].key,
            "kind": run[0].kind,
            "first_tick": run[0].tick,
            "last_tick": run[-1].tick,
            "active": run[-1].tick == newest,
            "reason": _largest(run).reason,
            "before": run[0].before.to_dict(),
            "after": _largest(run).after.to_dict(),
        }
        for run in sorted(runs, key=lambda run: -run[-1].tick)
    ]


def _largest(run: list[Change]) -> Change:
    """Where the change was at its height."""
    return max(run, key=lambda change: abs(change.after - change.before))


def budget_of(desk: Desk, name: str) -> dict[str, Any]:
    """What was promised and spent, and whether the ledger still says what was written. Reads the store."""
    budget, stream = desk.store.budget(name), desk.store.stream(name)
    verdict = desk.watch.verdicts.get(name)
    return {
        "stream": name,
        **budget.to_dict(),
        "guarantee": guarantee_of(stream, alone=len(budget.parts) == 1),
        "together": desk.store.total(budget.grant.name).to_dict(),
        "unit": stream.guarantee.unit.to_dict(),
        "attested": attested_of(stream),
        "ledger": {
            "verified": None if verdict is None else verdict.at.isoformat(),
            "ok": None if verdict is None else verdict.ok,
            "words": "not verified yet" if verdict is None else verdict.words,
        },
        "decisions": [_decided(one) for one in desk.store.decisions(name)],
        "last_debits": _last_debits(desk, name),
    }


def guarantee_of(stream: Stream, *, alone: bool) -> str:
    """The promise as a paragraph. `alone`: no other stream draws from the grant."""
    guarantee = stream.part.grant.guarantee
    return list_words.sentence(guarantee, stream, alone=alone) if stream.finds_keys else guarantee.sentence


def _decided(decision: Decision) -> dict[str, Any]:
    """Since when what is counted, and which release said so."""
    keys, evidence = decision.keys, {"stream": decision.evidence, "tick": decision.evidence_tick}
    return {"tick": decision.tick, "domain": keys.kind, "keys": len(keys), "evidence": evidence}


def _last_debits(desk: Desk, name: str) -> list[dict[str, Any]]:
    """What each of the last ticks cost, in both ledgers if there are two; `ranges` is what became of the second."""
    beside = desk.feed.ranges_of(name)
    second = {} if beside is None else {debit.tick: debit for debit in desk.store.debits(beside, last=LAST_DEBITS)}
    lines = []
    for debit in desk.store.debits(name, last=LAST_DEBITS):
        other = second.get(debit.tick)
        costs = [debit.cost] if other is None else [debit.cost, other.cost]
        lines.append(
            {
                "tick": debit.tick,
                "state": debit.state,
                "epsilon": str(sum((cost.epsilon for cost in costs), Fraction(0))),
                "rho": str(sum((cost.rho for cost in costs), Fraction(0))),
                **({"delta": str(slip)} if (slip := sum((cost.delta for cost in costs), Fraction(0))) else {}),
                "purpose": debit.purpose,
                **({} if beside is None else {"ranges": "missing" if other is None else other.state}),
            }
        )
    return lines
