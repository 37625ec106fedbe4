"""A person's day as a Markov chain whose probabilities may differ from tick to tick."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from math import isfinite, lcm
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.contexts.steps import Steps
from hubbub.errors import InvalidInput, InvalidModel, InvalidParameter, UnknownKey
from hubbub.exact import Exact, exact
from hubbub.files import write_file

FORMAT = "hubbub-context-chain"
VERSION = 1
_ENTIRE = 1e-9


class ContextChain:
    """Contexts of a day of T ticks: where it starts, and from each tick to the next who goes where (Goetz 2012, 3.2).

    `start[i]` and `moves[t - 1][i][j]` are probabilities, as numbers or exact fractions; each row sums to one. A row
    of zeros says that its context cannot occur at that tick. The chain *is* what these numbers say exactly: a row's
    probabilities are its numbers divided by their sum, so that everything can be checked in exact fractions.

    >>> day = ContextChain(("desk", "call"), (1, 0), [[("1/2", "1/2"), (0, 0)]])
    >>> day.ticks, day.prior(1)
    (2, {'desk': 0.5, 'call': 0.5})
    """

    def __init__(
        self, contexts: Sequence[str], start: Sequence[Exact], moves: Sequence[Sequence[Sequence[Exact]]]
    ) -> None:
        self.contexts = _names(contexts)
        size = len(self.contexts)
        if len(start) != size or any(len(tick) != size or any(len(row) != size for row in tick) for tick in moves):
            raise InvalidModel(
                f"A chain of {size} contexts has a start of {size} numbers, and for each further tick {size} rows of "
                f"{size}.",
                "Give moves[t][i][j], the probability to be in j at tick t + 1 for who is in i at tick t.",
            )
        rows = [_row(start, "the start")]
        rows += [
            _row(row, f"tick {tick}, from {self.contexts[i]!r}")
            for tick, table in enumerate(moves, 1)
            for i, row in enumerate(table)
        ]
        self._weights(np.array(rows[0]), np.array(rows[1:]).reshape(len(moves), size, size))

    @classmethod
    def of_weights(cls, contexts: Sequence[str], start: NDArray[Any], moves: NDArray[Any]) -> ContextChain:
        """Rows as weights of any scale: a row's probabilities are its weights divided by their sum."""
        chain = cls.__new__(cls)
        chain.contexts = _names(contexts)
        size = len(chain.contexts)
        start, moves = np.asarray(start, dtype=float), np.asarray(moves, dtype=float)
        if start.shape != (size,) or moves.ndim != 3 or moves.shape[1:] != (size, size):
            raise InvalidModel(
                f"Weights of {size} contexts have the shapes ({size},) and (ticks - 1, {size}, {size}).",
                "Give one row for the start and one table for each further tick.",
            )
        if not (np.isfinite(start).all() and np.isfinite(moves).all() and (start >= 0).all() and (moves >= 0).all()):
            raise InvalidModel("A chain's weights are numbers of at least 0.", "Give counts, or probabilities.")
        chain._weights(start, moves)
        return chain

    def _weights(self, start: NDArray[np.float64], moves: NDArray[np.float64]) -> None:
        reached = start > 0
        if not reached.any():
            raise InvalidModel("The day starts nowhere: all its numbers are 0.", "Give at least one a chance.")
        for tick, table in enumerate(moves, 1):
            stuck = reached & ~(table > 0).any(axis=1)
            if stuck.any():
                name = self.contexts[int(np.argmax(stuck))]
                raise InvalidModel(
                    f"{name!r} can occur at tick {tick - 1}, but leads nowhere at tick {tick}.",
                    "Give its row probabilities that sum to one; only rows of contexts that cannot occur may be empty.",
                )
            reached = (table[reached] > 0).any(axis=0)
        self._start, self._moves = start, moves
        self._start.setflags(write=False)
        self._moves.setflags(write=False)

    @classmethod
    def fit(
        cls,
        days: Iterable[Sequence[str]],
        *,
        contexts: Sequence[str] | None = None,
        smoothing: float = 1.0,
        unseen: float = 1.0,
    ) -> ContextChain:
        """Learn a chain from days of observed contexts, all of the same length.

        A row at a tick is what was counted there, plus `smoothing` times how the same context is left at any time of
        the day, of which in turn `unseen` counts as a move to each context alike. So a move that was never seen keeps
        a small chance: a zero learned from few days is not a zero. With smoothing=0 the chain is the plain
        frequencies of Goetz 2012, 3.3, and what was not seen counts as impossible.

        >>> ContextChain.fit(["hw", "hh"], smoothing=0).prior(1)
        {'h': 0.5, 'w': 0.5}
        """
        if not all(isfinite(number) and number >= 0 for number in (smoothing, unseen)):
            raise InvalidParameter(
                f"`smoothing` and `unseen` are at least 0; got {smoothing} and {unseen}.", "1 is usual; 0 is none."
            )
        seen = [tuple(day) for day in days]
        if not seen or not seen[0] or len({len(day) for day in seen}) != 1:
            raise InvalidInput(
                "A chain is learned from at least one day, and all days have the same number of ticks.",
                "Cut the days into ticks of one length, and leave out days with gaps.",
            )
        if not all(isinstance(name, str) and name for day in seen for name in day):
            raise InvalidInput("A day has a tick whose context is not a word.", "Leave out days with gaps.")
        names = _names(sorted({name for day in seen for name in day}) if contexts is None else contexts)
        days_by_number = as_numbers(names, seen)
        size, ticks = len(names), days_by_number.shape[1]
        counts = np.zeros((ticks - 1, size, size))
        for tick in range(1, ticks):
            np.add.at(counts[tick - 1], (days_by_number[:, tick - 1], days_by_number[:, tick]), 1)
        start = np.bincount(days_by_number[:, 0], minlength=size).astype(float)
        if smoothing:
            anywhen = counts.sum(axis=0) + unseen / size
            total = anywhen.sum(axis=1, keepdims=True)
            counts = counts + smoothing * np.divide(anywhen, total, out=np.zeros_like(anywhen), where=total > 0)
            shares = np.bincount(days_by_number.ravel(), minlength=size) + unseen / size
            start = start + smoothing * shares / shares.sum()
        return cls.of_weights(names, start, counts)

    @property
    def ticks(self) -> int:
        return len(self._moves) + 1

    @property
    def size(self) -> int:
        return len(self.contexts)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The place of each context in `contexts`."""
        return {name: place for place, name in enumerate(self.contexts)}

    def number(self, context: str) -> int:
        try:
            return self.numbers[context]
        except (KeyError, TypeError):
            raise unknown_context() from None

    @cached_property
    def steps(self) -> Steps:
        total = self._moves.sum(axis=2, keepdims=True)
        return Steps(self._start / self._start.sum(), self._moves / np.where(total > 0, total, 1))

    @cached_property
    def exact_steps(self) -> Steps:
        """The same in exact fractions: slow, meant for small chains and for checks."""
        rows = [_fractions(row) for row in self._moves.reshape(-1, self.size)]
        moves = np.empty((self.ticks - 1) * self.size * self.size, dtype=object)
        moves[:] = [number for row in rows for number in row]
        start = np.empty(self.size, dtype=object)
        start[:] = _fractions(self._start)
        return Steps(start, moves.reshape(self.ticks - 1, self.size, self.size), exact=True)

    def prior(self, tick: int) -> dict[str, float]:
        """What is believed about a tick before anything is released (Goetz 2012, Prop. 1)."""
        return dict(zip(self.contexts, map(float, self.steps.prior[self.check_tick(tick)]), strict=True))

    def check_tick(self, tick: int) -> int:
        if isinstance(tick, bool) or not isinstance(tick, int | np.integer) or not 0 <= tick < self.ticks:
            raise InvalidParameter(
                f"A day has the ticks 0 to {self.ticks - 1}; got {tick!r}.", "Count a day's ticks from 0."
            )  # fmt: skip
        return int(tick)

    def sample(self, rng: np.random.Generator) -> tuple[str, ...]:  # not for privacy: made-up days for experiments
        """A made-up day."""
        steps = self.steps
        here = int(rng.choice(self.size, p=steps.first))
        day = [here]
        for move in steps.moves:
            here = int(rng.choice(self.size, p=move[here]))
            day.append(here)
        return tuple(self.contexts[number] for number in day)

    def among(self, contexts: Sequence[str]) -> ContextChain:
        """The same days, told in these contexts: others of theirs cannot occur. For chains that were learned when fewer
        contexts were known.

        >>> ContextChain(("b",), (1,), []).among(("a", "b")).prior(0)
        {'a': 0.0, 'b': 1.0}
        """
        names = _names(contexts)
        if not set(self.contexts) <= set(names):
            raise InvalidParameter(
                "A context of the chain is not among those it shall be told in.", "Give all that the chain has, too."
            )
        places = [names.index(name) for name in self.contexts]
        start, moves = np.zeros(len(names)), np.zeros((self.ticks - 1, len(names), len(names)))
        start[places] = self._start
        moves[:, np.array(places)[:, None], places] = self._moves
        return ContextChain.of_weights(names, start, moves)

    def plot(self, path: str | Path) -> None:
        """A picture of a day, as one SVG file: how likely each context is at each tick."""
        from hubbub.contexts.picture import chain_picture  # pictures know chains

        chain_picture(self).save(path)

    def save(self, path: str | Path) -> None:
        document = {
            "format": FORMAT,
            "version": VERSION,
            "contexts": list(self.contexts),
            "start": self._start.tolist(),
            "moves": self._moves.tolist(),
        }
        write_file(Path(path), (json.dumps(document, allow_nan=False) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> ContextChain:
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
            if document["format"] != FORMAT:
                raise KeyError
            version = document["version"]
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "Give the file of a chain.") from None
        except (ValueError, KeyError, TypeError, RecursionError):
            raise _no_chain(path) from None
        if version != VERSION:
            raise InvalidInput(
                f"{path} holds a chain of version {version}; this Hubbub reads version {VERSION}.",
                "Fit it again with `hubbub mask fit`.",
            )
        try:
            moves = np.array(document["moves"], dtype=float)
            if not moves.size:
                moves = np.zeros((0, len(document["contexts"]), len(document["contexts"])))
            return cls.of_weights(document["contexts"], np.array(document["start"], dtype=float), moves)
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, InvalidModel):
                raise
            raise _no_chain(path) from None

    def __repr__(self) -> str:
        return f"ContextChain({self.size} contexts, {self.ticks} ticks)"


def as_numbers(names: Sequence[str], days: Sequence[Sequence[str]]) -> NDArray[np.intp]:
    """Days as a table of places in `names`."""
    places = {name: place for place, name in enumerate(names)}
    try:
        return np.array([[places[name] for name in day] for day in days], dtype=np.intp)
    except KeyError:
        raise unknown_context() from None


def unknown_context() -> UnknownKey:
    # Which one it was may be what the person hides.
    return UnknownKey(
        "A context is not among the chain's.", "Fit the chain with all contexts that can occur, or map this one to one."
    )


def _no_chain(path: str | Path) -> InvalidInput:
    return InvalidInput(f"{path} is not the file of a chain.", "Write it with `hubbub mask fit` or `chain.save`.")


def _names(contexts: Sequence[str]) -> tuple[str, ...]:
    names = tuple(contexts)
    if not names or not all(isinstance(name, str) and name for name in names) or len(set(names)) != len(names):
        raise InvalidModel("Contexts are different words, at least one.", "Give each context one name.")
    return names


def _row(row: Sequence[Exact], place: str) -> list[float]:
    """A row's numbers, as floats that stand in exactly the same proportions where whole numbers can say them."""
    numbers = [exact(value, "a probability") for value in row]
    total = sum(numbers, Fraction(0))
    if any(number < 0 for number in numbers):
        raise InvalidModel(f"A probability below 0 ({place}).", "Probabilities lie between 0 and 1.")
    if not total:
        return [0.0] * len(numbers)
    if abs(total - 1) > _ENTIRE:
        raise InvalidModel(
            f"A row sums to {float(total):.6g}, not to one ({place}).",
            "Divide it by its sum; or give counts with `ContextChain.of_weights`.",
        )
    common = lcm(*(number.denominator for number in numbers))
    whole = [int(number * common) for number in numbers]
    if max(whole) <= 2**53:
        return [float(number) for number in whole]
    return [float(number) for number in numbers]


def _fractions(row: NDArray[np.float64]) -> list[Fraction]:
    numbers = [Fraction(float(value)) for value in row]
    total = sum(numbers, Fraction(0))
    return [number / total for number in numbers] if total else numbers
