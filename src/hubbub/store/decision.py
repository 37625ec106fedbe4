"""One line of the ledger that says what is counted from a tick on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hubbub.released import Domain, domain_from
from hubbub.store.times import from_micros


@dataclass(frozen=True, slots=True)
class Decision:
    """From `tick` on the stream counts by `domain`, because of what the stream `evidence` released at `evidence_tick`.

    It costs nothing: it follows from what was published already. It stands in the strand of debits (`previous`, `hash`)
    and in that of outcomes (`seal`), and names the seal of its evidence, so `verify` sees whatever is changed.
    """

    place: int
    tick: int
    domain: str
    evidence: str
    evidence_tick: int
    evidence_seal: bytes
    decided: int
    previous: bytes
    hash: bytes
    seal: bytes

    @property
    def keys(self) -> Domain:
        return domain_from(json.loads(self.domain))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "place": self.place,
            "tick": self.tick,
            "domain": json.loads(self.domain),
            "evidence": {"stream": self.evidence, "tick": self.evidence_tick, "seal": self.evidence_seal.hex()},
            "time": from_micros(self.decided).isoformat(),
            "previous": self.previous.hex(),
            "hash": self.hash.hex(),
            "seal": self.seal.hex(),
        }
