from __future__ import annotations

import sqlite3
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hubbub.confidential import Cut
from hubbub.errors import InvalidParameter, UnknownStream
from hubbub.privacy import Event, Guarantee
from hubbub.released import Keys
from hubbub.store import Store, answers

NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)


def made_cut(tick, source, time, frontier, doubt=""):
    return Cut(tick, time, frontier, source, doubt)


@pytest.fixture
def made(store: Store) -> Store:
    for name in ("site", "other"):
        store.create_stream(name, Keys(["a"]), Guarantee.pure(Event(), 1), "lpa")
    return store


def test_a_cut_outlives_the_process(made: Store, path: Path) -> None:
    kept = made.keep_cut("site", made_cut(3, "log of a machine", NOW, {"access.log": "17:ö"}, "the clock jumped"))
    made.close()
    with Store.open(path) as store:
        assert store.cuts("site") == [kept]
        assert kept == made_cut(3, "log of a machine", NOW, {"access.log": "17:ö"}, "the clock jumped")
        assert store.cuts("other") == []


def test_the_first_cut_of_a_tick_stands(made: Store) -> None:
    first = made.keep_cut("site", made_cut(3, "one", NOW, {"at": "1"}))
    second = made.keep_cut("site", made_cut(3, "two", NOW + timedelta(seconds=1), {"at": "2"}, "late"))
    assert second == first == made_cut(3, "one", NOW, {"at": "1"})


def test_two_monitors_agree(made: Store, path: Path) -> None:
    found: list[Cut] = []

    def cut(name: str) -> None:
        with Store.open(path) as store:
            for tick in range(20):
                found.append(store.keep_cut("site", made_cut(tick, name, NOW, {})))

    threads = [threading.Thread(target=cut, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 40
    assert len(set(map(repr, found))) == 20


def rows(path: Path) -> list[str]:
    with sqlite3.connect(path) as connection:
        found = [row[0] for row in connection.execute("SELECT frontier FROM cuts ORDER BY tick")]
    connection.close()
    return found


def test_places_in_files_of_this_machine_are_sealed(made: Store, path: Path) -> None:
    """How far a log had grown told its lines without noise, and its digests let somebody try which they were."""
    place = {"5fa91fbc": "0 65024:2195755 1024:fdd0a1b2c3d4e5f6 259694 256:2d615b65a1b2c3d4"}
    made.keep_cut("site", made_cut(1, "log:here:/access.log", NOW, place))
    made.keep_cut("site", made_cut(2, "log:here:/access.log", NOW, {"5fa91fbc": "1"}))
    made.keep_cut("site", Cut(3, NOW, {"sequence": "4711"}, "nats:events", shared=True))
    one, two, broker = rows(path)
    assert one.startswith("sealed:")
    assert len(one) == len(two)  # digits tell how large a number is
    assert "259694" not in one
    assert broker == '{"sequence": "4711"}'  # another machine must be able to go on from it
    assert [dict(cut.frontier) for cut in made.cuts("site")] == [place, {"5fa91fbc": "1"}, {"sequence": "4711"}]
    made.close()
    held = b"".join(file.read_bytes() for file in path.parent.glob(path.name + "*"))
    assert b"2d615b65a1b2c3d4" not in held


def test_what_another_machine_sealed_is_nobodys_own(
    made: Store, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.keep_cut("site", made_cut(1, "spool:abc", NOW, {"at": "17"}, "the clock jumped"))
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "another"))
    with Store.open(path) as store:
        (cut,) = store.cuts("site")
        assert (cut.tick, cut.time, cut.doubt, dict(cut.frontier)) == (1, NOW, "the clock jumped", {})
        assert cut.source != "spool:abc"
        assert store.keep_cut("site", made_cut(1, "spool:abc", NOW, {"at": "18"})) == cut  # the first one stands


@pytest.mark.parametrize("changed", ["sealed:", "sealed:!", "sealed:AAAA", "moved"])
def test_a_seal_that_was_changed_or_moved_does_not_open(made: Store, path: Path, changed: str) -> None:
    for tick in (1, 2):
        made.keep_cut("site", made_cut(tick, "one", NOW, {"at": str(tick)}))
    text = rows(path)[0] if changed == "moved" else changed
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE cuts SET frontier = ? WHERE tick = 2", (text,))
    connection.close()
    first, second = made.cuts("site")
    assert (first.source, dict(first.frontier)) == ("one", {"at": "1"})
    assert (second.source != "one", dict(second.frontier)) == (True, {})


def test_open_places_of_earlier_versions_are_still_read(made: Store, path: Path) -> None:
    made.keep_cut("site", made_cut(1, "one", NOW, {"at": "1"}))
    with sqlite3.connect(path) as connection:
        connection.execute("""UPDATE cuts SET frontier = '{"at": "1"}'""")
    connection.close()
    (cut,) = made.cuts("site")
    assert (cut.source, dict(cut.frontier)) == ("one", {"at": "1"})


def test_by_tick_and_forgotten(made: Store) -> None:
    for tick in (5, 1, 3):
        made.keep_cut("site", made_cut(tick, "one", NOW, {}))
        made.keep_cut("other", made_cut(tick, "one", NOW, {}))
    assert [cut.tick for cut in made.cuts("site")] == [1, 3, 5]
    assert [cut.tick for cut in made.cuts("site", 2)] == [3, 5]
    made.forget_cuts("site", 3)
    assert [cut.tick for cut in made.cuts("site")] == [3, 5]
    assert [cut.tick for cut in made.cuts("other")] == [1, 3, 5]


def test_a_time_without_a_zone_is_refused(made: Store) -> None:
    with pytest.raises(InvalidParameter, match="time zone"):
        made.keep_cut("site", made_cut(1, "one", NOW.replace(tzinfo=None), {}))
    with pytest.raises(UnknownStream):
        made.keep_cut("none", made_cut(1, "one", NOW, {}))


def test_an_answer_stands(made: Store) -> None:
    assert made.answer("site", b"key") is None
    assert made.remember_answer("site", b"key", b"body", 7) == (b"body", 7)
    assert made.remember_answer("site", b"key", b"other body", 8) == (b"body", 7)
    assert made.answer("site", b"key") == (b"body", 7)
    assert made.answer("other", b"key") is None


def test_the_newest_answers_are_kept(made: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "ANSWERS_KEPT", 10)
    monkeypatch.setattr(answers, "_PRUNED_EVERY", 5)
    for tick in range(40):
        made.remember_answer("site", b"%d" % tick, b"body", tick)
        made.remember_answer("other", b"%d" % tick, b"body", tick)
    assert made.answer("site", b"39") == (b"body", 39)
    assert made.answer("site", b"0") is None
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM answers").fetchone()[0] <= 30
    connection.close()
