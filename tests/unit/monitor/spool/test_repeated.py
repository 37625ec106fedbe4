"""A batch that is sent again is answered again and kept once; nobody else's key has to do with it."""

import threading
import time
from datetime import timedelta

import pytest
from tests.support.spools import body, on_disk, opened, paths

from hubbub.monitor.spool import keys as known
from hubbub.server.errors import KeyReused


def test_the_same_answer_again_also_after_a_restart(tmp_path):
    batch = body("/a", "/b") + b"\nnoise"
    with opened(tmp_path) as spool:
        first = spool.push("s", batch, "one", "token 1")
        again = spool.push("s", batch, "one", "token 1")
        assert (first.accepted, first.malformed, first.duplicate) == (2, 1, False)
        assert (again.accepted, again.malformed, again.duplicate) == (2, 1, True)
    with opened(tmp_path) as spool:
        again = spool.push("s", batch, "one", "token 1")
        assert (again.accepted, again.malformed, again.duplicate) == (2, 1, True)
        assert paths(spool) == ["/a", "/b"]


def test_a_strangers_key_swallows_nothing(tmp_path):
    with opened(tmp_path) as spool:
        assert not spool.push("s", body("/stranger"), "batch-17", "token 1").duplicate
        assert not spool.push("s", body("/mine"), "batch-17", "token 2").duplicate
        assert not spool.push("s", body("/nobody's"), "batch-17").duplicate
        assert not spool.push("s", body("/joined"), "2batch-17", "token ").duplicate
        assert paths(spool) == ["/stranger", "/mine", "/nobody's", "/joined"]


def test_another_body_under_the_same_key_is_refused_and_nothing_is_told(tmp_path):
    with opened(tmp_path) as spool:
        spool.push("s", body("/secret"), "one", "token 1")
        for repeated in (body("/other"), body("/secret") + b"\n", b"x" * 100_000):
            with pytest.raises(KeyReused, match="another batch") as refused:
                spool.push("s", repeated, "one", "token 1")
            assert "secret" not in str(refused.value)
        assert paths(spool) == ["/secret"]


def test_the_same_batch_twice_at_the_same_time(tmp_path):
    with opened(tmp_path) as spool:
        gate, receipts, refused = threading.Barrier(12), [], []

        def send(n):
            gate.wait()
            try:
                receipts.append(spool.push("s", body("/other" if n == 0 else "/a"), "one"))
            except KeyReused:
                refused.append(n)

        senders = [threading.Thread(target=send, args=(n,)) for n in range(12)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        assert sum(not receipt.duplicate for receipt in receipts) == 1
        assert {receipt.accepted for receipt in receipts} == {1}
        assert len(refused) in (1, 11), "whoever came second with another body"
        assert len(paths(spool)) == 1


def test_keys_outlive_their_events(tmp_path):
    """Deleted with their segment, over several settlings and a restart; their events are not on disk any more."""
    with opened(tmp_path, segment_bytes=300) as spool:
        for n in range(5):
            spool.push("s", body(f"/planted/{n}"), f"key {n}")
        spool.settle(spool.frontier())
        assert b"planted" not in on_disk(tmp_path)
        assert spool.push("s", body("/planted/1"), "key 1").duplicate
        spool.push("s", body("/planted/5"), "key 5")
        place = spool.frontier()
        paths(spool)
    with opened(tmp_path, segment_bytes=300) as spool:
        assert spool.open(place)
        for n in range(6):
            assert spool.push("s", body(f"/planted/{n}"), f"key {n}").duplicate, n
        assert paths(spool) == []
        assert b"planted" not in on_disk(tmp_path)
        assert b"key " not in on_disk(tmp_path)


def test_settling_again_and_again_writes_keys_once(tmp_path):
    with opened(tmp_path) as spool:
        spool.push("s", body("/a"), "one")
        spool.settle(spool.frontier())
        names = sorted(path.name for path in tmp_path.iterdir())
        for _ in range(3):
            spool.settle(spool.frontier())
            assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_a_key_is_forgotten_when_its_events_cannot_count_any_more(tmp_path):
    with opened(tmp_path, repeatable=timedelta(0)) as spool:
        spool.push("s", body("/a"), "one")
        assert not spool.push("s", body("/b"), "one").duplicate
        spool.settle(spool.frontier())
        assert spool._keys.of([1]) == []


def test_time_in_which_nobody_could_send_is_no_time(tmp_path, monkeypatch):
    """A monitor that was down for a day closes the ticks of that day when it is back: a retry must still be known."""
    with opened(tmp_path) as spool:
        spool.push("s", body("/a"), "one")
    day = 86_400
    wall = time.time
    monkeypatch.setattr(time, "time", lambda: wall() + day)
    monkeypatch.setattr(time, "time_ns", lambda: int((wall() + day) * 1e9))
    with opened(tmp_path) as spool:
        assert spool.push("s", body("/a"), "one").duplicate


def test_a_restart_reads_only_keys_that_still_matter(tmp_path, monkeypatch):
    wall = time.time_ns
    with opened(tmp_path) as spool:
        for n, ago in enumerate((3600, 600, 200, 0)):
            monkeypatch.setattr(time, "time_ns", lambda ago=ago: wall() - ago * 10**9)
            spool.push("s", body(f"/{n}"), f"key {n}")
    with opened(tmp_path, repeatable=timedelta(minutes=5)) as spool:
        assert [spool.push("s", body(f"/{n}"), f"key {n}").duplicate for n in range(4)] == [False, False, True, True]


def test_a_digest_cannot_be_tried_out_without_the_key():
    name, secret = known.name_of("00" * 16, "token", "one")
    assert known.digest_of(b"body", secret) != known.digest_of(b"body", known.name_of("00" * 16, "token", "two")[1])
    assert name not in (secret[:16], secret[16:])
