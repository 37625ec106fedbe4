"""Finds a live stream's keys: a list each period, in a stream of its own, and the decision that follows from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hubbub.collect import PeriodEnded
from hubbub.errors import InvalidParameter, TickOutOfOrder, TickTaken
from hubbub.itemlogs import ItemLists, ItemLog, TickLog
from hubbub.mechanism import OnlineMechanism
from hubbub.monitor.paired import Wanted
from hubbub.privacy import Guarantee, Part
from hubbub.released import Discovered, Domain, Release
from hubbub.released.patterns import patterns_of
from hubbub.store import Curator, Store
from hubbub.store.stream import KEYS_OF, keys_name


@dataclass(frozen=True, slots=True)
class KeyPlan:
    """How a stream's keys are found: the part of its budget that lists take, and for how many of them a key stays."""

    share: Fraction
    max_items: int
    keep: int
    patterns: tuple[str, ...] = ()

    def parts(self, part: Part) -> tuple[Part, Part]:
        """What counts and what lists draw. Each session is in one list, so all of the lists' part is for that one."""
        return part.of(1 - self.share), Part(part.grant, part.share * self.share, part.share, max_ticks=1)


def streams_with_found_keys(
    name: str,
    part: Part,
    make: Callable[[Domain, Guarantee], OnlineMechanism],
    plan: KeyPlan,
    other: str,
    facts: Mapping[str, Any],
) -> list[Wanted]:
    """The live stream, which begins with `other` alone, and that of the lists which find its keys."""
    counts, lists = plan.parts(part)
    live = make(Discovered(other=other), counts.guarantee)
    if not live.traits.changes_domain:
        raise InvalidParameter(
            f"`{live.name}` cannot go on with other keys, and keys that are found change.",
            "Leave `name` out of [method], or name lpa, ukf or navigation.",
        )
    # All of the lists' part is for finding: how often a key is looked at is what the live stream tells.
    finder = ItemLists(Discovered(), lists.guarantee, max_items=plan.max_items, count_share=0)
    return [
        Wanted(name, live, counts, facts),
        Wanted(keys_name(name), finder, lists, {KEYS_OF: name, **facts}),
    ]


class KeyFinding:
    """Publishes the list of each period and decides by it what the live stream counts.

    The keys are what the last `keep` lists found, the newest list's first, and the patterns that somebody approved, in
    place of the names that fit them. A pattern must have been offered: made from names that lists had published. So
    every key follows from released values. All else is `other`.

    A crash after a list and before its decision is made good at the next start: `decide` may be called at any time.
    """

    def __init__(
        self, store: Store, curator: Curator, lists: Curator, plan: KeyPlan, say: Callable[[str], None]
    ) -> None:
        self._store, self._curator, self._lists, self._plan, self._say = store, curator, lists, plan, say
        self._name = lists.stream.name

    @property
    def keys(self) -> Discovered:
        """What the live stream counts at present."""
        keys = self._curator.keys
        assert isinstance(keys, Discovered), "a stream whose keys are found has no others"
        return keys

    @property
    def given(self) -> int:
        """The last period whose list is out, or lost."""
        return self._lists.next_tick - 1

    def publish(self, period: PeriodEnded, *, seen_before: bool) -> Discovered:
        """The list of a period, and the keys from now on. `seen_before`: it may have been published and forgotten."""
        tick = period.tick
        if tick.index > self.given:
            try:
                release = self._list_of(period, seen_before)
                self._say(f"list {tick.index}  {_told(release)}")
            except (TickTaken, TickOutOfOrder) as error:
                self._say(f"list {tick.index}  not ours: {error.message}")
        return self.decide()

    def _list_of(self, period: PeriodEnded, seen_before: bool) -> Release:
        if seen_before and not self._lists.proved:
            return self._lists.lose(period.tick)
        if period.doubtful:
            return self._lists.predict(period.tick)
        log = ItemLog.from_codes(period.sessions, period.pages, period.names)
        return self._lists.release(TickLog(period.tick, log))

    def decide(self) -> Discovered:
        """Count by what the newest lists found; the keys that then hold. Done twice, nothing happens."""
        found = newest_lists(self._store, self._name, self._plan.keep)
        expect_offered(self._plan.patterns, found, self.keys, self._name)
        if not found:
            return self.keys
        other = self.keys.other
        names = list(dict.fromkeys(name for release in found for name in release.keys.names[:-1] if name != other))
        evidence = self._name, found[0].tick.index
        fits = [re.compile(".*".join(map(re.escape, one.split("*"))), re.DOTALL) for one in self._plan.patterns]
        kept = [name for name in names if not any(fit.fullmatch(name) for fit in fits)]
        named = [*self._plan.patterns, *kept]
        keys = Discovered(named, decision=f"{evidence[0]} tick {evidence[1]}" if named else "", other=other)
        if keys.names != self.keys.names:
            self._curator.change_domain(keys, released=evidence)
        return self.keys

    def close(self) -> None:
        self._lists.close()


def expect_offered(patterns: Sequence[str], lists: Sequence[Release], now: Domain, name: str) -> None:
    """Refuse patterns that published names did not offer; one that is counted by already was offered once."""
    names = list(dict.fromkeys(name for release in lists for name in release.keys.names[:-1]))
    offered = {one.pattern for one in patterns_of(names)} | {name for name in now.names if "*" in name}
    for pattern in patterns:
        if pattern not in offered:
            raise InvalidParameter(
                f"The pattern {pattern!r} does not follow from what was published: nothing was found that it was "
                "made from.",
                f"`hubbub published STORE {name} --patterns` tells which patterns are offered. A pattern that you know "
                "beforehand belongs into `routes` of a stream with listed keys.",
            )


def newest_lists(store: Store, name: str, count: int) -> list[Release]:
    """The lists that were measured last, the newest first."""
    asked, seen = count, -1
    while True:
        latest = store.latest(name, asked)
        measured = [release for release in reversed(latest) if not release.is_predicted]
        if len(measured) >= count or len(latest) < asked or len(latest) == seen:
            return measured[:count]
        asked, seen = 4 * asked, len(latest)


def _told(release: Release) -> str:
    if release.is_predicted:
        return "nothing was measured: the keys stay"
    return f"found {len(release.keys) - 1:,} keys"
