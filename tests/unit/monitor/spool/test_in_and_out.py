"""What was acknowledged is read, once, in its order, and never beyond the place that was asked for."""

import os
import subprocess
import sys
import threading
from datetime import timedelta

import pytest
from tests.support.spools import body, on_disk, opened, paths

from hubbub.errors import InvalidInput, Overloaded, SchemaMismatch, SpoolDamaged, StoreUnavailable
from hubbub.monitor.spool import Spool


def test_what_goes_in_comes_out_once_and_in_order(tmp_path):
    with opened(tmp_path / "spool") as spool:
        assert spool.push("s", body("/a", "/b"), "one").accepted == 2
        assert spool.push("s", body("/c") + b"\nnoise").malformed == 1
        assert paths(spool) == ["/a", "/b", "/c"]
        assert paths(spool) == []


def test_nothing_behind_the_frontier_is_handed_over(tmp_path):
    with opened(tmp_path) as spool:
        empty = spool.frontier()
        spool.push("s", body("/a"))
        first = spool.frontier()
        spool.push("s", body("/b"))
        batch = spool.poll(empty)
        assert (batch.events.height, batch.reached) == (0, True)
        batch = spool.poll(first)
        assert (batch.events["path"].to_list(), batch.reached) == (["/a"], True)
        assert batch.positions == first
        batch = spool.poll(first)
        assert (batch.events.height, batch.reached, batch.positions) == (0, True, first)
        assert paths(spool) == ["/b"]


def test_the_same_cuts_divide_the_same_records_after_a_restart(tmp_path):
    cuts = []
    with opened(tmp_path, segment_bytes=200) as spool:
        start = spool.frontier()
        for n in range(20):
            spool.push("s", body(f"/{n}"))
            if n % 3 == 0:
                cuts.append((n, spool.frontier()))
    with opened(tmp_path, segment_bytes=200) as spool:
        assert spool.open(start)
        before = -1
        for n, cut in cuts:
            found = []
            while not (batch := spool.poll(cut)).reached:
                found += batch.events["path"].to_list()
            found += batch.events["path"].to_list()
            assert found == [f"/{k}" for k in range(before + 1, n + 1)]
            before = n


def test_one_poll_takes_many_records_and_has_a_limit(tmp_path, monkeypatch):
    with opened(tmp_path, segment_bytes=5_000) as spool:
        for n in range(50):
            spool.push("s", body(f"/{n}"))
        batch = spool.poll(spool.frontier())
        assert (batch.events.height, batch.reached) == (50, True)
        monkeypatch.setattr("hubbub.monitor.spool.reading.POLL_LINES", 7)
        for reading in ("from memory", "from the disk"):
            for n in range(20):
                spool.push("s", body(f"/{reading}/{n}"))
            if reading == "from the disk":
                spool._parsed._kept.clear()
            batch = spool.poll(spool.frontier())
            assert 7 <= batch.events.height < 20, reading
            assert not batch.reached
            assert batch.events["path"].to_list() + paths(spool) == [f"/{reading}/{n}" for n in range(20)]


def test_a_batch_is_parsed_once(tmp_path):
    """Not again by `poll`: lines that cannot be read cost most."""
    with opened(tmp_path) as spool:
        seen = []
        parse = spool._lines.parse
        spool._lines.parse = lambda lines: seen.append(lines) or parse(lines)
        spool.push("s", body("/a") + b"\nnoise")
        spool.push("s", b"\n".join([b"noise"] * 20_000))
        batch = spool.poll(spool.frontier())
        assert (batch.events.height, batch.malformed) == (1, 20_001)
        assert [len(lines) for lines in seen if lines] == [len(body("/a")) + 6, 119_999]


def test_what_does_not_fit_into_memory_is_read_from_the_disk(tmp_path, monkeypatch):
    with opened(tmp_path, segment_bytes=400) as spool:
        spool._parsed._most = 30_000
        for n in range(12):
            spool.push("s", body(f"/{n}"))
        assert 0 < len(spool._parsed._kept) < 12
        assert paths(spool) == [f"/{n}" for n in range(12)]
        assert not spool._parsed._kept
        assert spool._parsed._bytes == 0


def test_reading_goes_on_where_counting_had_got_to(tmp_path):
    with opened(tmp_path) as spool:
        spool.push("s", body("/a"))
        place = spool.poll(spool.frontier()).positions
        spool.push("s", body("/b"))
    with opened(tmp_path) as spool:
        assert spool.open(place)
        assert paths(spool) == ["/b"]
        assert not spool.open({}), "empty positions prove nothing"
        assert paths(spool) == ["/a", "/b"]


