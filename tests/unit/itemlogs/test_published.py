"""Lists as values, files and pages."""

import json

import numpy as np
import pytest

import hubbub as hb
from hubbub.itemlogs import Adaptive, ItemLog, Zealous, read_published
from hubbub.itemlogs.published_files import card_of

NASTY = '<b>"flu", a=1</b>'


def made(method="adaptive", **more):
    log = ItemLog.of([(f"u{i}", item) for i in range(700) for item in ("weather", NASTY)])
    return (Adaptive if method == "adaptive" else Zealous)(1, "1e-6", 2, **more).publish(log)


def same(one, other):
    assert one.items == other.items
    assert (one.method, one.claim, one.card) == (other.method, other.claim, other.card)
    assert dict(one.facts) == dict(other.facts)
    for name in ("counts", "standard_error", "lower", "upper"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert (mine is None and theirs is None) or np.array_equal(mine, theirs)


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
@pytest.mark.parametrize("share", ["1/5", 0])
def test_there_and_back(tmp_path, kind, share):
    published = made(count_share=share)
    path = tmp_path / f"list.{kind}"
    published.write(path)
    same(published, read_published(path))


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_an_empty_list_there_and_back(tmp_path, kind):
    empty = Zealous(1, "1e-6", 2).publish(ItemLog.of([]))
    empty.write(tmp_path / f"list.{kind}")
    assert read_published(tmp_path / f"list.{kind}").items == ()


def test_the_guarantee_is_for_programs():
    facts = made("zealous").to_dict()
    assert json.loads(json.dumps(facts))["guarantee"]["epsilon"] == "1"
    assert facts["guarantee"]["neighbours"] == "one user added or removed"
    assert facts["guarantee"]["zcdp"] == {"rho": "1/2", "delta": facts["guarantee"]["zcdp"]["delta"]}


def test_the_card_warns_and_tells_nothing_of_what_was_dropped():
    card = " ".join(made().card)
    assert "one person's secret that many typed" in card
    assert "is not told" in card
    assert "700" not in card


def test_pages_are_escaped():
    html = made()._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html


def test_what_it_says_of_itself():
    published = made()
    assert repr(published) == "<Published: 2 items, by adaptive, epsilon = 1, delta = 1e-6 for each user>"
    assert str(published).startswith("2 items, by adaptive\n")
    assert published.value_at(0) == published[published.items[0]]


def test_refusals(tmp_path):
    published = made()
    with pytest.raises(hb.InvalidParameter, match="none of"):
        published.write(tmp_path / "list.xlsx")
    with pytest.raises(hb.InvalidInput, match="cannot be written"):
        published.write(tmp_path / "no" / "list.csv")
    with pytest.raises(hb.InvalidInput, match="none of"):
        read_published(tmp_path / "list.xlsx")
    with pytest.raises(hb.InvalidInput, match="cannot be read"):
        read_published(tmp_path / "gone.json")
    published.write(tmp_path / "list.csv")
    card = json.loads(card_of(tmp_path / "list.csv").read_text())
    for change, words in (
        ({"version": 9}, "this version"),
        ({"guarantee": {"epsilon": "x"}}, "guarantee of the list"),
    ):
        card_of(tmp_path / "list.csv").write_text(json.dumps({**card, **change}))
        with pytest.raises(hb.InvalidInput, match=words):
            read_published(tmp_path / "list.csv")
    card_of(tmp_path / "list.csv").write_text(json.dumps(card))
    (tmp_path / "list.csv").write_text("other\n1\n")
    with pytest.raises(hb.InvalidInput, match="no column of items"):
        read_published(tmp_path / "list.csv")


def test_published_in_one_call(tmp_path):
    log = {"who": [f"u{i}" for i in range(900)], "what": ["weather"] * 900}
    told = []
    published = hb.publish_items(log, user="who", item="what", epsilon=1, delta="1e-6", progress=told.append)
    assert list(published) == ["weather"]
    assert [words.split(",")[0].split(":")[0] for words in told] == ["reading", "weighing", "weighing", "counting"]
    once = hb.publish_items(log, user="who", item="what", epsilon=1, delta="1e-6", max_items=1)
    assert once.method == "zealous"
