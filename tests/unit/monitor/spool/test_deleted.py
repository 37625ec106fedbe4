"""Raw events do not stay: what is settled is off the disk, while it runs, after a stop, after a restart."""

import pytest
from tests.support.spools import body, on_disk, opened, paths

from hubbub.monitor.spool import calls


def test_after_settling_everything_nothing_is_left(tmp_path):
    with opened(tmp_path) as spool:
        for n in range(5):
            spool.push("s", body(f"/planted/{n}"))
        paths(spool)
        assert on_disk(tmp_path).count(b"planted") == 5
        spool.settle(spool.frontier())
        assert b"planted" not in on_disk(tmp_path)
        place = spool.frontier()
        spool.push("s", body("/planted/new"))
        assert paths(spool) == ["/planted/new"]
    with opened(tmp_path) as spool:
        assert spool.open(place)
        assert paths(spool) == ["/planted/new"]


def test_what_is_behind_the_place_stays(tmp_path):
    with opened(tmp_path, segment_bytes=1) as spool:
        for name in "abc":
            spool.push("s", body(f"/planted/{name}"))
        first = spool.frontier()
        spool.push("s", body("/planted/d"))
        spool.settle({})
        assert on_disk(tmp_path).count(b"planted") == 4
        spool.settle(first)
        assert on_disk(tmp_path).count(b"planted") == 1
        assert paths(spool) == ["/planted/d"], "reading went on behind what was deleted"


def test_opening_deletes_what_lies_before(tmp_path):
    with opened(tmp_path) as spool:
        spool.push("s", body("/planted"))
        place = spool.frontier()
    assert b"planted" in on_disk(tmp_path)
    with opened(tmp_path) as spool:
        assert spool.open(place)
        assert b"planted" not in on_disk(tmp_path)


def test_an_old_segment_ends_so_that_it_can_go(tmp_path):
    with opened(tmp_path, segment_seconds=0.0) as spool:
        spool.push("s", body("/planted/a"))
        first = spool.frontier()
        spool.push("s", body("/b"))
        spool.settle(first)
        assert b"planted" not in on_disk(tmp_path)
        assert paths(spool) == ["/b"]


def test_an_old_segment_is_old_after_a_restart_too(tmp_path):
    with opened(tmp_path) as spool:
        spool.push("s", body("/planted/a"))
        first = spool.frontier()
        spool.push("s", body("/b"))
    with opened(tmp_path, segment_seconds=0.0) as spool:
        assert spool.open(first)  # ends the old segment, which still holds what lies behind
        assert paths(spool) == ["/b"]
        spool.settle(spool.frontier())
        assert b"planted" not in on_disk(tmp_path)


def test_a_place_that_was_never_reached_deletes_nothing(tmp_path):
    with opened(tmp_path) as spool:
        spool.push("s", body("/a"))
        spool.settle({"spool": f"{spool._log.spool}:99:99:00"})
        assert paths(spool) == ["/a"]


@pytest.mark.parametrize("call", ["unlink", "rename", "open_file", "sync", "write"])
def test_what_cannot_be_deleted_now_is_deleted_later(tmp_path, monkeypatch, call):
    with opened(tmp_path) as spool:
        spool.push("s", body("/planted"), "one")

        def failing(*_):
            raise OSError(30, "Read-only file system")

        with monkeypatch.context() as patch:
            patch.setattr(calls, call, failing)
            spool.settle(spool.frontier())
            assert "cannot be deleted" in spool.trouble
        assert b"planted" in on_disk(tmp_path)
        spool.settle(spool.frontier())
        assert b"planted" not in on_disk(tmp_path)
        assert spool.trouble == ""
        spool.push("s", body("/b"))
        assert spool.push("s", body("/planted"), "one").duplicate
        assert paths(spool) == ["/b"]
