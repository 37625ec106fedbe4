"""Numbers for pages that nobody has listed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hubbub.confidential import Sealed

UNLISTED = 0
"""The number of what no list may name: longer than `longest`, no plain text, or with a `*`, which means a pattern."""

LONGEST = 200
_PLAIN = r"^[^\p{C}\p{Zl}\p{Zp}*]*[^\p{C}\p{Z}*][^\p{C}\p{Zl}\p{Zp}*]*$"


class Vocabulary(Sealed):
    """Gives every different place a number, from 1 on, for as long as somebody needs it.

    Which number a place gets hangs on who came first, so nothing may be decided by numbers: they only stand for names.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.codes(pl.Series(["/", "/news", "/", "/" + 300 * "x", "/*"])).tolist()
    [1, 2, 1, 0, 0]
    """

    def __init__(self, longest: int = LONGEST) -> None:
        self._longest = longest
        self._codes: dict[str, int] = {}
        self._names: list[str | None] = [None]
        self._free: list[int] = []

    def codes(self, places: pl.Series) -> NDArray[np.int32]:
        """The number of each place; new ones get one."""
        different = places.unique(maintain_order=True)
        fit = (different.str.len_chars() <= self._longest) & different.str.contains(_PLAIN)
        numbers = np.array(
            [self._code(name) if plain else UNLISTED for name, plain in zip(different, fit, strict=True)],
            dtype=np.int32,
        )
        if not len(different):
            return np.empty(0, np.int32)
        rank = places.replace_strict(different, np.arange(len(different), dtype=np.uint32)).to_numpy()
        return np.asarray(numbers[rank])

    def names(self, codes: NDArray[np.int32]) -> list[str]:
        """The places behind numbers that are in use."""
        found = [self._names[code] for code in codes.tolist()]
        assert None not in found, "a number that stands for nothing"
        return [name for name in found if name is not None]

    def forget_all_but(self, used: Sequence[NDArray[np.int32]]) -> None:
        """Let go of every place whose number is in none of these: its number may go to another."""
        keep = np.zeros(len(self._names), np.bool_)
        for codes in used:
            keep[codes] = True
        for code in np.flatnonzero(~keep).tolist():
            name = self._names[code]
            if name is not None:
                del self._codes[name]
                self._names[code] = None
                self._free.append(code)

    def __len__(self) -> int:
        return len(self._codes)

    def __repr__(self) -> str:
        return "Vocabulary(<confidential>)"

    def _code(self, name: str) -> int:
        code = self._codes.get(name)
        if code is None:
            code = self._free.pop() if self._free else len(self._names)
            if code == len(self._names):
                self._names.append(name)
            else:
                self._names[code] = name
            self._codes[name] = code
        return code
