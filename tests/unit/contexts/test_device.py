"""Compiled policies: the same decisions from both forms, and nothing shown from a file that is not whole."""

import ast
import hashlib
import json
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from tests.support import context_oracle as oracle
from tests.support.context_chains import EXAMPLE_2, EXAMPLE_5, random_chain, random_delta, random_secrets
from tests.support.forks import in_a_fork

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
ODD = VECTORS.with_name("context_policies_odd.json")


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


def sealed(body):
    """A JSON form with a right checksum, whatever it says."""
    return '{"checksum":"' + hashlib.sha256(body.encode()).hexdigest() + '",' + body


def odd():
    """What docs/samples/context_policies_odd.json holds: files with right checksums that the format does not have.

    Each would be shown something of, were it not refused: the changed field is all that is wrong with it.
    """
    small = {"kind": "coins", "contexts": ["s", "x"], "ticks": 1, "delta": "1/4", "parts": 10, "levels": [[0, 0]]}
    head = {"format": "hubbub-context-policy", "version": 1}
    schedule, pieces = SCHEDULE.compile().table, PIECES.compile().table
    following, expected = schedule["following"], schedule["expected"]
    changes = [
        *({"levels": levels} for levels in (None, [None], [[None, None]], [["0", "0"]], [[0.5, 0]], [[True, 0]])),
        *(
            {"levels": levels}
            for levels in ("ss", [[0, 11]], [[-1, 0]], [[0]], [[0, 0], [0, 0]], [], [{"0": 0, "1": 0}])
        ),
        *({"parts": parts} for parts in ("10", 0, 10.5, 65536, 10**400, True, None, [10])),
        *({"contexts": names} for names in ("sx", ["s", "s"], ["s", ""], [1, 2], ["s", None], {"s": 0, "x": 1}, None)),
        *({"ticks": ticks} for ticks in (True, "1", 0, 2, 1.5, None)),
        *({"delta": delta} for delta in ("0", "2", "x", "1/0", "", "0.25", "5/4", "-1/4", " 1/4", "1/4\n", None, 1)),
        *({"delta": delta} for delta in ("١/٤", "1" * 1001 + "/" + "2" * 1001)),
        *({"kind": kind} for kind in ("Coins", 0, None, ["coins"])),
        *({"version": version} for version in (True, 2, "1", None)),
        *({"format": name} for name in ("other", None)),
        {"more": 1},
        {"pieces": []},
    ]
    found = {f"coins, {json.dumps(change)[:60]}": {**head, **small, **change} for change in changes}
    found |= {f"coins without {name}": {k: v for k, v in (head | small).items() if k != name} for name in head | small}
    for change in (
        {"following": [[None] * len(row) for row in following]},
        {"following": [[str(tick) for tick in row] for row in following]},
        {"following": [[65536] * len(row) for row in following]},
        {"expected": [["f" * 99] * len(row) for row in expected]},
        {"expected": [["0x" + flags for flags in row] for row in expected]},
        {"expected": [["F"] * len(row) for row in expected]},
        {"expected": [[int(flags, 16) for flags in row] for row in expected]},
        {"levels": []},
    ):
        found[f"schedule, {json.dumps(change)[:60]}"] = {**head, **schedule, **change}
    for change in (
        {"levels": [[None, None] for _ in pieces["levels"]]},
        {"levels": [["0", "0"] for _ in pieces["levels"]]},
        {"levels": None},
        {"parts": 256},
        {"pieces": [[[0] * 9 for _ in row] for row in pieces["pieces"]]},
        {"pieces": [["0" for _ in row] for row in pieces["pieces"]]},
        {"pieces": [[[str(k) for k in piece] for piece in row] for row in pieces["pieces"]]},
        {"pieces": [[[k + 99 for k in piece] for piece in row] for row in pieces["pieces"]]},
    ):
        found[f"pieces, {json.dumps(change)[:60]}"] = {**head, **pieces, **change}
    files = {name: sealed(json.dumps(table, separators=(",", ":"))[1:]) for name, table in found.items()}
    whole = json.dumps({**head, **small}, separators=(",", ":"))[1:]
    for was, now in (
        ('"version":1', '"version":1.0'), ('"parts":10', '"parts":10.0'), ('"parts":10', '"parts":1e1'),
        ("[[0,0]]", "[[0,-0]]"), ("[[0,0]]", "[[0,00]]"), ("[[0,0]]", "[[0,NaN]]"), ("[[0,0]]", "[[0,Infinity]]"),
        ("[[0,0]]", "[[0,0]],\"deep\":" + "[" * 3000 + "]" * 3000), ("}", "}}"), ("}", ""), ("}", "} 1"), ("{", ""),
    ):  # fmt: skip
        files[f"coins as text, {now[:40]}"] = sealed(whole.replace(was, now)) if was in whole else sealed("")
    return [{"about": name, "file": file, "day": ["s", "w3"]} for name, file in files.items()]


def test_what_the_format_does_not_have_shows_nothing_even_with_a_right_checksum(tmp_path):
    for one in odd():
        mask = device.Mask(one["file"].encode(), lambda parts: parts)
        assert not mask.readable, one["about"]
        assert [mask.offer(tick, context) for tick, context in enumerate(one["day"])] == [None, None]
        (tmp_path / "odd.json").write_bytes(one["file"].encode())
        with pytest.raises(InvalidInput, match="no policy of version 1"):
            Compiled.load(tmp_path / "odd.json")


def test_odd_files_are_what_the_code_makes_of_them():
    assert json.loads(ODD.read_text()) == odd()


def test_names_that_the_compact_form_cannot_hold(tmp_path):
    chain = ContextChain(tuple(f"{n:0301}" for n in range(300)), [1] + [0] * 299, [])
    compiled = MaskSensitive.plan(chain, [Secret(f"{7:0301}")], "1/4").compile()
    with pytest.raises(InvalidParameter, match="91,201 bytes; the compact form holds 65,535"):
        compiled.to_bytes()
    compiled.save(tmp_path / "policy.json")
    assert Compiled.load(tmp_path / "policy.json") == compiled
    with pytest.raises(InvalidParameter, match="1000 digits"):
        Simulatable.plan(EXAMPLE_2, [Secret("s")], Fraction(10**1000, 10**1001 + 1)).compile()


def test_binary_files_of_another_version_or_length():
    body = COINS.compile().to_bytes()[:-32]
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


def test_a_coin_that_fails_and_odd_ticks_show_nothing():
    def broken(_):
        raise OSError("no randomness")

    data = resealed(COINS, levels=[[3, 1]]).to_bytes()
    mask = device.Mask(data, broken)
    assert mask.offer(0, "x") is None
    assert mask.tick == 0, "the tick is spent"
    for wrong in (0.0, 0.5, True, False):
        assert device.Mask(data, lambda parts: parts).offer(wrong, "x") is None
    assert device.Mask(data, lambda parts: parts).offer(0, "x") == "x"


def test_a_reader_that_was_forked_is_silent():
    """Else parent and child toss for the same tick, and who sees both answers has two tosses."""
    mask = device.Mask(SCHEDULE.compile().to_bytes())
    assert in_a_fork(lambda: mask.offer(0, "w3")) == "None"
    assert mask.offer(0, "w3") == "w3"


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
    """Under 100 lines of code; blank lines and docstrings are not counted."""
    source = Path(device.__file__).read_text()
    said = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    assert sum(line.strip() != "" for at, line in enumerate(source.splitlines(), 1) if at not in said) < 100
    imported = {
        name.split(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert imported <= {"__future__", "collections", "hashlib", "json", "os", "re", "secrets", "struct", "typing"}


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
