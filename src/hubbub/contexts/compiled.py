"""A policy as a small file that a device can carry."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.contexts.chain import ContextChain
from hubbub.contexts.coins import CoinPolicy
from hubbub.contexts.device import KINDS, NEVER, VERSION, parse
from hubbub.contexts.hybrid import Hybrid
from hubbub.contexts.policy import Policy
from hubbub.contexts.remembering import Remembering
from hubbub.contexts.secret import Secret
from hubbub.contexts.simulatable import Simulatable
from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.files import write_file

FORMAT = "hubbub-context-policy"
_MOST, _LONGEST = 0xFFFE, 0xFFFF
_DIGITS = 1000


@dataclass(frozen=True)
class Compiled:
    """Tables only: no chain, no secrets. Whoever holds the file learns which contexts are hidden how often."""

    table: dict[str, Any]

    def to_json(self) -> bytes:
        """One JSON document; its checksum is of all bytes that follow it."""
        body = json.dumps({"format": FORMAT, "version": VERSION, **self.table}, separators=(",", ":"))[1:].encode()
        return b'{"checksum":"' + hashlib.sha256(body).hexdigest().encode() + b'",' + body

    def to_bytes(self) -> bytes:
        table, kind = self.table, KINDS.index(self.table["kind"])
        names, delta = json.dumps(table["contexts"], separators=(",", ":")).encode(), table["delta"].encode()
        size = len(table["contexts"])
        if len(names) > _LONGEST:
            raise InvalidParameter(
                f"The names of the contexts take {len(names):,} bytes; the compact form holds {_LONGEST:,}.",
                "Write the policy to a name that ends in .json, or give the contexts shorter names.",
            )
        head = struct.pack(
            ">4sBBHHHHH", b"HBCP", VERSION, kind, table["ticks"], size, table["parts"], len(names), len(delta)
        )
        body = head + names + delta + (_coins, _schedule, _pieces)[kind](table)
        return bytes(body + hashlib.sha256(body).digest())

    def save(self, path: str | Path) -> None:
        """As JSON if the name ends in .json, else in the compact form."""
        path = Path(path)
        write_file(path, self.to_json() if path.suffix == ".json" else self.to_bytes())

    def policy(self, chain: ContextChain, secrets: Sequence[Secret]) -> Policy:
        """The policy again, to ask an adversary about it. Whether it protects these secrets is not checked.

        A chain that was learned later may have contexts that the table does not know: a device suppresses them.
        """
        table, names = self.table, self.table["contexts"]
        if not set(names) <= set(chain.contexts) or table["ticks"] != chain.ticks:
            raise InvalidParameter(
                "The policy was made for another chain.", "Give the chain it was planned with, or one learned later."
            )
        places = [chain.number(name) for name in names]

        def spread(levels: Any) -> NDArray[np.int64]:
            found = np.full((len(levels), chain.size), table["parts"], dtype=np.int64)
            found[:, places] = np.array(levels, dtype=np.int64).reshape(-1, len(names))
            return found

        if table["kind"] == "coins":
            return CoinPolicy(chain, secrets, table["delta"], spread(table["levels"]), table["parts"])
        # After nothing was shown, every column of a table is alike; a new context has never been shown.
        if table["kind"] == "pieces":
            pieces = {
                (row - 1, places[context] if row else 0): spread([table["levels"][k] for k in piece])
                for row, pieces in enumerate(table["pieces"])
                for context, piece in enumerate(pieces)
                if piece
            }
            return Remembering(chain, secrets, table["delta"], pieces, table["parts"], float("nan"))
        following = np.full((chain.ticks + 1, chain.size), -1, dtype=np.int64)
        following[:, places] = np.where(np.array(table["following"]) == NEVER, -1, table["following"])
        following[0] = following[0, places[0]]
        flags = [[int(flag, 16) for flag in row] for row in table["expected"]]
        known = np.array([[[flag >> place & 1 for place in range(len(names))] for flag in row] for row in flags])
        expected = np.zeros((chain.ticks + 1, chain.size, chain.size), dtype=bool)
        expected[:, np.array(places)[:, None], places] = known.astype(bool)
        expected[0] = expected[0, places[0]]
        return Simulatable(chain, secrets, table["delta"], following, expected, float("nan"))

    @classmethod
    def load(cls, path: str | Path) -> Compiled:
        """Unlike a device, which then suppresses everything, this says what is wrong."""
        try:
            table = parse(Path(path).read_bytes())
        except OSError as error:
            raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "Give the file of a policy.") from None
        except Exception:
            raise InvalidInput(
                f"{path} is no policy of version {VERSION}, or it was cut or changed.",
                "Plan it again with `hubbub mask plan`. A device suppresses everything with such a file.",
            ) from None
        return cls(table)


def compile_policy(policy: Policy) -> Compiled:
    """The tables of a policy, with everything that a decision needs."""
    chosen = policy.chosen if isinstance(policy, Hybrid) else policy
    chain = policy.chain
    if chain.ticks > _MOST or chain.size > _MOST:
        raise InvalidParameter(f"A file holds at most {_MOST} ticks and contexts.", "Take fewer ticks a day.")
    if max(len(str(policy.delta.numerator)), len(str(policy.delta.denominator))) > _DIGITS:
        raise InvalidParameter(f"A file holds a delta of at most {_DIGITS} digits.", 'Write it shorter, like "0.1".')
    table: dict[str, Any] = {
        "kind": "coins", "contexts": list(chain.contexts), "ticks": chain.ticks, "delta": str(policy.delta), "parts": 1
    }  # fmt: skip
    if isinstance(chosen, CoinPolicy):
        return Compiled({**table, "parts": chosen.parts, "levels": chosen.levels.tolist()})
    if isinstance(chosen, Remembering):
        return Compiled({**table, "kind": "pieces", "parts": chosen.parts, **_numbered(chosen)})
    if not isinstance(chosen, Simulatable):
        raise InvalidParameter("Only policies of Hubbub can be compiled.", "Make one with Hybrid.plan.")
    following: NDArray[np.int64] = np.where(chosen.following < 0, NEVER, chosen.following)
    expected = [[_flags(contexts) for contexts in row] for row in chosen.expected]
    return Compiled({**table, "kind": "schedule", "following": following.tolist(), "expected": expected})


def _numbered(policy: Remembering) -> dict[str, Any]:
    """Each different row of chances once, and pieces as lists of their numbers."""
    known: dict[tuple[int, ...], int] = {}
    pieces: list[list[list[int]]] = [[[] for _ in policy.chain.contexts] for _ in range(policy.chain.ticks + 1)]
    for (began, context), levels in sorted(policy.levels.items(), key=lambda item: item[0]):
        pieces[began + 1][context] = [known.setdefault(tuple(row), len(known)) for row in levels.tolist()]
    if len(known) > _MOST:
        raise InvalidParameter("The policy has too many different chances for a file.", "Take fewer levels.")
    return {"levels": [list(row) for row in known], "pieces": pieces}


def _coins(table: dict[str, Any]) -> bytes:
    return np.array(table["levels"], dtype=">u2").tobytes()


def _schedule(table: dict[str, Any]) -> bytes:
    width = (len(table["contexts"]) + 7) // 8
    flags = b"".join(int(f, 16).to_bytes(width, "big") for row in table["expected"] for f in row)
    return np.array(table["following"], dtype=">u2").tobytes() + flags


def _pieces(table: dict[str, Any]) -> bytes:
    levels = bytes(level for row in table["levels"] for level in row)
    lists = [piece for row in table["pieces"] for piece in row]
    numbers = [number for piece in lists for number in (len(piece), *piece)]
    return struct.pack(">H", len(table["levels"])) + levels + struct.pack(f">{len(numbers)}H", *numbers)


def _flags(contexts: NDArray[np.bool_]) -> str:
    """A set of contexts as a hexadecimal number: bit i stands for context i."""
    return f"{sum(1 << int(place) for place in np.flatnonzero(contexts)):x}"
