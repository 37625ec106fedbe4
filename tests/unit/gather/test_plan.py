"""Plans and keys: what is in their files comes out again, and what cannot be is refused before anybody is asked."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from tests.support.gathering import BEGIN

from hubbub.errors import InvalidInput, InvalidParameter, QueryClosed
from hubbub.gather.asking import answer, question
from hubbub.gather.plan import LONGEST_FILE, Plan
from hubbub.gather.planning import planned
from hubbub.gather.prio3 import Count, Histogram, MultihotCountVec, SumVec
from hubbub.gather.server_keys import PublicKeys, ServerKeys
from hubbub.gather.sizes import report_size

USUAL = {"clients": 20, "minimum": 3, "epsilon": 1, "opens": BEGIN, "every": timedelta(minutes=10)}
PLAN, KEYS = planned("colours", Histogram(3), labels=["red", "green", "blue"], ticks=4, **USUAL)


@pytest.mark.parametrize("scheme", ["prio3", "homomorphic"])
def test_what_is_written_is_read(tmp_path, scheme):
    plan, _ = planned("q", SumVec(length=2, max_measurement=7), scheme=scheme, **USUAL)
    path = tmp_path / "plan.json"
    path.write_bytes(plan.encode())
    again = Plan.load(path)
    assert again.encode() == plan.encode()
    assert again.query.digest == plan.query.digest
    assert json.loads(plan.encode())["promise"] == plan.query.promise
    assert report_size(again) > 100


def test_rounds_and_times():
    assert [PLAN.tick_at(BEGIN + timedelta(minutes=at)) for at in (0, 9, 10, 39)] == [0, 0, 1, 3]
    with pytest.raises(QueryClosed, match="takes answers from"):
        PLAN.tick_at(BEGIN - timedelta(seconds=1))
    with pytest.raises(QueryClosed, match="took answers until"):
        PLAN.tick_at(BEGIN + timedelta(minutes=40))
    assert PLAN.ends(0) == PLAN.closes(0) + PLAN.grace
    assert len({PLAN.round_of(tick) for tick in range(4)}) == 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scheme": "poplar"}, "knows no scheme"),
        ({"ticks": 0}, "1 to 1,000,000 rounds"),
        ({"ticks": 2, "scheme": "homomorphic"}, "have one round"),
        ({"every": timedelta(0)}, "longer than nothing"),
        ({"grace": timedelta(-1)}, "longer than nothing"),
        ({"opens": datetime(2026, 1, 1)}, "time zone"),
        ({"labels": ("a", "b")}, "so many different labels"),
        ({"servers": (PLAN.servers[0],) * 2}, "same keys"),
    ],
)
def test_plans_that_cannot_be(change, words):
    with pytest.raises((InvalidInput, InvalidParameter), match=words):
        replace(PLAN, **change)


def changed(**change):
    return json.dumps(json.loads(PLAN.encode()) | change, indent=1).encode()


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{}", changed(kind="hubbub gather plan 2"), changed(servers=[]), changed(opens=3), changed(ticks="4"),
     changed(promise="None at all."), changed(public="?"), changed(query={}), changed(more=1), changed(every=1e300)],
)  # fmt: skip
def test_files_that_are_no_plan(data):
    with pytest.raises(InvalidInput):
        Plan.decode(data)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be read"):
        Plan.load(tmp_path / "nothing")
    large = tmp_path / "large"
    large.write_bytes(b" " * (LONGEST_FILE + 1))
    with pytest.raises(InvalidInput, match="longer than any plan"):
        Plan.load(large)


def test_each_server_makes_its_own_keys():
    helper = ServerKeys.make()
    plan, made = planned("q", Count(), helper_keys=str(helper.public), **USUAL)
    assert list(made) == ["leader"]
    schemes = plan.scheme_for(0, made["leader"], 0), plan.scheme_for(1, helper, 0)
    assert schemes[0]._verify_key() == schemes[1]._verify_key()
    leader = ServerKeys.make()
    plan, made = planned("q", Count(), leader_keys=str(leader.public), scheme="homomorphic", **USUAL)
    plan.scheme_for(0, leader, 0)
    plan.scheme_for(1, made["helper"], 0)
    with pytest.raises(InvalidParameter, match="Leave one of them out"):
        planned("q", Count(), leader_keys=str(leader.public), helper_keys=str(helper.public), **USUAL)
    with pytest.raises(InvalidParameter, match="Plan where the key server is"):
        planned("q", Count(), helper_keys=str(helper.public), scheme="homomorphic", **USUAL)


def test_keys_that_are_none(tmp_path):
    keys = ServerKeys.make()
    assert PublicKeys.of(str(keys.public)) == keys.public
    for wrong in ("", "12", "x" * 128, None):
        with pytest.raises(InvalidInput, match="128 hexadecimal digits"):
            PublicKeys.of(wrong)
    with pytest.raises(InvalidInput, match="public key is none"):
        keys.shared_with(PublicKeys(bytes(32), bytes(32)), "verify")
    path = tmp_path / "keys"
    with pytest.raises(InvalidInput, match="cannot be read"):
        ServerKeys.load(path)
    for text in ("", "{}", '{"kind": "hubbub gather secret 1"}', '{"kind": "hubbub gather secret 1", "seal": "1"}'):
        path.write_text(text)
        path.chmod(0o600)
        with pytest.raises(InvalidInput, match="holds no keys"):
            ServerKeys.load(path)
    keys.save(path)
    path.chmod(0o644)
    with pytest.raises(InvalidInput, match="can be read by other users"):
        ServerKeys.load(path)
    keys.save(path)  # over a file that others may read: they may not any more
    assert ServerKeys.load(path) == keys or ServerKeys.load(path).public == keys.public
    assert keys.seal.secret.hex() not in repr(keys)


@pytest.mark.parametrize("text", ["", "histogram", "histogram:x", "histogram:1:2", "sum:-1", "poll:3", "count:1"])
def test_what_is_no_question(text):
    with pytest.raises(InvalidParameter, match="is no question"):
        question(text)


def test_questions_and_answers():
    names = ["red", "green", "blue"]
    assert answer(question("count"), names[:1], "1") == 1
    assert answer(question("sum:300"), names[:1], "250") == 250
    assert answer(question("sum_vec:3:9"), names, "1,2,3") == [1, 2, 3]
    assert answer(Histogram(3), names, "blue") == 2
    assert answer(MultihotCountVec(length=3, max_weight=2), names, "red,blue") == [True, False, True]
    assert answer(MultihotCountVec(length=3, max_weight=2), names, "") == [False] * 3
    for circuit, text in ((Histogram(3), "pink"), (Histogram(3), "red,blue"), (Histogram(3), ""), (Count(), "yes")):
        with pytest.raises(InvalidInput):
            answer(circuit, names, text)
