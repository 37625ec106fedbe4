"""Which results to send when only a generalised context is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import InvalidParameter, UnknownKey
from hubbub.personal.choice import NOTHING, Choice
from hubbub.personal.gains import Gains

Floats = NDArray[np.float64]


class Selector:
    """Chooses k results that maximise what the client's best one is expected to bring (Goetz 2012, 4.2.3):

        sum over contexts c of  Pr[c | generalised]  max over chosen a of  bid(a, c) CTR(a | c)

    `rates[a][c]` is the CTR of result a in context c; `bids` one number, one for each result, or one for each result
    and context (0 where it must not be shown); `chances[c]` the weight of a context, all alike if left out. A CTR below
    `floor` counts as 0: such a result is never shown there.

    The choice is that of the plain greedy algorithm (Goetz 2012, Alg. 6), ties going to the result that was given
    first, and so within 1 - 1/e of the best; `Choice.bound` tells how much better any choice could be. Gains are
    evaluated lazily: one that was too small before cannot be large enough now. Proof: docs/proofs/personal.md.

    >>> selector = Selector(["cafe", "bar", "gym"], [[0.9, 0.8, 0.0], [0.7, 0.9, 0.0], [0.0, 0.0, 0.5]])
    >>> selector.choose(2).results, selector.choose(2).best.tolist()
    (('cafe', 'gym'), [0, 0, 1])
    >>> selector.set_bid("bar", 3)
    >>> selector.choose(1)
    Choice(1 results, value 1.6, at least 100% of the best)
    """

    def __init__(
        self,
        results: Sequence[str],
        rates: ArrayLike,
        *,
        bids: ArrayLike = 1.0,
        chances: ArrayLike | None = None,
        floor: float = 0.0,
    ) -> None:
        self.results = tuple(results)
        if not self.results:
            raise InvalidParameter("There are no results to choose from.", "Give at least one.")
        if not all(isinstance(name, str) and name for name in self.results):
            raise InvalidParameter("Results are named by words.", "Give each result one name.")
        self._places = {name: place for place, name in enumerate(self.results)}
        if len(self._places) != len(self.results):
            raise InvalidParameter("Two results have the same name.", "Give each result one name.")
        self._rates = check_rates(rates, len(self.results))
        if not self._rates.shape[1]:
            raise InvalidParameter("There is no context to choose for.", "Give at least one column of CTRs.")
        self.floor = check_floor(floor)
        self._chances = check_chances(chances, self.contexts)
        self._bids = _check_bids(bids, self._rates.shape)
        self._gains = Gains(self._worth(slice(None)))

    @property
    def contexts(self) -> int:
        return int(self._rates.shape[1])

    def _worth(self, rows: slice) -> Floats:
        """What each result brings, weighted by the context's chance: the largest of a column is what counts."""
        worth = self._brings(rows)
        worth *= self._chances
        return worth

    def _brings(self, rows: slice) -> Floats:
        """What each result brings in each context: its bid times its CTR, nothing below the floor."""
        rates, bids = self._rates[rows], self._bids[rows]
        brings = np.asarray(rates * (bids if bids.ndim == 2 else bids[:, None]))
        if self.floor > 0:
            brings[rates < self.floor] = 0.0
        return brings

    def choose(self, k: int, *, cost: float = 0.0, ban: Iterable[str] = ()) -> Choice:
        """At most `k` results, fewer where more would bring nothing; those in `ban` are left out.

        With `cost` what each result that is sent must bring at least: the value less cost times results is maximised
        (Goetz 2012, Theorem 8).
        """
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise InvalidParameter(f"`k` is a whole number from 1 on; got {k!r}.", "5 or 10 is usual.")
        check_cost(cost)
        banned = [self._place(name) for name in several(ban)]
        chosen, gains, bound = self._gains.greedy(min(k, len(self.results)), cost, banned)
        value = float(np.add.reduce(self._gains.worth[chosen].max(axis=0, initial=0.0))) - cost * len(chosen)
        everything = self._gains.everything(banned)
        most = max(0.0, min(bound, everything - cost if everything > cost else 0.0))
        return Choice(
            tuple(self.results[place] for place in chosen),
            value,
            max(most, value),
            everything,
            tuple(gains),
            self._best(chosen),
        )

    def _best(self, chosen: Sequence[int]) -> NDArray[np.int16]:
        """Without chances: who is where nobody was expected is shown the best all the same."""
        if not chosen:
            return np.full(self.contexts, NOTHING, dtype=np.int16)
        brings = np.stack([self._brings(slice(place, place + 1))[0] for place in chosen])
        return np.where(brings.max(axis=0) > 0, brings.argmax(axis=0), NOTHING).astype(np.int16)

    def set_bid(self, result: str, bid: ArrayLike) -> None:
        """Change what one result pays: one number, or one for each context."""
        place = self._place(result)
        new = np.asarray(bid, dtype=float)
        if new.ndim and self._bids.ndim == 1:
            self._bids = np.repeat(self._bids[:, None], self.contexts, axis=1)
        if new.ndim > 1 or (new.ndim == 1 and len(new) != self.contexts):
            raise _wrong_bids(self._rates.shape)
        _refuse_bids(new)
        self._bids[place] = new
        self._gains.replace(place, self._worth(slice(place, place + 1))[0])

    def set_rate(self, result: str, context: int, rate: float) -> None:
        """Change one CTR."""
        place = self._place(result)
        if isinstance(context, bool) or not isinstance(context, int) or not 0 <= context < self.contexts:
            raise UnknownKey(
                f"A context's number lies between 0 and {self.contexts - 1}.", "Count the columns of `rates` from 0."
            )
        self._rates[place, context] = check_rates([[rate]], 1)[0, 0]
        self._gains.replace(place, self._worth(slice(place, place + 1))[0])

    def _place(self, result: str) -> int:
        try:
            return self._places[result]
        except (KeyError, TypeError):
            raise UnknownKey("There is no result of that name.", "See `selector.results`.") from None

    def __repr__(self) -> str:
        return f"Selector({len(self.results):,} results, {self.contexts:,} contexts)"


