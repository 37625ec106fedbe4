"""Prio3: a vector in additive shares, with a proof that it is valid, checked by servers that see one share each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from hubbub.errors import HubbubError, InvalidInput, InvalidParameter, ReportRejected
from hubbub.gather.prio3.circuit import Circuit, Measurement, Result, at_least_one
from hubbub.gather.prio3.field import Elements
from hubbub.gather.prio3.proof import Proof
from hubbub.gather.prio3.xof import SEED_SIZE, derived_seed, expanded, tag_of

NONCE_SIZE = 16
VERIFY_KEY_SIZE = SEED_SIZE
MEASUREMENT_SHARE, PROOF_SHARE, JOINT, PROVE, QUERY, JOINT_SEED, JOINT_PART = range(1, 8)
"""What bytes are stretched for; part of the tag."""
TOGETHER = 1 << 15
"""So many elements are worked on at a time: more would not stay in the processor's cache."""


@dataclass(frozen=True)
class ReportShare:
    """What one server has of one report, as it came."""

    nonce: bytes
    public_share: bytes = field(repr=False)
    input_share: bytes = field(repr=False)


@dataclass(frozen=True, eq=False)
class VerifyState:
    """What a server remembers of a report while it is being checked."""

    output_share: Elements = field(repr=False)
    joint_seed: bytes = field(repr=False)
    """Empty for circuits without joint randomness."""


Begun: TypeAlias = tuple[VerifyState, bytes]
Answer = TypeVar("Answer")


