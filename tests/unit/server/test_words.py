"""Numbers in words: never bare, never more than the noise allows."""

import math
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import numpy as np
import pytest

from hubbub.itemlogs import ItemLists
from hubbub.methods import METHODS
from hubbub.released import Keys, Release, Tick, Value
from hubbub.server import clock
from hubbub.server.picture import Pictures, largest
from hubbub.server.ranking import Ranking
from hubbub.server.sums import REACH, Sum, share_of, sum_of, total_of
from hubbub.server.words import (
    NOISE_ALONE,
    attested_of,
    curator_facts,
    error_words,
    fit_for_curator,
    interval_words,
    vouched,
)

START = datetime(2026, 1, 1, tzinfo=UTC)


def release(index, counts, variance=800.0, predicted=False, error=28.0):
    counts = np.array(counts, dtype=np.int64)
    values = np.maximum(counts, 0).astype(float)
    keys = Keys([f"k{i}" for i in range(len(counts))])
    tick = Tick(index, START + index * timedelta(seconds=10), timedelta(seconds=10))
    errors = np.full(len(counts), error)
    low, up = np.maximum(counts - 60.0, 0), np.maximum(counts + 60.0, 0)
    measured = (None, None) if predicted else (counts, variance)
    return Release(tick, keys, values, errors, low, up, *measured)


@pytest.mark.parametrize(
    ("quantity", "state", "text"),
    [
        (Value(1237.4, 58, 1115, 1360), "measured", "1,240 ± 60"),
        (Value(40, 60, 0, 160), "within_noise", "40 ± 60"),
        (Value(0, 0, 0, 0), "zero", "0 ± 0"),
        (Value(812, math.inf, 0, math.inf), "unknown", "not measured in this tick"),
        (Value(math.nan, 1, 0, 1), "withheld", "withheld"),
    ],
)
def test_each_state_reads_differently(quantity, state, text):
    assert (quantity.state, quantity.text) == (state, text)
    assert "±" in quantity.text or not quantity.has_number, "a number never stands without its interval"


def test_an_open_interval_says_so():
    assert Value(100, 10, 80, math.inf).interval == "at least 80"
    assert Value(math.nan, 1, 0, 1).interval == ""
    assert Value(1, math.inf, 0, math.inf).to_dict()["upper"] is None


def test_a_sum_of_measurements_adds_variances():
    quantity = sum_of([release(i, [100, 200]) for i in range(9)])
    assert quantity.value == 2700
    assert quantity.standard_error == pytest.approx(math.sqrt(9 * 2 * 800))
    assert quantity.lower == pytest.approx(2700 - REACH * quantity.standard_error)


def test_a_predicted_tick_adds_its_whole_error():
    adding = Sum()
    adding.add(release(0, [100, 200]), [1])
    adding.add(release(1, [100, 200], predicted=True), [1])
    assert (adding.ticks, adding.predicted) == (2, 1)
    assert adding.quantity.standard_error == pytest.approx(math.sqrt(800) + 28)
    assert not sum_of([release(0, [1], predicted=True, error=math.inf)]).has_number


def test_measurements_below_zero_do_not_lift_a_total():
    assert total_of(release(0, [-50, 150])).value == 100
    assert total_of(release(0, [-50])).value == 0


def test_a_share_needs_both_numbers():
    whole = Value(1000, 30, 940, 1060)
    assert share_of(Value(40, 60, 0, 160), whole) is None
    assert share_of(whole, Value(0, 30, 0, 60)) is None
    assert 0 <= share_of(Value(999, 30, 940, 1060), whole).upper <= 100


def test_ties_share_a_bracket_and_strangers_do_not():
    #        1: far ahead; 2-3 overlap; 3 and 4 overlap, 2 and 4 do not
    lower, upper = np.array([900.0, 500, 460, 430]), np.array([999.0, 540, 510, 470])
    assert [str(Ranking(lower, upper).of(i)) for i in range(4)] == ["1", "2-3", "2-4", "3-4"]
    ranking = Ranking(np.array([np.nan, 1.0]), np.array([np.nan, 2.0]))
    assert ranking.of(0) is None
    assert str(ranking.of(1)) == "1"
    assert Ranking(np.array([np.nan]), np.array([np.nan])).order(["a"], 5) == []


def test_inside_a_bracket_names_decide():
    ranking = Ranking(np.array([10.0, 11, 12]), np.array([20.0, 21, 22]))
    assert ranking.order(["c", "b", "a"], 2) == [2, 1]


