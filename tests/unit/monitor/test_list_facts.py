"""What a server may say of lists follows from their promise alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hubbub.monitor import Lists
from hubbub.monitor.list_facts import AboutLists
from hubbub.privacy import Event, Grant, Guarantee, User
from hubbub.server.ports import Needed
from hubbub.store import Store


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "state"))
    return tmp_path / "lists.db"


def needed(place: Path, name: str, **promise: Any) -> dict[str, Needed]:
    with Lists(place, name, **promise) as lists:
        people = lists._mechanism.people_needed
    with Store.open(place) as store:
        about = AboutLists().about(store.stream(name))
    assert about is not None
    assert people <= about.needed[0].people < people + 1
    return {one.change: one for one in about.needed}


def test_each_promise_is_the_one_that_would_be_made(place: Path) -> None:
    """The numbers are those of streams that are really made with such a promise."""
    told = needed(place, "now", epsilon=1, delta="1e-6", lists=12)
    others = {
        "epsilon halved": {"epsilon": "1/2"},
        "epsilon doubled": {"epsilon": 2},
        "delta / 100": {"delta": "1e-8"},
        "delta × 100": {"delta": "1e-4"},
        "max_items 1": {"max_items": 1},
        "max_items 5": {"max_items": 5},
        "max_items 20": {"max_items": 20},
        "max_items 50": {"max_items": 50},
    }
    assert list(told) == ["", *others]
    for i, (change, other) in enumerate(others.items()):
        there = needed(place, f"other{i}", **{"epsilon": 1, "delta": "1e-6", "lists": 12, **other})[""]
        assert (there.epsilon, there.delta, there.max_items, there.people) == (
            told[change].epsilon, told[change].delta, told[change].max_items, told[change].people,
        )  # fmt: skip


def test_weaker_promises_need_fewer_people(place: Path) -> None:
    told = {change: one.people for change, one in needed(place, "now", epsilon=1, delta="1e-6").items()}
    assert told["epsilon doubled"] < told[""] < told["epsilon halved"]
    assert told["delta × 100"] < told[""] < told["delta / 100"]
    assert told["max_items 1"] < told["max_items 5"] < told[""] < told["max_items 20"] < told["max_items 50"]


def test_what_would_be_refused_is_not_shown(place: Path) -> None:
    told = needed(place, "now", epsilon=30, delta="1e-4", allow_weak=True)
    assert "epsilon doubled" not in told
    assert "delta × 100" not in told
    assert {"epsilon halved", "max_items 5"} <= set(told)


def test_a_part_of_a_grant_in_rho(place: Path) -> None:
    visitors = Grant("visitors", Guarantee.zcdp(User(horizon=2), "1/10", delta="1e-6"))
    told = needed(place, "pages", grant=visitors.part("1/2", slips="1/2"))
    assert told["epsilon doubled"].people < told[""].people < told["epsilon halved"].people


def test_other_streams_are_not_spoken_of(place: Path) -> None:
    import hubbub as hb

    hb.Monitor(["a"], Event(), 1, store=str(place), name="site")
    with Store.open(place) as store:
        assert AboutLists().about(store.stream("site")) is None
