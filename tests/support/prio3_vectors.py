"""Runs test vectors of Prio3 in the schema of draft-irtf-cfrg-vdaf, appendix "Test Vectors".

More vectors need no code: a file named after a kind of Prio3, in the folder of the public ones or in that of our own,
is found and run. Every message that the code makes is compared byte by byte with that of the file; every operation
that must fail must fail with a typed error.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hubbub.errors import HubbubError, InvalidInput, ReportRejected
from hubbub.gather.prio3 import (
    Field64,
    Prio3,
    Prio3Count,
    Prio3Histogram,
    Prio3L1BoundSum,
    Prio3MultihotCountVec,
    Prio3Sum,
    Prio3SumVec,
    ReportShare,
    SumVec,
)

GOLDEN = Path(__file__).parents[1] / "unit" / "gather" / "golden"
PUBLIC = Path(os.environ.get("HUBBUB_DATA", Path(__file__).parents[3] / "shared" / "data")) / "vdaf_vectors"
WHY_SKIPPED = "The draft's public test vectors are not here: put them into $HUBBUB_DATA/vdaf_vectors."
PARAMETERS = ("length", "max_measurement", "max_weight", "max_value", "chunk_length")


def _several_proofs(shares: int, *, length: int, max_measurement: int, chunk_length: int, proofs: int = 3) -> Any:
    """The draft's repository tests several proofs with this one, under a number for private use."""
    return Prio3(SumVec(length, max_measurement, chunk_length, Field64), shares, 0xFFFFFFFF, proofs)


KINDS: dict[str, Any] = {
    "Prio3Count": Prio3Count,
    "Prio3Histogram": Prio3Histogram,
    "Prio3L1BoundSum": Prio3L1BoundSum,
    "Prio3MultihotCountVec": Prio3MultihotCountVec,
    "Prio3Sum": Prio3Sum,
    "Prio3SumVec": Prio3SumVec,
    "Prio3SumVecWithMultiproof": _several_proofs,
}


def vectors(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("Prio3*.json") if path.name.partition("_")[0] in KINDS)


def load(path: Path) -> tuple[Any, dict[str, Any]]:
    """The instance of Prio3 that a file is about, and the file."""
    vector = json.loads(path.read_text())
    given = {name: vector[name] for name in (*PARAMETERS, "proofs") if name in vector}
    return KINDS[path.name.partition("_")[0]](vector["shares"], **given), vector


class Run:
    """One file, operation by operation; `batched` uses the forms for many reports."""

    def __init__(self, path: Path, batched: bool = False) -> None:
        self.prio3, self.vector = load(path)
        self.batched = batched
        self.context = bytes.fromhex(self.vector["ctx"])
        self.key = bytes.fromhex(self.vector["verify_key"])
        self.states: dict[tuple[int, int], Any] = {}
        self.outputs: dict[tuple[int, int], Any] = {}
        self.failed: list[str] = []

    def all(self) -> list[str]:
        """Do all operations; which of them failed, as the file says that they must."""
        for operation in self.vector["operations"]:
            name = operation["operation"]
            try:
                getattr(self, name)(
                    **{k: v for k, v in operation.items() if k not in ("operation", "success", "round")}
                )
            except (InvalidInput, ReportRejected):
                if operation["success"]:
                    raise
                self.failed.append(name)
            else:
                assert operation["success"], f"{name} was not refused"
        return self.failed

    def shard(self, report_index: int) -> None:
        report = self.vector["reports"][report_index]
        public, inputs = self.prio3.shard(
            self.context, report["measurement"], bytes.fromhex(report["nonce"]), bytes.fromhex(report["rand"])
        )
        assert public.hex() == report["public_share"]
        assert [share.hex() for share in inputs] == report["input_shares"]

    def verify_init(self, report_index: int, aggregator_id: int) -> None:
        report = self.vector["reports"][report_index]
        share = ReportShare(
            *(
                bytes.fromhex(x)
                for x in (report["nonce"], report["public_share"], report["input_shares"][aggregator_id])
            )
        )
        if self.batched:
            good = ReportShare(share.nonce, share.public_share, share.input_share[:-1])
            first, _, answer = self.prio3.verify_init_many(self.key, self.context, aggregator_id, [share, good, share])
            assert isinstance(first, HubbubError) or first[1] == answer[1]
            if isinstance(answer, HubbubError):
                raise answer
        else:
            answer = self.prio3.verify_init(self.key, self.context, aggregator_id, share)
        self.states[report_index, aggregator_id], told = answer
        assert told.hex() == report["verifier_shares"][0][aggregator_id]

    def verifier_shares_to_message(self, report_index: int) -> None:
        report = self.vector["reports"][report_index]
        shares = [bytes.fromhex(share) for share in report["verifier_shares"][0]]
        if self.batched:
            _, answer = self.prio3.verifier_shares_to_message_many(self.context, [[b""], shares])
            if isinstance(answer, HubbubError):
                raise answer
        else:
            answer = self.prio3.verifier_shares_to_message(self.context, shares)
        assert answer.hex() == report["verifier_messages"][0]

    def verify_next(self, report_index: int, aggregator_id: int) -> None:
        report = self.vector["reports"][report_index]
        message = bytes.fromhex(report["verifier_messages"][0])
        output = self.prio3.verify_next(self.states[report_index, aggregator_id], message)
        self.outputs[report_index, aggregator_id] = output
        assert self.prio3.encode_share(output).hex() == report["out_shares"][aggregator_id]

    def aggregate(self, aggregator_id: int) -> None:
        outputs = [
            output
            for (_, server), output in sorted(self.outputs.items(), key=lambda i: i[0])
            if server == aggregator_id
        ]
        total = self.prio3.aggregate(outputs)
        assert self.prio3.encode_share(total).hex() == self.vector["agg_shares"][aggregator_id]

    def unshard(self) -> None:
        sums = [self.prio3.decode_share(bytes.fromhex(share)) for share in self.vector["agg_shares"]]
        assert self.prio3.unshard(sums) == self.vector["agg_result"]
