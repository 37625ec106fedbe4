"""The state of an estimator, as bytes that a later version can still read or clearly refuse."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import SchemaMismatch

_MAGIC = b"hubbub-state\n"


@dataclass(frozen=True)
class Snapshot:
    """What a releaser needs to go on as if it had never stopped: plain facts (JSON) and arrays.

    `kind` names the class that wrote it and `version` its layout. Only released values ever went into it, so it is
    as public as the releases themselves.

    >>> taken = Snapshot("lpa", 1, {"next_tick": 4}, {"level": np.array([1.5, 2.0])})
    >>> again = Snapshot.from_bytes(taken.to_bytes())
    >>> again.facts["next_tick"], again.arrays["level"].tolist()
    (4, [1.5, 2.0])
    """

    kind: str
    version: int
    facts: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        layout = [[name, str(a.dtype), list(a.shape)] for name, a in self.arrays.items()]
        head = {"kind": self.kind, "version": self.version, "facts": dict(self.facts), "arrays": layout}
        parts = [_MAGIC, json.dumps(head, sort_keys=True).encode(), b"\n"]
        parts += [np.ascontiguousarray(a).tobytes() for a in self.arrays.values()]
        return b"".join(parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> Snapshot:
        if not data.startswith(_MAGIC):
            raise SchemaMismatch("This is not a state that Hubbub wrote.", "Restore the store from a backup.")
        end = data.index(b"\n", len(_MAGIC))
        head = json.loads(data[len(_MAGIC) : end])
        places, at = [], end + 1
        for name, dtype, shape in head["arrays"]:
            size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
            places.append((name, np.dtype(dtype), shape, at))
            at += size
        if at != len(data):
            raise SchemaMismatch("A stored state is cut short or too long.", "Restore the store from a backup.")
        arrays = {
            name: np.frombuffer(data, dtype, count=int(np.prod(shape, dtype=np.int64)), offset=at).reshape(shape).copy()
            for name, dtype, shape, at in places
        }
        return cls(head["kind"], head["version"], head["facts"], arrays)

    def expect(self, kind: str, version: int) -> Snapshot:
        """This snapshot, if it is of that kind and version; otherwise a clear refusal."""
        if (self.kind, self.version) != (kind, version):
            raise SchemaMismatch(
                f"The stored state is of {self.kind!r} version {self.version}, not of {kind!r} version {version}.",
                "Go on with the method and the release of Hubbub that wrote it, or start a new stream.",
            )
        return self
