"""Counts that are sent again are answered again, and never drawn again: in one process, across restarts and crashes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from hubbub.collect.calendar import Calendar
from hubbub.confidential import Counts
from hubbub.errors import StoreUnavailable, TickTaken
from hubbub.monitor.counts_desk import CountsDesk
from hubbub.monitor.paired import RangePlan, open_curator
from hubbub.privacy import Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Keys
from hubbub.server import CountsSent
from hubbub.server.errors import KeyReused, TickNotOver
from hubbub.store import Store, faults

KEYS = Keys(["front", "news"])
BEGINS = datetime(2026, 1, 1, tzinfo=UTC)
TICK = timedelta(seconds=10)


class Crash(BaseException): ...


class Place:
    """A store on disk, a clock that is set by hand, and a desk that can be opened again and again."""

    def __init__(self, folder, ranges=False, begins=BEGINS):
        self.folder, self.begins, self.now, self.ranges = folder, begins, begins + 50 * TICK, ranges
        self.drawn, self.store = [], None
        self.open()

    def open(self):
        if self.store is not None:
            self.store.close()
        self.store = Store.open(self.folder / "site.db", marks=self.folder / "marks")
        guarantee = Guarantee.pure(Session(max_ticks=20), 1)
        plan = RangePlan(64, method="none") if self.ranges else None
        curator = open_curator(self.store, "site", KEYS, guarantee, Lpa, plan)
        self.desk = CountsDesk(
            self.store, curator, Calendar(self.begins, TICK),
            clock=lambda: self.now, on_release=self.drawn.append, say=lambda _: None,
        )  # fmt: skip

    def send(self, tick=None, key=None, sender="ann", values=(812, 240), seal=b"s"):
        sent = CountsSent(tick, key, sender, dict(zip(KEYS, values, strict=True)), seal)
        return self.desk.release("site", sent)


@pytest.fixture(params=[False, True], ids=["live", "with ranges"])
def place(tmp_path, request):
    made = Place(tmp_path, request.param)
    yield made
    made.desk.close()
    made.store.close()


@pytest.mark.parametrize("how", [{"tick": 50}, {"key": "one"}, {"tick": 50, "key": "one"}])
@pytest.mark.parametrize("restart", [False, True])
def test_a_retry_gets_the_same_answer(place, how, restart):
    if "tick" in how:
        place.now += TICK
    first = place.send(**how)
    debits = len(list(place.store.debits("site")))
    if restart:
        place.desk.close()
        place.open()
    for _ in range(3):
        place.now += TICK
        again = place.send(**how)
        assert again.again
        assert again.release.tick == first.release.tick
        assert again.release.measurements.tolist() == first.release.measurements.tolist()
    assert not first.again
    assert len(place.drawn) == 1
    assert len(list(place.store.debits("site"))) == debits, "nothing was charged again"


def test_keys_belong_to_their_sender(place):
    first = place.send(key="batch-17", sender="ann")
    place.now += TICK
    other = place.send(key="batch-17", sender="bob")
    assert (other.again, other.release.tick.index) == (False, first.release.tick.index + 1)


@pytest.mark.parametrize("other", [{"values": (813, 240)}, {"tick": 49}])
def test_another_body_under_the_same_key_is_refused(place, other):
    place.send(key="one")
    place.now += TICK
    with pytest.raises(KeyReused) as refused:
        place.send(key="one", **other)
    assert "81" not in str(refused.value)
    assert len(place.drawn) == 1


@pytest.mark.parametrize("then", [{"key": "two"}, {}], ids=["another key", "no key"])
@pytest.mark.parametrize("restart", [False, True])
def test_the_same_tick_is_found_again_under_another_key(place, then, restart):
    """As it was: 409 `tick_taken`, though the document promised the same release."""
    first = place.send(tick=49, key="one")
    if restart:
        place.desk.close()
        place.open()
    place.now += TICK
    again = place.send(tick=49, **then)
    assert again.again
    assert again.release.measurements.tolist() == first.release.measurements.tolist()
    assert len(place.drawn) == 1
    for other, refusal in (({"values": (1, 1)}, TickTaken), ({"sender": "bob"}, TickTaken)):
        with pytest.raises(refusal):
            place.send(tick=49, key="three", **other)
    if then:
        with pytest.raises(KeyReused):  # the second key is taken, too
            place.send(tick=50, **then)
    assert len(place.drawn) == 1


def test_other_counts_for_the_same_tick_are_refused(place):
    place.send(tick=49)
    with pytest.raises(TickTaken):
        place.send(tick=49, values=(1, 1))
    with pytest.raises(TickTaken):
        place.send(tick=49, sender="bob")
    with pytest.raises(TickTaken):
        place.send(tick=48)
    assert len(place.drawn) == 1


def test_the_store_holds_nothing_from_which_counts_can_be_guessed(place):
    """The code over a body needs the sender's secret, and differs from key to key."""
    place.send(key="a", values=(1, 0))
    place.now += TICK
    place.send(key="b", values=(1, 0))
    with place.store.database.read() as connection:
        rows = connection.exec_driver_sql("SELECT body FROM answers").all()
    assert len({row[0] for row in rows}) == 2
    from hubbub.monitor.counts_desk import _code, _names

    guess = CountsSent(None, "a", "ann", {"front": 1, "news": 0}, b"another secret")
    assert _code(guess, _names(guess)[0]) not in {row[0] for row in rows}
    assert "812" not in repr(CountsSent(1, "k", "ann", {"front": 812}, b"seal"))


