"""Compiled policies: the same decisions from both forms, and nothing shown from a file that is not whole."""

import ast
import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.support import context_oracle as oracle
from tests.support.context_chains import EXAMPLE_2, EXAMPLE_5, random_chain, random_delta, random_secrets

import hubbub.contexts.device as device
from hubbub.contexts import (
    Compiled,
    ContextChain,
    Hybrid,
    MaskSensitive,
    Policy,
    Probabilistic,
    Remembering,
    Secret,
    Simulatable,
)
from hubbub.contexts.remembering import MANNERS
from hubbub.errors import InvalidInput, InvalidParameter

COINS = Probabilistic.plan(EXAMPLE_2, [Secret("s")], "1/4", levels=3, exact=True)
SCHEDULE = Simulatable.plan(EXAMPLE_5, [Secret("s1", "s2")], "1/3", exact=True)
TWO_TICKS = ContextChain(("s", "x"), ("1/2", "1/2"), [[(0, 1), ("1/4", "3/4")]])
PIECES = Remembering.plan(TWO_TICKS, [Secret("s", first=0, last=0)], "1/4", levels=3)
VECTORS = Path(__file__).parents[3] / "docs" / "samples" / "context_policies.json"


def forms(policy):
    compiled = policy.compile()
    return compiled.to_json(), compiled.to_bytes()


@pytest.mark.parametrize("policy", [COINS, SCHEDULE, PIECES], ids=lambda p: p.name)
def test_a_policy_comes_back_from_both_forms(policy, tmp_path):
    compiled = policy.compile()
    for name in ("policy.json", "policy.bin"):
        compiled.save(tmp_path / name)
        assert Compiled.load(tmp_path / name) == compiled
    assert all(device.Mask(form).readable for form in forms(policy))


