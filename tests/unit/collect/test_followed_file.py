"""A followed log: what a reader of the code would ask, one thing a test. The model in tests/property asks the rest."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import socket
import threading

import pytest
from tests.support.log_world import Texts

from hubbub.collect.sources import FollowedFile
from hubbub.collect.sources.log import stillness
from hubbub.collect.sources.log.opened import NotAFile, OpenFile
from hubbub.collect.sources.log.place import Place, places
from hubbub.collect.sources.log.rotated import Rotated, younger
from hubbub.errors import InvalidInput

OPEN = []


@pytest.fixture(autouse=True)
def closed():
    yield
    while OPEN:
        OPEN.pop().close()


class Reader:
    def __init__(self, path, positions=None, **options):
        self.source = FollowedFile(path, Texts(), **options)
        OPEN.append(self.source)
        self.proved = self.source.open(positions or {})
        self.lost = False

    def read(self, until=None):
        """All in front of `until`, by default of what is there now."""
        until = self.source.frontier() if until is None else until
        self.until, came = until, []
        for _ in range(1000):
            batch = self.source.poll(until)
            came += batch.events["person"].to_list()
            self.lost |= batch.lost
            self.positions = json.loads(json.dumps(dict(batch.positions)))
            if batch.reached:
                return came
        raise AssertionError(self.source.trouble)


def write(path, *texts, mode="ab", end="\n"):
    with path.open(mode) as file:
        file.write("".join(text + end for text in texts).encode())


def rename(path, number=1):
    os.rename(path, path.with_name(f"{path.name}.{number}"))


def rotate(path):
    """Every number one higher, and the log becomes number 1."""
    rotated = [file for file in path.parent.iterdir() if file.name[len(path.name) + 1 :].isdigit()]
    for file in sorted(rotated, key=lambda file: -int(file.suffix[1:])):
        os.rename(file, path.with_name(f"{path.name}.{int(file.suffix[1:]) + 1}"))
    rename(path)


def many(name, count=40):
    return [f"{name} {i:04d} padding padding" for i in range(count)]


def test_a_frontier_parts_what_was_there_from_what_comes(log):
    write(log, "a", "b")
    reader = Reader(log)
    assert not reader.proved  # nothing is proved by nothing
    first = reader.source.frontier()
    write(log, "c")
    second = reader.source.frontier()
    write(log, "d", end="")
    third = reader.source.frontier()
    write(log, "", "e")
    assert reader.read(first) == ["a", "b"]
    assert reader.read(first) == []
    assert reader.read(second) == ["c"]
    assert reader.read(third) == []  # a line without its end lies behind it
    assert reader.read() == ["d", "e"]
    assert reader.source.identity.endswith(str(log))
    assert reader.source.trouble == ""
    reader.source.close()
    assert reader.source.frontier() is None
    assert not reader.source.poll(third).reached


def test_what_is_written_to_a_renamed_file_is_read_beside_the_new_one(log):
    write(log, "a")
    reader = Reader(log)
    assert reader.read() == ["a"]
    rename(log)
    write(log, "new")
    before = reader.source.frontier()
    write(log.with_name("access.log.1"), "late")
    assert reader.read(before) == ["new"]
    assert reader.read() == ["late"]


def test_the_last_line_of_a_file_that_is_over_needs_no_end(log):
    write(log, "a")
    reader = Reader(log)
    reader.source.frontier()
    write(log, "no end", end="")
    for number in (1, 2):
        rotate(log)
        write(log, f"file {number}")
        until = reader.source.frontier()
    assert reader.read(until) == ["a", "no end", "file 1", "file 2"]
    assert not reader.lost


def test_two_rotations_between_two_looks(log):
    """10 of 10 lines were lost."""
    write(log, *many("old"))
    reader = Reader(log)
    assert reader.read() == many("old")
    write(log, "end of the old")
    rotate(log)
    write(log, *many("between", 10))
    rotate(log)
    write(log, "new")
    assert reader.read() == ["end of the old", *many("between", 10), "new"]
    assert not reader.lost


def test_a_rotation_while_a_restarted_reader_catches_up(log, monkeypatch):
    """10 of 10 lines were lost."""
    monkeypatch.setattr("hubbub.collect.sources.followed_file.BLOCK", 100)
    write(log, "start")
    first = Reader(log)
    first.read()
    write(log, *many("behind"))
    rename(log)
    write(log, *many("day 2", 10))
    again = Reader(log, first.until)
    assert again.proved
    until = again.source.frontier()
    part = again.source.poll(until).events["person"].to_list()
    rotate(log)
    write(log, *many("day 3", 10))
    assert part + again.read() == [*many("behind"), *many("day 2", 10), *many("day 3", 10)]
    assert not again.lost


def test_a_copy_cut_and_grown_beyond_the_old_place(log):
    """10 of 10 lines were lost, and nobody was told."""
    write(log, *many("old"))
    reader = Reader(log)
    reader.read()
    write(log, "in the copy")
    shutil.copy(log, log.with_name("access.log.1"))
    os.truncate(log, 0)
    write(log, *many("new", 60))
    assert reader.read() == ["in the copy", *many("new", 60)]
    assert reader.lost


def test_a_cut_without_a_copy_is_told(log):
    write(log, *many("old"))
    reader = Reader(log)
    until = reader.source.frontier()
    os.truncate(log, 0)
    write(log, "new")
    assert reader.read(until) == []
    assert reader.lost
    assert reader.read() == ["new"]


def test_a_file_that_is_cut_while_it_is_read_is_read_from_its_copy(log, monkeypatch):
    monkeypatch.setattr("hubbub.collect.sources.followed_file.BLOCK", 200)
    write(log, *many("old"))
    reader = Reader(log)
    until = reader.source.frontier()
    came = reader.source.poll(until).events["person"].to_list()
    shutil.copy(log, log.with_name("access.log.1"))
    os.truncate(log, 0)
    assert came + reader.read(until) == many("old")
    reader.read()
    assert reader.lost


def test_a_place_inside_a_packed_file(log):
    write(log, *many("old"))
    reader = Reader(log)
    reader.read()
    write(log, *many("rest"))
    rename(log)
    write(log, "new")
    plain = log.with_name("access.log.1")
    log.with_name("access.log.1.gz").write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    again = Reader(log, reader.until)
    assert again.proved
    assert again.read() == [*many("rest"), "new"]
    assert again.read() == []
    assert Reader(log, again.until).proved
    assert Reader(log, again.positions).read() == []


def test_a_packed_file_that_is_damaged_is_a_loss(log):
    write(log, *many("old", 2000))
    reader = Reader(log)
    reader.read()
    for text in ("one", "two"):
        write(log, *many(text, 4000))
        if log.with_name("access.log.1.gz").exists():
            rename(log.with_name("access.log.1.gz"), "x")
            os.rename(log.with_name("access.log.1.gz.x"), log.with_name("access.log.2.gz"))
        packed = gzip.compress(os.urandom(9) + log.read_bytes() if text == "two" else log.read_bytes())
        log.unlink()
        log.with_name("access.log.1.gz").write_bytes(packed)
        write(log, "x")
    again = Reader(log, reader.until)
    assert again.proved
    with log.with_name("access.log.1.gz").open("r+b") as file:
        file.seek(500)
        file.write(b"\x00" * 200)
    came = again.read()
    assert came[:4000] == many("one", 4000)
    assert came[-1] == "x"
    assert again.lost


@pytest.mark.parametrize(
    "change", ["deleted", "gap", "other bytes", "cut", "copied", "unknown packing", "nonsense", "empty"]
)
def test_what_cannot_be_proved_is_not(log, change):
    write(log, *([] if change == "empty" else many("old")))
    reader = Reader(log)
    reader.read()
    positions = dict(reader.until)
    if change == "other bytes":
        log.write_bytes(log.read_bytes().replace(b"padding", b"PADDING"))
    elif change == "nonsense":
        positions = {"file": "1:2:3:00000000:3"}
    elif change in ("cut", "copied"):
        shutil.copy(log, log.with_name("access.log.1"))
        if change == "cut":
            os.truncate(log, 0)
        else:
            log.unlink()
            write(log, "new")
    elif change != "empty":
        rename(log)
        write(log, "new")
        if change == "gap":
            os.rename(log.with_name("access.log.1"), log.with_name("access.log.3"))
            rename(log)
            write(log, "newer")
        elif change == "unknown packing":
            os.rename(log.with_name("access.log.1"), log.with_name("access.log.2"))
            log.with_name("access.log.1.zst").write_bytes(b"?")
        else:
            log.with_name("access.log.1").unlink()
    again = Reader(log, positions)
    assert not again.proved
    again.read()  # begins with what is there


def test_a_place_survives_renaming_several_times(log):
    write(log, *many("old"))
    reader = Reader(log)
    reader.read()
    os.rename(log, log.with_name("access.log.3"))
    for number in (2, 1):
        write(log.with_name(f"access.log.{number}"), f"file {number}")
    assert Reader(log, reader.until).proved  # also while there is no log at the moment
    write(log, "new")
    again = Reader(log, reader.until)
    assert again.proved
    assert again.read() == ["file 2", "file 1", "new"]


def test_other_logs_with_the_same_beginning_are_not_ours(tmp_path, monkeypatch):
    monkeypatch.setattr(stillness, "PATIENCE", 0.0)
    folder = tmp_path / "a[1]*?"
    (folder / "access.log.d").mkdir(parents=True)
    log = folder / "access.log"
    write(log, *many("ours"))
    write(folder / "access.log-shop.example", *many("theirs"))
    write(folder / "access.logger.1", *many("theirs"))
    (folder / "access.log.2").mkdir()
    reader = Reader(log)
    assert reader.read() == many("ours")
    rename(log)
    write(log, "new")
    assert reader.read() == ["new"]
    again = Reader(log, reader.until)
    assert again.proved
    assert again.read() == []
    assert not reader.lost


def test_a_reused_inode_is_another_file(log):
    write(log, *many("first"))
    reader = Reader(log)
    reader.read()
    reader.source.close()
    for attempt in range(50):
        inode = log.stat().st_ino
        log.unlink()
        write(log, *many(f"second {attempt}", 60))
        if log.stat().st_ino == inode:
            break
    again = Reader(log, reader.until)
    assert not again.proved
    assert again.read()[0].startswith("second")


def test_a_link_is_followed_as_it_changes(tmp_path):
    days = [tmp_path / f"access-2026-01-{day:02}.log" for day in (1, 2, 3)]
    link = tmp_path / "current.log"
    write(days[0], "a")
    link.symlink_to(days[0].name)
    reader = Reader(link)
    assert reader.read() == ["a"]
    for day in days[1:]:  # twice between two looks
        write(day, day.name)
        link.unlink()
        link.symlink_to(day.name)
    assert reader.read() == [days[1].name, days[2].name]
    assert not reader.lost


def test_a_log_that_is_not_there_yet(tmp_path):
    reader = Reader(tmp_path / "later.log")
    assert reader.source.frontier() is None
    assert reader.source.trouble == "The log is not there."
    assert not reader.source.poll({}).events.height
    write(tmp_path / "later.log", "a")
    assert reader.read() == ["a"]
    assert reader.source.trouble == ""
    os.rename(tmp_path / "later.log", tmp_path / "later.log.1")
    assert reader.source.frontier() is None
    assert reader.source.trouble == "The log is not there."


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "socket"])
def test_what_is_no_file_is_refused(tmp_path, kind):
    path = tmp_path / "x.log"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    else:
        path.symlink_to("/dev/null")
    source = FollowedFile(path, Texts())
    with pytest.raises(InvalidInput, match="no regular file"):
        source.open({})
    assert source.frontier() is None
    assert source.trouble == "The log is no regular file."
    with pytest.raises(NotAFile):
        OpenFile(str(path))


def test_what_is_no_frontier_is_refused(log):
    with pytest.raises(InvalidInput, match="not a frontier"):
        Reader(log).source.poll({"file": "17"})


def test_a_line_that_is_too_long_is_skipped_once_and_never_cut(log):
    write(log, "a", "x" * 100_000, "b", "y" * 70_000, end="\n")
    reader = Reader(log)
    until = reader.source.frontier()
    batch = reader.source.poll(until)
    assert batch.events["person"].to_list() == ["a", "b"]
    assert (batch.oversized, batch.reached) == (2, True)
    write(log, "z" * 200_000, end="")
    batch = reader.source.poll(reader.source.frontier())
    assert batch.oversized == 0
    again = Reader(log, batch.positions)
    write(log, "", "c")
    assert reader.read() == again.read() == ["c"]


def test_settled_files_leave_the_frontier_but_the_last_place_stays(log):
    write(log, "a")
    reader = Reader(log)
    for number in range(5):
        assert reader.read()
        rotate(log)
        write(log, f"{number}")
    reader.read()
    assert len(reader.until) == 6
    reader.source.settle({})
    reader.source.settle(reader.until)
    left = reader.source.frontier()
    assert len(left) <= 3
    assert reader.source.poll(reader.until).reached  # an older frontier names files that are done
    again = Reader(log, left)
    assert again.proved
    assert again.read() == []


def test_a_closed_descriptor_is_never_read_again(log):
    """Its number may belong to a connection by then."""
    write(log, "secret")
    file = OpenFile(str(log))
    number = file._descriptor
    file.close()
    file.close()
    one, two = socket.socketpair()
    with one, two:
        assert number in (one.fileno(), two.fileno())
        one.send(b"somebody else's")
        two.send(b"somebody else's")
        for use in (lambda: file.read_at(0, 6), file.facts):
            with pytest.raises(OSError, match="closed"):
                use()
        file.close()
        assert one.recv(100) == two.recv(100) == b"somebody else's"


def test_looking_from_another_thread_while_reading(log, monkeypatch):
    monkeypatch.setattr("hubbub.collect.sources.followed_file.BLOCK", 4096)
    lines = many("line", 20_000)
    reader, frontiers, over = Reader(log), [], threading.Event()
    reader.source.frontier()

    def look():
        while not over.is_set():
            if (frontier := reader.source.frontier()) is not None:
                frontiers.append(frontier)

    thread = threading.Thread(target=look)
    thread.start()
    came = []
    try:
        for i in range(0, len(lines), 2_000):
            write(log, *lines[i : i + 2_000])
            came += reader.read()
            if i % 8_000 == 0:
                rotate(log)
                log.touch()
        while (last := reader.source.frontier()) is None:
            pass
        came += reader.read(last)
    finally:
        over.set()
        thread.join()
    assert came == lines
    assert not reader.lost
    offsets = [sum(place.offset or 0 for place in places(frontier).values()) for frontier in frontiers]
    assert offsets == sorted(offsets)  # never backwards


def test_places_are_read_back_or_refused():
    place = Place.at(3, "1:2", b"head", 9, b"before it", True, True)
    assert Place.of(str(place)) == place
    assert places({"b": str(place), "a": str(Place.at(1, "1:2", b"", None, b""))}).keys() == {"a", "b"}
    for wrong in ("", "x", str(place) + " more", str(place).replace(" 9 ", " 3 "), str(place).replace("4:", "9999:")):
        assert Place.of(wrong) is None, wrong


def test_dates_in_an_order_that_times_deny_prove_nothing():
    def entry(day, changed, size=1):
        return Rotated(f"log-{day}", "", ("date", "log", "-#"), (day,), f"1:{day}", changed, size)

    files = [entry(1, 10), entry(2, 20), entry(3, 30)]
    assert younger(files[0], files, None) == files[1:]
    assert younger(files[0], files, "1:3") == files[1:2]  # the log itself is a link to the last
    assert younger(files[0], [files[0], entry(2, 5), files[2]], None) is None
    assert younger(files[0], [files[0], entry(2, 5, size=0), files[2]], None) is not None
    assert younger(files[1], [entry(1, 99), files[1]], None) is None
