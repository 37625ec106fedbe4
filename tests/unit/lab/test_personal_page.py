"""What the page Personal shows is what client, cut and catalogue do."""

import json

import pytest

from hubbub.errors import InvalidInput
from hubbub.lab.playground import Playground
from hubbub.lab.playground.personal import personal, town


def test_it_tells_what_was_sent_and_what_that_gives_away():
    said = personal({})
    assert json.loads(said["request"]) == {"node": said["told"]["name"], "k": 5}
    assert said["told"]["contexts"] == 16
    (belief,) = said["beliefs"]
    assert (belief["before"], belief["after"]) == (1 / 64, 1 / 16)
    assert sum(node["size"] ** 2 for node in said["nodes"]) == 64
    assert sum(one["shown"] for one in said["results"]) == 1
    json.dumps(said, allow_nan=False)


def test_more_results_come_closer_to_all_of_them():
    few, many = (personal({"k": k})["precision"] for k in (1, 10))
    assert few["one_told"] == pytest.approx(few["sent_told"])
    assert few["sent_told"] < many["sent_told"] <= many["all_told"]
    assert few["sent_town"] < many["sent_town"] <= many["all_town"]


def test_where_nothing_is_sensitive_the_place_itself_is_told():
    said = personal({"sensitive": [], "here": "7,7"})
    assert (said["told"]["name"], said["beliefs"]) == ("7,7", [])


def test_precision_and_coverage_by_counting():
    """Each place of the town asks by itself; what it is shown is clicked as often as the town's rates say."""
    place, asked = town(), {"sensitive": ["2,5", "6,1"], "leaves": 16, "k": 2, "floor": 40}
    rates = []
    for leaf in place.tree.leaves():
        shown = personal(asked | {"here": leaf.name})["shown"]
        if shown is not None:
            rates.append(place.rates[place.shops.index(shown), leaf.first])
    found = personal(asked)["precision"]
    assert 0 < len(rates) < 64
    assert min(rates) >= 0.4
    assert found["sent_town"] == pytest.approx(sum(rates) / len(rates))
    assert found["sent_town_coverage"] == len(rates) / 64
    # More is worth showing to whoever has all results, and the server alone shows its one to all.
    assert found["all_town_coverage"] >= found["sent_town_coverage"]
    free = personal(asked | {"floor": 0})["precision"]
    assert free["sent_town_coverage"] == free["all_town_coverage"] == 1
    assert free["sent_town"] < found["sent_town"]


def test_where_nothing_is_worth_showing_there_is_no_precision():
    said = personal({"floor": 90, "here": "7,0", "sensitive": []})
    assert (said["shown"], said["precision"]["sent_told"], said["precision"]["sent_told_coverage"]) == (None, None, 0)


@pytest.mark.parametrize(
    "asked", [{"here": "9,9"}, {"k": 0}, {"leaves": 65}, {"floor": 91}, {"sensitive": ["x"]}, {"sensitive": 3}]
)
def test_what_cannot_be_understood_is_refused(asked):
    with pytest.raises(InvalidInput):
        Playground().personal(asked)


def test_all_places_may_be_sensitive_each_for_itself():
    everywhere = [f"{x},{y}" for x in range(8) for y in range(8)]
    assert personal({"sensitive": everywhere, "leaves": 64})["told"]["contexts"] == 64
    with pytest.raises(InvalidInput):
        personal({"leaves": 0})
