"""What the Lab's pages ask for, answered."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from hubbub.confidential import Confidential
from hubbub.errors import InvalidInput, Overloaded, WrongUse
from hubbub.lab.playground import words
from hubbub.lab.playground.asked import (
    LONGEST_TABLE,
    MOST_TICKS,
    ContextsAsked,
    DaysAsked,
    LiveAsked,
    PlanAsked,
    Promise,
    RunAsked,
    SeriesAsked,
    StepAsked,
    options_asked,
    understood,
)
from hubbub.lab.playground.chosen import Chosen
from hubbub.lab.playground.kinds import KINDS, KindWords
from hubbub.lab.playground.live import LiveRun, Shelf
from hubbub.lab.playground.masked import POLICIES, Masked
from hubbub.lab.playground.observed import Observed
from hubbub.lab.playground.people import PEOPLE
from hubbub.lab.playground.personal import personal
from hubbub.lab.playground.plan import Plan
from hubbub.lab.playground.samples import samples
from hubbub.lab.playground.script import script_of
from hubbub.lab.playground.trial import Step, Trial
from hubbub.methods import METHODS, described, make_mechanism, usual_method
from hubbub.released import Keys

MOST_RUNNING = 2
PATIENCE = 1.5
"""Seconds to wait for a turn: a run that its tab has given up needs a moment to end."""
MOST_SECONDS = 60.0
"""A longer run is for the command line."""
TELL_SECONDS = 0.2
"""How often a run says how far it is."""

Facts = Mapping[str, Any]
_ONE = Keys(["count"])


class Playground:
    """Computes for the Lab. Nothing it is given is kept longer than the answer takes, nothing is written.

    A live run keeps its mechanism's state between values; the values themselves pass through.
    """

    def __init__(self, most_running: int = MOST_RUNNING, patience: float = PATIENCE) -> None:
        self.shelf = Shelf()
        self._patience = patience
        self._turns = threading.BoundedSemaphore(most_running)
        self._closed = threading.Event()
        self._fitting = {unit.name: {kind.name: _fitting(unit, kind) for kind in KINDS} for unit in words.UNITS}

    def choices(self) -> Facts:
        """All that the page offers, with its words."""
        return {
            "samples": [sample.to_dict() for sample in samples()],
            "units": [unit.to_dict() | {"fitting": self._fitting[unit.name]} for unit in words.UNITS],
            "methods": {name: text for name, text in words.METHODS.items() if name in METHODS},
            "options": {name: described(METHODS[name]) for name in words.METHODS if name in METHODS},
            "kinds": [kind.to_dict() for kind in KINDS],
            "people": [person.to_dict() for person in PEOPLE],
            "limits": {"ticks": MOST_TICKS, "table": LONGEST_TABLE},
        }

    def series(self, asked: Facts) -> Facts:
        return Chosen.of(understood(SeriesAsked, asked)).to_dict()

    def run(self, asked: Facts) -> Generator[Facts, None, None]:
        wanted = understood(RunAsked, asked)
        with self._turn():
            chosen = Chosen.of(wanted)
            trial = Trial(
                chosen,
                wanted.guarantee(len(chosen.series)),
                wanted.method,
                wanted.seed,
                options_asked(wanted.method, wanted.options),
            )
            yield {"done": 0, "of": len(chosen.series)}
            steps: list[Step] = []
            begun = told = time.monotonic()
            for step in trial.steps():
                steps.append(step)
                if self._closed.is_set():
                    return
                if time.monotonic() - told > TELL_SECONDS:
                    told = time.monotonic()
                    if told - begun > MOST_SECONDS:
                        raise InvalidInput(
                            f"{wanted.method} takes longer than {MOST_SECONDS:g} seconds on this series.",
                            "Take a part of it, or use `hubbub release` on the command line.",
                        )
                    yield {"done": len(steps), "of": len(chosen.series)}
            yield {"done": len(steps), "of": len(chosen.series), "result": trial.result(steps)}

    def plan(self, asked: Facts) -> Generator[Facts, None, None]:
        wanted = understood(PlanAsked, asked)
        with self._turn():
            plan = Plan.of(wanted)
            expected = []
            yield {"done": 0, "of": len(plan.cells)}
            for method, guarantee in plan.cells:
                if self._closed.is_set():
                    return
                expected.append(plan.expect(method, guarantee))
                yield {"done": len(expected), "of": len(plan.cells)}
            yield {"done": len(expected), "of": len(plan.cells), "result": plan.result(expected)}

    def days(self, asked: Facts) -> Facts:
        return Observed.of(understood(DaysAsked, asked)).to_dict()

    def contexts(self, asked: Facts) -> Generator[Facts, None, None]:
        wanted = understood(ContextsAsked, asked)
        with self._turn():
            masked = Masked(Observed.of(wanted), wanted)
            yield {"done": 0, "of": len(POLICIES), "scene": masked.scene()}
            for done, name in enumerate(POLICIES, 1):
                if self._closed.is_set():
                    return
                yield {"done": done, "of": len(POLICIES), "policy": masked.policy(name)}
            yield {"done": len(POLICIES), "of": len(POLICIES), "result": masked.result()}

    def personal(self, asked: Facts) -> Facts:
        return personal(asked)

    def script(self, asked: Facts) -> str:
        wanted = understood(RunAsked, asked)
        return script_of(wanted, Chosen.of(wanted))

    def begin(self, asked: Facts) -> Facts:
        wanted = understood(LiveAsked, asked)
        run = LiveRun(wanted)
        facts = {"guarantee": run.guarantee.sentence, "budget": float(run.guarantee.budget)}
        return {"run": self.shelf.add(run), "horizon": run.guarantee.unit.horizon, **facts}

    def step(self, run: str, asked: Facts) -> Facts:
        value = understood(StepAsked, asked).value
        return self.shelf.get(run).step(None if value is None else Confidential(value))

    def end(self, run: str) -> None:
        self.shelf.drop(run)

    def close(self) -> None:
        self._closed.set()
        self.shelf.clear()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        if not self._turns.acquire(timeout=self._patience):
            raise Overloaded("The Lab is busy with other runs.", "Try again in a moment.", retry_after=2)
        try:
            yield
        finally:
            self._turns.release()


def _fitting(unit: words.UnitWords, kind: KindWords) -> dict[str, Any]:
    """Which methods take this unit and can promise this kind, and which are compared unless somebody chooses."""
    promise = {"unit": unit.name, "ticks": unit.usual or None, **kind.budget(kind.usual)}
    guarantee = Promise.model_validate(promise).guarantee(100)
    fits = []
    for name in words.METHODS:
        if name in METHODS:
            try:
                make_mechanism(name, _ONE, guarantee)
            except WrongUse:
                continue
            fits.append(name)
    if unit.name in ("event", "session"):
        fits.remove("sample")  # without a horizon or a window it measures every tick: `lpa` by another name
    usual = [usual_method(guarantee, keys=1), "lpa", "adaptive", "sample"]
    return {"fits": fits, "chosen": [name for name in dict.fromkeys(usual) if name in fits]}