def test_waiting_ends_when_something_comes(tmp_path):
    with opened(tmp_path) as spool:
        spool.wait(0.0)
        sender = threading.Thread(target=spool.push, args=("s", body("/a")))
        waiter = threading.Thread(target=spool.wait, args=(600.0,))
        waiter.start()
        sender.start()
        waiter.join(60)
        sender.join(60)
        assert not waiter.is_alive()
        spool.push("s", body("/b"))
        spool.wait(600.0)  # it came since the last time
        spool.wait(0.0)


def test_only_this_user_can_read_it(tmp_path):
    folder = tmp_path / "deep" / "spool"
    with opened(folder) as spool:
        spool.push("s", body("/a"))
        for path in folder.iterdir():
            assert path.stat().st_mode & 0o077 == 0, path.name
        assert folder.stat().st_mode & 0o077 == 0
    folder.chmod(0o755)
    with opened(folder):
        assert folder.stat().st_mode & 0o077 == 0, "a folder that others could read is closed to them"


def test_a_full_spool_says_when_to_come_back(tmp_path):
    with opened(tmp_path, max_bytes=400) as spool:
        spool.push("s", body("/a"))
        with pytest.raises(Overloaded, match="no room"):
            spool.push("s", body(*"abcdefgh"))
        assert "full" in spool.trouble
        spool.push("s", body("/b"))
        assert spool.trouble == ""
        assert paths(spool) == ["/a", "/b"]


def test_a_key_has_a_length_and_a_closed_spool_takes_nothing(tmp_path):
    spool = Spool(tmp_path)
    with pytest.raises(InvalidInput, match="200"):
        spool.push("s", body("/a"), "x" * 201)
    spool.close()
    spool.close()
    spool.settle(spool.frontier())
    with pytest.raises(Overloaded, match="stopping"):
        spool.push("s", body("/a"))


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="cannot be kept"):
        Spool(tmp_path / "file" / "spool")


def test_a_folder_of_an_older_version_is_refused_and_left_alone(tmp_path):
    old = tmp_path / "000000000001.spool"
    old.write_bytes(b'{"key": null, "bytes": 2}\n{}\n')
    with pytest.raises(SchemaMismatch, match="older version"):
        Spool(tmp_path)
    assert old.exists()


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from hubbub.errors import StoreUnavailable
from hubbub.monitor.spool import Spool
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
spool = Spool(Path(sys.argv[1]))
small = b'{"time": 0, "session": "s", "key": "/a"}'
spool.push("s", small)
resource.setrlimit(resource.RLIMIT_FSIZE, (600, resource.RLIM_INFINITY))
try:
    spool.push("s", small + b"\\n" + b" " * 1000)
except StoreUnavailable as error:
    print("refused:", "nothing of this batch was taken" in str(error), bool(spool.trouble))
