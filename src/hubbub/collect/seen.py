"""Which batches have been here before."""

from __future__ import annotations

from collections import OrderedDict


class Seen:
    """Remembers names until a time after which a repetition could do no harm: its events would be too late.

    >>> seen = Seen()
    >>> seen.before("a", until=10), seen.before("a", until=10)
    (False, True)
    >>> seen.forget(11)
    >>> seen.before("a", until=20)
    False
    """

    def __init__(self) -> None:
        self._until: OrderedDict[str, int] = OrderedDict()

    def before(self, name: str, until: int) -> bool:
        """Whether `name` came before; it is remembered from now on."""
        known = name in self._until
        self._until[name] = max(until, self._until.get(name, until))
        self._until.move_to_end(name)
        return known

    def forget(self, now: int) -> None:
        """Times only grow, so the oldest stand in front."""
        while self._until and next(iter(self._until.values())) < now:
            self._until.popitem(last=False)

    def __len__(self) -> int:
        return len(self._until)
