"""One question to many clients, planned before anybody is asked: what is counted, of how many, with what noise."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.exact import Exact, exact, whole
from hubbub.gather.noise import GaussianShares, LaplaceShares, NoisePlan, ServersGaussian, ServersLaplace, noise_of
from hubbub.gather.prio3 import (
    VERIFY_KEY_SIZE,
    Circuit,
    Count,
    Field,
    Field64,
    Field128,
    Histogram,
    L1BoundSum,
    MultihotCountVec,
    Sum,
    SumVec,
)
from hubbub.gather.prio3.proof import Proof
from hubbub.privacy.guarantee import WEAKEST_EPSILON

LONGEST_NAME = 200
LONGEST_FACT = 1000
"""Characters of anything that a query says; numbers have at most as many bits."""
LONGEST_REPORT = 1 << 24
"""Bytes: a million elements. Making one takes seventy times as much memory."""
MOST_CLIENTS = 2**32 - 1
"""Messages count reports in four bytes."""
FIELDS: dict[str, Field] = {field.name: field for field in (Field64, Field128)}
CIRCUITS: dict[str, Any] = {
    circuit.name: circuit for circuit in (Count, Histogram, L1BoundSum, MultihotCountVec, Sum, SumVec)
}
Protects = Literal["answer", "presence"]


@dataclass(frozen=True)
class Query:
    """What both servers and all clients must agree on; `digest` is what they compare.

    `clients` is the most reports that are taken, `minimum` the fewest of which a sum is opened. `protects` says what
    the noise was made for: the *answer* of a client (neighbours give another one), or also its *presence* (neighbours
    leave it out). The servers see who sends a report, so presence is for the result alone.

    >>> from hubbub.gather.prio3 import Histogram
    >>> query = Query.plan("colours", Histogram(8), clients=5000, minimum=1250, epsilon=1)
    >>> query.noise.sensitivity, query.digest.hex()[:8]
    (2, '...')
    """

    name: str
    circuit: Circuit[Any, Any]
    clients: int
    minimum: int
    noise: NoisePlan
    protects: Protects = "answer"
    key_digest: str = ""
    """Of the key that Prio3's servers share: they commit to it before the first client answers."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not 0 < len(self.name) <= LONGEST_NAME or not self.name.isprintable():
            raise InvalidParameter(f"A query's name has 1 to {LONGEST_NAME} printable characters.")
        whole(self.clients, "clients")
        whole(self.minimum, "minimum")
        if self.clients > MOST_CLIENTS:
            raise InvalidParameter(f"`clients` must be at most {MOST_CLIENTS:,}.", "Ask several queries.")
        if self.minimum > self.clients:
            raise InvalidParameter(
                f"`minimum` must be at most `clients`; got {self.minimum:,} of {self.clients:,}.",
                "No sum would ever be opened.",
            )
        if self.protects not in ("answer", "presence"):
            raise InvalidParameter(f"`protects` must be 'answer' or 'presence'; got {self.protects!r}.")
        if not isinstance(self.key_digest, str) or not re.fullmatch("(?:[0-9a-f]{64})?", self.key_digest):
            raise InvalidParameter("A digest of a key has 64 hexadecimal digits.", "Query.plan makes it of the key.")
        size = (self.circuit.encoded_length + Proof(self.circuit).length) * self.circuit.field.encoded_size
        if size > LONGEST_REPORT:
            raise InvalidParameter(
                f"A report would have {size:,} bytes; {LONGEST_REPORT:,} are the most.",
                "Ask for fewer numbers, and leave the chunk length out.",
            )
        if not self.noise.covers(*self._changes(self.circuit, self.protects), self.circuit.output_length):
            raise InvalidParameter(
                f"The noise was made for a smaller change than one client can make here ({self.circuit.name}).",
                "Plan both together: Query.plan does.",
            )
        planned = getattr(self.noise, "minimum", self.minimum)
        if planned != self.minimum:
            raise InvalidParameter(
                f"The noise was planned for sums of at least {planned:,} reports, the query for {self.minimum:,}.",
                "Plan both together: Query.plan does.",
            )

    @classmethod
    def plan(
        cls,
        name: str,
        circuit: Circuit[Any, Any],
        *,
        clients: int,
        minimum: int,
        epsilon: Exact | None = None,
        rho: Exact | None = None,
        share_variance: Exact | None = None,
        lying: int | None = None,
        protects: Protects = "answer",
        verify_key: bytes | None = None,
        allow_weak: bool = False,
    ) -> Query:
        """Noise for this circuit: of the servers by `epsilon` or `rho`; in clients' shares if `lying` says how many of
        them may leave their noise out, by `epsilon` or by the variance of a Gaussian share. Of `verify_key`, which
        Prio3's servers share and clients never see, the query keeps a digest."""
        if sum(given is not None for given in (epsilon, rho, share_variance)) != 1:
            raise InvalidParameter("Give one of `epsilon`, `rho` and `share_variance`.", "epsilon=1 is usual.")
        if epsilon is not None and exact(epsilon, "epsilon") > WEAKEST_EPSILON and not allow_weak:
            raise InvalidParameter(
                f"`epsilon` is {epsilon}: above {WEAKEST_EPSILON} it promises practically nothing.",
                "Values from 0.1 to 5 are usual. If you mean it, say allow_weak=True.",
            )
        change, square = cls._changes(circuit, protects)
        noise: NoisePlan
        if lying is None and epsilon is not None:
            noise = ServersLaplace.of(epsilon, change)
        elif lying is None and rho is not None:
            noise = ServersGaussian.of(rho, square)
        elif lying is not None and epsilon is not None:
            noise = LaplaceShares.of(epsilon, change, minimum, lying)
        elif lying is not None and share_variance is not None:
            noise = GaussianShares.of(share_variance, square, circuit.output_length, minimum, lying)
        else:
            raise InvalidParameter(
                "The servers' noise is planned by `epsilon` or `rho`, clients' shares by `lying` with `epsilon` or "
                "`share_variance`."
            )
        commitment = "" if verify_key is None else commitment_to(verify_key)
        return cls(name, circuit, clients, minimum, noise, protects, commitment)

    @staticmethod
    def _changes(circuit: Circuit[Any, Any], protects: str) -> tuple[int, int]:
        """How far one client can move the result, by what is protected: L1, and L2 squared."""
        if protects == "presence":
            return circuit.sensitivity, circuit.square_sensitivity
        return max(1, circuit.change), max(1, circuit.square_change)

    @property
    def largest_sum(self) -> int:
        """How far from zero any number of the result can be, but for a chance of 2^-64."""
        return self.clients * self.circuit.largest + self.noise.reach(self.clients)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "version": 1, "name": self.name, "circuit": self.circuit.name, "field": self.circuit.field.name,
            "parameters": self.circuit.parameters, "clients": self.clients, "minimum": self.minimum,
            "noise": self.noise.parameters, "protects": self.protects, "key": self.key_digest,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, data: Any) -> Query:
        """The inverse of `to_dict`; whatever is not one is refused."""
        try:
            if data["version"] != 1:
                raise InvalidInput(f"A query of version {data['version']!r}; this program knows 1.", "Update it.")
            facts = (*data.values(), *data["parameters"].values(), *data["noise"].values())
            if any(_endless(fact) for fact in facts):
                raise InvalidInput(f"A query says nothing longer than {LONGEST_FACT:,} characters.")
            field = FIELDS[data["field"]]
            circuit = CIRCUITS[data["circuit"]](**data["parameters"], field=field)
            query = cls(
                data["name"], circuit, data["clients"], data["minimum"], noise_of(data["noise"]), data["protects"],
                data["key"],
            )  # fmt: skip
        except (AttributeError, KeyError, TypeError) as error:
            raise InvalidInput(f"This is no query: {type(error).__name__}.", "Was it changed on the way?") from None
        if query.to_dict() != data:
            raise InvalidInput("This query does not say what it means.", "Was it changed on the way?")
        return query

    @property
    def digest(self) -> bytes:
        """32 bytes that differ for every other query: shares are bound to it, so that none is good for another one."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(b"hubbub gather query\n" + text.encode()).digest()

    @property
    def promise(self) -> str:
        """In words, for whoever is asked, and beside the result."""
        what = "What one client answers" if self.protects == "answer" else "Whether and what one client answers"
        also = "" if self.protects == "presence" else " Who answers is not hidden."
        return f"{what} changes the probability of any result {self.noise.promise}.{also}"


def _endless(fact: Any) -> bool:
    """Whether working with it could take without end: it is looked at before anything is done with it."""
    long = isinstance(fact, str) and len(fact) > LONGEST_FACT
    return long or (isinstance(fact, int) and fact.bit_length() > LONGEST_FACT)


def commitment_to(verify_key: bytes) -> str:
    """Tells nothing of the key, and fits no other."""
    if not isinstance(verify_key, bytes) or len(verify_key) != VERIFY_KEY_SIZE:
        raise InvalidParameter(
            f"`verify_key` has {VERIFY_KEY_SIZE} random bytes.",
            "Both servers have the same, from a cryptographic source.",
        )
    return hashlib.sha256(b"hubbub gather verify key\n" + verify_key).hexdigest()
