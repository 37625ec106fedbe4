"""The Playground's computing: samples, tables, runs, words, and what it refuses."""

import json

import numpy as np
import pytest

from hubbub.errors import (
    HorizonReached,
    HubbubError,
    InvalidCounts,
    InvalidInput,
    InvalidParameter,
    Overloaded,
    WrongUse,
)
from hubbub.lab.data import VARIABLE
from hubbub.lab.playground import Playground, words
from hubbub.lab.playground.asked import MOST_TICKS, LiveAsked
from hubbub.lab.playground.kinds import KINDS, STOPS
from hubbub.lab.playground.live import BUSY_SECONDS, IDLE_SECONDS, LiveRun, Shelf
from hubbub.lab.playground.names import named
from hubbub.methods import METHODS
from hubbub.privacy import Guarantee, User

TABLE = "date,visits,sales\n" + "\n".join(f"2026-01-{day:02},{900 + 7 * day},{day}" for day in range(1, 29))


@pytest.fixture
def lab():
    made = Playground(patience=0.01)
    yield made
    made.close()


def result(lab, **asked):
    return list(lab.run(asked))[-1]["result"]


def test_it_works_with_no_data_at_all(lab, monkeypatch, tmp_path):
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    found = lab.choices()["samples"]
    assert len(found) >= 5
    assert {sample["group"] for sample in found} == {"simulated"}
    for sample in found:
        assert lab.series({"sample": sample["name"]})["ticks"] >= 200


def test_what_can_be_chosen_is_in_words_and_json(lab):
    choices = json.loads(json.dumps(lab.choices()))
    assert [unit["name"] for unit in choices["units"]] == ["user", "window", "session", "event"]
    assert [kind["name"] for kind in choices["kinds"]] == ["pure", "approximate", "zcdp"]
    for unit in choices["units"]:
        assert set(unit["fitting"]) == {kind["name"] for kind in choices["kinds"]}
        for fitting in unit["fitting"].values():
            assert {"lpa", "adaptive"} <= set(fitting["chosen"]) <= set(fitting["fits"]) <= set(choices["methods"])
            assert ("sample" in fitting["chosen"]) == (unit["name"] in ("user", "window"))
    assert all(choices["methods"].values())
    for kind in choices["kinds"]:
        assert kind["stops"][0]["word"] == "very strong"
        assert kind["stops"][kind["usual_stop"]]["word"] == "good"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_strength_only_falls_along_the_slider(kind):
    seen = list(dict.fromkeys(stop["word"] for stop in kind.to_dict()["stops"]))
    assert seen == ["very strong", "strong", "good", "fair", "weak", "very weak"]


def test_what_a_stop_says_is_what_its_promise_says():
    pure, approximate, zcdp = (kind.to_dict() for kind in KINDS)
    at = STOPS.index("1")
    assert pure["stops"][at]["odds"] == approximate["stops"][at]["odds"] == "at most 2.72 times as often"
    assert [kind["stops"][at]["sure"] for kind in (pure, approximate)] == ["73.2 %", "73.2 %"]
    assert zcdp["stops"][at]["odds"] is None
    assert approximate["deltas"] == ["1e-6", "1e-9", "1e-12"]
    assert (pure["deltas"], zcdp["deltas"]) == ([], [])


@pytest.mark.parametrize(
    ("budget", "said", "whole"),
    [
        ({"epsilon": "1/2"}, "a factor e^0.5 = 1.649", 0.5),
        ({"epsilon": "1", "delta": "1e-9"}, "plus 1e-9", None),
        ({"rho": "0.00005"}, "rho = 5e-5", 5e-5),
    ],
    ids=str,
)
def test_every_kind_of_promise_in_every_mode(lab, budget, said, whole):
    found = result(lab, sample="calm", method="adaptive", seed=1, **budget)
    assert said in found["guarantee"]
    assert whole is None or found["budget"] == whole
    assert found["spent"][-1] == pytest.approx(found["budget"], rel=1e-4)
    begun = lab.begin({"method": "lpa", "horizon": 3, **budget})
    assert begun["budget"] == found["budget"]
    assert lab.step(begun["run"], {"value": 100})["spent"] == pytest.approx(found["budget"] / 3)
    text = lab.script({"sample": "calm", "method": "lpa", **budget})
    assert all(f"{name}={amount!r}" in text for name, amount in budget.items())


