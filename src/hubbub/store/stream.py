"""What a stream is: fixed on the day it is made."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

from hubbub.errors import GuaranteeChanged, InvalidParameter
from hubbub.privacy import Grant, Guarantee, Part
from hubbub.released import Domain, Keys, domain_from
from hubbub.store import chain
from hubbub.store.times import to_micros

_DIFFERENCES = {
    "guarantee": "another guarantee",
    "keys": "other keys",
    "method": "another method",
    "grant": "another grant",
    "options": "other options",
}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

GRANT = "grant"
"""The option that names the whole grant of a stream and its share: so the stream's hash covers both."""

RANGES_OF = "ranges_of"
KEYS_OF = "keys_of"
"""The option of a stream of ranges that names the live stream: both get the same counts, and answer together."""

MECHANISM = "mechanism"
"""The options of the mechanism, in their canonical form."""

FINDS_KEYS = "finds_keys"
"""The option of a stream whose releases each have the keys that they found."""

COUNTING, ATTESTED = "counting", "attested"
"""Options that pin the promise: everything that decides who counts where, and what somebody vouches for."""

_TABLES = (COUNTING, ATTESTED, MECHANISM, "guarantee")
"""What is told apart entry by entry."""

_SPANS = {"tick", "lateness", "stay", "max_ahead"}
"""What `counting` holds in microseconds; people are told seconds."""

_UNPINNED = (
    "A monitor of an earlier version made this stream and did not record what decides who counts where (tick, stay, "
    "identity, filters, lateness). If that was changed while the stream ran, if its source lost its past, or if it was "
    "started again, one unit may have been counted up to twice as often as was promised; and one busy visitor, or one "
    "broken line, could change what others counted for (docs/errata.md). What was published cannot be taken back. Go "
    "on under another name; what both publish about the same people adds up."
)


def ranges_name(name: str) -> str:
    """The stream of ranges that stands beside the stream `name`; a monitor's stream has no dot in its name."""
    return f"{name}.ranges"


