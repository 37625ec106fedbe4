"""Names that nobody listed: a release found them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from hubbub.errors import InvalidParameter
from hubbub.released.domain import Domain
from hubbub.released.keys import listed


class Discovered(Domain):
    """What a release found frequent enough to be named, and `other` for all else, which stands last.

    `decision` names that release, so that anybody can see that no count but a released one decided. Before anything
    was found there is `other` alone.

    >>> keys = Discovered(["/", "/news"], decision="site.keys tick 24")
    >>> keys.names, Discovered().names
    (('/', '/news', 'other'), ('other',))
    """

    kind: ClassVar[str] = "discovered"

    def __init__(self, names: Iterable[str] = (), *, decision: str = "", other: str = "other") -> None:
        discovered = tuple(names)
        if discovered and not decision:
            raise InvalidParameter(
                "Discovered keys need the release that found them: without it they could come from raw data.",
                "Give `decision`, the stream and tick of that release.",
            )
        self._names, self._positions = listed((*discovered, other))
        self.decision = decision

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    @property
    def other(self) -> str:
        return self._names[-1]

    def position(self, name: str) -> int:
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            raise self.unknown(name) from None

    def to_dict(self) -> dict[str, Any]:
        *discovered, other = self._names
        return {"kind": self.kind, "names": discovered, "decision": self.decision, "other": other}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Discovered:
        return cls(facts["names"], decision=facts["decision"], other=facts["other"])

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"Discovered({len(self) - 1:,} keys and {self.other})"


def same_whole(before: Domain, after: Domain) -> bool:
    """Whether all keys together mean the same in both: what the one does not name, its `other` counts.

    >>> same_whole(Discovered(), Discovered(["/"], decision="site.keys tick 0"))
    True
    """
    if before is after or before == after:
        return True
    return isinstance(before, Discovered) and isinstance(after, Discovered) and before.other == after.other