def check_rates(rates: ArrayLike, results: int) -> Floats:
    """CTRs as a table of our own."""
    try:
        table = np.array(rates, dtype=float)
    except (TypeError, ValueError):
        raise InvalidParameter("CTRs are numbers, one row for each result.", "Give rates[result][context].") from None
    if table.ndim != 2 or len(table) != results:
        raise InvalidParameter(
            f"CTRs are a table with one row for each of the {results:,} results; got the shape {table.shape}.",
            "Give rates[result][context].",
        )
    if table.size and not (table.min() >= 0 and table.max() <= 1):  # NaN fails both
        raise InvalidParameter(
            "A CTR is a part between 0 and 1; one is negative, above 1, or no number.",
            "Divide clicks by how often a result was shown; leave out what was never shown by giving 0.",
        )
    return table


def several(names: Iterable[str]) -> list[str]:
    if isinstance(names, str):
        raise InvalidParameter(
            "Results to leave out are a list of names, and this is one text: its letters would be taken for names.",
            'Write ban=["cinema"].',
        )
    return list(names)


def check_cost(cost: float) -> float:
    if not _is_number(cost) or not isfinite(cost) or cost < 0:
        raise InvalidParameter(f"`cost` is at least 0; got {cost!r}.", "It is in the unit of the bids.")
    return float(cost)


def _is_number(given: object) -> bool:
    return isinstance(given, int | float | np.number) and not isinstance(given, bool)


def check_floor(floor: float) -> float:
    if not _is_number(floor) or not isfinite(floor) or not 0 <= floor <= 1:
        raise InvalidParameter(f"`floor` is a CTR, between 0 and 1; got {floor!r}.", "0 is none.")
    return float(floor)


def check_chances(chances: ArrayLike | None, contexts: int) -> Floats:
    try:
        weights = np.ones(contexts) if chances is None else np.array(chances, dtype=float)
    except (TypeError, ValueError, OverflowError):
        weights = np.array(np.nan)
    if weights.shape != (contexts,):
        raise InvalidParameter(
            f"`chances` has one number for each of the {contexts:,} contexts; got the shape {weights.shape}.",
            "Give how often each context occurs.",
        )
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise InvalidParameter(
            "Chances are numbers of at least 0, and not all of them 0.", "Give how often each context occurs."
        )
    weights /= weights.max()  # so that no sum is too large to be held
    return np.asarray(weights / weights.sum())


def _check_bids(bids: ArrayLike, shape: tuple[int, ...]) -> Floats:
    try:
        given = np.array(bids, dtype=float)
    except (TypeError, ValueError):
        raise _wrong_bids(shape) from None
    if given.shape not in ((), shape[:1], shape):
        raise _wrong_bids(shape)
    _refuse_bids(given)
    return np.array(np.broadcast_to(given, shape[:1])) if given.ndim < 2 else given


def _wrong_bids(shape: tuple[int, ...]) -> InvalidParameter:
    return InvalidParameter(
        f"Bids are one number, one for each of the {shape[0]:,} results, or a table of results and contexts.",
        "Give bids[result] or bids[result][context].",
    )


def _refuse_bids(bids: Floats) -> None:
    if bids.size and not (bids.min() >= 0 and np.isfinite(bids.max())):
        raise InvalidParameter(
            "A bid is negative or no number: a result that costs its sender nothing has the bid 0.",
            "Give numbers of at least 0.",
        )
