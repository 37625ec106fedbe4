"""Both servers as machines without I/O: what they add, what they refuse, and that a sum is opened once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hubbub.errors import (
    BudgetExceeded,
    InvalidInput,
    InvalidParameter,
    QueryClosed,
    QueryMismatch,
    ReportReplayed,
    TooFewReports,
)
from hubbub.gather import Client, Helper, HomomorphicScheme, Leader, Prio3Scheme, Query, SealKey
from hubbub.gather.homomorphic import keys
from hubbub.gather.messages import (
    Announcement,
    Asked,
    CheckAnswer,
    CheckRequest,
    OpenRequest,
    Result,
    SealedReport,
    Told,
    Verdicts,
)
from hubbub.gather.opened import Opened
from hubbub.gather.prio3 import Histogram
from hubbub.gather.sealing import seal

KEYS = SealKey.make(), SealKey.make()
VERIFY = bytes(range(32))


def planned(**given: Any) -> Query:
    plan = {"clients": 8, "minimum": 3, "epsilon": 1600, "allow_weak": True, "verify_key": VERIFY} | given
    return Query.plan("colours", Histogram(4), **plan)


class World:
    """A client and both servers of one query."""

    def __init__(self, name: str = "prio3", **given: Any) -> None:
        self.query = planned(**given)
        if name == "prio3":
            schemes: list[Any] = [Prio3Scheme(self.query), *(Prio3Scheme(self.query, VERIFY) for _ in "lh")]
        else:
            public, secret = keys(self.query)
            schemes = [HomomorphicScheme(self.query, public=public) for _ in "cl"]
            schemes.append(HomomorphicScheme(self.query, secret=secret))
        self.client = Client(schemes[0], [key.public for key in KEYS])
        self.leader, self.helper = Leader(schemes[1], KEYS[0]), Helper(schemes[2], KEYS[1])

    def send(self, *answers: int) -> list[SealedReport]:
        reports = [self.client.report(answer) for answer in answers]
        for report in reports:
            self.leader.receive(SealedReport.decode(report.encode()))
        return reports

    def check(self, change: Callable[[CheckAnswer], CheckAnswer] = lambda answer: answer) -> None:
        """One exchange, through bytes."""
        request = self.leader.ask()
        assert request is not None
        answer = change(self.helper.check(CheckRequest.decode(request.encode())))
        verdicts = self.leader.conclude(CheckAnswer.decode(answer.encode()))
        self.helper.settle(Verdicts.decode(verdicts.encode()))

    def open(self) -> Opened:
        request = OpenRequest.decode(self.leader.close().encode())
        return self.leader.publish(Result.decode(self.helper.open(request).encode()))


@pytest.mark.parametrize("name", ["prio3", "homomorphic"])
def test_a_whole_round(name):
    world = World(name)
    world.send(0, 1, 1)
    world.check()
    world.send(3, 3)
    world.check()
    assert world.leader.reports == world.helper.reports == 5
    assert world.leader.checksum == world.helper.checksum
    opened = world.open()
    assert opened.sums == [1, 2, 0, 2]
    assert (world.leader.state, world.helper.state) == ("opened", "opened")
    assert "Who answers is not hidden" in opened.promise
    assert repr(world.leader) == "Leader('colours', opened, 5 reports)"


def test_nothing_is_kept_of_a_report_once_it_is_added():
    world = World()
    world.send(0, 1, 2)
    assert world.leader.waiting == 3
    world.check()
    assert world.leader.waiting == 0
    assert world.leader.unsettled == world.helper.unsettled == 0
    assert world.leader.file.parts(0) == world.leader.file.parts(1) == world.helper.file.parts(1) == []
    assert world.leader.ask() is None


def test_a_sum_is_opened_once():
    world = World()
    world.send(0, 1, 2)
    world.check()
    request = world.leader.close()
    result = world.helper.open(request)
    assert world.helper.open(request) == result  # told again, not made again
    other = OpenRequest(request.query, request.reports, request.checksum, bytes(len(request.share)))
    with pytest.raises(QueryClosed, match="another release"):
        world.helper.open(other)
    with pytest.raises(QueryClosed, match="no more"):
        world.leader.close()
    world.leader.publish(result)
    with pytest.raises(QueryClosed, match="once"):
        world.leader.publish(result)


def test_too_few_stay_shut_and_may_become_enough():
    world = World()
    world.send(0, 1)
    world.check()
    with pytest.raises(TooFewReports):
        world.leader.close()
    with pytest.raises(TooFewReports):
        world.helper.open(OpenRequest(world.query.digest, 2, world.helper.checksum, b""))
    world.send(2)
    world.check()
    assert world.open().reports == 3


def test_replayed_reports():
    world = World()
    (report, *_) = world.send(0, 1, 2)
    with pytest.raises(ReportReplayed):
        world.leader.receive(report)
    world.check()
    with pytest.raises(ReportReplayed):
        world.leader.receive(report)
    assert world.leader.refused == {"report_replayed": 2}
    # A leader that replays behind the client's back: the helper sees it.
    started = world.leader.scheme.start(0, world.client.scheme.encode(1)[:1])[0]
    replay = CheckRequest(world.query.digest, (Asked(report.nonce, report.second, started.told),))
    assert [one.refusal for one in world.helper.check(replay).items] == ["report_replayed"]
    assert world.open().reports == 3


def test_reports_that_are_spoilt_foreign_or_too_many():
    world, other = World(), World(clients=9)
    good = world.client.report(1)
    changed = bytearray(good.first)
    changed[40] ^= 1
    spoilt = SealedReport(good.query, good.nonce, bytes(changed), good.second)
    for report, error in [
        (other.client.report(1), QueryMismatch),
        (spoilt, InvalidInput),
        (SealedReport(good.query, bytes(16), good.first, good.second), InvalidInput),
        (SealedReport(good.query, good.nonce, b"", good.second), InvalidInput),
        (SealedReport(good.query, good.nonce, good.second, good.first), InvalidInput),
    ]:
        with pytest.raises(error):
            world.leader.receive(report)
    world.leader.receive(good)  # none of these used up its nonce
    world.send(*[0] * 7)
    with pytest.raises(QueryClosed, match="planned for 8"):
        world.leader.receive(world.client.report(0))
    assert world.leader.refused == {"query_mismatch": 1, "invalid_input": 4, "query_closed": 1}
    world.check()
    assert world.open().sums == [7, 1, 0, 0]


def test_reports_that_only_one_server_can_read():
    world = World()
    world.send(0, 1, 2)
    good = world.client.report(3)
    nonce = good.nonce
    body = KEYS[0].open(good.first, 0, world.query.digest, nonce)
    short = seal(KEYS[0].public, body[:-1], 0, world.query.digest, nonce)
    world.leader.receive(SealedReport(good.query, nonce, short, good.second))  # malformed for the leader
    unreadable = world.client.report(3)
    world.leader.receive(SealedReport(unreadable.query, unreadable.nonce, unreadable.first, b"?"))  # for the helper
    half = world.client.report(3)
    cut = seal(KEYS[1].public, b"short", 1, world.query.digest, half.nonce)
    world.leader.receive(SealedReport(half.query, half.nonce, half.first, cut))  # malformed for the helper
    lie = world.client.report(3)
    inner = bytearray(KEYS[0].open(lie.first, 0, world.query.digest, lie.nonce))
    inner[70] ^= 1
    world.leader.receive(SealedReport(
        lie.query, lie.nonce, seal(KEYS[0].public, bytes(inner), 0, world.query.digest, lie.nonce), lie.second
    ))  # fmt: skip
    world.check()
    assert world.leader.refused == {"invalid_input": 3, "report_rejected": 1}
    assert world.helper.refused == {"invalid_input": 2, "report_rejected": 1}
    assert world.open().sums == [1, 1, 1, 0]


def test_after_the_close_nothing_is_taken():
    world = World()
    world.send(0, 1, 2)
    world.check()
    late = world.client.report(3)
    world.send(3)
    request = world.leader.close()
    assert world.leader.refused == {"report_rejected": 1}  # received, and not checked in time
    with pytest.raises(QueryClosed):
        world.leader.receive(late)
    with pytest.raises(QueryClosed):
        world.leader.ask()
    world.helper.open(request)
    with pytest.raises(QueryClosed):
        world.helper.check(CheckRequest(world.query.digest, ()))
    with pytest.raises(QueryClosed):
        world.helper.settle(Verdicts(world.query.digest, (bytes(16),)))


def test_servers_that_added_different_reports_open_nothing():
    world = World()
    world.send(0, 1, 2, 3)
    request = world.leader.ask(most=3)
    answer = world.helper.check(request)
    world.leader.conclude(answer)  # and the verdicts are lost
    with pytest.raises(QueryMismatch, match="3 there, 0 here"):
        world.helper.open(world.leader.close())
    assert world.helper.state == "open"


def test_the_same_number_of_other_reports_is_noticed():
    world = World()
    world.send(0, 1, 2)
    world.check()
    with pytest.raises(QueryMismatch, match="different reports"):
        world.helper.open(OpenRequest(world.query.digest, 3, bytes(32), b""))


def test_messages_about_what_was_not_asked():
    world = World()
    world.send(0, 1, 2)
    request = world.leader.ask()
    answer = world.helper.check(request)
    twice = CheckAnswer(answer.query, answer.items[:1] * 2)
    foreign = CheckAnswer(answer.query, (Told(bytes(16), b""),))
    for wrong in (twice, foreign):
        with pytest.raises(QueryMismatch, match="not asked about"):
            world.leader.conclude(wrong)
    for wrong in (CheckAnswer(bytes(32), answer.items), Verdicts(bytes(32), ())):
        with pytest.raises(QueryMismatch, match="another query"):
            world.leader.conclude(wrong) if isinstance(wrong, CheckAnswer) else world.helper.settle(wrong)
    verdicts = world.leader.conclude(answer)
    with pytest.raises(QueryMismatch, match="decides twice"):
        world.helper.settle(Verdicts(verdicts.query, verdicts.accepted * 2))
    with pytest.raises(QueryMismatch, match="not accepted here"):
        world.helper.settle(Verdicts(verdicts.query, (bytes(16),)))
    world.helper.settle(verdicts)
    world.helper.settle(verdicts)  # said twice, done once
    assert world.helper.reports == 3
    with pytest.raises(QueryMismatch, match="not accepted here"):
        world.helper.settle(Verdicts(verdicts.query, (), verdicts.accepted))
    with pytest.raises(QueryMismatch, match="another query"):
        world.helper.check(CheckRequest(bytes(32), ()))
    with pytest.raises(QueryMismatch, match="another query"):
        world.helper.open(OpenRequest(bytes(32), 3, world.helper.checksum, b""))


def test_a_helper_that_lies_in_its_answer_has_reports_dropped():
    world = World()
    world.send(0, 1, 2, 3)

    def spoil(answer: CheckAnswer) -> CheckAnswer:
        first = answer.items[0]
        return CheckAnswer(answer.query, (Told(first.nonce, first.told[:-1] + b"\x00"), *answer.items[1:]))

    world.check(spoil)
    assert world.leader.reports == world.helper.reports == 3
    assert world.open().sums == [0, 1, 1, 1]


def test_two_requests_at_a_time():
    world = World()
    world.send(0, 1, 2, 3)
    first, second = world.leader.ask(most=2), world.leader.ask(most=2)
    answers = [world.helper.check(second), world.helper.check(first)]
    for answer in answers:
        world.helper.settle(world.leader.conclude(answer))
    assert world.open().sums == [1, 1, 1, 1]


def test_a_result_about_other_reports():
    world = World()
    world.send(0, 1, 2)
    world.check()
    result = world.helper.open(world.leader.close())
    wrong = Opened("colours", result.opened.sums, 4, 8, 1.0, "")
    with pytest.raises(QueryMismatch, match="about 4 reports; 3 were added"):
        world.leader.publish(Result(result.query, wrong))


@pytest.mark.parametrize("name", ["prio3", "homomorphic"])
def test_a_client_needs_the_announcement_alone(name):
    world = World(name)
    public = b""
    if name == "homomorphic":
        public, secret = keys(world.query)
        world.leader = Leader(HomomorphicScheme(world.query, public=public), KEYS[0])
        world.helper = Helper(HomomorphicScheme(world.query, secret=secret), KEYS[1])
    announced = Announcement(world.query, name, (KEYS[0].public, KEYS[1].public), public)
    with pytest.raises(BudgetExceeded, match="this client answers up to 20"):
        Client.of(announced)
    world.client = Client.of(Announcement.decode(announced.encode()), epsilon=1600)
    world.send(0, 1, 2)
    world.check()
    assert world.open().sums == [1, 1, 1, 0]
    with pytest.raises(InvalidInput, match="knows no scheme 'poplar'"):
        Client.of(Announcement(world.query, "poplar", announced.servers), epsilon=1600)


def test_servers_that_are_not_bound_to_a_key_get_no_answer():
    free = Announcement(planned(verify_key=None), "prio3", (KEYS[0].public, KEYS[1].public))
    with pytest.raises(QueryMismatch, match="not bound to a key"):
        Client.of(free, epsilon=1600)


def test_a_key_that_everybody_could_open():
    client = Client(Prio3Scheme(planned()), [bytes(32), KEYS[1].public])
    with pytest.raises(InvalidInput, match="none that can be sealed to"):
        client.report(1)


def test_keys_and_clients():
    with pytest.raises(InvalidParameter, match="two servers"):
        Client(Prio3Scheme(planned()), [KEYS[0].public] * 2)
    with pytest.raises(InvalidInput, match="32 bytes"):
        SealKey(b"short")
    with pytest.raises(InvalidInput, match="32 bytes"):
        seal(b"", b"", 0, bytes(32), bytes(16))
    again = SealKey(KEYS[0].secret)
    assert again.public == KEYS[0].public
    assert again.secret.hex() not in repr(again)