class Prio3(Generic[Measurement, Result]):
    """One instance of Prio3 (draft-irtf-cfrg-vdaf-20, section 7.2; wire format version 18). All messages are bytes.

    `shard` is the client's; `verify_init`, `verifier_shares_to_message` and `verify_next` are the servers', in this
    order; then output shares are added up (`aggregate`), and the sums of all servers are put together (`unshard`).
    Whatever is malformed raises `InvalidInput`, whatever is well formed and wrong `ReportRejected`, at the step of the
    draft. The `_many` forms check many reports at once with the same answers: an error stands in the place of its
    report.

    Guarantee
        Protected: measurements, from up to `shares - 1` servers that look, also with the help of clients: they learn
        what the sum of all others tells (Davis et al. 2023; computational, in the random oracle model).
        Also: a client can add nothing to the sum but what one valid measurement adds, but for a chance below
        `soundness`, if all servers follow the protocol.
        Not covered: the sum itself, which is not noisy (`hubbub.gather.noise`); servers that all work together; a
        client that sends several reports; a server that changes the sum; how long anything takes.
        Proof: docs/proofs/gather.md, section 2 (cited; our part is that the bytes are those of the draft).

    >>> from hubbub.gather.prio3 import Prio3Count
    >>> count = Prio3Count(shares=2)
    >>> public, inputs = count.shard(b"demo", 1, nonce=bytes(16), randomness=bytes(range(64)))
    >>> begun = [count.verify_init(bytes(32), b"demo", k, ReportShare(bytes(16), public, inputs[k])) for k in (0, 1)]
    >>> message = count.verifier_shares_to_message(b"demo", [share for _, share in begun])
    >>> outputs = [count.verify_next(state, message) for state, _ in begun]
    >>> count.unshard([count.aggregate([output]) for output in outputs])
    1
    """

    def __init__(self, circuit: Circuit[Measurement, Result], shares: int, algorithm: int, proofs: int = 1) -> None:
        self.circuit = circuit
        self.field = circuit.field
        self.shares = at_least_one(shares, "shares", 256)
        if shares < 2:
            raise InvalidParameter("`shares` must be at least 2; got 1.", "One server alone would see everything.")
        self.proofs = at_least_one(proofs, "proofs", 256)
        self.algorithm = algorithm
        self.proof = Proof(circuit)
        if circuit.joint_length and self.field.encoded_size < 16 and proofs < 3:
            # A client derives the joint randomness itself, so it can try again until it likes what comes out.
            raise InvalidParameter(
                f"With {self.field.name} and {proofs} of at least 3 proofs a client could search for a proof of what "
                "is not so.",
                "Use Field128, or three proofs.",
            )
        self._joint = circuit.joint_length > 0
        self.randomness_size = SEED_SIZE * shares * (2 if self._joint else 1)
        self.public_share_size = SEED_SIZE * shares if self._joint else 0

    @property
    def soundness(self) -> float:
        """A bound on the chance that a report with a wrong measurement is accepted, for a client that tries once."""
        circuit, modulus = self.circuit, self.field.modulus
        chance = (2 * (self.proof.points - 1)) / (modulus - self.proof.points)
        if circuit.checks > 1:
            chance += 1 / modulus
        if self._joint:
            chance += self.circuit.arity / 2 / modulus
        return float(chance**self.proofs)

    # ── client ───────────────────────────────────────────────────────────────────────────────────────────────────

    def shard(
        self, context: bytes, measurement: Measurement, nonce: bytes, randomness: bytes
    ) -> tuple[bytes, list[bytes]]:
        """The public share and each server's input share. Nonce and randomness must be fresh and secret-grade random;
        `hubbub.gather.client` draws them."""
        _sized(nonce, NONCE_SIZE, "nonce")
        _sized(randomness, self.randomness_size, "randomness")
        encoded = self.circuit.encode(measurement)[:, None]
        seeds = [randomness[at : at + SEED_SIZE] for at in range(0, len(randomness), SEED_SIZE)]
        if self._joint:
            helpers, blinds = seeds[0 : 2 * self.shares - 2 : 2], seeds[1 : 2 * self.shares - 2 : 2]
            blinds.insert(0, seeds[-2])
        else:
            helpers, blinds = seeds[:-1], [b""] * self.shares

        leader = encoded
        parts = []
        for at, seed in enumerate(helpers, 1):
            share = self._helper_measurement(context, at, seed)
            leader = self.field.sub(leader, share[:, None])
            if self._joint:
                parts.append(self._joint_part(context, at, blinds[at], self.field.encode(share), nonce))
        leader_bytes = self.field.encode(leader[:, 0])
        if self._joint:
            parts.insert(0, self._joint_part(context, 0, blinds[0], leader_bytes, nonce))

        joint = self._joint_elements(context, self._joint_seed(context, parts)) if self._joint else self.field.zeros(0)
        prove = self._expand(context, PROVE, seeds[-1], bytes([self.proofs]), self.proof.prove_length * self.proofs)
        made = [
            self.proof.prove(encoded, self._nth(prove, n)[:, None], self._nth(joint, n)[:, None])
            for n in range(self.proofs)
        ]
        proofs = np.concatenate(made, axis=-1)[:, 0]
        for at, seed in enumerate(helpers, 1):
            proofs = self.field.sub(proofs, self._helper_proofs(context, at, seed))
        shares = [leader_bytes + self.field.encode(proofs) + blinds[0]]
        shares += [seed + blind for seed, blind in zip(helpers, blinds[1:], strict=True)]
        return b"".join(parts), shares

    # ── servers ──────────────────────────────────────────────────────────────────────────────────────────────────

    def verify_init(self, verify_key: bytes, context: bytes, server: int, report: ReportShare) -> Begun:
        """A server's first step for one report: what it remembers, and its verifier share for the others."""
        return _or_raise(self.verify_init_many(verify_key, context, server, [report])[0])

    def verify_init_many(
        self, verify_key: bytes, context: bytes, server: int, reports: Sequence[ReportShare]
    ) -> list[Begun | HubbubError]:
        _sized(verify_key, VERIFY_KEY_SIZE, "verify_key")
        if isinstance(server, bool) or not isinstance(server, int) or not 0 <= server < self.shares:
            raise InvalidParameter(f"`server` must be a number from 0 to {self.shares - 1}; got {server!r}.")
        answers: list[Begun | HubbubError] = []
        block = max(1, TOGETHER // (self.circuit.encoded_length + self.proof.length))
        for at in range(0, len(reports), block):
            answers += self._begin(verify_key, context, server, reports[at : at + block])
        return answers

    def verifier_shares_to_message(self, context: bytes, verifier_shares: Sequence[bytes]) -> bytes:
        """What all servers' verifier shares of one report come to. Here a wrong proof is rejected."""
        return _or_raise(self.verifier_shares_to_message_many(context, [verifier_shares])[0])

    def verifier_shares_to_message_many(
        self, context: bytes, verifier_shares: Sequence[Sequence[bytes]]
    ) -> list[bytes | HubbubError]:
        answers: list[bytes | HubbubError] = [b""] * len(verifier_shares)
        good, totals, parts = [], [], []
        for at, shares in enumerate(verifier_shares):
            try:
                total, part = self._verifier_total(shares)
            except InvalidInput as error:
                answers[at] = error
                continue
            good.append(at)
            totals.append(total)
            parts.append(part)
        if not good:
            return answers
        stacked = np.stack(totals, axis=1)
        size = self.proof.verifier_length
        valid = np.ones(len(good), dtype=np.bool_)
        for n in range(self.proofs):
            valid &= self.proof.decide(stacked[..., n * size : (n + 1) * size])
        for at, part, fine in zip(good, parts, valid, strict=True):
            if not fine:
                answers[at] = ReportRejected("The report's proof does not hold: what it counts is not allowed.")
            elif self._joint:
                answers[at] = self._joint_seed(context, part)
        return answers

    def verify_next(self, state: VerifyState, message: bytes) -> Elements:
        """A server's last step for one report: its output share, if the message is what it reckoned with."""
        if len(message) != len(state.joint_seed):
            raise InvalidInput(f"A verifier message has {len(state.joint_seed)} bytes here; got {len(message)}.")
        if message != state.joint_seed:
            raise ReportRejected("The client told the servers different things about its randomness.")
        return state.output_share

    # ── sums ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def aggregate(self, output_shares: Sequence[Elements], before: Elements | None = None) -> Elements:
        """The sum of output shares, and of an earlier sum."""
        total = self.field.zeros(self.circuit.output_length) if before is None else before
        if not output_shares:
            return total
        return self.field.add(total, self.field.sum(np.stack(output_shares, axis=-1)))

    def encode_share(self, share: Elements) -> bytes:
        """An output share or a sum of them as bytes."""
        return self.field.encode(share)

    def decode_share(self, data: bytes) -> Elements:
        return self.field.decode(data, self.circuit.output_length)

    def unshard(self, sums: Sequence[Elements]) -> Result:
        """The result, from the sums of all servers."""
        if len(sums) != self.shares:
            raise InvalidParameter(f"The sums of all {self.shares} servers are needed; got {len(sums)}.")
        return self.circuit.decode(self.aggregate(sums))

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _begin(
        self, verify_key: bytes, context: bytes, server: int, reports: Sequence[ReportShare]
    ) -> list[Begun | HubbubError]:
        answers: list[Begun | HubbubError | None] = [None] * len(reports)
        rows = []
        for at, report in enumerate(reports):
            try:
                rows.append((at, *self._opened(verify_key, context, server, report)))
            except InvalidInput as error:
                answers[at] = error
        if rows:
            places, measured, proofs, queries, joints, parts, seeds = zip(*rows, strict=True)
            encoded = np.stack(measured, axis=1)
            proof, query, joint = (np.stack(one, axis=1) for one in (proofs, queries, joints))
            found, unlucky = [], np.zeros(len(rows), dtype=np.bool_)
            for n in range(self.proofs):
                told, bad = self.proof.query(
                    encoded, self._nth(proof, n), self._nth(query, n), self._nth(joint, n), self.shares
                )
                found.append(told)
                unlucky |= bad
            shares = self.field.encode_rows(np.concatenate(found, axis=-1))
            outputs = self.circuit.truncate(encoded)
            for row, at in enumerate(places):
                # A copy each, so that a report that waits does not keep its whole block in memory.
                state = VerifyState(outputs[:, row].copy(), seeds[row])
                answers[at] = (state, shares[row] + parts[row])
                if unlucky[row]:
                    answers[at] = ReportRejected(
                        "The random point of the check would tell something; try another report."
                    )
        return [answer for answer in answers if answer is not None]

    def _opened(
        self, verify_key: bytes, context: bytes, server: int, report: ReportShare
    ) -> tuple[Elements, Elements, Elements, Elements, bytes, bytes]:
        """Of one report: measurement share, proof shares, query and joint randomness, joint part, joint seed."""
        nonce = report.nonce
        _sized(nonce, NONCE_SIZE, "nonce", InvalidInput)
        _sized(report.public_share, self.public_share_size, "public share", InvalidInput)
        blind_size = SEED_SIZE if self._joint else 0
        size = self.field.encoded_size
        body = report.input_share[: len(report.input_share) - blind_size]
        blind = report.input_share[len(body) :]
        if server == 0:
            cut = self.circuit.encoded_length * size
            proof_length = self.proof.length * self.proofs
            _sized(report.input_share, cut + proof_length * size + blind_size, "input share", InvalidInput)
            encoded_bytes = body[:cut]
            encoded = self.field.decode(encoded_bytes, self.circuit.encoded_length)
            proofs = self.field.decode(body[cut:], proof_length)
        else:
            _sized(report.input_share, SEED_SIZE + blind_size, "input share", InvalidInput)
            encoded = self._helper_measurement(context, server, body)
            encoded_bytes = self.field.encode(encoded) if self._joint else b""
            proofs = self._helper_proofs(context, server, body)
        part = seed = b""
        joint = self.field.zeros(0)
        if self._joint:
            part = self._joint_part(context, server, blind, encoded_bytes, nonce)
            told = [report.public_share[at : at + SEED_SIZE] for at in range(0, self.public_share_size, SEED_SIZE)]
            told[server] = part
            seed = self._joint_seed(context, told)
            joint = self._joint_elements(context, seed)
        length = self.proof.query_length * self.proofs
        query = self._expand(context, QUERY, verify_key, bytes([self.proofs]) + nonce, length)
        return encoded, proofs, query, joint, part, seed

    def _verifier_total(self, shares: Sequence[bytes]) -> tuple[Elements, list[bytes]]:
        if len(shares) != self.shares:
            raise InvalidInput(f"The verifier shares of all {self.shares} servers are needed; got {len(shares)}.")
        length = self.proof.verifier_length * self.proofs
        cut = length * self.field.encoded_size
        total, parts = self.field.zeros(length), []
        for share in shares:
            _sized(share, cut + (SEED_SIZE if self._joint else 0), "verifier share", InvalidInput)
            total = self.field.add(total, self.field.decode(share[:cut], length))
            parts.append(share[cut:])
        return total, parts

    def _nth(self, elements: Elements, n: int) -> Elements:
        """What belongs to proof n, of something that is drawn for all proofs together."""
        each = elements.shape[-1] // self.proofs
        return elements[..., n * each : (n + 1) * each]

    def _expand(self, context: bytes, usage: int, seed: bytes, binder: bytes, length: int) -> Elements:
        return expanded(self.field, seed, tag_of(self.algorithm, usage, context), binder, length)

    def _helper_measurement(self, context: bytes, server: int, seed: bytes) -> Elements:
        return self._expand(context, MEASUREMENT_SHARE, seed, bytes([server]), self.circuit.encoded_length)

    def _helper_proofs(self, context: bytes, server: int, seed: bytes) -> Elements:
        return self._expand(context, PROOF_SHARE, seed, bytes([self.proofs, server]), self.proof.length * self.proofs)

    def _joint_part(self, context: bytes, server: int, blind: bytes, encoded: bytes, nonce: bytes) -> bytes:
        tag = tag_of(self.algorithm, JOINT_PART, context)
        return derived_seed(blind, tag, bytes([server]) + nonce + encoded)

    def _joint_seed(self, context: bytes, parts: Sequence[bytes]) -> bytes:
        return derived_seed(bytes(SEED_SIZE), tag_of(self.algorithm, JOINT_SEED, context), b"".join(parts))

    def _joint_elements(self, context: bytes, seed: bytes) -> Elements:
        return self._expand(context, JOINT, seed, bytes([self.proofs]), self.circuit.joint_length * self.proofs)


def _sized(data: bytes, size: int, what: str, error: type[HubbubError] = InvalidParameter) -> None:
    if not isinstance(data, bytes) or len(data) != size:
        given = f"{len(data):,}" if isinstance(data, bytes) else type(data).__name__
        raise error(f"`{what}` must have {size:,} bytes; got {given}.")


def _or_raise(answer: Answer | HubbubError) -> Answer:
    if isinstance(answer, HubbubError):
        raise answer
    return answer
