"""Files of a round that are put back from a copy: whatever was told, no second noise follows it."""

from __future__ import annotations

import shutil
import sqlite3
from typing import Any

import pytest
from tests.support.gathering import Gathering

from hubbub.errors import QueryClosed, StoreSetBack, StoreUnavailable
from hubbub.gather import faults
from hubbub.gather.peer import mark_of_request, path_of
from hubbub.gather.round_mark import RoundMark

BOTH = ("leader", "helper")


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """A state folder for each test, outside of what is copied."""
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "state"))
    yield tmp_path / "state"
    faults.install(None)


class Watched(Gathering):
    """Remembers every opening that left the leader, and every result that left the helper."""

    def __init__(self, folder: Any, **asked: Any) -> None:
        self.asked: set[bytes] = set()
        self.results: set[bytes] = set()
        super().__init__(folder, epsilon=1, clients=200, **asked)  # noise that is never twice the same

    def peer(self, key: bytes) -> Any:
        direct, world = super().peer(key), self

        class Watching:
            def tell(self, tick: int, step: str, message: bytes) -> bytes:
                if step == "open":
                    world.asked.add(message)
                answer: bytes = direct.tell(tick, step, message)
                if step == "open":
                    world.results.add(answer)
                return answer

        return Watching()

    def copy(self, name: str) -> None:
        """As a backup does it: the server goes on."""
        shutil.copytree(self.folder / name, self.folder / f"{name}.copy")

    def put_back(self, name: str) -> None:
        getattr(self, name).stop()
        shutil.rmtree(self.folder / name)
        shutil.copytree(self.folder / f"{name}.copy", self.folder / name)
        setattr(self, name, getattr(self, f"start_{name}")())


def answered(world: Watched) -> None:
    world.send(*[at % 4 for at in range(40)])
    world.work()
    for name in BOTH:
        world.copy(name)


@pytest.mark.parametrize("scheme", ["prio3", "homomorphic"])
@pytest.mark.parametrize("whose", [("leader",), ("helper",), BOTH])
def test_a_round_that_was_opened_is_not_opened_again(tmp_path, scheme, whose):
    with Watched(tmp_path / "world", scheme=scheme) as world:
        answered(world)
        first = world.finish()
        assert first["state"] == "opened"
        for name in whose:
            world.put_back(name)
        world.finish()
        for name in whose:
            assert getattr(world, name).result(0)["reason"] == "store_set_back"
        for name in set(BOTH) - set(whose):
            assert getattr(world, name).result(0) == first
        assert len(world.asked) == len(world.results) == 1
        assert any("older copy" in line for line in world.said)


def test_control_without_marks_it_is_opened_again(tmp_path, state):
    with Watched(tmp_path / "world") as world:
        answered(world)
        world.finish()
        for told in (state / "rounds").glob("*.told"):
            told.unlink()
        for name in BOTH:
            world.put_back(name)
        world.finish()
        assert len(world.asked) == len(world.results) == 2


@pytest.mark.parametrize("server", BOTH)
@pytest.mark.parametrize("point", ["mark:begin", "mark:committed", "written", "committed"])
def test_a_crash_around_the_mark_never_leads_to_second_noise(tmp_path, server, point):
    """The server dies there, and is started again: the same bytes leave it, or none."""
    step = {"leader": "close", "helper": "open"}[server]
    at = point if point.startswith("mark") else f"{step}:{point}"

    with Watched(tmp_path / "world") as world:
        answered(world)
        left = [1] if server == "leader" or point != at else [2]  # the leader's mark comes first

        def die(name: str) -> None:
            if name == at:
                left[0] -= 1
                if not left[0]:
                    raise ZeroDivisionError

        world.clock[0] = world.plan.closes(0)
        faults.install(die)
        with pytest.raises(ZeroDivisionError):
            world.leader.look()
        faults.install(None)
        world.restart(server)
        world.work()
        assert len(world.asked) <= 1
        assert len(world.results) <= 1
        given_up = getattr(world, server).result(0).get("reason") == "store_set_back"
        assert given_up == (point in ("mark:committed", "written"))
        assert given_up or world.leader.result(0)["state"] == "opened"


