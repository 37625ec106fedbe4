"""Both programs without a network: whole rounds, either server away in every phase, restarts, hostile bytes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.support.gathering import BEGIN, Gathering

from hubbub.errors import (
    GatherUnavailable,
    GrantExhausted,
    InvalidInput,
    Overloaded,
    QueryClosed,
    QueryMismatch,
    ReportReplayed,
    StoreUnavailable,
)
from hubbub.gather import leader_desk
from hubbub.gather.peer import MARK, PeerLine, mark_of_answer, mark_of_request, path_of
from hubbub.gather.planning import planned
from hubbub.gather.prio3 import Histogram
from hubbub.gather.server_keys import ServerKeys, mark


@pytest.fixture
def world(tmp_path):
    with Gathering(tmp_path) as made:
        yield made


@pytest.mark.parametrize("scheme", ["prio3", "homomorphic"])
def test_a_whole_round(tmp_path, scheme):
    with Gathering(tmp_path, scheme=scheme) as world:
        world.work()
        world.send(0, 1, 1, 3)
        world.work()
        told = world.finish()
        assert (told["sums"], told["reports"], told["labels"]) == ([1, 2, 0, 1], 4, ["0", "1", "2", "3"])
        assert world.helper.result(0) == told
        assert world.over == ["leader", "helper"] or world.over == ["helper", "leader"]
        assert world.leader.status()["state"] == "over"
        assert "round 0  opened, 4 of 20 answered" in world.said
        world.restart()
        assert world.leader.result(0) == told == world.helper.result(0)


def test_while_a_round_lasts_nobody_is_told_how_many_answered(world):
    world.send(1, 1, 1)
    world.work()
    closes = world.plan.closes(0).isoformat()
    for desk in (world.leader, world.helper):
        assert desk.result(0) == {"round": 0, "state": "open", "closes": closes}
        assert desk.status()["state"] == "running"
        assert desk.counts(0)["reports"] == 3  # the owner knows
    with pytest.raises(QueryClosed, match="there is no round 1"):
        world.leader.result(1)


def test_every_server_away_in_every_phase(tmp_path):
    """Each step of a round meets a helper that is away, and then a restart of either; the sum is what it would be."""
    for away in range(5):
        with Gathering(tmp_path / str(away)) as world:
            for step in range(5):
                world.away = step == away
                if step < 4:
                    world.send(step)
                if step == 4:
                    world.clock[0] = world.plan.closes(0)
                world.leader.look()
                if world.away:
                    assert world.leader.trouble == "The other server does not answer."
                    world.restart("helper")
                    world.restart("leader")
            world.away = False
            assert world.finish()["sums"] == [1, 1, 1, 1]


def test_answers_that_were_lost_on_the_way_are_told_again(tmp_path):
    """The helper has done its part each time, and the leader does not hear of it."""
    for lost in range(4):
        with Gathering(tmp_path / str(lost)) as world:
            world.send(2, 2, 2)
            steps = iter(range(100))
            tell = world.helper.tell

            def telling(*given, steps=steps, tell=tell, lost=lost):
                answer = tell(*given)
                if next(steps) == lost:
                    raise StoreUnavailable("cut")
                return answer

            world.helper.tell = telling
            world.clock[0] = world.plan.closes(0) - timedelta(seconds=1)
            world.work()
            assert world.finish()["sums"] == [0, 0, 3, 0]


def test_too_few_answers_open_nothing_and_leave_nothing(world):
    reports = world.send(0, 1)
    world.work()
    told = world.finish()
    assert (told["state"], told["reason"]) == ("ended", "too_few_reports")
    assert world.helper.result(0)["reason"] == "too_few_reports"
    assert nothing_is_left(world, reports)


def nothing_is_left(world, reports):
    """No bytes of any report lie in any file of either server."""
    files = [path.read_bytes() for path in world.folder.rglob("*") if path.is_file()]
    assert len(files) >= 2
    return not any(report[60 + at : 92 + at] in file for report in reports for file in files for at in (0, 200, 400))


def test_after_a_round_no_share_is_left_on_any_disk(world):
    reports = world.send(0, 1, 2, 3)
    assert not nothing_is_left(world, reports), "the control: while the round lasts they are there"
    world.work()
    assert world.finish()["reports"] == 4
    assert nothing_is_left(world, reports)


def test_shares_that_are_opened_lie_on_no_disk_even_during_the_round(world):
    """What is on disk is sealed: who finds the files without the keys reads no share in them."""
    from hubbub.gather.messages import SealedReport

    (report,) = map(SealedReport.decode, world.send(1))
    body = world.keys["leader"].seal.open(report.first, 0, report.query, report.nonce)
    opened = body[2 * 32 :]  # behind the public share
    world.leader.look()
    world.send(2)
    for path in world.folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert not any(opened[at : at + 24] in data for at in range(0, len(opened) - 24, 24))


def test_a_round_that_nobody_finishes_is_given_up(world):
    world.send(0, 1, 2)
    world.work()
    world.away = True
    world.clock[0] = world.plan.ends(0)
    world.work()
    assert world.leader.result(0)["reason"] == "not_finished"
    world.helper.look()
    assert world.helper.result(0)["reason"] == "not_finished"
    world.away = False
    assert world.finish()["state"] == "ended"


def test_a_round_that_has_all_its_answers_does_not_wait(tmp_path):
    with Gathering(tmp_path, clients=4) as world:
        world.send(0, 0, 0, 1)
        world.work()
        assert world.leader.result(0)["sums"] == [3, 1, 0, 0]


def test_several_rounds_follow_one_another(tmp_path):
    with Gathering(tmp_path, ticks=3) as world:
        for tick in range(3):
            world.clock[0] = world.plan.begins(tick)
            world.work()
            world.send(*[tick] * (3 + tick), tick=tick)
            if tick == 1:
                world.restart()
        world.clock[0] = world.plan.closes(2)
        world.work()
        assert [world.leader.result(tick)["sums"][tick] for tick in range(3)] == [3, 4, 5]
        assert world.leader.result(1)["query"] == "colours · 1"
        assert world.leader.is_over


def test_reports_at_the_wrong_time_or_for_another_round(tmp_path):
    with Gathering(tmp_path, ticks=2) as world:
        early = world.report(1, tick=1)
        with pytest.raises(QueryClosed, match="takes nothing now"):
            world.leader.take(1, early)
        with pytest.raises(QueryMismatch):
            world.leader.take(0, early)
        good = world.report(1)
        world.clock[0] = BEGIN - timedelta(seconds=1)
        with pytest.raises(QueryClosed):
            world.leader.take(0, good)
        assert world.leader.result(0)["state"] == "planned"
        assert world.leader.status()["state"] == "planned"
        world.clock[0] = world.plan.closes(0)
        with pytest.raises(QueryClosed):
            world.leader.take(0, good)
        world.clock[0] = BEGIN
        world.leader.take(0, good)
        with pytest.raises(ReportReplayed):
            world.leader.take(0, good)
        for end in range(0, len(good), 97):
            with pytest.raises(InvalidInput):
                world.leader.take(0, good[:end])
        assert world.leader.counts(0)["refused"] == {"query_mismatch": 1, "report_replayed": 1}


def test_more_than_can_be_written_down(world):
    report = world.report(1)
    world.leader._stopped.set()  # the writer does not come to it
    world.leader._writer.join()
    for _ in range(leader_desk.MOST_WAITING):
        world.leader._incoming.put_nowait((0, None, b"", None))
    with pytest.raises(Overloaded, match="written down"):
        world.leader.take(0, report)
    world.restart("leader")
    world.leader.take(0, report)


def test_the_helper_answers_nobody_but_the_leader(world):
    path = path_of(0, "check")
    for shown in ("", "0" * 64, "é" * 64, "\udcff" * 64, mark_of_request(bytes(32), path, b"")):
        with pytest.raises(QueryMismatch, match="does not come from the other server"):
            world.helper.tell(0, "check", b"", shown)
    key = world.keys["leader"].shared_with(world.plan.servers[1], "peer")
    good = mark_of_request(key, path, b"message")
    for wrong in ((0, "settle", b"message"), (1, "check", b"message"), (0, "check", b"massage")):
        with pytest.raises(QueryMismatch):
            world.helper.tell(*wrong, good)
    with pytest.raises(InvalidInput):  # its own mark, and still no message
        world.helper.tell(0, "check", b"message", good)
    assert mark_of_answer(key, path, b"message", b"a") != mark(key, b"request", path.encode(), b"message", b"a")
    with pytest.raises(QueryMismatch, match="the second one"):
        world.helper.take(0, b"")
    with pytest.raises(QueryMismatch, match="first server"):
        world.leader.tell(0, "check", b"", "")


def test_an_answer_with_a_mark_that_is_no_text_is_not_the_other_servers():
    class Stranger:
        address = "https://stranger"

        def post(self, *_):
            return b"", {MARK: "\xe9" * 64}

    with pytest.raises(QueryMismatch, match="not the other server"):
        PeerLine(Stranger(), bytes(32)).tell(0, "check", b"")


def test_the_helper_keeps_its_own_time(world):
    world.send(0, 1, 2)
    key = world.keys["leader"].shared_with(world.plan.servers[1], "peer")
    world.clock[0] = world.plan.ends(0)
    with pytest.raises(QueryClosed):
        world.helper.tell(0, "check", b"", mark_of_request(key, path_of(0, "check"), b""))


def test_servers_with_other_keys_or_plans(tmp_path):
    with Gathering(tmp_path) as world:
        other, keys = planned(
            "colours", Histogram(4), clients=20, minimum=3, epsilon=1, opens=BEGIN, every=timedelta(minutes=10)
        )  # fmt: skip
        with pytest.raises(InvalidInput, match="made for another plan"):
            world.plan.scheme_for(0, keys["leader"], 0)
        with pytest.raises(InvalidInput, match="the other server's"):
            world.plan.scheme_for(0, world.keys["helper"], 0)
        world.work()
        world.stop()
        world.plan, mine = other, world.keys
        world.keys = keys
        with pytest.raises(QueryMismatch, match="another query"):  # its files are of the first plan
            world.start_leader()
        world.keys = mine


def test_a_plan_is_served_by_one_process(world):
    with pytest.raises(StoreUnavailable, match="Another process"):
        world.start_leader()


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "leader").write_text("a file")
    with pytest.raises(StoreUnavailable, match="cannot be kept"):
        Gathering(tmp_path)


def test_keys_are_erased_when_the_last_round_is_over(tmp_path):
    path = tmp_path / "keys"
    keys = ServerKeys.make()
    keys.save(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert ServerKeys.load(path).public == keys.public
    keys.erase(path)
    left = ServerKeys.load(path)
    assert left.erased
    assert left.public.peer == keys.public.peer
    assert keys.seal.secret.hex() not in path.read_text()
    left.erase(path)  # once more changes nothing


def test_a_helper_whose_keys_are_erased_tells_the_result_again(world, tmp_path):
    world.send(0, 1, 2)
    world.work()
    cut = {"open": True}
    tell = world.helper.tell

    def telling(tick, step, *given):
        answer = tell(tick, step, *given)
        if cut.pop(step, False):
            raise StoreUnavailable("cut")
        return answer

    world.helper.tell = telling
    world.clock[0] = world.plan.closes(0)
    world.leader.look()
    assert world.helper.result(0)["sums"] == [1, 1, 1, 0]
    path = tmp_path / "helper.keys"
    world.keys["helper"].erase(path)
    world.keys["helper"] = ServerKeys.load(path)
    world.restart("helper")
    world.leader.look()
    assert world.leader.result(0)["sums"] == [1, 1, 1, 0]


class Pages:
    """A book that refuses what it is told to."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.refusal: Exception | None = None

    def open(self, tick):
        if self.refusal:
            raise self.refusal
        self.lines.append(f"open {tick}")

    def publish(self, tick, opened):
        self.lines.append(f"publish {tick} {opened.reports}")
        return True

    def lose(self, tick):
        self.lines.append(f"lose {tick}")
        return True


