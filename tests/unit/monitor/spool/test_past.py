"""A spool proves that it has its past, or says that it cannot; what was damaged is never left out unseen."""

import shutil

import pytest
from tests.support.spools import body, opened, paths

from hubbub.errors import SpoolDamaged, StoreUnavailable
from hubbub.monitor.spool import Spool, calls
from hubbub.monitor.spool.frame import HEAD_BYTES, HEADER_BYTES
from hubbub.monitor.spool.place import Place

SMALL = {"segment_bytes": 300}


def filled(folder, count=9):
    """A spool of several segments; the places behind each record."""
    places = []
    with opened(folder, **SMALL) as spool:
        places.append(spool.frontier())
        for n in range(count):
            spool.push("s", body(f"/{n}"), f"key {n}")
            places.append(spool.frontier())
    return places


def segments(folder):
    return sorted(folder.glob("*.segment"))


def test_every_place_is_proved_and_read_on_from(tmp_path):
    places = filled(tmp_path)
    assert len(segments(tmp_path)) >= 3
    for n, place in enumerate(places):
        copy = tmp_path.with_name(f"copy {n}")
        shutil.copytree(tmp_path, copy)
        with opened(copy, **SMALL) as spool:
            assert spool.open(place)
            assert paths(spool) == [f"/{k}" for k in range(n, 9)]


def test_an_emptied_spool_has_no_past(tmp_path):
    place = filled(tmp_path)[4]
    for path in tmp_path.iterdir():
        path.unlink()
    with opened(tmp_path) as spool:
        assert not spool.open(place)
        spool.push("s", body("/new"))
        assert paths(spool) == ["/new"]


def test_a_new_folder_of_the_same_name_is_another_spool(tmp_path):
    filled(tmp_path / "a", 3)
    place = filled(tmp_path / "b", 3)[1]
    with opened(tmp_path / "a") as spool:
        assert not spool.open(place), "the same segment and offset, another spool"
        assert not spool.open({"spool": place["spool"].replace(place["spool"][:32], spool._log.spool)})
        assert not spool.open(Place(7, 300, bytes(16)).positions(spool._log.spool))
        assert not spool.open(Place(1, 10**6, bytes(16)).positions(spool._log.spool))
        assert paths(spool) == ["/0", "/1", "/2"]


def test_a_place_in_deleted_segments_is_not_proved_but_their_end_is(tmp_path):
    with opened(tmp_path, **SMALL) as spool:
        spool.push("s", body("/a"))
        inside = spool.frontier()
        spool.push("s", body("/b", "/c", "/d", "/e", "/f"))
        end = spool.frontier()
        spool.push("s", body("/g"))
        assert end["spool"].split(":")[1] == "1"
        spool.settle(end)
        assert [path.stem for path in segments(tmp_path)] == ["000000000002"]
    with opened(tmp_path, **SMALL) as spool:
        assert not spool.open(inside)
        assert paths(spool) == ["/g"]
        assert spool.open(end)
        assert paths(spool) == ["/g"]


@pytest.mark.parametrize("number", range(5))
def test_a_missing_segment_is_told(tmp_path, number):
    filled(tmp_path, 9)
    files = segments(tmp_path)
    assert len(files) == 5
    files[number].unlink()
    with pytest.raises(SpoolDamaged, match=f"segment {number + 1} is missing.*move it away"):
        Spool(tmp_path)


def test_a_missing_list_of_files_is_told(tmp_path):
    filled(tmp_path)
    (tmp_path / "manifest").unlink()
    with pytest.raises(SpoolDamaged, match="its list of files is gone"):
        Spool(tmp_path)
    (tmp_path / "manifest").write_text("{}\n00000000\n")
    with pytest.raises(SpoolDamaged, match="cannot be read"):
        Spool(tmp_path)


def test_segments_of_two_spools_do_not_mix(tmp_path):
    filled(tmp_path / "a")
    filled(tmp_path / "b")
    shutil.copy(segments(tmp_path / "b")[1], segments(tmp_path / "a")[1])
    with pytest.raises(SpoolDamaged, match="the beginning of segment 2"):
        Spool(tmp_path / "a")


def test_every_single_changed_byte_is_found(tmp_path):
    """In what was acknowledged: a flipped bit, at every place of every file that counts."""
    filled(tmp_path, 5)
    found = 0
    for path in segments(tmp_path):
        whole = path.read_bytes()
        for at in range(len(whole)):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            with pytest.raises(SpoolDamaged):
                Spool(tmp_path)
            found += 1
        path.write_bytes(whole)
    assert found > 5 * HEAD_BYTES
    with opened(tmp_path) as spool:
        assert paths(spool) == [f"/{n}" for n in range(5)]


