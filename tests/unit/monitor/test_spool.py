"""What was acknowledged is read, once, whatever happens in between."""

import json
import subprocess
import sys
import threading
from datetime import UTC, datetime

import pytest

from hubbub.errors import InvalidInput, Overloaded, StoreUnavailable
from hubbub.monitor.spool import Spool


def clock():
    return datetime(2026, 1, 1, tzinfo=UTC)


def body(*paths):
    return "\n".join(json.dumps({"time": 0, "session": "s", "key": path}) for path in paths).encode()


def paths(spool):
    found = []
    while (batch := spool.poll(0.0)).events.height:
        found += batch.events["path"].to_list()
    return found


def test_what_goes_in_comes_out_once_and_in_order(tmp_path):
    spool = Spool(tmp_path / "spool", clock)
    assert spool.push("s", body("/a", "/b"), "one").accepted == 2
    assert spool.push("s", body("/c") + b"\nnoise", None).malformed == 1
    assert paths(spool) == ["/a", "/b", "/c"]
    assert paths(spool) == []


def test_the_promise_of_completeness_is_given_only_when_all_is_read(tmp_path):
    spool = Spool(tmp_path, clock)
    spool.push("s", body("/a"), None)
    spool.push("s", body("/b"), None)
    assert spool.poll(0.0).complete is None
    assert spool.poll(0.0).complete == clock()
    assert spool.poll(0.0).complete == clock()


def test_a_duplicate_is_acknowledged_and_not_kept_also_after_a_restart(tmp_path):
    spool = Spool(tmp_path, clock)
    spool.push("s", body("/a"), "one")
    assert spool.push("s", body("/a"), "one").duplicate
    spool.close()
    spool = Spool(tmp_path, clock)
    assert spool.push("s", body("/a"), "one").duplicate
    assert paths(spool) == ["/a"]


def test_reading_goes_on_where_counting_had_got_to(tmp_path):
    spool = Spool(tmp_path, clock)
    spool.push("s", body("/a"), None)
    place = spool.poll(0.0).positions
    spool.push("s", body("/b"), None)
    spool.close()
    spool = Spool(tmp_path, clock)
    assert spool.open(place)
    assert paths(spool) == ["/b"]
    assert spool.open({})
    assert paths(spool) == ["/a", "/b"]


def test_half_a_record_is_cut_off(tmp_path):
    spool = Spool(tmp_path, clock)
    spool.push("s", body("/a"), "one")
    spool.close()
    (file,) = tmp_path.glob("*.spool")
    whole = file.read_bytes()
    for torn in (b'{"key": nul', b'{"key": null, "bytes": 900}\n{"time"', b"[]\nxx"):
        file.write_bytes(whole + torn)
        spool = Spool(tmp_path, clock)
        assert file.read_bytes() == whole
        spool.push("s", body("/b"), None)
        assert paths(spool) == ["/a", "/b"]
        spool.close()


def test_segments_are_deleted_when_their_ticks_are_settled(tmp_path):
    spool = Spool(tmp_path, clock, segment_bytes=1)
    for path in "abc":
        spool.push("s", body(path), path)
    spool.poll(0.0)
    place = spool.poll(0.0).positions
    spool.settle({})
    assert len(list(tmp_path.glob("*.spool"))) == 3
    spool.settle(place)
    assert len(list(tmp_path.glob("*.spool"))) == 1
    assert paths(spool) == ["c"]
    spool.close()
    spool = Spool(tmp_path, clock, segment_bytes=1)
    assert not spool.open({"spool": "1:0"})
    assert paths(spool) == ["c"]


def test_reading_turns_the_page_when_a_new_segment_begins(tmp_path):
    spool = Spool(tmp_path, clock, segment_bytes=1)
    for path in "abc":
        spool.push("s", body(path), None)
        assert paths(spool) == [path]


def test_only_this_user_can_read_it(tmp_path):
    spool = Spool(tmp_path / "spool", clock)
    spool.push("s", body("/a"), None)
    (file,) = (tmp_path / "spool").glob("*.spool")
    assert file.stat().st_mode & 0o077 == 0
    assert (tmp_path / "spool").stat().st_mode & 0o077 == 0


def test_a_full_spool_says_when_to_come_back(tmp_path):
    spool = Spool(tmp_path, clock, max_bytes=200)
    spool.push("s", body("/a"), None)
    with pytest.raises(Overloaded, match="later"):
        spool.push("s", body(*"abcdefgh"), None)
    assert paths(spool) == ["/a"]


def test_a_key_has_a_length_and_a_closed_spool_takes_nothing(tmp_path):
    spool = Spool(tmp_path, clock)
    with pytest.raises(InvalidInput, match="200"):
        spool.push("s", body("/a"), "x" * 201)
    spool.close()
    spool.close()
    with pytest.raises(Overloaded, match="stopping"):
        spool.push("s", body("/a"), None)


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="cannot be kept"):
        Spool(tmp_path / "file" / "spool", clock)


FULL_DISK = """
import resource, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from hubbub.errors import StoreUnavailable
from hubbub.monitor.spool import Spool
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
spool = Spool(Path(sys.argv[1]), lambda: datetime.now(UTC))
small = b'{"time": 0, "session": "s", "key": "/a"}'
spool.push("s", small, None)
resource.setrlimit(resource.RLIMIT_FSIZE, (300, resource.RLIM_INFINITY))
try:
    spool.push("s", small * 1 + b"\\n" + b" " * 1000, None)
except StoreUnavailable:
    print("refused")
spool.push("s", small.replace(b"/a", b"/b"), None)
"""


def test_a_full_disk_acknowledges_nothing_and_leaves_nothing_half(tmp_path):
    done = subprocess.run([sys.executable, "-c", FULL_DISK, tmp_path], capture_output=True, text=True, check=True)
    assert done.stdout == "refused\n"
    assert paths(Spool(tmp_path, clock)) == ["/a", "/b"]


def test_many_senders_at_once(tmp_path):
    spool = Spool(tmp_path, clock, segment_bytes=2_000)
    senders = [
        threading.Thread(target=lambda n=n: [spool.push("s", body(f"/{n}/{i}"), f"{n}-{i}") for i in range(20)])
        for n in range(8)
    ]
    for sender in senders:
        sender.start()
    for sender in senders:
        sender.join()
    assert sorted(paths(spool)) == sorted(f"/{n}/{i}" for n in range(8) for i in range(20))


@pytest.mark.parametrize(
    "line",
    [
        b"null", b"[]", b"7", b'"x"', b"{}", b"\xff\xfe", b'{"time": "noon", "session": "a", "key": "/"}',
        b'{"time": 1e400, "session": "a", "key": "/"}', b'{"time": 0, "session": "a"}', b"[" * 100_000,
    ],
)  # fmt: skip
def test_garbled_lines_are_counted_and_left_out(tmp_path, line):
    good = b'{"time": "2026-01-01T01:00:00+01:00", "person": 7, "path": "/good", "agent": "x"}'
    spool = Spool(tmp_path, clock)
    receipt = spool.push("s", line + b"\n\n" + good, None)
    assert (receipt.accepted, receipt.malformed) == (1, 1)
    assert paths(spool) == ["/good"]


def test_half_a_character_does_not_stop_the_batch(tmp_path):
    spool = Spool(tmp_path, clock)
    receipt = spool.push("s", b'{broken\n{"time": 0, "session": "a", "key": "/\\ud800"}', None)
    assert (receipt.accepted, receipt.malformed) == (1, 1)
    assert paths(spool) == ["/?"]
