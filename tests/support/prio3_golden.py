"""Makes our own test vectors with the slow reference, in the schema of the draft:

    PYTHONPATH=src:. python -m tests.support.prio3_golden

They are in the repository, so that byte-exactness is tested where the public vectors are not. They reach what those
do not: four and five servers, several proofs, chunks that do not fill up, one bit, several reports, and reports spoilt
in every message.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from tests.support.prio3_vectors import GOLDEN
from tests.support.slow_prio3 import SlowPrio3, slow

CONTEXT = b"golden"

GOOD: list[tuple[str, int, dict[str, int], list[Any]]] = [
    ("Prio3Count_five", 5, {}, [1, 0, 1, 1]),
    ("Prio3Sum_one_bit", 2, {"max_measurement": 1}, [1, 0, 1]),
    ("Prio3Sum_odd", 4, {"max_measurement": 1337}, [1337, 0, 1023, 1024, 512]),
    ("Prio3Sum_large", 2, {"max_measurement": 2**63 + 5}, [2**63 + 5, 7]),
    ("Prio3SumVec_odd", 3, {"length": 4, "max_measurement": 100, "chunk_length": 5}, [[100, 0, 1, 63], [99, 64, 2, 3]]),
    ("Prio3SumVec_wide", 2, {"length": 2, "max_measurement": 2**70, "chunk_length": 9}, [[2**70, 5]]),
    ("Prio3SumVecWithMultiproof_three", 2,
     {"length": 5, "max_measurement": 6, "chunk_length": 4, "proofs": 3}, [[6, 5, 4, 0, 1]]),
    ("Prio3SumVecWithMultiproof_four", 3,
     {"length": 3, "max_measurement": 255, "chunk_length": 7, "proofs": 4}, [[255, 0, 128]]),
    ("Prio3Histogram_one_chunk", 2, {"length": 6, "chunk_length": 6}, [0, 5]),
    ("Prio3Histogram_long_chunk", 2, {"length": 5, "chunk_length": 8}, [4]),
    ("Prio3Histogram_single", 2, {"length": 1, "chunk_length": 1}, [0]),
    ("Prio3Histogram_unfilled", 4, {"length": 17, "chunk_length": 4}, [16, 3, 3]),
    ("Prio3MultihotCountVec_unfilled", 3, {"length": 7, "max_weight": 5, "chunk_length": 4},
     [[True, False, True, True, False, True, True], [False] * 7]),
    ("Prio3L1BoundSum_odd", 3, {"length": 5, "max_value": 9, "chunk_length": 4},
     [[4, 0, 1, 3, 1], [9, 0, 0, 0, 0], [0] * 5]),
    ("Prio3MultihotCountVec_all", 2, {"length": 3, "max_weight": 3, "chunk_length": 2}, [[True] * 3]),
]  # fmt: skip


def good(name: str, shares: int, given: dict[str, int], measurements: list[Any]) -> dict[str, Any]:
    random = Random(name)
    prio3 = slow(name.partition("_")[0], shares, **given)
    key = random.randbytes(32)
    reports, operations = [], []
    sums = [[0] * len(prio3.circuit.truncate(prio3.circuit.encode(measurements[0])))] * shares
    for index, measurement in enumerate(measurements):
        nonce, rand = random.randbytes(16), random.randbytes(prio3.randomness_size)
        public, inputs = prio3.shard(CONTEXT, measurement, nonce, rand)
        begun = [prio3.verify_init(key, CONTEXT, k, nonce, public, inputs[k]) for k in range(shares)]
        message = prio3.verifier_shares_to_message(CONTEXT, [share for _, share in begun])
        outputs = [prio3.verify_next(state, message) for state, _ in begun]
        sums = [prio3.add([total, output]) for total, output in zip(sums, outputs, strict=True)]
        reports.append(report(measurement, nonce, rand, public, inputs, [s for _, s in begun]) | {
            "verifier_messages": [message.hex()],
            "out_shares": [prio3.field.encode(output).hex() for output in outputs],
        })  # fmt: skip
        operations.append({"operation": "shard", "report_index": index, "success": True})
        operations += [step("verify_init", index, k) for k in range(shares)]
        operations.append(step("verifier_shares_to_message", index))
        operations += [step("verify_next", index, k) for k in range(shares)]
    operations += [{"operation": "aggregate", "aggregator_id": k, "success": True} for k in range(shares)]
    operations.append({"operation": "unshard", "success": True})
    return {
        **given, "shares": shares, "ctx": CONTEXT.hex(), "verify_key": key.hex(), "agg_param": "",
        "reports": reports, "operations": operations,
        "agg_shares": [prio3.field.encode(total).hex() for total in sums], "agg_result": prio3.unshard(sums),
    }  # fmt: skip


def report(measurement: Any, nonce: bytes, rand: bytes, public: bytes, inputs: list[bytes], told: list[bytes]) -> Any:
    return {
        "measurement": measurement, "nonce": nonce.hex(), "rand": rand.hex(), "public_share": public.hex(),
        "input_shares": [share.hex() for share in inputs], "verifier_shares": [[share.hex() for share in told]],
        "verifier_messages": [], "out_shares": [],
    }  # fmt: skip


def step(operation: str, index: int, server: int | None = None, success: bool = True) -> dict[str, Any]:
    where = {} if server is None else {"aggregator_id": server}
    return {"operation": operation, "report_index": index, "round": 0, "success": success, **where}


class Liar(SlowPrio3):
    """Proves what is not valid as well as it can."""

    def __init__(self, prio3: SlowPrio3, wrong: list[int]) -> None:
        super().__init__(prio3.circuit, prio3.shares, prio3.algorithm, prio3.proofs)
        self.circuit.encode = lambda _: [value % self.field.modulus for value in wrong]  # type: ignore[method-assign]


LIES: list[tuple[str, dict[str, int], list[int]]] = [
    ("Prio3Count_bad_two", {}, [2]),
    ("Prio3Count_bad_minus_one", {}, [-1]),
    ("Prio3Sum_bad_bit", {"max_measurement": 5}, [0, 7, 0]),
    ("Prio3SumVec_bad_bit", {"length": 2, "max_measurement": 3, "chunk_length": 2}, [1, 0, -1, 1]),
    ("Prio3Histogram_bad_two_buckets", {"length": 4, "chunk_length": 2}, [1, 0, 1, 0]),
    ("Prio3Histogram_bad_none", {"length": 4, "chunk_length": 2}, [0, 0, 0, 0]),
    ("Prio3Histogram_bad_shifted", {"length": 4, "chunk_length": 2}, [1000, 0, -999, 0]),
    ("Prio3MultihotCountVec_bad_weight", {"length": 4, "max_weight": 2, "chunk_length": 2}, [1, 1, 1, 0, 1, 1]),
    ("Prio3L1BoundSum_bad_weight", {"length": 2, "max_value": 3, "chunk_length": 2}, [1, 1, 1, 1, 1, 1]),
    ("Prio3L1BoundSum_bad_bit", {"length": 2, "max_value": 3, "chunk_length": 2}, [5, 0, -1, 1, 1, 1]),
    ("Prio3MultihotCountVec_bad_bit", {"length": 4, "max_weight": 2, "chunk_length": 2}, [2, 0, 0, 0, 1, 1]),
]

SPOILT: list[tuple[str, dict[str, int], Any, str, int]] = [
    # which message is spoilt, and at which byte
    ("Prio3Count_bad_leader_first", {}, 1, "leader", 0),
    ("Prio3Count_bad_leader_last", {}, 1, "leader", -1),
    ("Prio3Count_bad_helper", {}, 0, "helper", 5),
    ("Prio3Sum_bad_proof", {"max_measurement": 9}, 4, "leader", -9),
    ("Prio3Histogram_bad_blind_of_leader", {"length": 3, "chunk_length": 2}, 1, "leader", -1),
    ("Prio3Histogram_bad_blind_of_helper", {"length": 3, "chunk_length": 2}, 1, "helper", -1),
    ("Prio3Histogram_bad_part_of_leader", {"length": 3, "chunk_length": 2}, 1, "public", 0),
    ("Prio3Histogram_bad_part_of_helper", {"length": 3, "chunk_length": 2}, 1, "public", -1),
    ("Prio3Histogram_bad_nonce", {"length": 3, "chunk_length": 2}, 2, "nonce", 3),
    ("Prio3Histogram_bad_message", {"length": 3, "chunk_length": 2}, 1, "message", 0),
]


def bad(name: str, given: dict[str, int], prio3: SlowPrio3, measurement: Any, what: str, byte: int) -> dict[str, Any]:
    """A report that is refused; the slow reference says where."""
    random = Random(name)
    key, nonce, rand = random.randbytes(32), random.randbytes(16), random.randbytes(prio3.randomness_size)
    public, inputs = prio3.shard(CONTEXT, measurement, nonce, rand)
    if what == "public":
        public = spoilt(public, byte)
    if what == "nonce":
        nonce = spoilt(nonce, byte)
    if what in ("leader", "helper"):
        server = int(what == "helper")
        inputs[server] = spoilt(inputs[server], byte)
    begun = [prio3.verify_init(key, CONTEXT, k, nonce, public, inputs[k]) for k in (0, 1)]
    operations = [step("verify_init", 0, k) for k in (0, 1)]
    made = report(None, nonce, rand, public, inputs, [share for _, share in begun])
    try:
        message = prio3.verifier_shares_to_message(CONTEXT, [share for _, share in begun])
    except ValueError:
        operations.append(step("verifier_shares_to_message", 0, success=False))
    else:
        operations.append(step("verifier_shares_to_message", 0))
        made["verifier_messages"] = [message.hex()]
        if what == "message":
            operations.pop()
            made["verifier_messages"] = [spoilt(message, byte).hex()]
        operations += [step("verify_next", 0, k, success=False) for k in (0, 1)]
        assert all(state[1] != bytes.fromhex(made["verifier_messages"][0]) for state, _ in begun), name
    return {
        **given, "shares": 2, "ctx": CONTEXT.hex(), "verify_key": key.hex(), "agg_param": "", "reports": [made],
        "operations": operations, "agg_shares": [], "agg_result": None,
    }  # fmt: skip


def spoilt(data: bytes, byte: int) -> bytes:
    changed = bytearray(data)
    changed[byte] ^= 1
    return bytes(changed)


def made() -> dict[str, dict[str, Any]]:
    files = {name: good(name, *rest) for name, *rest in GOOD}
    for name, given, wrong in LIES:
        files[name] = bad(name, given, Liar(slow(name.partition("_")[0], 2, **given), wrong), None, "", 0)
    for name, given, measurement, what, byte in SPOILT:
        files[name] = bad(name, given, slow(name.partition("_")[0], 2, **given), measurement, what, byte)
    return files


def main() -> None:
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name, content in made().items():
        (GOLDEN / f"{name}.json").write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
