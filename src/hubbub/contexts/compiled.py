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
from hubbub.contexts.device import NEVER, VERSION, parse
from hubbub.contexts.hybrid import Hybrid
from hubbub.contexts.policy import Policy
from hubbub.contexts.secret import Secret
from hubbub.contexts.simulatable import Simulatable
from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.files import write_file

FORMAT = "hubbub-context-policy"
_MOST = 0xFFFE


@dataclass(frozen=True)
class Compiled:
    """Tables only: no chain, no secrets. Whoever holds the file learns which contexts are hidden how often."""

    table: dict[str, Any]

    def to_json(self) -> bytes:
        """One JSON document; its checksum is of all bytes that follow it."""
        body = json.dumps({"format": FORMAT, "version": VERSION, **self.table}, separators=(",", ":"))[1:].encode()
        return b'{"checksum":"' + hashlib.sha256(body).hexdigest().encode() + b'",' + body

    def to_bytes(self) -> bytes:
        table, schedule = self.table, self.table["kind"] == "schedule"
        names, delta = json.dumps(table["contexts"], separators=(",", ":")).encode(), table["delta"].encode()
        size = len(table["contexts"])
        head = struct.pack(
            ">4sBBHHHHH", b"HBCP", VERSION, schedule, table["ticks"], size, table["parts"], len(names), len(delta)
        )
        rows: bytes = np.array(table["following" if schedule else "levels"], dtype=">u2").tobytes()
        width = (size + 7) // 8
        flags = (
            b"".join(int(f, 16).to_bytes(width, "big") for row in table["expected"] for f in row) if schedule else b""
        )
        body = head + names + delta + rows + flags
        return bytes(body + hashlib.sha256(body).digest())

    def save(self, path: str | Path) -> None:
        """As JSON if the name ends in .json, else in the compact form."""
        path = Path(path)
        write_file(path, self.to_json() if path.suffix == ".json" else self.to_bytes())

    def policy(self, chain: ContextChain, secrets: Sequence[Secret]) -> Policy:
        """The policy again, to ask an adversary about it. Whether it protects these secrets is not checked."""
        table = self.table
        if tuple(table["contexts"]) != chain.contexts or table["ticks"] != chain.ticks:
            raise InvalidParameter("The policy was made for another chain.", "Give the chain it was planned with.")
        if table["kind"] == "coins":
            return CoinPolicy(chain, secrets, table["delta"], np.array(table["levels"]), table["parts"])
        following = np.array(table["following"])
        flags = [[int(flag, 16) for flag in row] for row in table["expected"]]
        expected = np.array([[[flag >> place & 1 for place in range(chain.size)] for flag in row] for row in flags])
        following = np.where(following == NEVER, -1, following)
        return Simulatable(chain, secrets, table["delta"], following, expected.astype(bool), float("nan"))

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
        return cls({key: value for key, value in table.items() if key not in ("checksum", "format", "version")})


def compile_policy(policy: Policy) -> Compiled:
    """The tables of a policy, with everything that a decision needs."""
    chosen = policy.chosen if isinstance(policy, Hybrid) else policy
    chain = policy.chain
    if chain.ticks > _MOST or chain.size > _MOST:
        raise InvalidParameter(f"A file holds at most {_MOST} ticks and contexts.", "Take fewer ticks a day.")
    table: dict[str, Any] = {
        "kind": "coins", "contexts": list(chain.contexts), "ticks": chain.ticks, "delta": str(policy.delta), "parts": 1
    }  # fmt: skip
    if isinstance(chosen, CoinPolicy):
        return Compiled({**table, "parts": chosen.parts, "levels": chosen.levels.tolist()})
    if not isinstance(chosen, Simulatable):
        raise InvalidParameter("Only policies of Hubbub can be compiled.", "Make one with Hybrid.plan.")
    following: NDArray[np.int64] = np.where(chosen.following < 0, NEVER, chosen.following)
    expected = [[_flags(contexts) for contexts in row] for row in chosen.expected]
    return Compiled({**table, "kind": "schedule", "following": following.tolist(), "expected": expected})


def _flags(contexts: NDArray[np.bool_]) -> str:
    """A set of contexts as a hexadecimal number: bit i stands for context i."""
    return f"{sum(1 << int(place) for place in np.flatnonzero(contexts)):x}"
