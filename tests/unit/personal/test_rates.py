"""CTRs: back-off, intervals that cover, the same type from noisy counts; what is refused."""

import numpy as np
import pytest
from scipy.stats import binom

from hubbub.errors import InvalidInput, InvalidParameter, UnknownKey
from hubbub.personal import Categories, ClickRates, Tally
from hubbub.released import Value

TOWN = Categories({"town": None, "north": "town", "south": "town", "park": "north", "port": "north", "mill": "south"})


def test_a_context_with_enough_has_its_own_rate_and_others_that_of_what_lies_above():
    rates = ClickRates.fit(TOWN, [("park", "tea", 30, 15), ("port", "tea", 10, 1), ("mill", "tea", 60, 0)])
    assert [rates.rate("tea", name).node.name for name in ("park", "port", "mill")] == ["park", "north", "mill"]
    assert rates.rate("tea", "port").value.value == 16 / 40
    assert rates.rate("tea", "port").shown == 40
    few = ClickRates.fit(TOWN, [("park", "tea", 3, 1)]).rate("tea", "park")
    assert (few.value.has_number, few.shown) == (False, 0)


def test_picks_out_of_everything():
    rows = [("park", "tea")] * 6 + [("park", "ice")] * 4 + [("mill", "bread")] * 2
    rates = ClickRates.fit_picks(TOWN, rows, min_support=5)
    assert rates.rate("tea", "park").value.value == 0.6
    assert rates.rate("bread", "park").value.value == 0  # ten chose in the park, and none of them bread
    assert rates.rate("bread", "mill").value.value == 2 / 12  # two are too few: the town's
    assert rates.rate("bread", "mill").node.name == "town"


def test_intervals_cover_by_counting():
    """Every number of clicks that can occur, weighted by its chance: at least 95 % for every rate."""
    for shown in (20, 57):
        values = [Tally(shown, clicked).rate() for clicked in range(shown + 1)]
        for rate in np.linspace(0, 1, 201):
            covered = sum(
                binom.pmf(clicked, shown, rate) for clicked, v in enumerate(values) if v.lower <= rate <= v.upper
            )
            assert covered >= 0.95 - 1e-9
    narrow = [Value(v.value, 0, v.value - (v.value - v.lower) / 2, v.value + (v.upper - v.value) / 2) for v in values]
    worst = min(
        sum(binom.pmf(clicked, shown, rate) for clicked, v in enumerate(narrow) if v.lower <= rate <= v.upper)
        for rate in np.linspace(0.05, 0.95, 50)
    )
    assert worst < 0.9, "the control: intervals of half the width do not"


def test_the_same_type_from_counts_with_noise():
    shown = {("town", "tea"): Value(1000, 30, 940, 1060), ("park", "tea"): Value(60, 30, 0, 120)}
    clicked = {("town", "tea"): Value(200, 20, 160, 240), ("park", "tea"): Value(30, 20, 0, 70)}
    rates = ClickRates.of_released(TOWN, shown, clicked, min_support=20)
    told = rates.rate("tea", "park")
    assert told.node.name == "town"  # the park's 60 may be next to nothing
    assert told.value.value == pytest.approx(0.2)
    clear = Tally(1000, 200).rate()
    assert told.value.lower < clear.lower < clear.upper < told.value.upper
    nothing = {("town", "tea"): Value(float("nan"), 1, 0, 1)}
    with pytest.raises(InvalidInput, match="Nothing was shown"):
        ClickRates.of_released(TOWN, nothing, nothing)


def test_noisy_intervals_cover():
    """Noise and chance together, 2,000 draws: fewer than 92 % covered would happen with less than 1e-8."""
    rng, hits = np.random.default_rng(5), 0
    for _ in range(2000):
        shown, rate = 400, 0.15
        clicked = rng.binomial(shown, rate)
        noisy = Tally(max(1, shown + rng.normal(0, 15)), max(0, clicked + rng.normal(0, 15)), 15, 15).rate()
        hits += noisy.lower <= rate <= noisy.upper
    assert hits >= 1840


def test_a_row_that_was_never_shown_says_nothing():
    """Reports of shops hold such lines: one of them made a whole log unusable."""
    rows = [("park", "tea", 0, 0), ("park", "tea", 40, 10), ("mill", "ice", 0, 0)]
    rates = ClickRates.fit(TOWN, rows)
    assert rates.tallies == ClickRates.fit(TOWN, rows[1:2]).tallies
    assert (rates.results, rates.events) == (("tea",), {TOWN.leaf("park"): 40})


REFUSED = [
    (lambda: ClickRates.fit(TOWN, [("park", "tea", 2, 1), ("park", "tea", 0, 1)]), InvalidInput, "Row 2 has more"),
    (lambda: ClickRates.fit(TOWN, [("park", "tea", 10**400, 1)]), InvalidInput, "Row 1 is not"),
    (lambda: ClickRates.fit(TOWN, [("park", "tea")]), InvalidInput, "Row 1 is not"),
    (lambda: ClickRates.fit(TOWN, [("park", "tea", float("nan"), 0)]), InvalidInput, "Row 1 has more"),
    (lambda: ClickRates.fit(TOWN, [("park", "", 2, 1)]), InvalidInput, "no name"),
    (lambda: ClickRates.fit_picks(TOWN, [("park", "tea"), ("park", None)]), InvalidInput, "Row 2 has no name"),
    (lambda: ClickRates.fit(TOWN, []), InvalidInput, "Nothing was shown"),
    (lambda: ClickRates.fit(TOWN, [("park", "tea", 1, 2)]), InvalidInput, "more clicks"),
    (lambda: ClickRates.fit(TOWN, [("park", "tea", -1, -2)]), InvalidInput, "negative"),
    (lambda: ClickRates.fit(TOWN, [("sea", "tea", 2, 1)]), UnknownKey, "context"),
    (lambda: ClickRates.fit(TOWN, [("park", "tea", 2, 1)], min_support=0), InvalidParameter, "min_support"),
    (lambda: ClickRates(TOWN, {"sea": {"tea": Tally(2, 1)}}), UnknownKey, "node"),
    (lambda: ClickRates(TOWN, {"park": {"tea": Tally(2, 3)}}), InvalidInput, "more clicks"),
    (lambda: ClickRates(TOWN, {"park": {"tea": Tally(float("nan"), 3)}}), InvalidInput, "below 0"),
    (lambda: ClickRates.fit(TOWN, [("park", "tea", 2, 1)]).rate("ice", "park"), UnknownKey, "no result"),
]


@pytest.mark.parametrize(("ask", "kind", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_is_refused(ask, kind, words):
    with pytest.raises(kind, match=words):
        ask()
