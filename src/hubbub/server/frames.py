"""One tick of a map in few bytes: every cell's value, error and state, rounded for the eye."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from hubbub.released import Release
from hubbub.released.value import State
from hubbub.server.packing import LARGEST, about, damaged, from_varints, opened, sealed, varints

MARK = b"HBF1"

STATES: tuple[str, ...] = tuple(name for name in get_args(State) if name != "predicted")
"""What is written for a cell's state is its place in here. That a tick was predicted is said of the tick."""

FINE = 200_000
"""Cells up to which a frame is rounded by its finer errors: it is small anyway."""

HALF, COARSE = 0.5, 0.6
"""What part of such an error a step is at most, of few cells and of many: of a million each tenth is 15 kB a tick."""

UNKNOWN = 255
_EIGHTHS, _LEAST = 8, -10
_REACH = 1.96


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The cells of one tick: `codes` times `step` are the values, `errors` and `states` one byte each.

    The step is about half of what a cell is usually wrong by, so rounding hides less than noise does. Errors are told
    to about a tenth, and never too small. Whether a cell is within its noise is decided before anything is rounded.
    """

    tick: int
    step: float
    codes: NDArray[np.int64]
    errors: NDArray[np.uint8]
    states: NDArray[np.uint8]
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else is told of the tick, as plain JSON values."""

    @classmethod
    def of(cls, release: Release, facts: Mapping[str, Any] | None = None) -> Frame:
        states = states_of(release)
        known = (states != STATES.index("unknown")) & (states != STATES.index("withheld"))
        values = np.where(known, release.values, 0.0)
        step = step_for(values, np.where(known, release.standard_errors, 0.0))
        codes = np.rint(values / step).astype(np.int64)
        errors = np.where(known, coded(np.where(known, release.standard_errors, 0.0)), UNKNOWN).astype(np.uint8)
        return cls(release.tick.index, step, codes, errors, states, facts or {})

    @property
    def values(self) -> NDArray[np.float64]:
        values: NDArray[np.float64] = self.codes * np.float64(self.step)
        return values

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        return decoded(self.errors)

    def encode(self, base: Frame | None = None) -> bytes:
        """All of it; or, with a `base`, what is different from that, if it is shorter."""
        whole = varints(self.codes), self.errors.tobytes()
        if base is None or len(base.codes) != len(self.codes):
            return self._sealed(None, *whole)
        moved = self.codes - base.in_steps_of(self.step)
        if np.abs(moved).max(initial=0) > LARGEST:  # the scale is quite another one now
            return self._sealed(None, *whole)
        changed = varints(moved), (self.errors - base.errors).tobytes()
        if sum(map(about, changed)) < sum(map(about, whole)):
            return self._sealed(base.tick, *changed)
        return self._sealed(None, *whole)

    def in_steps_of(self, step: float) -> NDArray[np.int64]:
        """The codes as they would be with another step, reckoned from the rounded ones: a reader has no others."""
        if step == self.step:
            return self.codes
        codes: NDArray[np.int64] = np.floor(self.codes * (self.step / step) + 0.5).astype(np.int64)
        return codes

    def _sealed(self, base: int | None, codes: bytes, errors: bytes) -> bytes:
        limits = self._limits()
        likely = _likely(self.codes, self.errors, limits)
        others = np.flatnonzero(self.states != likely)
        head = {
            **self.facts,
            "tick": self.tick,
            "base": base,
            "step": self.step,
            "cells": len(self.codes),
            "limits": limits,
            "others": len(others),
        }
        return sealed(MARK, head, codes, errors, varints(np.diff(others, prepend=0)), self.states[others].tobytes())

    def _limits(self) -> list[list[int]]:
        """For each error that occurs, the largest code that is likely within its noise. A cell that is otherwise is
        told by itself: so a state takes hardly any room."""
        present = np.unique(self.errors)
        ends = np.floor(_REACH * np.minimum(decoded(present), 1e12) / self.step)
        return [[int(one), int(min(end, LARGEST))] for one, end in zip(present, ends, strict=True)]

    @classmethod
    def read(cls, sent: bytes, base: Frame | None = None) -> Frame:
        """The inverse of `encode`. One that says what is different needs the frame that it differs from."""
        facts, content, at = opened(MARK, sent)
        try:
            tick, before, step, many, limits, others = (facts.pop(name) for name in _HEAD)
        except KeyError:
            raise damaged("its head cannot be read") from None
        if not all(type(one) is int for one in (tick, many, others)) or not isinstance(step, (int, float)):
            raise damaged("its head cannot be read")
        codes, at = from_varints(content, many, at)
        errors = np.frombuffer(content, dtype=np.uint8, offset=at)[:many]
        gaps, at = from_varints(content, others, at + many)
        told = np.frombuffer(content, dtype=np.uint8, offset=at)
        where = np.cumsum(gaps)
        if len(errors) != many or len(told) != others or (others and not 0 <= where.min() <= where.max() < many):
            raise damaged("cells are missing, or too many")
        if before is not None:
            if base is None or base.tick != before or len(base.codes) != many:
                raise damaged(f"it says what changed since tick {before}, which is not at hand")
            codes, errors = codes + base.in_steps_of(step), errors + base.errors
        states = _likely(codes, errors, limits)
        states[where] = told
        if many and states.max() >= len(STATES):
            raise damaged("a cell has no such state")
        return cls(tick, step, codes, errors, states, facts)


