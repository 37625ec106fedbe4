"""Compares what a monitor published, over all its lives, with what was sent to it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.truth import Truth
from tests.support.viewer import Viewer

from hubbub.store import Store

LINE = re.compile(r"^tick (\d+)  \S+ \S+  (released|predicted)(?: [\d,]+ keys)?(?: \((.*)\))?  cost")


@dataclass
class Reckoning:
    """One line of the table. `acknowledged` = certain + unsure; certain = in measured + in predicted ones."""

    kills: int = 0
    ticks: int = 0
    measured: int = 0
    predicted: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    twice: int = 0
    acknowledged: int = 0
    counted: int = 0
    elsewhere: int = 0
    """Events of ticks that were predicted or lost, and say so."""
    unsure: int = 0
    late: int = 0
    missing: int = 0
    surplus: int = 0
    faults: list[str] = field(default_factory=list)

    def row(self) -> list[str]:
        why = ", ".join(f"{count} {reason}" for reason, count in sorted(self.predicted.items())) or "0"
        numbers = (
            self.lost, self.twice, self.acknowledged, self.counted, self.elsewhere, self.unsure, self.late,
            self.missing, self.surplus,
        )  # fmt: skip
        return [str(self.kills), str(self.ticks), str(self.measured), why, *map(str, numbers)]


COLUMNS = (
    "kills", "ticks", "measured", "predicted", "lost", "twice", "acknowledged", "counted", "in predicted or lost",
    "unsure", "late", "missing", "too many",
)  # fmt: skip


def reckon(store: Store, truth: Truth, viewer: Viewer, said: Iterable[str], kills: int) -> Reckoning:
    """Read the ledger, and hold every tick against what was sent for it."""
    found = Reckoning(kills)
    verified = store.verify("site")
    found.faults += map(str, verified.faults)
    releases = {release.tick.index: release for release in store.releases("site")}
    if sorted(releases) != list(range(len(releases))):
        found.faults.append("a tick is missing in the ledger")
    lost = {debit.tick for debit in store.debits("site") if debit.state == "lost"}
    reasons, spoken = _spoken(said)
    found.ticks, found.lost = len(releases), len(lost)
    again = {tick for tick, count in spoken.items() if count > 1}
    viewer.remember([release.to_dict() | _public(release) for release in releases.values()])
    found.twice = len(viewer.changed | again)
    first = min(int(release.tick.start.timestamp()) for release in releases.values())
    for (second, _), count in [*truth.certain.items(), *truth.unsure.items()]:
        found.acknowledged += count if second >= first else 0
    found.late = truth.late
    for index, release in releases.items():
        second = int(release.tick.start.timestamp())
        if release.is_predicted:
            found.elsewhere += sum(truth.certain[second, key] + truth.unsure[second, key] for key in release.keys)
            if index not in lost:
                found.predicted[reasons.get(index, "without a word")] += 1
            continue
        found.measured += 1
        for key, value in zip(release.keys, release.measurements.tolist(), strict=True):
            sure, most = truth.certain[second, key], truth.certain[second, key] + truth.unsure[second, key]
            found.counted += value
            found.unsure += most - sure
            found.missing += max(0, sure - value)
            found.surplus += max(0, value - most)
            if not sure <= value <= most:
                found.faults.append(f"tick {index}, {key}: {value} published as measured, {sure} to {most} were sent")
    out = {int(release.tick.start.timestamp()) for release in releases.values()}
    silent = sum(count for (second, _), count in truth.certain.items() if second >= first and second not in out)
    if silent:
        found.faults.append(f"{silent} events are in no tick that came out")
    return found


def _public(release: object) -> dict[str, object]:
    return {"length_seconds": release.tick.length.total_seconds(), "noise_variance": release.noise_variance}


def _spoken(said: Iterable[str]) -> tuple[dict[int, str], Counter[int]]:
    """Why ticks were predicted, and how often each was said to be out, as the monitor told on its standard error."""
    reasons: dict[int, str] = {}
    times: Counter[int] = Counter()
    for line in said:
        if (match := LINE.match(line)) is not None:
            times[int(match[1])] += 1
            if match[2] == "predicted":
                reasons[int(match[1])] = match[3] or "without a reason"
    return reasons, times


def holders(secret: str, store: Store, folders: Iterable[Path]) -> list[str]:
    """Where a value is found that must be nowhere: files of the store and of its marks, tables."""
    found = []
    for folder in folders:
        for path in [folder] if folder.is_file() else folder.rglob("*"):
            if path.is_file() and secret.encode() in path.read_bytes():
                found.append(path.name)
    from hubbub.store import schema

    with store.database.read() as connection:
        for table in schema.metadata.sorted_tables:
            for row in connection.execute(table.select()):
                if any(secret.encode() in (v if isinstance(v, bytes) else str(v).encode()) for v in row):
                    found.append(table.name)
    return found
