"""Neighbouring streams the whole way: from the bytes of a source, through restarts and rotations, to what is released.

A `Script` says what happens when: what is written, when the clock is looked at, how much is read, when the process
dies. It is played through the real source, the real pipeline and real mechanisms with every choice of its units, each
time with the noisy values of the first play returned. Then all that is released, said or refused must be the same, and
what noise was added to may differ between neighbours by no more than was charged (`hubbub.checks.replay`). The clock is
set by hand, so no result depends on how fast the machine is; the ledger and the cuts are kept in memory, so that many
pairs can be played (the real store has its own tests, and plays the same scripts in `tests/crash`).
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import combinations, count
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
from tests.support.scripts import AHEAD, KEYS, LATENESS, LONG, SPAN, START, TICK, Script, Step, draw
from tests.support.worlds import World, worlds

from hubbub.checks import CheckFailed
from hubbub.checks.replay import Tape
from hubbub.checks.replay.loss import Loss, amount, worst
from hubbub.checks.replay.releaser import Maker
from hubbub.checks.replay.transcript import Transcript
from hubbub.collect import Collector, Filters, KeyDomain, Live, Replay
from hubbub.confidential import Cut
from hubbub.mechanism import OnlineMechanism
from hubbub.methods import METHODS, make_mechanism
from hubbub.monitor.pipeline import Pipeline
from hubbub.noise import ByteSource, simulation
from hubbub.privacy import Guarantee
from hubbub.privacy.unit import Event, Session, Unit, User, Window
from hubbub.ranges import RangeStream
from hubbub.released import Cost, Domain, Release, Snapshot, Tick

SMALL_PARTS = {
    "hubbub.collect.sources.followed_file.BLOCK": 150,
    "hubbub.collect.sources.kafka_source._MESSAGES": 2,
    "hubbub.collect.sources.nats_source._MESSAGES": 2,
    "hubbub.monitor.spool.reading.POLL_LINES": 2,
}
"""How little a source hands over at a time, where a script wants little: one or two records."""

AT_REST = {
    "hubbub.collect.sources.log.stillness.PATIENCE": 0.0,
    "hubbub.collect.sources.followed_file._TRIES": 1,
}
"""Nobody is at work on the files while a monitor starts, so it need not wait until they come to rest, or look twice."""


@contextmanager
def parts(small: bool) -> Iterator[None]:
    """Sources that hand over little at a time, or as much as they like."""
    with ExitStack() as stack:
        for name, value in (AT_REST | (SMALL_PARTS if small else {})).items():
            stack.enter_context(patch(name, value))
        yield


class Crash(Exception):
    """The process dies here."""


class Memory:
    """The store and the curator of one stream, as far as a pipeline needs them, with several mechanisms at once.

    A real curator refuses the tapes that stand in for noise, and rightly. As it does, this one writes each release
    with the mechanism's state, and after a restart goes on with what was written.
    """

    def __init__(self, makers: Mapping[str, Maker], tapes: Mapping[str, Tape]) -> None:
        self.stream = SimpleNamespace(name="site")
        self.proved = True
        self.given: dict[int, np.ndarray | None] = {}
        self.costs: dict[tuple[str, int], Cost] = {}
        self.seen = Transcript()
        self.tapes = tapes
        self.crash_at: set[int] = set()
        self._makers = makers
        self._stored: dict[str, bytes] = {}
        self._cuts: dict[int, Cut] = {}
        self.restart()

    def restart(self) -> None:
        self._releasers = {name: make(self.tapes[name]) for name, make in self._makers.items()}
        for name, stored in self._stored.items():
            self._releasers[name].restore(Snapshot.from_bytes(stored))

    @property
    def next_tick(self) -> int:
        return max(self.given, default=-1) + 1

    def release(self, counts):
        return self._outcome(counts.tick, lambda releaser: releaser.release(counts), counts.values.reveal())

    def predict(self, tick: Tick):
        return self._outcome(tick, lambda releaser: releaser.predict(tick), None)

    def lose(self) -> None:
        """The process died after the debit of the next tick."""
        tick = Tick(self.next_tick)
        self._outcome(tick, lambda releaser: releaser.predict(tick, lost=releaser.cost(tick)), None)

    def _outcome(self, tick: Tick, act: Callable[[OnlineMechanism], Release], values):
        assert tick.index == self.next_tick, "ticks come out in order, each once"
        for name, releaser in self._releasers.items():
            self.tapes[name].step = tick.index
            with self.seen.refusals(tick.index):
                release = act(releaser)
                self.costs[name, tick.index] = release.cost
                self.seen.release(tick.index, release)
            self._stored[name] = releaser.snapshot().to_bytes()
            self.seen.note(tick.index, f"the snapshot of {name}", self._stored[name])
        self.given[tick.index] = values
        if tick.index in self.crash_at:
            self.crash_at.discard(tick.index)
            raise Crash
        return SimpleNamespace(tick=tick, keys=KEYS, is_predicted=values is None, cost=Cost.nothing())

    def say(self, words: str) -> None:
        self.seen.note(self.next_tick, "what is said", words)

    def close(self) -> None: ...

    def keep_cut(self, stream: str, cut: Cut) -> Cut:
        del stream
        copy = replace(cut, frontier=json.loads(json.dumps(dict(cut.frontier))))
        self.seen.note(self.next_tick, "when ticks are closed", (cut.tick, cut.time, cut.doubt))
        return self._cuts.setdefault(cut.tick, copy)

    def cuts(self, stream: str, first: int | None = None) -> list[Cut]:
        del stream
        return [cut for tick, cut in sorted(self._cuts.items()) if first is None or tick >= first]

    def forget_cuts(self, stream: str, before: int) -> None:
        del stream
        self._cuts = {tick: cut for tick, cut in self._cuts.items() if tick >= before}


class Play:
    """One script through one world. `counted_as` is the bound that is enforced: another than promised is a fault."""

    collectors: Callable[..., Collector] = Collector

    def __init__(
        self, world: World, script: Script, unit: Unit, stay: bool | timedelta, memory: Memory | None = None,
        counted_as: Unit | None = None,
    ) -> None:  # fmt: skip
        self.world, self.script, self.unit, self.stay = world, script, counted_as or unit, stay
        self.now = START
        self.memory = memory or Memory({}, {})
        self.limits: dict[str, int] = {}

    def clock(self) -> datetime:
        return self.now

    def collect(self, resume):
        time: Live | Replay = Live(timedelta(seconds=LATENESS), timedelta(seconds=AHEAD), START)
        if self.world.recorded:
            time = Replay(START, START + timedelta(seconds=SPAN))
        return self.collectors(
            self.world.counted, self.unit, timedelta(seconds=TICK), time, stay=self.stay,
            filters=Filters.none(), clock=self.clock, resume=resume, **self.limits,
        )  # fmt: skip

    def open(self) -> None:
        source = self.world.open()
        source.wait = lambda _: None  # type: ignore[method-assign]  # the clock is set by hand
        self.pipeline = Pipeline(
            self.memory, self.memory, source, self.collect, clock=self.clock, say=self.memory.say,  # type: ignore[arg-type]
        )  # fmt: skip

    def run(self) -> list[np.ndarray | None]:
        try:
            with parts(self.script.small), self.memory.seen.refusals(self.memory.next_tick):
                self._run_recorded() if self.world.recorded else self._run()
        finally:
            self.world.remove()
        return [self.memory.given[tick] for tick in sorted(self.memory.given)]

    def _run_recorded(self) -> None:
        """A file that is complete before anybody reads it. The process dies where it would have died in between."""
        for step in self.script.steps:
            if step.what == "write":
                self.world.write(step)
            elif step.what == "die":
                self.memory.crash_at.add(int(step.at) // TICK)
        going = True
        while going:
            try:
                self.memory.restart()
                self.open()
                while going:
                    going = self.pipeline.step()
            except Crash:
                self.world.die()

    def _run(self) -> None:
        self.open()
        for step in self.script.steps:
            self.now = START + timedelta(seconds=step.at)
            self.step(step)
        self.read()

    def step(self, step: Step) -> None:
        if step.what in ("write", "retry"):
            self.world.write(step)
        elif step.what == "rotate":
            self.world.murmur()
            self.pipeline._cutter.look()
            self.pipeline._source.frontier()  # the clock's thread looks several times a second
            self.world.rotate(step.how)
        elif step.what == "look":
            self.pipeline._cutter.look()
        elif step.what == "read":
            self.read()
        else:
            self.read()  # what was released before a crash must not depend on how much was read: a matter of time
            self.world.die()
            if step.how == "lose":
                self.world.lose()
            elif step.how == "debited" and self.memory.next_tick:
                self.memory.lose()
            self.memory.restart()
            self.open()

    def read(self) -> None:
        """Until everything is read and every cut is reached; the clock is looked at whatever there is to read."""
        self.pipeline._cutter.look()
        for _ in range(10_000):
            before = (self.memory.next_tick, self.pipeline._collector.statistics.events)
            self.pipeline.step()
            idle = not self.pipeline._again and not self.pipeline._cutter.behind
            if idle and before == (self.memory.next_tick, self.pipeline._collector.statistics.events):
                return
        raise AssertionError("it never comes to an end")


def excess(full: list[np.ndarray | None], less: list[np.ndarray | None], unit: Unit) -> str:
    """What of the promise is broken between two neighbours; empty where nothing is."""
    if [v is None for v in full] != [v is None for v in less]:
        return "other ticks are measured"
    change = np.array([np.zeros(len(KEYS)) if v is None else v - w for v, w in zip(full, less, strict=True)])
    by_tick = np.abs(change).sum(axis=1)
    if by_tick.max(initial=0) > unit.max_items:
        return f"a tick changes by {by_tick.max():g}"
    if not isinstance(unit, Window) and (by_tick > 0).sum() > unit.max_ticks:  # a window allows every tick
        return f"{(by_tick > 0).sum()} ticks change"
    return ""


@dataclass
class Played:
    """What one play gave; `wrong` is what told it apart from the first one already while it ran."""

    given: list[np.ndarray | None]
    memory: Memory
    wrong: str = ""


class Company:
    """One script, the mechanisms that release it, and one set of noisy values for all its neighbours."""

    play, memory = Play, Memory

    def __init__(
        self, make_world: Callable[[], World], script: Script, unit: Unit, stay: bool | timedelta,
        makers: Mapping[str, Maker], guarantee: Guarantee, source: ByteSource, counted_as: Unit | None = None,
    ) -> None:  # fmt: skip
        self._world, self._unit, self._stay, self._makers = make_world, unit, stay, makers
        self._counted_as, self.guarantee = counted_as, guarantee
        self._tapes = {name: Tape(source) for name in makers}
        self.first = self._played(script, self._tapes)

    def again(self, script: Script) -> Played:
        """A neighbour of the first play, with the noisy values of that one."""
        played = self._played(script, {name: tape.again() for name, tape in self._tapes.items()})
        if not played.wrong:
            try:
                self.first.memory.seen.expect_same(played.memory.seen, lambda tick: f"tick {tick}")
                for tape in played.memory.tapes.values():
                    tape.finish()
            except CheckFailed as told:
                played.wrong = str(told)
        return played

    def _played(self, script: Script, tapes: Mapping[str, Tape]) -> Played:
        memory = self.memory(self._makers, tapes)
        play = self.play(self._world(), script, self._unit, self._stay, memory, self._counted_as)
        try:
            return Played(play.run(), memory)
        except CheckFailed as told:
            return Played([], memory, str(told))

    def between(self, one: Played, two: Played, times: int = 1) -> str:
        """What of the promise is broken between two plays that differ in so many units; empty where nothing is."""
        if one.wrong or two.wrong:
            return one.wrong or two.wrong
        if wrong := excess(one.given, two.given, self._unit) if times == 1 else "":
            return wrong
        for name, tape in one.memory.tapes.items():
            if name == "toeplitz" and isinstance(self._unit, Window):
                continue  # its sums reach over many windows, and the two are neighbours in each of them
            loss = Loss.between(tape.rows, two.memory.tapes[name].rows, self.guarantee)
            factor = times if self.guarantee.kind == "pure" else times * times
            for tick in loss.steps:
                charged = amount(one.memory.costs[name, tick], self.guarantee)
                if loss.over([tick]) > factor * charged and name != "toeplitz":
                    return f"tick {tick} of {name} differs by {loss.over([tick])}, and {charged} was charged"
            cost = worst(loss, {tick: tick for tick in loss.steps}, self.guarantee)
            if cost > factor * self.guarantee.budget:
                return f"{name} differs by {cost}, and {self.guarantee.budget} was promised"
        return ""


def mechanisms(unit: Unit, seed: int, keys: Domain) -> tuple[dict[str, Maker], Guarantee]:
    """Plain noise, which shows all counts, and another by turns; every kind of promise by turns."""
    kinds = (Guarantee.pure(unit, 1), Guarantee.zcdp(unit, "1/2"), Guarantee.approximate(unit, 1, "1e-9"))
    guarantee = kinds[seed % len(kinds)]
    others = [name for name, method in METHODS.items() if method.traits.online and name not in ("lpa", "ranges")]
    chosen = ["lpa", others[seed % len(others)]]
    makers: dict[str, Maker] = {
        name: lambda source, name=name: make_mechanism(name, keys, guarantee, source=source) for name in chosen
    }
    method = "toeplitz" if guarantee.kind != "pure" and seed % 2 else "none"
    if seed % 4 == 0 or method == "toeplitz":
        makers[method] = lambda source: RangeStream(keys, guarantee, window=32, method=method, source=source)
    return makers, guarantee


def pairs(
    make_world: Callable[[], World], unit: Unit, stay: bool | timedelta, seeds: Iterable[int], people: int = 4,
    company: type[Company] = Company, counted_as: Unit | None = None,
) -> Iterator[tuple[int, str, str]]:  # fmt: skip
    """Plays each script with every subset of its units: (seed, which makes the difference, what was broken) a pair.

    With n units there are 2^n streams and n 2^(n-1) pairs of neighbours among them: many pairs for few streams. Then
    each unit in turn does everything later, and once everybody's lines come in another order.
    """
    for seed in seeds:
        rng = np.random.default_rng(seed)
        world = make_world()
        script = draw(rng, world.rotations, people, unit)
        keys = world.counted.keys if isinstance(world.counted, KeyDomain) else world.counted
        makers, guarantee = mechanisms(unit, seed, keys)
        with simulation(seed) as source:
            all_of_them = company(
                make_world, script.only(script.units), unit, stay, makers, guarantee, source, counted_as
            )
            found = {frozenset(script.units): all_of_them.first}
            for size in range(len(script.units)):
                for some in combinations(script.units, size):
                    found[frozenset(some)] = all_of_them.again(script.only(some))
            for some, full in found.items():
                for one in some:
                    yield seed, one, all_of_them.between(full, found[some - {one}])
            whole = frozenset(script.units)
            if isinstance(unit, Session) and unit.timeout != LONG:
                continue  # a visit that moves may come to lie beside the same person's other one
            for one in script.units[:2]:
                moved = all_of_them.again(script.moved(one, float(rng.uniform(1, 30))))
                yield seed, f"{one}, later", all_of_them.between(moved, found[whole - {one}])
                yield seed, f"{one}, earlier and later", all_of_them.between(moved, found[whole], times=2)
            other_order = all_of_them.again(script.reordered())
            yield seed, "the order", all_of_them.between(other_order, found[whole], times=0)


UNITS: list[tuple[Unit, bool | timedelta]] = [
    (Session(3, LONG), False),
    (Session(3, LONG), timedelta(seconds=25)),
    (Session(2, LONG, 2), True),
    (Window(2), False),
    (User(200, 200), False),
    (Event(), False),
    (Session(2, timedelta(seconds=30)), False),
]
RECORDED: list[tuple[Unit, bool | timedelta]] = [*UNITS, (User(3, 200), False), (User(2, 200, 2), False)]
"""A file can be read again from its beginning, so how often a person was counted is always known."""


MANY, FEW = 8, 4
"""Units in a script: 8 make 1,024 pairs of 256 streams, 4 make 32 of 16; brokers take longer for a stream."""


def main() -> None:
    """`python -m tests.support.whole_way PAIRS [FIRST SEED]`: so many pairs or more, over all sources and units.

    With `POLARS_MAX_THREADS=1` it is faster: tables of a few lines gain nothing from threads.
    """
    from tests.support.broker_worlds import KafkaWorld, NatsHouse

    wanted, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    done: Counter[str] = Counter()
    broken, numbers = [], count(first)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as name:
        os.environ.setdefault("HUBBUB_STATE", f"{name}/state")
        house = NatsHouse(Path(name) / "nats")
        makers = {source: (make, MANY) for source, make in worlds(Path(name)).items()}
        makers |= {"nats": (house.world, FEW), "kafka": (KafkaWorld, FEW)}
        while sum(done.values()) < wanted:
            for source, (make, units) in makers.items():
                kinds = RECORDED if source.startswith("file") else UNITS
                seed = next(numbers)
                unit, stay = kinds[seed % len(kinds)]  # so that sources, units and mechanisms meet in all ways
                if source == "kafka" and isinstance(unit, Event):
                    continue  # what is sent twice is stored twice there, and is two events
                for _, which, wrong in pairs(make, unit, stay, [seed], units):
                    done[source] += 1
                    if wrong:
                        broken.append((source, str(unit), stay, seed, which, wrong))
                        print(broken[-1], flush=True)
                print(f"seed {seed}, {source}: {sum(done.values()):,} pairs, {len(broken)} told apart", flush=True)
                if sum(done.values()) >= wanted:
                    break
        print(f"{sum(done.values()):,} pairs, all with restarts, {dict(done)}: {len(broken)} told apart", flush=True)
        house.close()
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