_HEAD = ("tick", "base", "step", "cells", "limits", "others")


def _likely(codes: NDArray[np.int64], errors: NDArray[np.uint8], limits: Sequence[Sequence[int]]) -> NDArray[np.uint8]:
    """What a cell's state is, unless it is told otherwise."""
    table = np.full(256, LARGEST, dtype=np.int64)
    for error, limit in limits:
        table[error] = limit
    return np.where(codes > table[errors], STATES.index("measured"), STATES.index("within_noise")).astype(np.uint8)


def states_of(release: Release) -> NDArray[np.uint8]:
    """The state of every cell, by the rules of `Value.state`; but `zero` is only what cannot be otherwise.

    An interval that ends at zero has an error all the same, and among a million cells many end there by chance.
    """
    found = np.full(len(release.values), STATES.index("measured"), dtype=np.uint8)
    found[release.lower <= 0] = STATES.index("within_noise")
    found[(release.upper <= 0) & (release.standard_errors <= 0)] = STATES.index("zero")
    found[~np.isfinite(release.standard_errors)] = STATES.index("unknown")
    found[~np.isfinite(release.values)] = STATES.index("withheld")
    return found


def step_for(values: NDArray[np.float64], errors: NDArray[np.float64]) -> float:
    """What values are rounded to: about half of a usual error, or of a small one where cells are few.

    >>> step_for(np.array([100.0, 3.0]), np.array([40.0, 44.0]))
    20.0
    """
    some = errors[errors > 0]
    part, usual = (HALF, 0.1) if len(errors) <= FINE else (COARSE, 0.5)
    wanted = part * float(np.quantile(some, usual)) if len(some) else 1.0
    largest = float(np.abs(values).max(initial=0.0))
    wanted = max(wanted, 0.01, 2 * largest / LARGEST)
    power = 10.0 ** (math.floor(math.log10(wanted)) - 1)
    return float(f"{max(math.floor(wanted / power + 1e-9), 10) * power:.12g}")


def coded(errors: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Errors as eighths of a power of two, rounded up; 0 is none at all."""
    positive = errors > 0
    logs = np.log2(errors, where=positive, out=np.zeros_like(errors))
    eighths = np.ceil(_EIGHTHS * (logs - _LEAST) - 1e-9) + 1
    return np.where(positive, np.clip(eighths, 1, UNKNOWN - 1), 0).astype(np.uint8)


def decoded(codes: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The errors again: nothing for 0, no end for what is unknown."""
    table = 2.0 ** ((np.arange(256) - 1) / _EIGHTHS + _LEAST)
    table[0], table[UNKNOWN] = 0.0, math.inf
    return table[codes]
