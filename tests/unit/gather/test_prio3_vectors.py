"""Byte-exactness: the draft's public vectors where they are, and our own, made by the slow reference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support import prio3_golden, slow_prio3
from tests.support.prio3_vectors import GOLDEN, PUBLIC, WHY_SKIPPED, Run, vectors

from hubbub.gather.prio3 import Field128, XofTurboShake128

needs_public = pytest.mark.skipif(not vectors(PUBLIC), reason=WHY_SKIPPED)


@needs_public
@pytest.mark.parametrize("batched", [False, True], ids=["single", "many"])
@pytest.mark.parametrize("path", vectors(PUBLIC), ids=lambda path: path.stem)
def test_public_vectors(path: Path, batched: bool):
    failed = Run(path, batched).all()
    assert bool(failed) == ("_bad_" in path.name)


@pytest.mark.parametrize("batched", [False, True], ids=["single", "many"])
@pytest.mark.parametrize("path", vectors(GOLDEN), ids=lambda path: path.stem)
def test_our_own_vectors(path: Path, batched: bool):
    failed = Run(path, batched).all()
    assert bool(failed) == ("_bad_" in path.name)


def test_there_are_vectors_of_every_kind():
    names = {path.stem.partition("_")[0] for path in vectors(GOLDEN)}
    assert len(names) == 7
    assert len([path for path in vectors(GOLDEN) if "_bad_" in path.name]) == 21


def test_our_own_vectors_are_what_the_slow_reference_makes():
    for name, content in prio3_golden.made().items():
        assert json.loads((GOLDEN / f"{name}.json").read_text()) == json.loads(json.dumps(content)), name


@pytest.mark.parametrize("path", vectors(GOLDEN), ids=lambda path: path.stem)
def test_the_runner_would_notice_one_changed_digit(path: Path, tmp_path: Path):
    """The control: a vector whose expected bytes are wrong by one digit must not pass."""
    vector = json.loads(path.read_text())
    share = vector["reports"][0]["verifier_shares"][0][0]
    vector["reports"][0]["verifier_shares"][0][0] = ("1" if share[0] != "1" else "2") + share[1:]
    changed = tmp_path / path.name
    changed.write_text(json.dumps(vector))
    with pytest.raises(AssertionError):
        Run(changed).all()


@needs_public
def test_public_vector_of_the_xof():
    vector = json.loads((PUBLIC / "XofTurboShake128.json").read_text())
    seed, tag, binder = (bytes.fromhex(vector[name]) for name in ("seed", "dst", "binder"))
    assert XofTurboShake128(seed, tag, binder).next(32).hex() == vector["derived_seed"]
    elements = XofTurboShake128(seed, tag, binder).next_vector(Field128, vector["length"])
    assert Field128.encode(elements).hex() == vector["expanded_vec_field128"]
    assert slow_prio3.xof(seed, tag, binder).next(32).hex() == vector["derived_seed"]


@needs_public
@pytest.mark.parametrize("path", vectors(PUBLIC), ids=lambda path: path.stem)
def test_the_slow_reference_agrees_with_the_public_vectors(path: Path):
    """It makes our own vectors, so it must stand on something itself."""
    vector = json.loads(path.read_text())
    given = {
        name: vector[name] for name in ("length", "max_measurement", "max_weight", "chunk_length") if name in vector
    }
    prio3 = slow_prio3.slow(path.stem.partition("_")[0], vector["shares"], **given)
    context, key = bytes.fromhex(vector["ctx"]), bytes.fromhex(vector["verify_key"])
    for report in vector["reports"]:
        nonce, rand, public = (bytes.fromhex(report[name]) for name in ("nonce", "rand", "public_share"))
        inputs = [bytes.fromhex(share) for share in report["input_shares"]]
        if report["measurement"] is not None:
            assert prio3.shard(context, report["measurement"], nonce, rand) == (public, inputs)
        begun = [prio3.verify_init(key, context, k, nonce, public, share) for k, share in enumerate(inputs)]
        assert [share.hex() for _, share in begun] == report["verifier_shares"][0]
        if report["verifier_messages"]:
            message = prio3.verifier_shares_to_message(context, [share for _, share in begun])
            assert [message.hex()] == report["verifier_messages"]