def test_a_round_is_paid_for_before_anybody_is_asked(tmp_path):
    book = Pages()
    with Gathering(tmp_path, book=book) as world:
        world.work()
        assert book.lines == ["open 0"]
        world.send(0, 1, 2)
        world.finish()
        assert book.lines == ["open 0", "publish 0 3"]


def test_a_round_that_cannot_be_paid_for_takes_no_answer(tmp_path):
    book = Pages()
    book.refusal = GrantExhausted("Nothing is left.")
    with Gathering(tmp_path, book=book) as world:
        with pytest.raises(GrantExhausted):
            world.send(0)
        world.work()
        assert world.leader.result(0)["reason"] == "grant_exhausted"
        assert world.helper.result(0)["reason"] == "grant_exhausted"
        assert book.lines == ["lose 0"]


def test_a_ledger_that_is_away_is_waited_for(tmp_path):
    book = Pages()
    book.refusal = StoreUnavailable("away")
    with Gathering(tmp_path, book=book) as world:
        with pytest.raises(StoreUnavailable):
            world.leader.look()
        book.refusal = None
        world.send(0, 1, 2)
        assert world.finish()["reports"] == 3


def test_who_comes_when_it_stops_is_told_to_come_again(world):
    world.leader._stopped.set()
    world.leader._writer.join()
    with pytest.raises(GatherUnavailable, match="This server stops"):
        world.leader.take(0, world.report(1))


def test_a_leader_that_asks_and_never_settles(tmp_path):
    with Gathering(tmp_path) as world:
        world.helper._at(0).backlog = 2
        world.send(0, 1, 2)
        world.leader.look()
        assert "more reports than it settles" in world.leader.trouble


def test_backlog(tmp_path, monkeypatch):
    monkeypatch.setattr(leader_desk, "MOST_AT_ONCE", 2)
    with Gathering(tmp_path) as world:
        world.leader._at(0).backlog = 2
        world.send(0, 1)
        with pytest.raises(Overloaded, match="could be checked"):
            world.send(2)
        world.work()
        world.send(2)
        assert world.finish()["reports"] == 3