def test_a_full_disk_after_the_mark_costs_nothing(tmp_path):
    """The process goes on, and tells the very bytes that it had marked."""
    with Watched(tmp_path / "world") as world:
        answered(world)
        failing = ["close:written", "open:written"]

        def fail(name: str) -> None:
            if name in failing:
                failing.remove(name)
                raise sqlite3.OperationalError("database or disk is full")

        world.clock[0] = world.plan.closes(0)
        faults.install(fail)
        for _ in range(4):
            world.leader.look()
            if "full" in world.leader.trouble:
                assert world.helper.result(0)["state"] == "open"  # what is not on disk is told to nobody
        assert not failing
        assert world.leader.result(0)["state"] == "opened"
        assert len(world.asked) == len(world.results) == 1


def test_another_batch_gets_no_noisy_share(tmp_path):
    """The copy is of a moment before some answers came: another sum, and no noise for it."""
    with Watched(tmp_path / "world") as world:
        world.send(*[0] * 20)
        world.work()
        for name in BOTH:
            world.copy(name)
        world.send(*[1] * 20)
        world.work()
        assert world.finish()["reports"] == 40
        for name in BOTH:
            world.put_back(name)
        world.finish()
        assert len(world.asked) == len(world.results) == 1


def test_one_process_of_a_machine_serves_a_plan_whatever_its_folder(tmp_path):
    with Watched(tmp_path / "world") as world:
        answered(world)
        first, world.folder = world.leader, tmp_path / "elsewhere"
        shutil.copytree(tmp_path / "world" / "leader.copy", world.folder / "leader")
        with pytest.raises(StoreUnavailable, match="serves this plan"):
            world.start_leader()
        first.stop()
        world.leader = world.start_leader()  # the hold goes with the process; nothing was told yet
        assert world.finish()["state"] == "opened"
        world.leader.stop()
        world.folder = tmp_path / "world"
        world.leader = world.start_leader()
        assert world.leader.result(0)["reason"] == "store_set_back"
        assert len(world.asked) == 1


def test_a_helper_that_was_put_back_while_it_ran_refuses_with_words(tmp_path):
    with Watched(tmp_path / "world") as world:
        answered(world)
        digest = world.plan.query_of(0).digest
        key = world.keys["leader"].shared_with(world.plan.servers[1], "peer")
        world.away = True
        world.clock[0] = world.plan.closes(0)
        world.leader.look()
        (opening,) = world.asked
        RoundMark(key, digest, 1).tell(b"what another process has told")
        shown = mark_of_request(key, path_of(0, "open"), opening)
        with pytest.raises(StoreSetBack, match="second release"):
            world.helper.tell(0, "open", opening, shown)
        assert world.helper.result(0)["reason"] == "store_set_back"
        with pytest.raises(QueryClosed):
            world.helper.tell(0, "open", opening, shown)


def test_a_round_that_this_machine_did_not_begin_is_left_alone(tmp_path, monkeypatch):
    with Watched(tmp_path / "world") as world:
        answered(world)
        world.helper.stop()
        before = (world.folder / "helper" / "0.round").read_bytes()
        monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "another machine"))
        with pytest.raises(StoreSetBack, match="not begun on this machine"):
            world.start_helper()
        assert (world.folder / "helper" / "0.round").read_bytes() == before
        shutil.copytree(tmp_path / "state", tmp_path / "another machine", dirs_exist_ok=True)  # its marks come along
        world.helper = world.start_helper()
        assert world.finish()["reports"] == 40


def test_without_a_place_for_marks_nothing_is_begun(tmp_path, monkeypatch):
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "a file"))
    with pytest.raises(StoreUnavailable, match="HUBBUB_STATE"):
        Watched(tmp_path / "world")
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "state"))
    with Watched(tmp_path / "world") as world:
        monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "a file"))
        with pytest.raises(StoreUnavailable, match="HUBBUB_STATE"):
            world.send(0)
        assert not list((world.folder / "leader").glob("*.round"))
