"""What a stream is: fixed on the day it is made."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from hubbub.errors import GuaranteeChanged, InvalidParameter
from hubbub.privacy import Guarantee
from hubbub.released import Keys
from hubbub.store import chain

_DIFFERENCES = {
    "guarantee": "another guarantee",
    "keys": "other keys",
    "method": "another method",
    "options": "other options",
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

COMPANION, COMPANION_OF = "companion", "companion_of"
"""Options that tie two streams into one promise: each names the other, the second is a part of the first."""


def companion_name(name: str) -> str:
    """The stream of ranges that stands beside the stream `name`; a monitor's stream has no dot in its name."""
    return f"{name}.ranges"


@dataclass(frozen=True)
class Definition:
    """Everything that may not change under a stream's name, since the promise was made about exactly this.

    >>> from hubbub.privacy import Event
    >>> one = Definition.of("site", Keys(["front"]), Guarantee.pure(Event(), 1), "lpa")
    >>> other = Definition.of("site", Keys(["front"]), Guarantee.pure(Event(), 2), "lpa")
    >>> one.genesis == other.genesis
    False
    """

    name: str
    keys: str
    guarantee: str
    method: str
    options: str

    @classmethod
    def of(
        cls, name: str, keys: Keys, guarantee: Guarantee, method: str, options: Mapping[str, Any] | None = None
    ) -> Definition:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidParameter(
                f"{name!r} cannot be a stream's name.",
                "Use up to 100 letters, digits, dots, dashes and underscores, beginning with a letter or digit.",
            )
        return cls(name, _json(list(keys)), _json(guarantee.to_dict()), method, _json(dict(options or {})))

    @cached_property
    def genesis(self) -> bytes:
        return chain.genesis(self.name, self.keys, self.guarantee, self.method, self.options)

    def expect(self, asked: Definition) -> None:
        """Refuse, if what is asked for under this name is anything else than what was promised."""
        for what, words in _DIFFERENCES.items():
            have, wanted = getattr(self, what), getattr(asked, what)
            if have != wanted:
                detail = "" if what == "keys" else f": {have} instead of {wanted}"
                raise GuaranteeChanged(
                    f"The stream {self.name!r} exists with {words}{detail}.",
                    "A promise once made stands: go on with the same definition, or start a stream of another name.",
                )


@dataclass(frozen=True)
class Stream:
    """A stream that the store knows."""

    id: int
    definition: Definition
    created: datetime

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def method(self) -> str:
        return self.definition.method

    @property
    def genesis(self) -> bytes:
        return self.definition.genesis

    @cached_property
    def keys(self) -> Keys:
        return Keys(json.loads(self.definition.keys))

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee.from_dict(json.loads(self.definition.guarantee))

    @cached_property
    def options(self) -> dict[str, Any]:
        return dict(json.loads(self.definition.options))

    @property
    def companion_of(self) -> str | None:
        """The stream whose promise this one is a part of; None for a stream of its own."""
        found = self.options.get(COMPANION_OF)
        return found if isinstance(found, str) else None

    def __repr__(self) -> str:
        return f"Stream({self.name!r}, {len(self.keys):,} keys, {self.method})"


def _json(value: Any) -> str:
    """One text for one value: the hash of a stream rests on it."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(f"A stream's options must be plain JSON values: {error}.") from None
