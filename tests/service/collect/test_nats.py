"""A real NATS server, started by the test: it is killed, hangs, comes back, forgets, is made anew."""

from __future__ import annotations

import json
import shutil
import threading
import time
from types import SimpleNamespace

import pytest
from tests.support.source_contract import Bench, check_at_once, check_by_chance, event, frontier, read

from hubbub.collect.sources import NatsSource
from hubbub.collect.sources.jetstream import Away, Refused
from hubbub.errors import InvalidInput, SourceUnavailable


class NatsBench(Bench):
    def __init__(self, server):
        self.server = server
        server.publish()

    def publish(self, people):
        self.server.publish(*((event(person), None) for person in people))

    def source(self):
        return opened_later(self.server)

    def away(self):
        self.server.stop()

    def back(self):
        self.server.start()


class FilteredBench(NatsBench):
    """Strangers' messages lie between ours, in front of a cut and behind it."""

    def publish(self, people):
        for person in people:
            self.server.publish((event("stranger"), None), subject="visits.other")
            self.server.publish((event(person), None))
            self.server.publish((event("stranger"), None), subject="visits.other")

    def source(self):
        return opened_later(self.server, subject="visits.site")


def opened_later(server, **settings):
    return NatsSource("visits", servers=[server.url], **settings)


def opened(server, positions=None, **settings):
    source = opened_later(server, **settings)
    source.open(positions or {})
    return source


def people(server, *names, subject="visits.site", **limits):
    server.publish(*((event(name), None) for name in names), subject=subject, **limits)


def polled(source, until, seconds=60):
    """Batches until one is reached; whether any said that something was lost."""
    found, lost, end = [], False, time.monotonic() + seconds
    while time.monotonic() < end:
        batch = source.poll(until)
        found += batch.events["person"].to_list()
        lost |= batch.lost
        if batch.reached:
            return found, lost
    raise AssertionError(source.trouble)


@pytest.mark.parametrize("seed", range(4))
def test_by_chance(nats_server, seed):
    check_by_chance(NatsBench(nats_server), seed)


def test_by_chance_with_a_subject(nats_server):
    check_by_chance(FilteredBench(nats_server), 1, steps=25)


def test_at_once(nats_server):
    check_at_once(NatsBench(nats_server))


def test_nothing_behind_a_cut_is_handed_over_before_it_is_asked_for(nats_server):
    people(nats_server, "a", "b")
    with opened(nats_server) as source:
        cut = frontier(source)
        people(nats_server, "late")
        assert read(source, cut)[0] == ["a", "b"]
        assert source.poll(cut).reached
        assert read(source, frontier(source))[0] == ["late"]


def test_nothing_is_lost_or_doubled_while_publishers_go_on_and_the_server_is_killed_again_and_again(nats_server):
    nats_server.publish()
    names = [f"p{number}" for number in range(400)]
    over = threading.Event()

    def publisher():
        for start in range(0, len(names), 5):
            while True:
                try:
                    # With an id a repetition is stored once, so that a lost acknowledgement doubles nothing.
                    nats_server.publish(*((event(name), name) for name in names[start : start + 5]))
                    break
                except Exception:  # the server is away: a publisher tries again
                    time.sleep(0.02)
        over.set()

    sender = threading.Thread(target=publisher)
    with opened(nats_server) as source:
        sender.start()
        found, away = [], 0
        while not over.is_set() or away < 4:
            until = source.frontier()
            if until is not None:
                found += source.poll(until).events["person"].to_list()
            if away < 4 and len(found) >= (away + 1) * 60:
                nats_server.stop()
                assert source.frontier() is None
                assert source.trouble == "The NATS server does not answer."
                assert not source.poll({**source.poll({"nats": "0"}).positions, "nats": "100000"}).reached
                nats_server.start()
                away += 1
        sender.join()
        found += read(source, frontier(source))[0]
        assert source.trouble == ""
    assert found == names


def test_a_server_that_hangs_holds_up_nothing_for_long(nats_server):
    people(nats_server, "a", "b")
    with opened(nats_server, deadline=0.3, connect_timeout=60) as source:
        cut = frontier(source)
        nats_server.hang()
        try:
            assert source.frontier() is None
            away = source.poll(cut)
            assert (away.reached, away.events.height) == (False, 0)
            assert source.trouble == "The NATS server does not answer."
        finally:
            nats_server.wake()
        assert read(source, cut)[0] == ["a", "b"]
        nats_server.hang()
    nats_server.wake()  # `close` came back although the server did not answer


def test_a_consumer_that_is_gone_is_made_again_behind_the_last_message(nats_server):
    people(nats_server, "a", "b")
    with opened(nats_server) as source:
        assert read(source, frontier(source))[0] == ["a", "b"]

        async def remove(jetstream):
            for found in await jetstream.consumers_info("visits"):
                await jetstream.delete_consumer("visits", found.name)

        nats_server.ask(remove)
        people(nats_server, "c")
        assert read(source, frontier(source))[0] == ["c"]