@pytest.mark.parametrize(
    ("asked", "currency", "delta"),
    [
        ({}, "epsilon", 0),
        ({"kind": "approximate", "delta": "1e-6"}, "epsilon", 1e-6),
        ({"kind": "zcdp"}, "rho", 0),
    ],
    ids=str,
)
def test_a_plan_of_every_kind(lab, asked, currency, delta):
    found = list(lab.plan({"unit": "event", "length": 5, "level": 100, "error": 9, **asked}))[-1]["result"]
    assert (found["currency"], found["delta"]) == (currency, delta)
    assert all(row["strength"] == row[currency] for row in found["rows"])
    assert next(row["word"] for row in found["rows"]) == "very strong"


@pytest.mark.parametrize(
    "asked",
    [
        {"epsilon": "1", "rho": "1"},
        {"rho": "1", "delta": "1e-9"},
        {"epsilon": "1/0"},
        {"epsilon": "a third"},
        {"kind": "perfect"},
        {"kind": "zcdp", "delta": "1e-9"},
    ],
    ids=str,
)
def test_what_is_no_promise_is_refused(lab, asked):
    planned = "kind" in asked
    with pytest.raises(WrongUse):
        list(lab.plan({"length": 5, **asked}) if planned else lab.run({"sample": "calm", "method": "lpa", **asked}))


def test_a_run_says_how_far_it_is_and_then_all_numbers(lab):
    lines = list(lab.run({"sample": "calm", "method": "lpa", "epsilon": "1", "seed": 1}))
    assert lines[0] == {"done": 0, "of": 240}
    found = lines[-1]["result"]
    for name in ("value", "standard_error", "lower", "upper", "measurement", "spent"):
        assert len(found[name]) == 240
    assert found["guarantee"] == Guarantee.pure(User(horizon=240), 1).sentence
    assert found["spent"][-1] == pytest.approx(1)
    assert found["csv"].splitlines()[0].startswith("tick,")


def test_the_scores_by_hand(lab):
    found = result(lab, table="count\n100\n200\n0\n", method="lpa", unit="event", epsilon="5", seed=3)
    truth, value = np.array([100, 200, 0]), np.array(found["value"])
    scores = found["scores"]
    assert scores["absolute"] == pytest.approx(np.abs(value - truth).mean())
    assert scores["relative"] == pytest.approx((np.abs(value - truth) / [100, 200, 1]).mean())
    assert scores["zeros"] == pytest.approx(2 / 3), "zero is right about nothing but zero"
    held = (np.array(found["lower"]) <= truth) & (truth <= np.array(found["upper"]))
    assert (scores["coverage"], scores["measured"], scores["ticks"]) == (held.mean(), 3, 3)


def test_an_interval_that_was_not_stated_does_not_count_as_held(lab):
    scores = result(lab, sample="calm", method="sample", epsilon="1", seed=1)["scores"]
    assert scores["stated"] == scores["measured"] == 24
    assert scores["ticks"] == 240


def test_the_same_number_gives_the_same_noise_and_none_gives_other(lab):
    one, two = (result(lab, sample="calm", method="lpa", seed=7)["value"] for _ in range(2))
    three, four = (result(lab, sample="calm", method="lpa")["value"] for _ in range(2))
    assert one == two
    assert three != four


def test_a_table_gives_its_columns_and_its_calendar(lab):
    found = lab.series({"table": TABLE})
    assert (found["key"], found["columns"], found["ticks"]) == ("visits", ["visits", "sales"], 28)
    assert found["times"][0].startswith("2026-01-01")
    assert lab.series({"table": TABLE, "column": "sales"})["values"] == list(range(1, 29))


@pytest.mark.parametrize(
    ("table", "values"),
    [
        ("5\n7\n9\n", [5, 7, 9]),
        ("2026-01-01,5\n2026-01-02,7\n", [5, 7]),
        ("31.01.2026;5\n01.02.2026;7\n", [5, 7]),
        ("\ufeffday,flu\n0,5\n1,7\n", [5, 7]),
        ("01/31/2026\t5\n02/01/2026\t7\n", [5, 7]),
    ],
)
def test_tables_with_and_without_names(lab, table, values):
    assert lab.series({"table": table})["values"] == values


