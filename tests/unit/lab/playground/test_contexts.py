"""What the Contexts page asks for, answered."""

import json

import pytest

from hubbub.errors import InvalidInput, InvalidParameter, Overloaded, UnknownKey
from hubbub.lab.playground import Playground, masked
from hubbub.lab.playground.asked import LONGEST_TABLE
from hubbub.lab.playground.masked import POLICIES, SHOWN_DAYS
from hubbub.lab.playground.people import PEOPLE

TABLE = "\n".join(["home,walk,work,work"] * 20 + ["home,walk,clinic,work"] * 2 + ["home,home,work,work"] * 8)


@pytest.fixture(scope="module")
def playground():
    return Playground()


def answered(playground, **asked):
    lines = list(playground.contexts(asked))
    json.dumps(lines, allow_nan=False)
    return lines[0]["scene"], {line["policy"]["name"]: line["policy"] for line in lines[1:-1]}, lines[-1]["result"]


def test_people_are_made_up_and_always_the_same(playground):
    for person in playground.choices()["people"]:
        read = playground.days({"person": person["name"]})
        assert (read["days"], read["ticks"], read["minutes"]) == (90, 48, 30)
        names = [one["name"] for one in read["contexts"]]
        assert set(person["sensitive"]) < set(names)
        assert sum(one["share"] for one in read["contexts"]) == pytest.approx(1)
    for person in PEOPLE:
        assert person.days() == person.days()
        assert all(any(name in day for day in person.days()) for name in person.sensitive)


def test_a_table_in_both_forms(playground):
    read = playground.days({"table": "home,work,home\nhome,home,home"})
    assert read["contexts"] == [{"name": "home", "share": 5 / 6}, {"name": "work", "share": 1 / 6}]
    assert (read["days"], read["ticks"], read["minutes"]) == (2, 3, 480)
    long = "day,tick,context\nmonday,0,home\nmonday,1,work\n"
    assert playground.days({"table": long})["ticks"] == 2
    assert playground.days({"table": ",".join(["home"] * 7)})["minutes"] is None


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"table": ""}, "empty"),
        ({"table": "home,work\nhome"}, "different numbers of ticks"),
        ({"table": "home,,work"}, "empty cell"),
        ({"table": ",".join(f"place {k}" for k in range(61))}, "at most 60 contexts"),
        ({"table": ",".join(["home"] * 289)}, "288 ticks"),
        ({"table": "x" * (LONGEST_TABLE + 1)}, "table"),
        ({"person": "nobody"}, "no such person"),
        ({}, "no such person"),
    ],
)
def test_days_that_cannot_be_taken(playground, asked, words):
    with pytest.raises(InvalidInput, match=words):
        playground.days(asked)


def test_masking_gives_away_what_the_others_do_not(playground):
    scene, policies, result = answered(playground, table=TABLE, sensitive=["clinic"], delta="0.1")
    assert tuple(policies) == POLICIES
    assert scene["contexts"] == ["work", "home", "walk", "clinic"]
    clinic = scene["contexts"].index("clinic")
    assert clinic in scene["days"][0], "the first day is one that tells something"
    assert clinic not in scene["days"][1]
    assert len(scene["days"]) == SHOWN_DAYS
    bound = scene["bounds"][0]
    assert (bound["contexts"], bound["first"], bound["last"]) == ([clinic], 0, 3)
    assert bound["prior"] == [0, 0, pytest.approx(2 / 30, abs=1e-5), 0]
    naive = policies["mask-sensitive"]
    assert naive["outputs"][0] == [1, 2, -1, 0]
    assert naive["breaches"][0] == [[2]]
    assert naive["beliefs"][0][0][2] == 1
    assert naive["worst"] == pytest.approx(14 / 15, abs=1e-4)
    for name in POLICIES[1:]:
        assert not any(ticks for day in policies[name]["breaches"] for ticks in day)
        for day in policies[name]["beliefs"]:
            assert max(after - before for after, before in zip(day[0], bound["prior"], strict=True)) <= 0.1
    assert policies[result["chosen"]]["shows"] == max(policies[name]["shows"] for name in POLICIES[1:])
    assert policies[result["chosen"]]["shows"] <= result["ceiling"] + 1e-6
    assert "10 points" in result["words"]