def keys_name(name: str) -> str:
    """The stream of lists that finds the keys of the stream `name`."""
    return f"{name}.keys"


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
        cls, name: str, keys: Domain, promise: Guarantee | Part, method: str, options: Mapping[str, Any] | None = None
    ) -> Definition:
        """`promise` is a part of a grant; a guarantee alone is a grant of the stream's own, drawn as a whole."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InvalidParameter(
                f"{name!r} cannot be a stream's name.",
                "Use up to 100 letters, digits, dots, dashes and underscores, beginning with a letter or digit.",
            )
        given = dict(options or {})
        if GRANT in given:
            raise InvalidParameter(
                f"The option `{GRANT}` is written by the store itself.", "Give the part of the grant as the promise."
            )
        part = drawn(name, promise)
        return cls(name, domain_text(keys), _json(part.guarantee.to_dict()), method, _json(given | pinned(part)))

    @cached_property
    def part(self) -> Part:
        """The grant and the share that this stream draws of it."""
        return part_of(json.loads(self.options)[GRANT])

    @cached_property
    def genesis(self) -> bytes:
        return chain.genesis(self.name, self.keys, self.guarantee, self.method, self.options)

    def expect(self, asked: Definition) -> None:
        """Refuse, if what is asked for under this name is anything else than what was promised."""
        for what, words in _DIFFERENCES.items():
            have, wanted = self._facts(what), asked._facts(what)
            if have != wanted:
                detail = ""
                if what == "method":
                    detail = f": {have} instead of {wanted}"
                elif what == "keys":
                    detail = _told_apart(have, wanted)
                else:
                    detail = ": " + "; ".join(differences(have, wanted))
                raise GuaranteeChanged(
                    f"The stream {self.name!r} exists with {words}{detail}.",
                    "A promise once made stands: go on with the same definition, or start a stream under another name. "
                    "What both publish about the same people adds up.",
                )

    def _facts(self, what: str) -> Any:
        if what in ("keys", "method"):
            return getattr(self, what)
        if what == "guarantee":
            return json.loads(self.guarantee)
        options = json.loads(self.options)
        grant = options.pop(GRANT)
        return options if what == "options" else grant


def _told_apart(have: str, wanted: str) -> str:
    """What two domains are, in a few letters; nothing where these letters are the same."""
    one, other = (repr(domain_from(json.loads(text))) for text in (have, wanted))
    return "" if one == other else f": {one} instead of {other}"


def drawn(name: str, promise: Guarantee | Part) -> Part:
    """What the stream `name` draws: a part of a grant; a guarantee alone is a grant of its own, drawn as a whole."""
    return promise if isinstance(promise, Part) else Grant(name, promise).part()


def pinned(part: Part) -> dict[str, Any]:
    """What a definition holds of its grant.

    >>> from hubbub.privacy import Event
    >>> pinned(Grant("visitors", Guarantee.pure(Event(), 1)).part("1/2"))["grant"]["share"]
    '1/2'
    """
    # Hashes of streams rest on this: what is new stands only where there is any.
    more: dict[str, Any] = {"slips": str(part.slips)} if part.slips else {}
    if part.max_ticks is not None:
        more["max_ticks"] = part.max_ticks
    return {GRANT: part.grant.to_dict() | {"share": str(part.share)} | more}


def part_of(facts: Mapping[str, Any]) -> Part:
    """The inverse of `pinned`."""
    shares = Fraction(facts["share"]), Fraction(facts.get("slips", 0))
    return Grant.from_dict(dict(facts)).part(*shares, facts.get("max_ticks"))


def clock_of(options: Mapping[str, Any]) -> tuple[int, int] | None:
    """How long a tick is and when one begins, in microseconds; None where a stream's options do not tell.

    >>> clock_of({"counting": {"tick": 10_000_000, "begins": "2026-01-01T00:00:03+00:00"}})
    (10000000, 3000000)
    """
    counting = options.get(COUNTING)
    if not isinstance(counting, Mapping) or not isinstance(counting.get("tick"), int) or "begins" not in counting:
        return None
    return counting["tick"], to_micros(datetime.fromisoformat(counting["begins"])) % counting["tick"]


def differences(made: Mapping[str, Any], asked: Mapping[str, Any], thing: str = "stream") -> list[str]:
    """Each option that differs, with what it was and what it is now.

    >>> differences({"counting": {"tick": 10_000_000}}, {"counting": {"tick": 1_000_000}})
    ['`tick` was 10 s when the stream was made, now 1 s']
    """
    if COUNTING in asked and COUNTING not in made:
        return ["what decides who counts where was not recorded when the stream was made"]
    told: list[str] = []
    for name in sorted({*made, *asked}):
        old, new = made.get(name), asked.get(name)
        if (
            name in (COUNTING, ATTESTED, MECHANISM, "guarantee")
            and isinstance(old or {}, dict)
            and isinstance(new or {}, dict)
        ):
            told += _differences(old or {}, new or {}, thing)
            if old != new and not (old or new):  # nothing in it, and yet one side has it: a refusal must name it
                told += _differences({name: old} if name in made else {}, {name: new} if name in asked else {}, thing)
        else:
            told += _differences({name: old} if name in made else {}, {name: new} if name in asked else {}, thing)
    return told


def _differences(made: Mapping[str, Any], asked: Mapping[str, Any], thing: str) -> list[str]:
    def said(settings: Mapping[str, Any], name: str) -> str:
        if name not in settings:
            return "not given"
        value = settings[name]
        if name in _SPANS and isinstance(value, int) and not isinstance(value, bool):
            return f"{value / 1_000_000:g} s"
        return (value or "empty") if isinstance(value, str) else _json(value)

    return [
        f"`{name}` was {said(made, name)} when the {thing} was made, now {said(asked, name)}"
        for name in sorted({*made, *asked})
        if (name in made) != (name in asked) or made.get(name) != asked.get(name)
    ]


@dataclass(frozen=True)
class Stream:
    """A stream that the store knows."""

    id: int
    definition: Definition
    created: datetime
    genesis: bytes
    """Where its ledger begins: the hash of its definition, as it was when the stream was made."""

    counted_earlier: bool | None = None
    """Whether a monitor counted for it before definitions told how; None if it was made since then."""

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def method(self) -> str:
        return self.definition.method

    @property
    def part(self) -> Part:
        """The grant and the share that this stream draws of it."""
        return self.definition.part

    @cached_property
    def keys(self) -> Domain:
        """What was counted on the day it was made. `Store.domain` tells what is counted now."""
        return domain_from(json.loads(self.definition.keys))

    @cached_property
    def guarantee(self) -> Guarantee:
        return Guarantee.from_dict(json.loads(self.definition.guarantee))

    @cached_property
    def options(self) -> dict[str, Any]:
        """What was given when it was made; its grant is `part`."""
        return {name: value for name, value in json.loads(self.definition.options).items() if name != GRANT}

    @property
    def ranges_of(self) -> str | None:
        """The live stream that this one answers ranges for; None for a stream that stands for itself."""
        live = self.options.get(RANGES_OF)
        return live if isinstance(live, str) else None

    @property
    def keys_of(self) -> str | None:
        """The live stream whose keys the lists of this one find; None where lists stand for themselves."""
        live = self.options.get(KEYS_OF)
        return live if isinstance(live, str) else None

    @property
    def finds_keys(self) -> bool:
        """Whether nobody lists its keys: each release has those that it found."""
        return self.options.get(FINDS_KEYS) is True

    @property
    def mechanism(self) -> Mapping[str, Any]:
        """The options of the mechanism as they were when the stream was made; empty where nobody recorded them."""
        return self._mapping(MECHANISM)

    @property
    def counting(self) -> Mapping[str, Any]:
        """Everything that decides who counts where, as it was when the stream was made; empty where nobody said."""
        return self._mapping(COUNTING)

    @property
    def attested(self) -> Mapping[str, str]:
        """What somebody other than the code vouches for, by short names; empty where nobody said."""
        return self._mapping(ATTESTED)

    def doubts(self) -> tuple[str, ...]:
        """What its owner must know of a promise that an earlier version may not have kept. None for a sound stream.

        Streams that were made by hand (`hb.Monitor`, `Store.curate`) were counted elsewhere: nothing is doubted here
        about counts that Hubbub never bounded. `Store.doubts` adds what is known of the stream's method.
        """
        return (_UNPINNED,) if self.counted_earlier and not self.counting else ()

    def _mapping(self, name: str) -> Mapping[str, Any]:
        value = self.options.get(name)
        return MappingProxyType(value) if isinstance(value, dict) else MappingProxyType({})

    def __repr__(self) -> str:
        return f"Stream({self.name!r}, {len(self.keys):,} {self.keys.noun}s, {self.method})"


def domain_text(keys: Domain) -> str:
    """One text for one domain. Names are a bare list, as they were in the first version: hashes rest on it.

    >>> from hubbub.released import Grid
    >>> domain_text(Keys(["front", "news"])), len(domain_text(Grid(1024, 1024)))
    ('["front","news"]', 42)
    """
    return _json(list(keys.names) if isinstance(keys, Keys) else keys.to_dict())


def _json(value: Any) -> str:
    """One text for one value: the hash of a stream rests on it."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(f"A stream's options must be plain JSON values: {error}.") from None


def expect_name(given: object, thing: str, hint: str) -> None:
    """Refuse whatever cannot name a stream or a grant, before the database is asked for it."""
    if not isinstance(given, str):
        raise InvalidParameter(f"A {thing} is named by a text; got a {type(given).__name__}.", f"Give its name. {hint}")
