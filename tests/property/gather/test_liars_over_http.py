"""A thousand lying clients of several kinds over HTTP, and people who do not answer: only what is honest counts."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from tests.property.gather.test_liars import KINDS_OF_LIES, Lies
from tests.support.gathering import Gathering

from hubbub.errors import GatherRefusal, HubbubError, InvalidInput
from hubbub.gather.client import Client
from hubbub.gather.line import Line
from hubbub.gather.messages import SealedReport
from hubbub.gather.peer import PeerLine, path_of
from hubbub.gather.prio3 import Histogram
from hubbub.server import ServerSettings, Serving, create_gather_app

HONEST = [0, 1, 1, 2, 2, 2, 3, 3]
LIARS = 1000


class OverHttp(Gathering):
    """Both desks behind real servers in this process."""

    def __enter__(self):
        self._helper = Serving(create_gather_app(self.helper, settings=ServerSettings(port=0))).start()
        self._leader = Serving(create_gather_app(self.leader, settings=ServerSettings(port=0))).start()
        self.key = self.keys["leader"].shared_with(self.plan.servers[1], "peer")
        self.leader._peer = PeerLine(Line(self._helper.address), self.key)
        self.line = Line(self._leader.address)
        return self

    def __exit__(self, *_):
        self.line.close()
        self.leader._peer._line.close()
        self._leader.stop()
        self._helper.stop()
        self.stop()

    def post(self, report):
        self.line.post(path_of(0, "reports"), report)


def lie(world, at):
    """A report that tries what no honest client could do; proved with all its might."""
    kinds = list(KINDS_OF_LIES.values())
    client = Client.of(world.plan.announcement(0), epsilon=10**6)
    prio3 = client.scheme.prio3
    prio3.circuit = Lies(prio3.circuit, kinds[at % len(kinds)])
    prio3.proof.circuit = prio3.circuit
    return client.report(at % 4).encode()


def damaged(world, at):
    """Bytes that are no report: cut, foreign, with halves exchanged, or with a byte changed inside a seal."""
    one = SealedReport.decode(world.report(at % 4))
    return [
        one.encode()[: 100 + at % 300],
        SealedReport(bytes(32), one.nonce, one.first, one.second).encode(),
        SealedReport(one.query, one.nonce, one.second, one.first).encode(),
        SealedReport(one.query, one.nonce, one.first[:-1] + bytes([one.first[-1] ^ 1]), one.second).encode(),
        SealedReport(one.query, one.nonce, one.first, one.second[:-1] + bytes([one.second[-1] ^ 1])).encode(),
    ][at % 5]


def test_a_thousand_liars_change_no_counter(tmp_path):
    with OverHttp(tmp_path, circuit=Histogram(4), clients=2000, minimum=8) as world:
        stop = threading.Event()
        driver = threading.Thread(target=lambda: keep_working(world, stop))
        driver.start()
        refused = Counter()
        first = None
        try:
            for at in range(LIARS):
                try:
                    world.post(lie(world, at) if at % 2 else damaged(world, at))
                except HubbubError as error:
                    refused[error.code] += 1
                if at % (LIARS // len(HONEST)) == 0:
                    report = world.report(HONEST[at // (LIARS // len(HONEST))])
                    world.post(report)
                    first = first or report
            with pytest.raises(GatherRefusal):  # replayed
                world.post(first)
        finally:
            stop.set()
            driver.join()
        told = world.finish()
        assert (told["sums"], told["reports"]) == ([1, 2, 3, 2], len(HONEST))
        counted = world.leader._at(0).refused
        # Four of five kinds of damage are seen before anything is kept; the rest is found in checking.
        assert refused["invalid_input"] + refused["query_mismatch"] == LIARS // 2 * 4 // 5
        assert counted["report_rejected"] + counted["invalid_input"] + counted["query_mismatch"] >= LIARS * 7 // 10
        with pytest.raises(GatherRefusal):  # after the close
            world.post(world.report(0))


def keep_working(world, stop):
    while not stop.is_set():
        world.leader.look()
        stop.wait(0.02)


@pytest.mark.parametrize("scheme", ["prio3", "homomorphic"])
def test_three_quarters_do_not_answer(tmp_path, scheme):
    """Planned for, it is opened; one fewer, and it is refused."""
    for answers, state in ((5, "opened"), (4, "ended")):
        with OverHttp(tmp_path / state, clients=20, minimum=5, scheme=scheme) as world:
            for at in range(answers):
                world.post(world.report(at % 4))
            assert world.finish()["state"] == state


def test_what_a_second_server_says_that_is_another(tmp_path):
    """Somebody else answers at the helper's address: nothing of it is believed, and the round waits."""
    folder = tmp_path / "other"
    with OverHttp(tmp_path, clients=20, minimum=3) as world, OverHttp(folder, clients=20, minimum=3) as other:
        for at in range(3):
            world.post(world.report(at))
        right = world.leader._peer
        for wrong in (other._helper.address, world._leader.address):
            line = Line(wrong)
            world.leader._peer = PeerLine(line, world.key)
            world.leader.look()
            line.close()
            assert world.leader.trouble
        world.leader._peer = right
        assert world.finish()["sums"] == [1, 1, 1, 0]


def test_an_answer_without_the_mark_is_not_believed(tmp_path, monkeypatch):
    with OverHttp(tmp_path, clients=20, minimum=3) as world:
        monkeypatch.setattr(world.helper, "_key", bytes(32))
        with pytest.raises(GatherRefusal):
            world.leader._peer.tell(0, "end", b"")
        line = world.leader._peer._line
        monkeypatch.setattr(line, "post", lambda *_: (b"an answer", {"hubbub-mark": "0" * 64}))
        with pytest.raises(GatherRefusal, match="is not the other server"):
            world.leader._peer.tell(0, "end", b"")
    with pytest.raises(InvalidInput):
        SealedReport.decode(b"")
