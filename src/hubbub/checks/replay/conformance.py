"""The check that every releaser passes: neighbours that see the same noisy values cannot be told apart."""

from __future__ import annotations

import numpy as np

from hubbub.checks.failure import expect
from hubbub.checks.replay.releaser import replay_releaser
from hubbub.checks.replay.script import draw_pair
from hubbub.checks.subject import Subject
from hubbub.privacy import Event, Guarantee, Session, User, Window

TICKS = 14
UNITS = (Event(), Session(max_ticks=3), Session(max_ticks=4, max_items=2), Window(5), User(2, TICKS), User(None, TICKS))
PAIRS = 2
"""For each unit and kind of guarantee."""


def neighbours_look_the_same(subject: Subject) -> None:
    """Random neighbours with gaps, lost ticks, refusals and restarts: one run, and one with its noisy values returned.

    Every release, cost, refusal and snapshot is the same byte by byte, and what noise was added to differs by no more
    than was charged, in exact fractions. Nothing here fails by chance.
    """
    drawn = 0
    for number, unit in enumerate(UNITS):
        for guarantee in (Guarantee.pure(unit, 1), Guarantee.zcdp(unit, "1/2"), Guarantee.approximate(unit, 1, "1e-9")):
            for seed in range(PAIRS):
                pair = draw_pair(np.random.default_rng([number, seed]), unit, subject.keys, TICKS)  # not for privacy
                drawn += replay_releaser(lambda source, g=guarantee: subject.make(g, source), pair, seed).draws  # type: ignore[misc]
    expect(drawn > 0, "Nothing was ever measured: a replay has nothing to say.")