spool.push("s", small.replace(b"/a", b"/b"))
print(repr(spool.trouble))
"""


def test_a_full_disk_acknowledges_nothing_and_leaves_nothing_half(tmp_path):
    done = subprocess.run([sys.executable, "-c", FULL_DISK, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout == "refused: True True\n''\n"
    with opened(tmp_path) as spool:
        assert paths(spool) == ["/a", "/b"]


def test_many_senders_at_once_share_flushes(tmp_path, monkeypatch):
    from hubbub.monitor.spool import calls

    flushes = []
    sync = calls.sync
    monkeypatch.setattr(calls, "sync", lambda number: (flushes.append(number), sync(number))[1])
    with opened(tmp_path, segment_bytes=8_000) as spool:

        def send(n):
            for i in range(20):
                assert spool.push("s", body(f"/{n}/{i}"), f"{n}-{i}").accepted == 1

        senders = [threading.Thread(target=send, args=(n,)) for n in range(16)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        found = paths(spool)
        assert sorted(found) == sorted(f"/{n}/{i}" for n in range(16) for i in range(20))
        for n in range(16):  # each sender's own in its order
            assert [path for path in found if path.startswith(f"/{n}/")] == [f"/{n}/{i}" for i in range(20)]
    assert len(flushes) < 320, "one flush a batch at the most, even with those of new segments"


@pytest.mark.parametrize(
    "line",
    [
        b"null", b"[]", b"7", b'"x"', b"{}", b"\xff\xfe", b'{"time": "noon", "session": "a", "key": "/"}',
        b'{"time": 1e400, "session": "a", "key": "/"}', b'{"time": 0, "session": "a"}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_garbled_lines_are_counted_and_left_out(tmp_path, line):
    good = b'{"time": "2026-01-01T01:00:00+01:00", "person": 7, "path": "/good", "agent": "x"}'
    with opened(tmp_path) as spool:
        receipt = spool.push("s", line + b"\n\n" + good)
        assert (receipt.accepted, receipt.malformed) == (1, 1)
        assert paths(spool) == ["/good"]


def test_half_a_character_does_not_stop_the_batch(tmp_path):
    with opened(tmp_path) as spool:
        receipt = spool.push("s", body("/a") + b'\n{"time": 0, "session": "a", "key": "/\\ud800"}\n' + body("/b"))
        found = paths(spool)
        assert receipt.accepted + receipt.malformed == 3
        assert len(found) == receipt.accepted
        assert (found[0], found[-1]) == ("/a", "/b")


def test_a_parser_that_fails_refuses_its_own_batch_alone(tmp_path):
    with opened(tmp_path) as spool:
        parse = spool._lines.parse

        def picky(lines):
            if b"poison" in lines:
                raise RuntimeError("a fault in a library")
            return parse(lines)

        spool._lines.parse = picky
        outcomes = {}
        gate = threading.Barrier(6)

        def send(name):
            gate.wait()
            try:
                outcomes[name] = spool.push("s", body(name)).accepted
            except InvalidInput as error:
                outcomes[name] = error.message

        senders = [threading.Thread(target=send, args=(name,)) for name in ("/1", "/2", "/poison", "/3", "/4", "/5")]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        refused = outcomes.pop("/poison")
        assert "cannot be read" in refused
        assert "poison" not in refused
        assert set(outcomes.values()) == {1}
        assert sorted(paths(spool)) == ["/1", "/2", "/3", "/4", "/5"]


def test_one_process_a_folder(tmp_path):
    held = tmp_path / "spool"
    script = (
        "import sys, time; from pathlib import Path; from hubbub.monitor.spool import Spool\n"
        "Spool(Path(sys.argv[1])); print('open', flush=True); time.sleep(600)"
    )
    other = subprocess.Popen([sys.executable, "-c", script, held], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(StoreUnavailable, match=r"Another process uses the spool in .*Stop it"):
            Spool(held)
    finally:
        other.kill()  # SIGKILL: no chance to tidy up
        other.communicate()
    with opened(held) as spool:
        spool.push("s", body("/a"))
        with pytest.raises(StoreUnavailable, match="Another process"):
            Spool(held)


def test_nobody_is_left_with_an_open_file(tmp_path):
    def count():
        return len(os.listdir("/proc/self/fd"))

    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("without /proc nobody can tell which files are open")
    before = count()
    with opened(tmp_path / "a", segment_bytes=100) as spool:
        for n in range(5):
            spool.push("s", body(f"/{n}"))
        paths(spool)
        spool.settle(spool.frontier())
        assert count() == before + 3, "the folder, its lock, one segment"
    assert count() == before
    (tmp_path / "a" / "manifest").write_text("what is this?")
    with pytest.raises(SpoolDamaged):
        Spool(tmp_path / "a")
    assert count() == before


def test_places_of_others_are_refused(tmp_path):
    with opened(tmp_path / "a") as spool, opened(tmp_path / "b") as other:
        spool.push("s", body("/a"))
        assert spool.identity != other.identity
        assert not other.open(spool.frontier())
        assert not other.open({"kafka": "7"})
        with pytest.raises(InvalidInput, match="another spool"):
            other.poll(spool.frontier())
        with pytest.raises(InvalidInput, match="no position"):
            other.poll({"spool": "1:0"})
        other.settle(spool.frontier())  # nothing of ours
        assert paths(other) == []


def test_raw_events_are_not_printed(tmp_path):
    from hubbub.monitor.spool.frame import Frame
    from hubbub.monitor.spool.group import Waiting
    from hubbub.monitor.spool.parsed import Parsed
    from hubbub.monitor.spool.place import Place

    place = Place(1, 2, b"")
    for holder in (Waiting(b"secret"), Frame(0, 1, b"", b"secret"), Parsed(place, place, b"secret", 0, 0)):  # type: ignore[arg-type]
        assert "secret" not in repr(holder)


def test_too_many_young_keys_are_refused_and_none_is_forgotten(tmp_path):
    with opened(tmp_path, most_keys=2) as spool:
        spool.push("s", body("/a"), "one")
        spool.push("s", body("/b"), "two")
        with pytest.raises(Overloaded, match="idempotency key"):
            spool.push("s", body("/c"), "three")
        spool.push("s", body("/d"))
        assert spool.push("s", body("/a"), "one").duplicate
    with opened(tmp_path, most_keys=2, repeatable=timedelta(0)) as spool:
        spool.push("s", body("/c"), "three")
        spool.push("s", body("/e"), "four")
        assert paths(spool) == ["/a", "/b", "/d", "/c", "/e"]


def test_deleted_files_are_noticed_while_running(tmp_path):
    with opened(tmp_path) as spool:
        spool.push("s", body("/a"))
        for path in tmp_path.iterdir():
            path.unlink()
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="nothing of this batch was taken"):
                spool.push("s", body("/b"))
        assert spool.frontier() is None, "no tick closes on what is known to be incomplete"
        assert "deleted" in spool.trouble
    assert on_disk(tmp_path) == b""
