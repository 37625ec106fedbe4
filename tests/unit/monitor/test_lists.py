"""Lists that a store keeps and counts, by hand and on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hubbub as hb
from hubbub.cli.main import main
from hubbub.errors import GrantExhausted, GuaranteeChanged, InvalidInput, InvalidParameter
from hubbub.itemlogs import Claim
from hubbub.monitor import Lists, read_lists
from hubbub.store import Store, faults

PEOPLE = 3000
PROMISE: dict[str, Any] = {"epsilon": 2, "delta": "1e-6"}


def table(*items: str) -> dict[str, list[str]]:
    pairs = [(f"user {i}", item) for i in range(PEOPLE) for item in items] + [("ann", "ann has gout")]
    return {"user": [who for who, _ in pairs], "item": [what for _, what in pairs]}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "state"))
    return str(tmp_path / "lists.db")


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., str]:
    def write(*items: str) -> str:
        path = tmp_path / "log.csv"
        columns = table(*items)
        rows = [f"{who},{what}" for who, what in zip(columns["user"], columns["item"], strict=True)]
        path.write_text("\n".join(["user,item", *rows]), encoding="utf-8")
        return str(path)

    return write


class TestByHand:
    def test_a_promise_is_divided_between_lists_and_refused_when_it_is_used_up(self, place: str) -> None:
        with hb.Lists(place, "searches", lists=2, **PROMISE) as lists:
            assert (len(lists), lists.left) == (0, 2)
            may = lists.publish(table("weather", "news"))
            assert sorted(may) == ["news", "weather"]
            assert may["weather"].lower <= PEOPLE <= may["weather"].upper
        with hb.Lists(place, "searches", lists=2, **PROMISE) as lists:
            assert list(lists.publish(table("flu"))) == ["flu"]
            assert lists.left == 0
            with pytest.raises(InvalidParameter, match="nothing is left"):
                lists.publish(table("flu"))
            assert [sorted(one) for one in lists] == [["news", "weather"], ["flu"]]
            assert sorted(lists[0]) == ["news", "weather"]
            assert list(lists[-1]) == ["flu"]
        with Store.open(place) as store:
            budget = store.budget("searches")
            assert (budget.spent, budget.slipped) == (budget.guarantee.budget, budget.guarantee.slips)
            assert store.verify("searches").ok

    def test_what_is_said_is_about_all_lists(self, place: str) -> None:
        with Lists(place, "searches", lists=12, **PROMISE) as lists:
            claim = lists.publish(table("weather")).claim
        assert "all 12 lists together" in claim.sentence
        assert (str(claim.epsilon), claim.lists, claim.max_items) == ("2", 12, 10)
        assert Claim.from_dict(claim.to_dict()) == claim
        assert claim.rho_delta * 2 == claim.delta

    def test_a_list_is_as_noisy_as_a_single_one_of_its_part(self, place: str) -> None:
        """What twelve lists cost together is what one list of the whole promise costs."""
        one = Lists(place, "one", **PROMISE)
        many = Lists(place, "many", lists=12, **PROMISE)
        with one, many:
            assert many._mechanism.guarantee.budget == one._mechanism.guarantee.budget
            assert many._mechanism.people_needed > 3 * one._mechanism.people_needed

    def test_a_log_that_cannot_be_read_costs_nothing(self, place: str) -> None:
        with Lists(place, "searches", **PROMISE) as lists:
            with pytest.raises(InvalidInput):
                lists.publish({"who": ["ann"]})
            assert lists.left == 1

    def test_a_crash_between_drawing_and_keeping_loses_the_list_and_its_part(self, place: str) -> None:
        def hook(passed: str) -> None:
            if passed == "draw:done":
                faults.install(None)
                raise KeyboardInterrupt

        with Lists(place, "searches", lists=2, **PROMISE) as lists:
            faults.install(hook)
            with pytest.raises(KeyboardInterrupt):
                lists.publish(table("weather"))
            faults.install(None)
        with Lists(place, "searches", lists=2, **PROMISE) as lists:
            assert lists.left == 1
            with pytest.raises(hb.HubbubError, match="never published"):
                lists[0]
            assert list(lists.publish(table("news"))) == ["news"]
            assert [list(one) for one in lists] == [["news"]]

    def test_other_numbers_are_refused(self, place: str) -> None:
        Lists(place, "searches", **PROMISE).close()
        with pytest.raises(GuaranteeChanged):
            Lists(place, "searches", epsilon=3, delta="1e-6")
        with pytest.raises(GuaranteeChanged, match="max_items"):
            Lists(place, "searches", max_items=5, **PROMISE)

    def test_lists_of_a_grant_share_it_with_others(self, place: str) -> None:
        visitors = hb.Grant("visitors", hb.Guarantee.approximate(hb.User(horizon=2), 2, "1e-6", aside="5e-7"))
        with Lists(place, "pages", grant=visitors.part("1/2", slips="1/2")) as pages:
            assert list(pages.publish(table("weather"))) == ["weather"]
        with pytest.raises(GrantExhausted):
            Lists(place, "more", grant=visitors.part("3/4", slips="1/2"))

    @pytest.mark.parametrize("max_ticks", [1, 11])
    def test_a_grant_about_people_who_count_in_few_ticks_is_refused(self, place: str, max_ticks: int) -> None:
        """Nobody is kept out of a list, so everybody may be in all: each would cost as if it were the only one."""
        unit = hb.User(max_ticks=max_ticks, horizon=12)
        few = hb.Grant("visitors", hb.Guarantee.approximate(unit, 2, "1e-6", aside="5e-7"))
        for grant in (few, few.part()):
            with pytest.raises(InvalidParameter, match="Nothing keeps a person out"):
                Lists(place, "pages", grant=grant)
        every = hb.Grant("visitors", hb.Guarantee.approximate(hb.User(horizon=12), 2, "1e-6", aside="5e-7"))
        with pytest.raises(InvalidParameter, match="Nothing keeps a person out"):
            Lists(place, "pages", grant=every.part("1/2", slips=1, max_ticks=1))

    def test_the_ledger_tells_for_how_many_items_a_person_counts(self, place: str) -> None:
        with Lists(place, "searches", lists=3, max_items=7, **PROMISE) as lists:
            assert "7 keys per tick" in lists.guarantee.sentence

    @pytest.mark.parametrize(
        "wrong",
        [{"epsilon": 1}, {"delta": "1e-6"}, {}, {"epsilon": 1, "delta": "1e-6", "lists": 0},
         {"epsilon": 1, "delta": "1e-6", "method": "zealous"}, {"epsilon": 1, "delta": "1e-6", "max_items": 0},
         {"epsilon": 1, "delta": "1e-6", "count_share": 1}],
    )  # fmt: skip
    def test_what_promises_nothing_is_refused_and_no_stream_is_made(self, place: str, wrong: dict[str, Any]) -> None:
        with pytest.raises(InvalidParameter):
            Lists(place, "searches", **wrong)
        assert not Path(place).exists()

    def test_other_streams_hold_no_lists(self, place: str) -> None:
        hb.Monitor(["a"], hb.Event(), 1, store=place, name="site")
        with Store.open(place) as store, pytest.raises(InvalidParameter, match="holds no lists"):
            read_lists(store, "site")


class TestOnTheCommandLine:
    def items(self, log: str, place: str, *more: str) -> int:
        promise = ("--epsilon", "2", "--delta", "1e-6", "--store", place, "--stream", "searches")
        return main(["items", log, *promise, *more])

    def test_a_list_and_the_same_list_again(
        self, place: str, log: Callable[..., str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        first, again = tmp_path / "items.csv", tmp_path / "again.csv"
        assert self.items(log("weather", "news"), place, "--lists", "2", "--out", str(first)) == 0
        assert "all 2 lists together" in capsys.readouterr().out
        assert main(["published", place, "searches", "--out", str(again)]) == 0
        assert first.read_bytes() == again.read_bytes()
        capsys.readouterr()
        assert main(["published", place, "searches", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert sorted(row["item"] for row in told["items"]) == ["news", "weather"]
        assert main(["published", place, "searches", "--list", "7"]) == 2
        assert "Published lists: 0" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("store", "out"),
        [("st.csv", "st.csv"), ("z.card.json", "z.csv"), ("a.db", "a.db-wal.csv"), ("sub/../x.json", "x.json")],
    )
    def test_a_list_is_not_written_over_the_store_that_is_made_on_the_way(
        self, log: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str, out: str
    ) -> None:
        monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "state"))
        monkeypatch.chdir(tmp_path)
        (tmp_path / "sub").mkdir()
        promise = ("--epsilon", "2", "--delta", "1e-6", "--stream", "searches")
        fine = out == "a.db-wal.csv"
        assert main(["items", log("weather"), *promise, "--store", store, "--out", out]) == (0 if fine else 2)
        assert Path(store).exists() == fine
        assert Path(out).exists() == fine

    def test_used_up(self, place: str, log: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
        assert self.items(log("weather"), place) == 0
        assert self.items(log("weather"), place) == 2
        assert "nothing is left" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("more", "told"),
        [(["--method", "zealous"], "zCDP"), (["--users", "5000"], "zCDP")],
    )
    def test_what_a_store_cannot_count(
        self, place: str, log: Callable[..., str], capsys: pytest.CaptureFixture[str], more: list[str], told: str
    ) -> None:
        assert self.items(log("weather"), place, *more) == 2
        assert told in capsys.readouterr().err
        assert not Path(place).exists()

    def test_a_name_without_a_store(self, log: Callable[..., str], capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["items", log("a"), "--epsilon", "1", "--delta", "1e-6", "--stream", "searches"]) == 2
        assert "--store" in capsys.readouterr().err
