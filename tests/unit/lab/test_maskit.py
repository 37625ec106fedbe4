"""The experiment of chapter 3 on a few made-up people."""

from random import Random

import pytest

import hubbub.lab.maskit as maskit
from hubbub.contexts import ContextChain, MaskSensitive, Secret, Simulatable
from hubbub.lab.context_people import TICKS, Person, made_up
from hubbub.lab.maskit_again import KNOWN, again_rows, again_table, steps


@pytest.fixture(scope="module")
def people():
    return made_up(7, 3, days=40)


@pytest.fixture(scope="module")
def mornings(people):
    """The same people from seven to eleven: planned in no time."""
    return [Person(person.name, [day[14:22] for day in person.days]) for person in people]


def test_made_up_days_are_whole_and_the_same_for_a_seed(people):
    assert people == made_up(7, 3, days=40)
    assert people != made_up(8, 3, days=40)
    for person in people:
        assert {len(day) for day in person.days} == {TICKS}
        assert person.taught + person.tested == person.days
        assert "home" in person.contexts


def test_masking_breaches_and_the_others_do_not(mornings):
    rows = [maskit.try_person(person, maskit.choose(person, 2, 1), 0.1, 1) for person in mornings]
    assert sum(row["mask-sensitive breached"] for row in rows) > 0
    for row in rows:
        assert row["simulatable breached"] == row["probabilistic breached"] == row["hybrid breached"] == 0
        assert 0 < row["hybrid"] < 1
        assert row["hybrid"] == row[row["chosen"]]


def test_what_is_shown_is_counted_as_devices_show_it():
    person = Person("p", [("a", "b"), ("a", "c")] * 2)
    chain = ContextChain.fit(person.taught, smoothing=0)
    for policy in (MaskSensitive.plan(chain, [Secret("c")], 0.1), Simulatable.plan(chain, [Secret("c")], 0.1)):
        shown, outputs = maskit.shown_of(policy, person.tested, Random(0))
        assert shown == sum(seen is not None for output in outputs for seen in output) / 4
    masking = MaskSensitive.plan(chain, [Secret("c")], 0.1)
    assert maskit.breaches_of(masking, person.tested, [["a", None]] * 2) == (1, 1, 0)
    assert maskit.breaches_of(masking, person.tested, [["b", None]] * 2) == (0, 0, 2)


def test_a_whole_run(mornings, monkeypatch):
    monkeypatch.setattr(maskit, "made_up", lambda *_: mornings[:1])
    monkeypatch.setattr(maskit, "surveyed", lambda *_: mornings[1:2])
    result = maskit.maskit_result(True, 1, lambda _: None, lambda: None)
    assert [row["kind"] for row in result.rows] == ["made up"] * 2 + ["survey"] * 2
    assert [len(table.rows) for table in result.tables] == [4, 4, 4, 4]


def test_plans_that_knew_fewer_days(mornings):
    done = []
    rows = again_rows("made up", mornings[:1], lambda person: maskit.choose(person, 2, 1), lambda: done.append(1))
    assert len(rows) == len(done) == steps(1, 1)
    assert {row["days"] for row in rows} == set(KNOWN)
    assert any(row["rise"] > 0.1 for row in rows), "who knows all days may learn more"
    table = again_table(rows)
    assert len(table.rows) == len(rows)
    assert all(len(row) == len(table.columns) for row in table.rows)