def test_a_hole_in_what_the_consumer_delivers_is_noticed(nats_server):
    people(nats_server, *"abcd")
    with opened(nats_server) as source:
        source._broker.pull(2, 1000)
        source._broker._delivered = 0  # as if a broken connection had swallowed the two
        assert read(source, frontier(source))[0] == list("abcd")


def test_a_subject_is_read_to_a_cut_that_lies_behind_its_last_message(nats_server):
    people(nats_server, "a", "b", subject="visits.mine")
    people(nats_server, "x", "y", subject="visits.other")
    with opened(nats_server, subject="visits.mine") as source:
        cut = frontier(source)
        assert cut["nats"] == "4"
        people(nats_server, "late", subject="visits.mine")  # fetched with the others, and held back
        found, place = read(source, cut)
        assert (found, place["nats"]) == (["a", "b"], "4")
        people(nats_server, "z", subject="visits.other")
        people(nats_server, "c", subject="visits.mine")
        assert read(source, frontier(source))[0] == ["late", "c"]
        assert source.identity.endswith(":visits.mine")
    with opened_later(nats_server, subject="visits.mine") as source:
        assert source.open(place)
        assert read(source, frontier(source))[0] == ["late", "c"]


def test_messages_that_are_larger_than_a_batch_come_one_by_one(nats_server, monkeypatch):
    monkeypatch.setattr("hubbub.collect.sources.nats_source._BYTES", 100)
    people(nats_server, "a" * 200, "b" * 200)
    with opened(nats_server) as source:
        assert read(source, frontier(source))[0] == ["a" * 200, "b" * 200]


def test_the_same_id_again_is_stored_once_by_jetstream_and_counts_the_same_after_a_restart(nats_server):
    nats_server.publish((event("a"), "1"), (event("b"), "2"), (event("a"), "1"), (b"{broken", None))
    with opened(nats_server) as source:
        cut = frontier(source)
        assert read(source, cut)[0] == ["a", "b"]
        place = source.poll(cut).positions

    async def forget(jetstream):
        config = (await jetstream.stream_info("visits")).config
        config.duplicate_window = 0.1
        await jetstream.update_stream(config)

    nats_server.ask(forget)  # the window is over: JetStream stores the id again, and so it counts for every reader
    end = time.monotonic() + 30
    while frontier_of(nats_server) == place["nats"]:
        nats_server.ask(lambda jetstream: jetstream.publish("visits.site", event("c"), headers={"Nats-Msg-Id": "2"}))
        assert time.monotonic() < end
    for start in ({}, place):
        with opened_later(nats_server) as source:
            source.open(start)
            assert "c" in read(source, frontier(source))[0]


def frontier_of(server):
    with opened(server) as source:
        return frontier(source)["nats"]


# ── proofs ───────────────────────────────────────────────────────────────────────────────────────────────────────


def kept(server):
    """A place in the middle: two of four messages read."""
    people(server, "a", "b")
    with opened(server) as source:
        place = read(source, frontier(source))[1]
        name = source.identity
    people(server, "c", "d")
    return place, name


def proved(server, place):
    with opened_later(server) as source:
        return source.open(place), source.identity


def test_a_place_is_proved_after_the_server_was_killed(nats_server):
    place, name = kept(nats_server)
    nats_server.stop()
    nats_server.start()
    nats_server.publish()  # waits until JetStream is ready
    assert proved(nats_server, place) == (True, name)
    assert proved(nats_server, {}) == (False, name)
    assert proved(nats_server, {"spool": "1"}) == (False, name)


def test_what_was_purged_or_thinned_out_is_not_proved(nats_server):
    place, _ = kept(nats_server)
    nats_server.ask(lambda jetstream: jetstream.purge_stream("visits", seq=3))
    assert proved(nats_server, place)[0]  # all that came after it is there
    nats_server.ask(lambda jetstream: jetstream.delete_msg("visits", 4))
    people(nats_server, "e")
    assert not proved(nats_server, place)[0]  # taken out of the middle
    nats_server.ask(lambda jetstream: jetstream.purge_stream("visits", seq=5))
    with opened_later(nats_server) as source:
        assert not source.open(place)
        assert read(source, frontier(source))[0] == ["e"]


def test_a_stream_that_was_made_anew_is_another(nats_server):
    place, name = kept(nats_server)
    nats_server.ask(lambda jetstream: jetstream.delete_stream("visits"))
    people(nats_server, *"wxyz")
    with opened_later(nats_server) as source:
        assert not source.open(place)
        assert source.identity != name
        assert read(source, frontier(source))[0] == list("wxyz")