@pytest.mark.parametrize("closed", [True, False], ids=["after a stop", "after a crash"])
def test_a_shortened_newest_segment(tmp_path, closed):
    """After a stop everything that is cut off is missed. After a crash the end of the file may be what was never
    acknowledged; then a place behind it shows that something is missing."""
    manifest = tmp_path / "manifest"
    spool = Spool(tmp_path)
    before = manifest.read_bytes()
    for n in range(3):
        spool.push("s", body(f"/{n}"))
    end = spool.frontier()
    spool.close()
    if not closed:
        manifest.write_bytes(before)
    (file,) = segments(tmp_path)
    whole = file.read_bytes()
    for size in range(HEADER_BYTES, len(whole)):
        file.write_bytes(whole[:size])
        if closed:
            with pytest.raises(SpoolDamaged):
                Spool(tmp_path)
            continue
        with opened(tmp_path) as spool:
            assert paths(spool) == ["/0", "/1", "/2"][: len(paths_in(whole[:size]))]
            assert not spool.open(end)
            with pytest.raises(SpoolDamaged, match="ends before a place"):
                spool.poll(end)
        manifest.write_bytes(before)
    assert file.stat().st_size <= len(whole)


def paths_in(data):
    """How many whole records of `body("/n")` there are, counted by their length."""
    return range((len(data) - HEADER_BYTES) // (HEAD_BYTES + len(body("/0"))))


@pytest.mark.parametrize("torn", [b"\0", b"\0" * 5000, b"\xf5\xc3\x9aH", b"half a record" * 100, None])
def test_half_a_record_is_cut_off(tmp_path, torn):
    spool = Spool(tmp_path)
    before = (tmp_path / "manifest").read_bytes()
    spool.push("s", body("/a"), "one")
    end = spool.frontier()
    spool.push("s", body("/lost"), "two")
    spool.close()
    (tmp_path / "manifest").write_bytes(before)  # as after a crash
    (file,) = segments(tmp_path)
    size = int(end["spool"].split(":")[2])
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] if torn is None else whole[:size] + torn)
    with opened(tmp_path) as spool:
        assert file.stat().st_size == size
        assert spool.frontier() == end
        assert spool.push("s", body("/b"), "two").duplicate is False, "its key went with it"
        assert paths(spool) == ["/a", "/b"]
    with opened(tmp_path) as spool:
        assert paths(spool) == ["/a", "/b"]


def test_a_body_that_looks_like_records_is_not_taken_for_some(tmp_path):
    """Somebody sends the bytes of a segment; a crash tears them. They show nothing: the seed is another."""
    filled(tmp_path / "a", 3)
    planted = b"".join(path.read_bytes() for path in segments(tmp_path / "a"))
    spool = Spool(tmp_path / "b")
    before = (tmp_path / "b" / "manifest").read_bytes()
    spool.push("s", body("/a"))
    spool.push("s", planted)
    spool.close()
    (tmp_path / "b" / "manifest").write_bytes(before)
    (file,) = segments(tmp_path / "b")
    file.write_bytes(file.read_bytes()[:-1])
    with opened(tmp_path / "b") as spool:
        assert paths(spool) == ["/a"]


def test_segments_that_do_not_count_are_deleted(tmp_path):
    """Begun before a crash and never used; or settled, and back after a power cut."""
    place = filled(tmp_path)[-1]
    copy = segments(tmp_path)[0].read_bytes()
    with opened(tmp_path) as spool:
        spool.settle(place)
        newest = max(int(path.stem) for path in segments(tmp_path))
    (tmp_path / "000000000001.segment").write_bytes(copy)
    (tmp_path / f"{newest + 1:012d}.segment").write_bytes(b"HUBS")
    with opened(tmp_path) as spool:
        assert paths(spool) == []
        assert [int(path.stem) for path in segments(tmp_path)] == [newest]
        assert spool.open(place)


def test_a_change_while_it_runs_is_told_when_it_is_read(tmp_path):
    with opened(tmp_path) as spool:
        spool.push("s", body("/a"))
        spool._parsed._kept.clear()
        (file,) = segments(tmp_path)
        file.write_bytes(file.read_bytes()[:-1] + b"?")
        with pytest.raises(SpoolDamaged, match="changed while it was in use"):
            spool.poll(spool.frontier())


def test_a_disk_that_cannot_be_read_for_a_while(tmp_path, monkeypatch):
    with opened(tmp_path, segment_bytes=1) as spool:
        for n in range(4):
            spool.push("s", body(f"/{n}"))
        place = spool.frontier()
        spool._parsed._kept.clear()
        read, left = calls.read, [2]

        def failing(number, size, offset):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(5, "Input/output error")
            return read(number, size, offset)

        monkeypatch.setattr(calls, "read", failing)
        batch = spool.poll(place)
        assert (batch.events["path"].to_list(), batch.reached) == (["/0", "/1"], False)
        assert "cannot be read" in spool.trouble
        with pytest.raises(StoreUnavailable, match="cannot be read"):
            spool.open(place)
        monkeypatch.setattr(calls, "read", read)
        assert spool.open(batch.positions)
        assert paths(spool) == ["/2", "/3"]
        assert spool.trouble == ""
