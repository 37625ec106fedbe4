"""What every live source promises, tried out on it by chance. Write a `Bench` for a source and run the two drivers.

A record is a person with a name of its own, so that it can be followed: `publish` puts it where the source reads.
"""

from __future__ import annotations

import json
import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from hubbub.collect import Source

Place = Mapping[str, str]
PATIENCE = 60.0
"""Seconds until something that must happen is said not to happen. No test takes so long unless it fails."""


class Bench(ABC):
    """A place to which records can be written, and readers of it that know nothing of each other."""

    @abstractmethod
    def publish(self, people: Sequence[str]) -> None:
        """Returns when they have arrived, in this order."""

    @abstractmethod
    def source(self) -> Source:
        """A new reader, as after a restart."""

    def lane(self, person: str) -> int:
        """Order holds among the records of one lane (a partition)."""
        del person
        return 0

    def away(self) -> None:
        """Make the source unreachable; `back` undoes it. Nothing is published in between."""
        raise NotImplementedError  # a file or a queue is never unreachable: no such check is made of it

    def back(self) -> None:
        raise NotImplementedError  # as for `away`


def event(person: str) -> bytes:
    return json.dumps({"time": "2026-01-01T00:00:00Z", "person": person, "path": "/"}).encode()


def frontier(source: Source) -> Mapping[str, str]:
    """The source's end, as soon as it can be told; as it would come back from the store."""
    end = time.monotonic() + PATIENCE
    while (found := source.frontier()) is None:
        assert time.monotonic() < end, f"no frontier: {source.trouble}"
        time.sleep(0.02)
    return dict(json.loads(json.dumps(dict(found))))


def read(source: Source, until: Place, *, stop_at: int | None = None) -> tuple[list[str], Place]:
    """All that lies in front of `until` (or the first batches with `stop_at` records), and the place behind it."""
    people: list[str] = []
    positions: Mapping[str, str] = {}
    end = time.monotonic() + PATIENCE
    while True:
        batch = source.poll(until)
        assert batch is not None
        assert not batch.lost
        people += batch.events["person"].to_list()
        positions = batch.positions
        if batch.reached or (stop_at is not None and len(people) >= stop_at):
            return people, dict(json.loads(json.dumps(dict(positions))))
        assert time.monotonic() < end, f"the frontier was not reached: {source.trouble}"
        source.wait(0.02)


def check_by_chance(bench: Bench, seed: int, steps: int = 40) -> None:
    """Publish, ask for the end, read up to it, go away, come back, start anew at a place that was kept."""
    dice = random.Random(seed)
    published: list[str] = []
    had: set[str] = set()  # what this reader has handed over
    floor = 0  # the cut up to which it was read: none before it is asked for again
    cuts: list[tuple[int, Mapping[str, str]]] = []  # how many were published in front of each
    places: list[tuple[set[str], int, Mapping[str, str]]] = []
    source = bench.source()
    assert source.open({}) is False, "an empty position proves nothing"
    name = source.identity
    moves = ["publish", "publish", "cut", "cut", "read", "read", "part"]
    moves += ["restart"]
    moves += ["away"] if type(bench).away is not Bench.away else []
    try:
        for step in range(steps):
            move = dice.choice(moves)
            if move == "publish":
                fresh = [f"{seed}-{step}-{number}" for number in range(dice.randrange(1, 30))]
                bench.publish(fresh)
                published += fresh
            elif move == "cut":
                cuts.append((len(published), frontier(source)))
            elif move == "restart":
                source.close()
                source = bench.source()
                had, floor, place = dice.choice(places) if places else (set(), 0, {})
                had = set(had)
                assert source.open(place) is bool(places), "the past is there, and must be proved"
                assert source.identity == name
            elif (ahead := [cut for cut in cuts if cut[0] >= floor]) and move in ("read", "part", "away"):
                floor, until = dice.choice(ahead)
                wanted = [person for person in published[:floor] if person not in had]
                if move == "away":
                    bench.away()
                    assert source.frontier() is None
                    batch = source.poll(until)  # what is in hand may still come
                    assert batch is not None
                    got, place = batch.events["person"].to_list(), batch.positions
                    bench.back()
                else:
                    got, place = read(source, until, stop_at=1 if move == "part" else None)
                _same(bench, got, wanted, whole=move == "read")
                had |= set(got)
                places.append((set(had), floor, dict(place)))
                if move == "read":
                    assert read(source, until)[0] == [], "read to its end, a cut gives nothing more"
        got, _ = read(source, frontier(source))
        _same(bench, got, [person for person in published if person not in had], whole=True)
    finally:
        source.close()
        source.close()


def _same(bench: Bench, got: list[str], wanted: list[str], *, whole: bool) -> None:
    """What came is what had to come: all of it, or the beginning of each lane."""
    for lane in {bench.lane(person) for person in got}:
        mine = [person for person in got if bench.lane(person) == lane]
        due = [person for person in wanted if bench.lane(person) == lane]
        assert due[: len(mine)] == mine, "lost, doubled, out of order or behind the cut"
    if whole:
        assert sorted(got) == sorted(wanted)


def check_at_once(bench: Bench, *, bursts: int = 60, size: int = 20) -> None:
    """A publisher, the clock's thread and a reader at the same time: each record once, on its side of each cut."""
    source = bench.source()
    source.open({})
    begun: dict[str, float] = {}
    arrived: dict[str, float] = {}
    cuts: list[tuple[float, float, Mapping[str, str]]] = []
    over = threading.Event()
    failures: list[BaseException] = []

    def publisher() -> None:
        try:
            for burst in range(bursts):
                people = [f"{burst}-{number}" for number in range(size)]
                now = time.monotonic()
                begun.update(dict.fromkeys(people, now))
                bench.publish(people)
                now = time.monotonic()
                arrived.update(dict.fromkeys(people, now))
        except BaseException as error:
            failures.append(error)
        finally:
            over.set()

    def clock() -> None:
        try:
            while not over.wait(0.002):
                asked = time.monotonic()
                found = source.frontier()
                if found is not None:
                    cuts.append((asked, time.monotonic(), found))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=publisher), threading.Thread(target=clock)]
    for thread in threads:
        thread.start()
    read_up_to: list[tuple[float, float, set[str]]] = []
    people: list[str] = []
    taken = 0
    while not over.is_set() or taken < len(cuts):
        if taken == len(cuts):
            source.wait(0.01)
            continue
        asked, told, until = cuts[taken]
        taken += 1
        people += read(source, until)[0]
        read_up_to.append((asked, told, set(people)))
    for thread in threads:
        thread.join()
    people += read(source, frontier(source))[0]
    source.close()
    assert not failures, failures
    for asked, told, known in read_up_to:
        assert known >= {person for person, when in arrived.items() if when < asked}, "in time, but behind the cut"
        assert not {person for person in known if begun[person] > told}, "came later, but in front of the cut"
    assert len(people) == len(set(people)) == bursts * size