def test_names_are_only_given_to_tables_that_have_none():
    assert named(TABLE.encode()) == TABLE.encode()
    assert named(b"\xff\xfe\x00") == b"\xff\xfe\x00", "the reader says what is wrong"
    assert named(b"") == b""


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("day,flu\n0,5\n1,-7770001\n", "line 3"),
        ("day,flu\n0,5\n1,7770001.5\n", "line 3"),
        ("day,flu\n0,x7770001\n", "line 2"),
        ("day,flu\n0,5\n2,7770001\n", "tick 1"),
        ("day,flu\n0,NaN\n1,7770001\n", "tick 0"),
        ("day,flu\n0,5\n0,7770001\n", "twice"),
        ("day,flu\n0,7770001\n1,99999999999999999999\n", "line 3"),
        ("day,flu\n", "no counts"),
        ("", "csv"),
        ("\0\0", "csv"),
        ("count\n" + "7770001\n" * (MOST_TICKS + 1), "at most 5,000"),
    ],
)
def test_broken_tables_are_refused_by_place_and_never_by_value(lab, table, said):
    with pytest.raises(InvalidInput) as refused:
        lab.series({"table": table})
    assert said in refused.value.message
    assert refused.value.hint
    assert "7770001" not in str(refused.value)


def test_a_missing_pair_of_tick_and_key_is_asked_about(lab):
    table = "tick,key,count\n0,flu,5\n0,colds,7\n1,flu,6\n"
    with pytest.raises(InvalidInput, match="has gaps: 1 of 4"):
        lab.series({"table": table})
    assert lab.series({"table": table, "column": "colds", "gaps": "zero"})["values"] == [7, 0]


def test_gaps_are_asked_about_then_filled_as_told(lab):
    table = "day,flu\n0,50\n2,70\n"
    assert lab.series({"table": table, "gaps": "zero"})["values"] == [50, 0, 70]
    assert lab.series({"table": table, "gaps": "predict"})["values"] == [50, None, 70]
    found = result(lab, table=table, gaps="predict", unit="event", method="lpa", epsilon="1")
    assert found["measurement"][1] is None
    assert (found["scores"]["compared"], found["scores"]["ticks"]) == (2, 3)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"sample": "no such"},
        {"sample": 7},
        {"table": "x" * 1_000_000},
        {"table": TABLE, "column": "no such"},
        {"table": TABLE, "gaps": "forget"},
    ],
)
def test_series_that_cannot_be(lab, asked):
    with pytest.raises(InvalidInput):
        lab.series(asked)


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "no such"},
        {"method": "lpa", "unit": "family"},
        {"method": "lpa", "unit": "window"},
        {"method": "lpa", "unit": "session", "ticks": 0},
        {"method": "lpa", "epsilon": "0"},
        {"method": "lpa", "epsilon": "999"},
        {"method": "lpa", "epsilon": "1e5"},
        {"method": "lpa", "seed": -1},
        {},
    ],
)
def test_runs_that_cannot_be_are_refused_before_the_first_answer(lab, asked):
    with pytest.raises((InvalidInput, InvalidParameter)):
        next(lab.run({"sample": "calm", **asked}))
    assert list(lab.run({"sample": "calm", "method": "lpa"})), "a refusal gives its turn back"


def test_too_many_runs_at_once_are_refused_and_a_closed_one_makes_room(lab):
    asked = {"sample": "calm", "method": "lpa"}
    running = [lab.run(asked) for _ in range(2)]
    for run in running:
        next(run)
    with pytest.raises(Overloaded):
        next(lab.run(asked))
    running[0].close()
    assert list(lab.run(asked))


def test_a_run_that_takes_too_long_is_given_up(lab, monkeypatch):
    monkeypatch.setattr("hubbub.lab.playground.playground.MOST_SECONDS", -1.0)
    monkeypatch.setattr("hubbub.lab.playground.playground.TELL_SECONDS", -1.0)
    with pytest.raises(InvalidInput, match="takes longer than"):
        list(lab.run({"sample": "calm", "method": "lpa"}))


def test_every_method_for_one_series_has_its_words():
    live = {name for name, method in METHODS.items() if method.traits.online}
    others = {"areas", "mkf", "ranges", "quadtree", "roads", "temporal"}
    assert live - others == set(words.METHODS), "mkf needs a model of several keys, ranges answer questions, maps cells"


def test_closing_stops_what_runs(lab):
    run, plan = lab.run({"sample": "calm", "method": "lpa"}), lab.plan({"sample": "calm", "unit": "event"})
    next(run), next(plan)
    lab.close()
    assert [*run, *plan] == []


