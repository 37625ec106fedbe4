"""The default: additive shares with a proof of validity, noise from both servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hubbub.errors import HubbubError, InvalidParameter, QueryMismatch
from hubbub.gather.opened import Opened
from hubbub.gather.prio3 import NONCE_SIZE, Elements, Field, Prio3, ReportShare
from hubbub.gather.query import Query, commitment_to
from hubbub.gather.scheme import FIRST, Part, Scheme, Started, Total
from hubbub.noise import ByteSource, require_secure
from hubbub.noise.system import DEFAULT

ALGORITHMS = {"count": 1, "sum": 2, "sum_vec": 3, "histogram": 4, "multihot_count_vec": 5}


class Prio3Scheme(Scheme):
    """Prio3 between two servers. A client needs the query alone; the servers share a `verify_key` that no client has.

    Guarantee
        Protected: each client's answer, as the query's noise says (`Query.promise`), from either server, also if it
        works with any number of clients and does not follow the protocol; and from whoever sees the result.
        Also: each accepted client moved the sums by no more than one honest answer, if both servers are honest.
        Must be enforced by the caller: a nonce is taken once, a client answers once, a sum is noised and opened once,
        and both servers hold the same query and key before the first report.
        Not covered: both servers together; who answers; a server that spoils the result; time.
        Proof: docs/proofs/gather.md, sections 2 and 3.

    >>> from hubbub.gather.prio3 import Histogram
    >>> query = Query.plan("colours", Histogram(3), clients=10, minimum=2, epsilon=1, verify_key=bytes(32))
    >>> scheme = Prio3Scheme(query, verify_key=bytes(32))
    >>> reports = [scheme.encode(bucket) for bucket in (0, 2, 2)]
    >>> started = [scheme.start(server, [report[server] for report in reports]) for server in (0, 1)]
    >>> told = [[one.told for one in side] for side in started]
    >>> totals = [scheme.add(k, scheme.check(k, started[k], told[1 - k])) for k in (0, 1)]
    >>> opened = scheme.open([scheme.noisy(k, totals[k]) for k in (0, 1)], reports=3)
    >>> len(opened.sums), opened.reports
    (3, 3)
    """

    name = "prio3"

    def __init__(self, query: Query, verify_key: bytes | None = None, source: ByteSource | None = None) -> None:
        super().__init__(query)
        if query.noise.from_clients:
            raise InvalidParameter(
                "Prio3 proves that a report is one honest answer; with a share of noise in it, it is none.",
                "Let the servers add the noise: give no `lying`.",
            )
        if 2 * query.largest_sum >= query.circuit.field.modulus:
            raise InvalidParameter(
                f"Sums of {query.clients:,} reports with their noise could exceed {query.circuit.field.name}.",
                "Plan for fewer clients or smaller numbers.",
            )
        if verify_key is not None and commitment_to(verify_key) != query.key_digest:
            raise QueryMismatch(
                "The query is bound to another `verify_key`, or to none: a server could choose one that tells it more.",
                "Plan the query with the key that both servers have.",
            )
        require_secure(source)
        self._source: ByteSource = DEFAULT if source is None else source
        self._key = verify_key
        self.prio3: Prio3[Any, Any] = Prio3(query.circuit, 2, ALGORITHMS[query.circuit.name])
        self._context = query.digest

    def encode(self, measurement: Any) -> tuple[Part, Part]:
        nonce, randomness = (bytes(self._source.take(n)) for n in (NONCE_SIZE, self.prio3.randomness_size))
        public, (first, second) = self.prio3.shard(self._context, measurement, nonce, randomness)
        return Part(nonce, public + first), Part(nonce, public + second)

    def start(self, server: int, parts: Sequence[Part]) -> list[Started | HubbubError]:
        size = self.prio3.public_share_size
        reports = [ReportShare(part.nonce, part.body[:size], part.body[size:]) for part in parts]
        begun = self.prio3.verify_init_many(self._verify_key(), self._context, server, reports)
        return [
            one if isinstance(one, HubbubError) else Started(part.nonce, told=one[1], kept=one[0])
            for part, one in zip(parts, begun, strict=True)
        ]

    def check(self, server: int, started: Sequence[Started], told: Sequence[bytes]) -> list[Any | HubbubError]:
        if len(started) != len(told):
            raise QueryMismatch(f"{len(started):,} reports are being checked; the other server told of {len(told):,}.")
        pairs = [(mine.told, other) for mine, other in zip(started, told, strict=True)]
        if server != FIRST:
            pairs = [(other, mine) for mine, other in pairs]
        answers: list[Any | HubbubError] = []
        messages = self.prio3.verifier_shares_to_message_many(self._context, pairs)
        for one, message in zip(started, messages, strict=True):
            if isinstance(message, HubbubError):
                answers.append(message)
                continue
            try:
                answers.append(self.prio3.verify_next(one.kept, message))
            except HubbubError as error:
                answers.append(error)
        return answers

    def add(self, server: int, accepted: Sequence[Any], before: Total | None = None) -> Total:  # noqa: ARG002
        earlier = None if before is None else before.share
        return Total((before.reports if before else 0) + len(accepted), self.prio3.aggregate(accepted, earlier))

    def noisy(self, server: int, total: Total) -> bytes:  # noqa: ARG002
        self.enough(total.reports)
        noise = signed(self.prio3.field, self.query.noise.draw(self.query.circuit.output_length))
        return self.prio3.encode_share(self.prio3.field.add(total.share, noise))

    def open(self, shares: Sequence[bytes], reports: int) -> Opened:
        self.enough(reports)
        if len(shares) != 2:
            raise InvalidParameter(f"Both servers' shares are needed; got {len(shares)}.")
        total = self.prio3.aggregate([self.prio3.decode_share(share) for share in shares])
        return self.opened(centred(self.prio3.field, total), reports)

    def encode_total(self, server: int, total: Total) -> bytes:  # noqa: ARG002
        return total.reports.to_bytes(8, "big") + self.prio3.encode_share(total.share)

    def decode_total(self, server: int, data: bytes) -> Total:  # noqa: ARG002
        return Total(int.from_bytes(data[:8], "big"), self.prio3.decode_share(data[8:]))

    def _verify_key(self) -> bytes:
        if self._key is None:
            raise InvalidParameter("Only a server checks reports, and it needs the `verify_key`.")
        return self._key


def signed(field: Field, values: Any) -> Elements:
    """Whole numbers of 64 bits with a sign as elements."""
    size = np.abs(values).astype(np.uint64)
    half = np.uint64(32)
    parts = field.small((size & np.uint64(2**32 - 1)).astype(np.int64))
    upper = field.small((size >> half).astype(np.int64))
    magnitude = field.add(parts, field.mul(upper, field.constant(2**32)))
    return np.where(values < 0, field.neg(magnitude), magnitude)


def centred(field: Field, total: Elements) -> list[int]:
    """Elements as whole numbers around zero: noise may take a sum below it."""
    half = field.modulus // 2
    return [value if value <= half else value - field.modulus for value in field.to_ints(total)]