def test_what_is_sensitive_can_be_a_group_a_span_and_any_time(playground):
    asked = {"table": TABLE, "delta": "0.2"}
    scene, _, _ = answered(playground, **asked, sensitive=["clinic", "walk"])
    assert len(scene["bounds"]) == 2
    scene, _, _ = answered(playground, **asked, sensitive=["clinic", "walk"], together=True, first=1, last=2)
    assert [(bound["contexts"], bound["first"], bound["last"]) for bound in scene["bounds"]] == [([3, 2], 1, 2)]
    assert scene["bounds"][0]["prior"] == [pytest.approx(22 / 30, abs=1e-5), pytest.approx(2 / 30, abs=1e-5)]
    scene, policies, result = answered(playground, **asked, sensitive=["clinic"], sometime=True)
    assert scene["bounds"][0]["prior"] == [pytest.approx(2 / 30, abs=1e-5)]
    assert policies["mask-sensitive"]["breaches"][0] == [[3]]
    assert result["ceiling"] is None


def test_one_context_and_smoothed_habits(playground):
    scene, policies, _ = answered(playground, table="home,home\nhome,home", sensitive=["home"])
    assert scene["bounds"][0]["prior"] == [1, 1]
    assert policies["simulatable"]["shows"] == 1
    _, policies, result = answered(playground, table=TABLE, sensitive=["clinic"], smoothing=1)
    assert policies["simulatable"]["shows"] < policies["remembering"]["shows"]
    assert result["chosen"] == "remembering"


def test_what_would_take_minutes_is_left_out_and_said(playground, monkeypatch):
    monkeypatch.setattr(masked, "_SLOW", 1)
    _, policies, result = answered(playground, table=TABLE, sensitive=["clinic"])
    assert policies["probabilistic"] == {"name": "probabilistic", "left_out": True}
    assert policies["remembering"]["left_out"]
    assert result["chosen"] == "simulatable"
    monkeypatch.setattr(masked, "_SLOW", 1e9)
    monkeypatch.setattr(masked, "_QUICK", 1)
    _, policies, _ = answered(playground, table=TABLE, sensitive=["clinic"])
    assert policies["remembering"]["shows"] > 0


@pytest.mark.parametrize(
    ("asked", "kind", "words"),
    [
        ({"sensitive": []}, InvalidInput, "sensitive"),
        ({"sensitive": ["moon"]}, UnknownKey, "not among"),
        ({"sensitive": ["clinic"], "delta": "0"}, InvalidInput, "delta"),
        ({"sensitive": ["clinic"], "delta": "1.5"}, InvalidInput, "delta"),
        ({"sensitive": ["clinic"], "first": 3, "last": 1}, InvalidParameter, "first"),
        ({"sensitive": ["clinic"], "last": 4}, InvalidParameter, "0 to 3"),
        ({"sensitive": ["clinic"], "smoothing": 2}, InvalidInput, "smoothing"),
    ],
)
def test_refusals_come_before_the_first_answer_and_repeat_nothing(playground, asked, kind, words):
    with pytest.raises(kind, match=words) as refused:
        next(playground.contexts({"table": TABLE, **asked}))
    assert "moon" not in str(refused.value)


def test_only_so_many_at_a_time_and_none_after_the_end():
    playground = Playground(most_running=1, patience=0.01)
    running = playground.contexts({"table": TABLE, "sensitive": ["clinic"]})
    next(running)
    with pytest.raises(Overloaded):
        next(playground.contexts({"table": TABLE, "sensitive": ["clinic"]}))
    playground.close()
    assert list(running) == []