def test_a_live_run_until_its_horizon(lab):
    begun = lab.begin({"method": "lpa", "epsilon": "1", "horizon": 3, "seed": 2})
    steps = [lab.step(begun["run"], {"value": value}) for value in (100, 200, 300)]
    assert [step["tick"] for step in steps] == [0, 1, 2]
    assert steps[-1]["spent"] == pytest.approx(1)
    assert "±" in steps[0]["text"]
    with pytest.raises(HorizonReached, match="new stream"):
        lab.step(begun["run"], {"value": 400})
    lab.end(begun["run"])
    with pytest.raises(InvalidInput, match="over"):
        lab.step(begun["run"], {"value": 1})
    lab.end(begun["run"])


def test_a_live_run_gives_what_the_whole_run_gives(lab):
    """One value after another, or all at once: the mechanism is the same, and sees nothing of what comes later."""
    table = "count\n" + "\n".join(str(500 + 10 * t) for t in range(12))
    whole = result(lab, table=table, method="adaptive", epsilon="2", seed=5)
    begun = lab.begin({"method": "adaptive", "epsilon": "2", "horizon": 12, "seed": 5})
    steps = [lab.step(begun["run"], {"value": 500 + 10 * t}) for t in range(12)]
    assert [round(step["value"], 3) for step in steps] == whole["value"]
    assert [step["measurement"] for step in steps] == whole["measurement"]


def test_a_gap_in_a_live_run_is_predicted(lab):
    begun = lab.begin({"method": "lpa", "unit": "event"})
    assert lab.step(begun["run"], {"value": 5})["measurement"] is not None
    assert lab.step(begun["run"], {"value": None})["measurement"] is None


def test_a_boolean_is_no_value(lab):
    begun = lab.begin({"method": "lpa", "unit": "event"})
    with pytest.raises(InvalidInput, match="`value`") as refused:
        lab.step(begun["run"], {"value": True})
    assert "true" not in str(refused.value).lower()
    assert lab.step(begun["run"], {"value": 6})["tick"] == 0


@pytest.mark.parametrize("value", [-7770001, 7770001.5, float("nan"), 2**60, "7770001", True, [7770001]])
def test_a_live_value_that_is_no_count_is_refused_without_a_word_about_it(lab, value):
    begun = lab.begin({"method": "lpa"})
    with pytest.raises((InvalidInput, InvalidCounts)) as refused:
        lab.step(begun["run"], {"value": value})
    assert "7770001" not in str(refused.value)
    assert lab.step(begun["run"], {"value": 3})["tick"] == 0, "nothing was spent"


def test_a_live_run_has_an_end_even_without_a_horizon(monkeypatch, lab):
    monkeypatch.setattr("hubbub.lab.playground.live.MOST_TICKS", 2)
    begun = lab.begin({"method": "lpa", "unit": "event"})
    lab.step(begun["run"], {"value": 1}), lab.step(begun["run"], {"value": 1})
    with pytest.raises(InvalidInput, match="at most 2 ticks"):
        lab.step(begun["run"], {"value": 1})


def test_the_shelf_is_bounded_and_forgets_what_nobody_uses():
    now = [0.0]
    shelf = Shelf(most=2, clock=lambda: now[0])
    run = LiveAsked(method="lpa")
    first, second = shelf.add(LiveRun(run)), shelf.add(LiveRun(run))
    with pytest.raises(Overloaded):
        shelf.add(LiveRun(run))
    now[0] = BUSY_SECONDS + 1
    shelf.get(second)
    third = shelf.add(LiveRun(run))
    with pytest.raises(InvalidInput):
        shelf.get(first)
    now[0] += IDLE_SECONDS + 1
    with pytest.raises(InvalidInput):
        shelf.get(third)
    assert len(shelf) == 0


def test_a_plan_names_the_epsilon_for_a_wished_error(lab):
    lines = list(lab.plan({"level": 2000, "length": 20, "unit": "event", "error": 0.2}))
    found = lines[-1]["result"]
    assert {row["method"] for row in found["rows"]} == set(found["needed"])
    assert found["needed"]["lpa"] is not None
    assert found["zeros"] == 1
    assert lines[1]["done"] == 1


@pytest.mark.parametrize("asked", [{"level": 0}, {"length": 1}, {"error": -1}, {"unit": "session"}])
def test_plans_that_cannot_be(lab, asked):
    with pytest.raises(HubbubError):
        list(lab.plan(asked))