def test_decisions_are_the_policys():
    """Every day of small chains, each coin both ways: shown if and only if the policy allows it with that coin."""
    random = Random(3)
    for _ in range(60):
        chain = random_chain(random)
        secrets, delta = random_secrets(random, chain), random_delta(random)
        for kind in (Probabilistic, Simulatable, Remembering):
            policy = kind.plan(chain, secrets, delta)
            for form in forms(policy):
                for path in {path for path, _ in oracle.joint(chain, policy)}:
                    coin = random.randrange(10)
                    mask, last = device.Mask(form, lambda parts, coin=coin: coin * parts // 10), (-1, -1)
                    for tick, number in enumerate(path):
                        hide = policy.suppression(tick, number, *last)
                        shown = mask.offer(tick, chain.contexts[number])
                        parts = getattr(policy, "parts", 1)
                        assert (shown is None) == (coin * parts // 10 < hide * parts)
                        last = (tick, number) if shown else last


def test_a_file_that_is_cut_or_changed_shows_nothing(tmp_path):
    for policy, name in ((COINS, "x"), (SCHEDULE, "w3"), (PIECES, "x")):
        for form in forms(policy):
            places = range(0, len(form), 1 if len(form) < 500 else 7)
            broken = [form[:cut] for cut in places]
            broken += [form[:place] + bytes([form[place] ^ 1]) + form[place + 1 :] for place in places]
            for data in [*broken, form + b"\0", b"", b"{", b"[]", b"{}"]:
                mask = device.Mask(data)
                assert not mask.readable
                assert mask.offer(0, name) is None
            (tmp_path / "policy").write_bytes(broken[-1])
            with pytest.raises(InvalidInput, match="cut or changed"):
                Compiled.load(tmp_path / "policy")
    with pytest.raises(InvalidInput, match="cannot be read"):
        Compiled.load(tmp_path / "none")


def resealed(policy, **change):
    return Compiled({**policy.compile().table, **change})


@pytest.mark.parametrize(
    "compiled",
    [
        resealed(COINS, version=2),
        resealed(COINS, format="other"),
        resealed(COINS, ticks=2),
        resealed(COINS, levels=[[3]]),
        resealed(COINS, levels=[[3, 4]]),
        resealed(COINS, levels=[[-1, 0]]),
        resealed(COINS, kind="other"),
        resealed(SCHEDULE, expected=[["0"]]),
        resealed(SCHEDULE, expected=SCHEDULE.compile().table["expected"][:-1]),
    ],
)
def test_a_table_that_makes_no_sense_shows_nothing_even_with_a_right_checksum(compiled):
    assert not device.Mask(compiled.to_json()).readable


def test_binary_files_of_another_version_or_length():
    body = COINS.compile().to_bytes()[:-32]
    import hashlib

    for changed in (
        b"HBCQ" + body[4:],
        body[:4] + b"\2" + body[5:],
        body[:5] + b"\7" + body[6:],
        body + b"\0",
        body[:-2],
    ):
        assert not device.Mask(changed + hashlib.sha256(changed).digest()).readable


def test_ticks_are_decided_once_and_in_order():
    mask = device.Mask(SCHEDULE.compile().to_bytes())
    assert mask.offer(0, "w3") == "w3"
    assert mask.offer(0, "w3") is None
    assert mask.offer(-1, "w3") is None
    assert mask.offer(1, "x2") == "x2"
    assert mask.offer(99, "y2") is None
    for wrong in ("2", None, [], {}):
        assert mask.offer(wrong, "y2") is None
    for wrong in ("clinic", None, [], 3):
        assert device.Mask(SCHEDULE.compile().to_bytes()).offer(0, wrong) is None


def test_what_the_chain_did_not_expect_silences_the_rest_of_a_schedule():
    mask = device.Mask(SCHEDULE.compile().to_bytes())
    assert mask.offer(0, "w3") == "w3"
    assert mask.offer(1, "s1") is None
    assert [mask.offer(2, "y2"), mask.offer(3, "z1")] == [None, None]


def test_coins_are_fair():
    """A third is suppressed: 20,000 tosses lie within 6 standard deviations but for one run in a billion."""
    table = resealed(COINS, levels=[[3, 1]])
    data = table.to_bytes()
    hidden = sum(device.Mask(data).offer(0, "x") is None for _ in range(20_000))
    assert abs(hidden - 20_000 / 3) < 6 * (20_000 * 2 / 9) ** 0.5


def test_the_reader_is_small_and_needs_nothing():
    source = Path(device.__file__).read_text()
    assert source.count("\n") < 100
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert imported <= {"__future__", "collections", "hashlib", "json", "secrets", "struct", "typing"}


def test_a_usual_policy_is_small():
    days = np.random.default_rng(1).integers(0, 20, size=(30, 48))
    chain = ContextChain.fit([[str(n) for n in day] for day in days], contexts=[str(n) for n in range(20)], smoothing=0)
    secrets = [Secret("3")]
    few = Remembering.plan(chain, secrets, "0.1", manners=MANNERS[:2])
    for policy in (Simulatable.plan(chain, secrets, "0.1"), MaskSensitive.plan(chain, secrets, "0.1"), few):
        for form in forms(policy):
            assert len(form) <= 64_000


def test_only_policies_of_the_house_are_compiled():
    class Own(Policy):
        def suppression(self, *_):
            return 0

    with pytest.raises(InvalidParameter, match="compiled"):
        Own(EXAMPLE_2, [Secret("s")], "1/4", 0.0).compile()


def test_a_hybrid_compiles_what_it_chose():
    policy = Hybrid.plan(EXAMPLE_5, [Secret("s1", "s2")], "1/3", exact=True)
    assert policy.compile() == SCHEDULE.compile()


def vectors():
    """What docs/samples/context_policies.json holds: files, and decisions with coins that are told."""
    found = []
    for policy, days in (
        (resealed(COINS, levels=[[3, 1]]), [["x"], ["s"], ["clinic"]]),
        (SCHEDULE.compile(), [["w3", "x2", "y2", "z1"], ["w1", "x1", "s1", "z1"], ["w3", "s1", "y2", "z1"]]),
        (PIECES.compile(), [["x", "x"], ["s", "x"], ["clinic", "x"]]),
    ):
        for coin in (0, 2):
            for day in days:
                mask = device.Mask(policy.to_bytes(), lambda _, coin=coin: coin)
                shown = [mask.offer(tick, context) for tick, context in enumerate(day)]
                found.append(
                    {
                        "binary": policy.to_bytes().hex(),
                        "json": policy.to_json().decode(),
                        "coin": coin,
                        "day": day,
                        "shown": shown,
                    }
                )
    return found


def test_test_vectors_are_what_the_code_does():
    assert json.loads(VECTORS.read_text()) == vectors()
