"""Everything that hangs on `hb` says what it is, and none of it tells a confidential value."""

import inspect
import re
from datetime import timedelta

import numpy as np
import pytest

import hubbub as hb
from hubbub.released import Cost

COUNT = 918_273
"""What was counted. Released numbers are taken from elsewhere: noise may be nothing."""

UNIT = {"unit": "session", "max_ticks": 20, "epsilon": 1}


def monitor():
    made = hb.Monitor(["front"], **UNIT)
    made.release({"front": COUNT})
    return made


def ranges():
    made = hb.Ranges(["front"], window=10, **UNIT)
    made.release({"front": COUNT})
    return made


def release():
    one = np.array([7.0])
    return hb.Release(hb.Tick(0), hb.Keys(["front"]), one, one.copy(), one.copy(), one.copy(), cost=Cost.nothing())


def store(folder):
    with hb.Store.open(folder / "site.db", marks=folder) as opened:
        return opened


def lists(folder):
    with (
        hb.Store.open(folder / "lists.db", marks=folder) as opened,
        hb.Lists(opened, "x", epsilon=1, delta="1e-9") as made,
    ):
        return made


PROMISE = hb.Guarantee.pure(hb.Session(max_ticks=20), 1)
DAYS = hb.ContextChain.fit(["abc", "acb"])
MADE = {
    "Adversary": lambda _: hb.Adversary(hb.Hybrid.plan(DAYS, [hb.Secret("a")], "0.1")),
    "Alerts": lambda _: hb.detect([release()]),
    "BeliefBound": lambda _: hb.Hybrid.plan(DAYS, [hb.Secret("a")], "0.1").promise,
    "ContextChain": lambda _: DAYS,
    "CountSeries": lambda _: hb.read_series({"flu": [COUNT]}),
    "Discovered": lambda _: hb.Discovered(),
    "Event": lambda _: hb.Event(),
    "Grant": lambda _: hb.Grant("visitors", PROMISE),
    "Grid": lambda _: hb.Grid(3, 2),
    "Guarantee": lambda _: PROMISE,
    "Hierarchy": lambda _: hb.Hierarchy({"city": None}),
    "Hybrid": lambda _: hb.Hybrid.plan(DAYS, [hb.Secret("a")], "0.1"),
    "ItemPlan": lambda _: hb.plan_items({"user": [0], "item": [COUNT]}, max_items=[1], runs=1),
    "Keys": lambda _: hb.Keys(["front"]),
    "Lists": lists,
    "Monitor": lambda _: monitor(),
    "Plan": lambda _: hb.plan(ticks=5, runs=1, unit="event", methods=["lpa"], epsilon=1),
    "Published": lambda _: hb.publish_items(
        {"user": [0] * 9, "item": [COUNT + i for i in range(9)]}, epsilon=1, delta="1e-9"
    ),
    "Ranges": lambda _: ranges(),
    "Release": lambda _: release(),
    "ReleasedSeries": lambda _: hb.ReleasedSeries((release(),), PROMISE, "lpa", "bound"),
    "Secret": lambda _: hb.Secret("a"),
    "Session": lambda _: hb.Session(max_ticks=20, timeout=timedelta(minutes=30)),
    "Trip": lambda _: hb.Trip(max_ticks=20, timeout=timedelta(minutes=30)),
    "Store": store,
    "Tick": lambda _: hb.Tick(0),
    "User": lambda _: hb.User(horizon=365),
    "Value": lambda _: release()["front"],
    "Window": lambda _: hb.Window(5),
}
CLASSES = [
    name for name in hb.__all__ if inspect.isclass(getattr(hb, name)) and not issubclass(getattr(hb, name), Exception)
]


def is_empty(shown):
    return re.search(r"object at 0x[0-9a-f]+", shown) is not None


def test_an_object_without_words_would_be_noticed():
    assert is_empty(repr(object()))


@pytest.mark.parametrize("name", CLASSES)
def test_it_says_what_it_is(name, tmp_path):
    made = MADE[name](tmp_path)
    shown = repr(made) + str(made) + getattr(made, "_repr_html_", str)()
    assert not is_empty(shown)
    assert str(COUNT) not in shown.replace(",", "")


@pytest.mark.parametrize(
    "name", ["audit", "detect", "plan", "plan_items", "publish_items", "read_series", "release_series", "risk"]
)
def test_a_function_has_a_word_of_help(name):
    assert inspect.getdoc(getattr(hb, name))


def test_a_curator_says_whose_it_is(tmp_path):
    with hb.Monitor(["front"], store=tmp_path / "site.db", name="site", **UNIT) as made:
        made.release({"front": COUNT})
        assert repr(made) == (
            "<Monitor 'site': Keys(front: 1), adaptive, epsilon = 1 for each visit, next tick 1, with a store>"
        )
        assert repr(made._curator) == "<Curator of Stream('site', 1 keys, adaptive), next tick 1>"


def test_a_value_in_a_notebook():
    assert hb.Value(1237.4, 58, 1115, 1360)._repr_html_() == (
        "<b>1,240 ± 60</b> <small>(95 of 100 times between 1,120 and 1,360)</small>"
    )