def test_a_store_that_was_set_back_and_grew_again_is_noticed(nats_server, tmp_path):
    people(nats_server, "a")
    nats_server.stop()
    shutil.copytree(nats_server.folder, tmp_path / "backup")
    nats_server.start()
    people(nats_server, "b", "c")
    with opened(nats_server) as source:
        place, name = read(source, frontier(source))[1], source.identity
        nats_server.stop()
        shutil.rmtree(nats_server.folder)
        shutil.copytree(tmp_path / "backup", nats_server.folder)
        nats_server.start()
        nats_server.publish()
        assert proved(nats_server, place) == (False, name)  # shorter
        people(nats_server, "x", "y", "z")
        assert proved(nats_server, place) == (False, name)  # as long as before, but another message stands there
        with pytest.raises(InvalidInput, match="made anew or set back"):
            polled(source, {**place, "nats": "4"})  # so does a reader that was there all the time


def test_a_stream_that_is_made_anew_under_a_reader_stops_it(nats_server):
    people(nats_server, "a", "b")
    with opened(nats_server) as source:
        cut = frontier(source)
        read(source, cut)
        nats_server.ask(lambda jetstream: jetstream.delete_stream("visits"))
        assert source.frontier() is None
        assert source.trouble == "The NATS stream is not there."
        people(nats_server, *"vwxyz")
        assert source.frontier() is None
        assert source.trouble == "The NATS stream is not the one that was read."
        with pytest.raises(InvalidInput, match="made anew or set back"):
            source.poll(cut)


@pytest.mark.parametrize("subject", [None, "visits.>"])
def test_what_was_purged_before_it_was_read_is_told(nats_server, subject):
    people(nats_server, *"abcdef")
    with opened(nats_server, subject=subject) as source:
        early = frontier(source)
        nats_server.ask(lambda jetstream: jetstream.purge_stream("visits", seq=5))
        late = frontier(source)
        assert polled(source, {**early, "nats": "2"}) == ([], True)
        assert polled(source, late) == (["e", "f"], True)
        assert polled(source, late) == ([], False)


def test_a_single_message_that_was_taken_out_unread_is_told(nats_server):
    people(nats_server, *"abcd")
    with opened(nats_server) as source:
        cut = frontier(source)
        nats_server.ask(lambda jetstream: jetstream.delete_msg("visits", 4))
        nats_server.ask(lambda jetstream: jetstream.delete_msg("visits", 2))
        assert polled(source, cut) == (["a", "c"], True)


# ── refusals ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_no_server_and_no_stream_are_clear_errors_without_passwords(nats_server):
    with NatsSource("nothing", servers=[nats_server.url]) as source, pytest.raises(InvalidInput, match="'nothing'"):
        source.open({})
    nats_server.stop()
    hidden = nats_server.url.replace("nats://", "nats://me:secret@")
    with (
        NatsSource("visits", servers=[hidden], connect_timeout=0.5) as source,
        pytest.raises(SourceUnavailable, match="No NATS server answers") as caught,
    ):
        source.open({})
    assert "secret" not in str(caught.value)


def test_a_stream_that_throws_messages_away_is_refused(nats_server):
    nats_server.publish(retention="interest")
    with opened_later(nats_server) as source, pytest.raises(InvalidInput, match="throws messages away"):
        source.open({})


def test_a_filter_that_the_stream_cannot_have_is_refused(nats_server):
    nats_server.publish()
    with opened_later(nats_server, subject="elsewhere.>") as source:
        source.open({})
        assert polled(source, frontier(source)) == ([], False)
    with opened_later(nats_server, subject="not a subject") as source, pytest.raises(InvalidInput, match="be read"):
        source.open({})


def test_a_source_that_was_closed_answers_nothing(nats_server):
    nats_server.publish()
    source = opened(nats_server)
    source.close()
    source.close()
    assert source.frontier() is None


class Saying:
    """A server's answer that a test cannot bring about, such as that of a cluster without a leader."""

    is_connected = True

    def __init__(self, code):
        self.code = code

    async def request(self, subject, payload, timeout):  # noqa: ARG002
        return SimpleNamespace(data=json.dumps({"error": {"code": self.code, "err_code": 1}}))

    async def close(self): ...


@pytest.mark.parametrize(
    ("code", "words"), [(503, "The NATS server is not ready."), (403, "The NATS server refuses to be read.")]
)
def test_a_server_that_says_no_is_trouble(code, words):
    with NatsSource("visits") as source:
        source._broker._client = Saying(code)
        assert source.frontier() is None
        assert source.trouble == words
        with pytest.raises(Refused if code == 403 else Away):
            source._broker.stamp(1)
        with pytest.raises(Away, match="was lost"):
            source._broker.pull(1, 1)


def test_a_server_that_starts_after_the_reader_is_waited_for(nats_server):
    people(nats_server, "a")
    nats_server.stop()
    late = threading.Timer(0.3, nats_server.start)
    late.start()
    with opened(nats_server, connect_timeout=60) as source:
        assert read(source, frontier(source))[0] == ["a"]
    late.join()
