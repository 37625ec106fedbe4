"""From paths to public keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.released import Keys

UNKNOWN = -1
"""The code of a path that is no key, where there is no `other`."""


class KeyDomain:
    """The public list of keys, and the rule that gives each path one of them.

    A name that starts with `/` and holds no `*` is that path. A `*` stands for any characters, slashes too. Give a
    mapping to name a pattern. An exact path wins over patterns, an earlier pattern over a later one. What fits nothing
    is `other` (or dropped, with `other=None`).

    Before the look-up a path loses its scheme and host, query and fragment; then `%41` becomes `A` (once); then it is
    put in lower case if `lower` is set.

    >>> domain = KeyDomain({"front": "/", "articles": "/article/*"})
    >>> domain.keys
    Keys(front, articles, other: 3)
    >>> domain.codes(pl.Series(["/article/7?utm=x", "/", "/%61rticle/8", "/wp-login.php"])).tolist()
    [1, 0, 1, 2]
    """

    def __init__(
        self, names: Iterable[str] | Mapping[str, str] | Keys, *, other: str | None = "other", lower: bool = False
    ) -> None:
        routes = dict(names) if isinstance(names, Mapping) else {name: name for name in Keys(_listed(names))}
        if other is not None and other in routes:
            raise InvalidParameter(
                f"The key {other!r} is listed, and is also where unknown paths go.", "Choose another name for `other`."
            )
        self.keys = Keys([*routes, *([] if other is None else [other])])
        self.other, self._lower = other, lower
        self.routes: Mapping[str, str] = {name: route.lower() if lower else route for name, route in routes.items()}
        self._unknown = UNKNOWN if other is None else len(self.keys) - 1
        self._exact: dict[str, int] = {}
        self._patterns: list[tuple[str, int]] = []
        for code, route in enumerate(routes.values()):
            place = route.lower() if lower else route
            if "*" in place:
                self._patterns.append(("(?s)^" + ".*".join(map(_escaped, place.split("*"))) + "$", code))
            elif place in self._exact:
                raise InvalidParameter(f"The path {route!r} belongs to two keys.", "Remove one of them.")
            else:
                self._exact[place] = code

    @classmethod
    def from_file(cls, path: str | Path, *, other: str | None = "other", lower: bool = False) -> KeyDomain:
        """One key a line: `/path`, `/pattern/*`, or `name = /pattern/*`. Empty lines and those with # are left out."""
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidInput(
                f"The file of keys cannot be read: {error}.", "Give a text file, one key a line."
            ) from None
        routes: dict[str, str] = {}
        for line in (line.strip() for line in lines):
            if line and not line.startswith("#"):
                name, _, route = (part.strip() for part in line.partition(" = "))
                if name in routes:
                    raise InvalidParameter(f"The key {name!r} is listed twice in the file.", "Remove one of them.")
                routes[name] = route or name
        return cls(Keys(routes) if all(n == r for n, r in routes.items()) else routes, other=other, lower=lower)

    def codes(self, paths: pl.Series) -> NDArray[np.int32]:
        """The position of each path's key; `UNKNOWN` where it has none."""
        return self.codes_of_places(self.places(paths))

    def places(self, paths: pl.Series) -> pl.Series:
        """The paths as they are looked up: no host, no query, decoded."""
        place = paths
        if (hosted := place.str.contains("^(?i:https?://)")).any():
            bare = place.str.replace("^(?i:https?)://[^/?#]*", "")
            place = bare.zip_with(hosted, place)
        place = place.str.splitn("?", 2).struct.field("field_0").str.splitn("#", 2).struct.field("field_0")
        if (encoded := place.str.contains("%", literal=True)).any():
            decoded = [unquote(text) if coded else text for text, coded in zip(place, encoded, strict=True)]
            place = pl.Series(decoded, dtype=pl.String)
        return place.str.to_lowercase() if self._lower else place

    def codes_of_places(self, places: pl.Series) -> NDArray[np.int32]:
        if self._exact:
            names, codes = list(self._exact), list(self._exact.values())
            found = places.replace_strict(names, codes, default=self._unknown, return_dtype=pl.Int32).to_numpy().copy()
        else:
            found = np.full(len(places), self._unknown, np.int32)
        missed = np.flatnonzero(~places.is_in(list(self._exact)).to_numpy())
        for pattern, code in self._patterns:
            if not len(missed):
                break
            fits = places.gather(missed).str.contains(pattern).to_numpy()
            found[missed[fits]] = code
            missed = missed[~fits]
        return found


def _listed(names: Iterable[str]) -> Iterable[str]:
    return names.names if isinstance(names, Keys) else names


def _escaped(text: str) -> str:
    """Escaped for the Rust engine, which refuses escapes of letters and knows no more signs than Python's."""
    return re.escape(text).replace("\\ ", " ").replace("\\#", "#").replace("\\&", "&").replace("\\~", "~")