@pytest.mark.parametrize("tick", [50, 51, 100_000, 2**61])
def test_a_tick_that_is_not_over_cannot_be_sent(place, tick):
    with pytest.raises(TickNotOver, match=r"newest that can be sent is 49, which ended at 2026-01-01T00:08:20"):
        place.send(tick=tick)
    assert place.send(tick=49).release.tick.index == 49, "nothing was skipped"


def test_a_sender_whose_clock_is_a_little_ahead_is_heard(place):
    place.now += TICK - timedelta(seconds=0.9)
    assert place.send(tick=50).release.tick.index == 50


def test_before_the_first_tick_is_over_there_is_nothing_to_send(place):
    place.now = BEGINS + timedelta(seconds=3)
    for asked in ({"tick": 0}, {"key": "one"}):
        with pytest.raises(TickNotOver, match="tick 0, ends at 2026-01-01T00:00:10"):
            place.send(**asked)


def test_without_a_tick_the_newest_that_is_over_is_meant(place):
    assert place.send(key="one").release.tick.index == 49
    with pytest.raises(TickNotOver, match="next one ends at 2026-01-01T00:08:30"):
        place.send(key="two")
    place.now += 5 * TICK
    found = place.send(key="two").release
    assert (found.tick.index, found.tick.start) == (54, BEGINS + 54 * TICK)


POINTS = ("debit:begin", "debit:committed", "draw:done", "settle:release", "settle:committed", "publish")


@pytest.mark.parametrize("how", ["crash", "trouble"])
@pytest.mark.parametrize("point", POINTS)
def test_a_retry_after_a_crash_never_draws_twice(tmp_path, point, how):
    """Stopped at each step; the retry finds what is stored, or draws for the first time. No tick has two debits."""
    place = Place(tmp_path)
    draws = []
    real = Lpa.release

    def counted(self, counts: Counts):
        draws.append(counts.tick.index)
        return real(self, counts)

    def stop(name):
        if name == point:
            faults.install(None)
            raise Crash if how == "crash" else StoreUnavailable("away")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lpa, "release", counted)
        faults.install(stop)
        try:
            with pytest.raises((Crash, StoreUnavailable)):
                place.send(key="one")
        finally:
            faults.install(None)
        if how == "crash":
            place.desk.close()
            place.open()
        place.now += TICK
        answers = [place.send(key="one") for _ in range(3)]
    ticks = {answer.release.tick.index for answer in answers}
    assert ticks == {49}
    assert len({answer.release.values.tobytes() for answer in answers}) == 1
    assert len(draws) <= 1
    if point == "debit:begin":
        assert not answers[0].again, "nothing was drawn before, so it is drawn now"
    elif point in ("debit:committed", "draw:done", "settle:release"):
        assert answers[0].release.is_predicted, "it was lost: a prediction stands for it"
    else:
        assert answers[0].again
        assert not answers[0].release.is_predicted
    place.desk.close()
    place.store.close()


def test_a_tick_that_a_forgotten_past_may_hold_is_booked_not_drawn(tmp_path):
    """The store without its mark: what ended before may have been released before."""
    place = Place(tmp_path, begins=datetime.now(UTC) - 50 * TICK)
    place.send(tick=45)
    place.desk.close()
    place.store.close()
    for mark in (tmp_path / "marks").iterdir():
        mark.unlink()
    place.store = None
    place.open()
    found = place.send(tick=47)
    assert found.release.is_predicted
    place.desk.close()
    place.store.close()


def test_a_desk_turns_and_stops(place, monkeypatch):
    import threading

    monkeypatch.setattr("hubbub.monitor.counts_desk._BEAT_SECONDS", 0.01)
    before = place.desk.beat
    thread = threading.Thread(target=place.desk.run)
    thread.start()
    for _ in range(1000):
        if place.desk.beat > before:
            break
        thread.join(0.01)
    assert place.desk.beat > before
    assert place.desk.trouble == ""
    assert place.desk.status()["ticks_lost"] == 0
    place.desk.stop.set()
    thread.join(30)
    assert not thread.is_alive()
