"""What a list will hold, said beforehand: from public data or an earlier list, never from the log."""

import json

import numpy as np
import pytest

import hubbub as hb
from hubbub.cli.main import main
from hubbub.errors import InvalidParameter
from hubbub.itemlogs import ItemLog
from hubbub.itemlogs.made_up import made_up_log

LOG = {
    "user": [f"u{i}" for i in range(2000) for _ in range(3)],
    "item": [name for i in range(2000) for name in ("weather", "news", f"own {i}")],
}
"""Two items that everybody has, and one that each has alone. A list misses the two with a chance far below 1e-6."""


@pytest.fixture(scope="module")
def earlier():
    return hb.publish_items(LOG, epsilon=1, delta="1e-6", max_items=3)


def test_a_line_for_each_choice():
    steps = []
    plan = hb.plan_items(
        LOG, epsilon=[1, 2], delta=["1e-6", "1e-9"], max_items=[1, 3], methods=["adaptive", "zealous"], top=2, runs=1,
        progress=lambda done, total: steps.append((done, total)),
    )  # fmt: skip
    assert len(plan.expectations) == 16
    assert steps[-1] == (16, 16)
    wide = next(e for e in plan.expectations if (e.method, e.max_items, e.epsilon) == ("zealous", 3, "2"))
    assert (wide.published, wide.coverage) == (2, 1)
    assert wide.uses == pytest.approx(2 / 3)
    assert wide.error < 0.05
    narrow = next(e for e in plan.expectations if (e.method, e.max_items, e.epsilon) == ("zealous", 1, "2"))
    assert 0.5 < narrow.error < 0.8  # one item of three counts: two thirds of each count are missing
    assert plan.best.coverage == 1
    assert "of the top 2" in str(plan)
    assert "<table>" in plan._repr_html_()


def test_an_earlier_list_is_enough(earlier):
    plan = hb.plan_items(published=earlier, users=2000, max_items=[2], runs=1)
    assert plan.best.coverage == 1
    assert "rare items are missing" in plan.note
    assert repr(plan) == "<ItemPlan: 1 choices on an earlier list of 2 items>"


def test_a_made_up_log_has_the_counts_of_the_list(earlier):
    log = made_up_log(earlier, 5000)
    assert np.array_equal(np.bincount(log.items.reveal()), earlier.counts)
    small = made_up_log(earlier, 100)  # counts above the number of users are cut to it
    assert np.bincount(small.items.reveal()).tolist() == [100, 100]


def test_where_nothing_would_be_published():
    few = {"user": ["a", "b"], "item": ["x", "x"]}
    plan = hb.plan_items(few, max_items=[1], runs=1)  # two people pass with a chance far below 1e-6
    (only,) = plan.expectations
    assert (only.published, only.coverage, only.uses, only.error) == (0, 0, 0, None)
    assert str(plan).count("0 %") == 2


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({}, "got neither"),
        ({"public": LOG, "published": "list.csv"}, "got both"),
        ({"public": ItemLog.of([("ann", "flu")])}, "confidential"),
        ({"public": LOG, "users": 5}, "goes with a published list"),
        ({"published": "list.csv"}, "does not tell how many users"),
        ({"public": LOG, "max_items": []}, "nothing to try"),
        ({"public": LOG, "methods": ["best"]}, "no method"),
        ({"public": LOG, "runs": 0}, "runs"),
        ({"public": LOG, "top": 0}, "top"),
    ],
)
def test_refusals(given, match):
    with pytest.raises(InvalidParameter, match=match):
        hb.plan_items(**given)


def test_a_list_that_says_too_little(earlier):
    bare = hb.publish_items(LOG, epsilon=1, delta="1e-6", max_items=3, count_share=0)
    with pytest.raises(InvalidParameter, match="no counts"):
        hb.plan_items(published=bare, users=10)
    empty = hb.publish_items({"user": ["a"], "item": ["x"]}, epsilon=1, delta="1e-6", max_items=3)
    with pytest.raises(InvalidParameter, match="empty"):
        hb.plan_items(published=empty, users=10)
    with pytest.raises(InvalidParameter, match="users"):
        hb.plan_items(published=earlier, users=0)


def test_the_command(capsys, tmp_path, earlier):
    path = tmp_path / "public.csv"
    rows = [f"{u},{i}" for u, i in zip(LOG["user"], LOG["item"], strict=True)]
    path.write_text("\n".join(["who,what", *rows]) + "\n")
    asked = ["plan-items", "--public", str(path), "--user", "who", "--item", "what", "--runs", "1", "--top", "2"]
    assert main([*asked, "--max-items", "2", "--max-items", "3"]) == 0
    said = capsys.readouterr().out
    assert "the public log public.csv" in said
    assert "Most of the top 2 at max_items =" in said
    earlier.write(tmp_path / "list.json")
    asked = ["plan-items", "--published", str(tmp_path / "list.json"), "--users", "2000", "--runs", "1", "--json"]
    assert main(asked) == 0
    told = capsys.readouterr()
    document = json.loads(told.out)
    assert [line["max_items"] for line in document["expectations"]] == [1, 2, 5, 10, 20, 50]
    assert "made up" in told.err
    assert main(["plan-items"]) == 2
    assert "got neither" in capsys.readouterr().err