def test_a_trend_is_called_so_only_beyond_the_noise():
    pictures = Pictures(rows=10)
    pictures.draw(release(0, [1000, 1000]))
    calm = pictures.draw(release(1, [1010, 1010]))
    assert calm.trend.text == "no change beyond the noise against 10 seconds ago"
    assert calm.trend.words == ""
    risen = pictures.draw(release(2, [1500, 1500]))
    assert risen.trend.text.startswith("▲ 50 ± 4 %")
    assert risen.trend.words == "more, beyond the noise"
    fallen = pictures.draw(release(3, [400, 400]))
    assert fallen.trend.text.startswith("▼ 60")
    assert pictures.draw(release(4, [0, 0])).trend is None, "against nothing there is no percentage"


def test_the_first_picture_has_no_trend():
    assert Pictures(rows=1).draw(release(0, [5])).trend is None


def test_only_the_largest_rows_are_shown():
    picture = Pictures(rows=2).draw(release(0, [500, 900, 700]))
    assert [row.key for row in picture.rows] == ["k1", "k2"]
    assert picture.omitted == 1
    assert largest(release(0, [1, 3, 2]), 3) == [1, 2, 0]


def test_a_predicted_number_says_so_to_people_and_programs():
    pictures = Pictures(rows=10)
    pictures.draw(release(0, [1000, 10]))
    picture = pictures.draw(release(1, [2000, 10], predicted=True))
    facts = picture.to_dict()
    assert facts["predicted"]
    assert facts["total"]["state"] == facts["keys"][0]["state"] == "predicted"
    assert facts["total"]["words"] == facts["keys"][0]["words"] == "predicted, not measured"
    assert facts["keys"][1]["words"] == "predicted, not measured; within the noise: may be zero"
    assert picture.trend.words == "more, beyond the noise; predicted, not measured"
    unknown = pictures.draw(release(2, [2000, 10], predicted=True, error=math.inf)).to_dict()
    assert unknown["keys"][0]["words"] == "not measured in this tick"


def test_a_range_says_how_much_of_it_was_predicted():
    total = Value(48213, 310, 47556, 48871)
    assert error_words(total, 0, 1).endswith(" 1 tick was predicted, not measured.")
    assert error_words(total, 0, 3).endswith(" 3 ticks were predicted, not measured.")


def test_what_is_vouched_for_comes_in_a_fixed_order():
    said = {"zeal": "z", "identity": "i", "keys": "k", "clock_source": "c"}
    assert [about for about, _ in vouched(said)] == ["The list of keys", "Who is who", "Clock source", "Zeal"]


def test_a_sentence_that_streams_hold_ends_once():
    """It is part of the promise of streams that are stored, so it stays as it is there."""
    stream = SimpleNamespace(attested={"counts": "What exceeds this must not be counted..", "keys": "And so on …"})
    assert attested_of(stream) == {"counts": "What exceeds this must not be counted.", "keys": "And so on …"}


def test_curator_facts_read_well():
    facts = {"healthy": False, "note": "fine", "late_share": None, "viewers_seen": 1234, "rate": 1250.5, "on": True}
    shown = {label: value for label, value, _ in curator_facts(facts)}
    assert shown == {
        "Healthy": "no", "note".capitalize(): "fine", "Late": "unknown", "Viewers seen": "1,234", "Rate": "1,250",
        "On": "yes",
    }  # fmt: skip


def test_moments_and_staleness():
    timed, bare = Tick(5, START, timedelta(seconds=10)), Tick(5)
    assert clock.moment(None) == ""
    assert clock.moment(bare) == "tick 5"
    assert not clock.is_stale(None, None, START)
    assert not clock.is_stale(bare, START, START + timedelta(days=9)), "without a length nobody can tell"
    assert not clock.is_stale(timed, START, START + timedelta(seconds=31))
    assert clock.is_stale(timed, START, START + timedelta(seconds=33))
    assert clock.span(timedelta(milliseconds=250)) == "0.25 seconds"
    assert clock.ticks(1, None) == "1 tick"


def test_the_curator_sees_shares_and_never_a_count():
    raw = {"events": 777_000_111, "counted": 777_000_111, "open": 777, "waiting": 77, "late": 7_770_001, "bots": 5}
    shown = fit_for_curator({**raw, "lag_seconds": 0.5, "unknown": 0, "state_bytes": 777, "surprise": 777})
    assert shown == {"lag_seconds": 0.5, "late_share": 0.01, "unknown_share": 0.0}
    assert fit_for_curator({"events": 0, "late": 0, "late_share": 0.123456}) == {"late_share": 0.12}


def test_intervals_are_said_to_hold_as_far_as_they_do():
    """The server may not look at mechanisms, so their trait is compared here."""
    methods = {**METHODS, ItemLists.name: ItemLists}  # lists are made by `hb.Lists`, not by name
    assert {name for name, method in methods.items() if method.traits.exact_intervals} == NOISE_ALONE
    assert "whatever the crowd does" in interval_words("lpa")
    assert "as far as the crowd moves as the method expects" in interval_words("navigation")
