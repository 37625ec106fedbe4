"""Bad input is refused with a typed error, and nothing is spent or changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hubbub.checks.failure import expect
from hubbub.checks.subject import Subject, counts
from hubbub.confidential import Counts
from hubbub.errors import InvalidCounts, TickOutOfOrder, UnknownKey, WrongUse
from hubbub.released import Keys, Tick

_NAN, _INFINITE = float("nan"), float("inf")


def bad_input_spends_nothing(subject: Subject) -> None:
    """NaN, negative, fractional or huge counts, unknown or missing keys, ticks twice or out of order."""
    releaser, keys = subject.make(), subject.keys
    for tick in range(4):
        releaser.release(subject.counts(tick))
    usual = dict.fromkeys(keys.names, 5)

    def given(values: Any) -> Callable[[], Counts]:
        return lambda: Counts.of(keys, Tick(4), values)

    attempts: list[tuple[str, type[WrongUse], Callable[[], Counts]]] = [
        *[
            (what, InvalidCounts, given([value, 1, 1]))
            for what, value in (
                ("NaN", _NAN),
                ("an infinite count", _INFINITE),
                ("a negative count", -1),
                ("a fraction", 0.5),
                ("a count above 2^52", 2**53),
                ("a count beyond 64 bits", 2**70),
                ("text", "5"),
                ("nothing", None),
            )
        ],
        ("too few counts", InvalidCounts, given([1, 1])),
        ("an unknown key", UnknownKey, given({**usual, "weather": 1})),
        ("a missing key", UnknownKey, given({keys.names[0]: 1})),
        ("other keys", UnknownKey, lambda: counts(4, [1, 1, 1], Keys(["x", "y", "z"]))),
        ("the same keys in another order", UnknownKey, lambda: counts(4, [1, 1, 1], Keys(keys.names[::-1]))),
        ("a tick twice", TickOutOfOrder, lambda: subject.counts(3)),
        ("an earlier tick", TickOutOfOrder, lambda: subject.counts(1)),
        ("a tick ages ahead", TickOutOfOrder, lambda: subject.counts(2**40)),
    ]
    for what, error, make in attempts:
        before, spent = releaser.snapshot().to_bytes(), releaser.spent
        try:
            releaser.release(make())
        except error as refused:
            expect(bool(refused.message), f"The error for {what} says nothing.")
        except Exception as other:
            expect(False, f"{what} ended in {type(other).__name__} instead of {error.__name__}.")
        else:
            expect(False, f"{what} was accepted.")
        expect(releaser.spent == spent, f"{what} was refused and charged for.")
        expect(releaser.snapshot().to_bytes() == before, f"{what} was refused and left a trace.")
    expect(releaser.release(subject.counts(4)).keys == keys, "After refusals the stream does not go on.")
