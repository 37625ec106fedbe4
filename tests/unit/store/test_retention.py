"""Old numbers go; what was spent, and its proof, stay."""

import sqlite3

import numpy as np
import pytest

from hubbub.confidential import Counts
from hubbub.errors import InvalidParameter
from hubbub.privacy import Event, Guarantee
from hubbub.release.lpa import Lpa
from hubbub.released import Keys, Tick
from hubbub.store import Store

KEYS = Keys(["front", "news"])


def filled(store, ticks, first=0):
    with store.curate("site", Lpa(KEYS, Guarantee.pure(Event(), 1))) as curator:
        for tick in range(first, first + ticks):
            if tick % 7 == 3:
                curator.predict(Tick(tick))
            else:
                curator.release(Counts.of(KEYS, Tick(tick), [tick, 1]))


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "site.db", marks=tmp_path / "marks") as made:
        filled(made, 60)
        yield made


def test_numbers_go_and_the_ledger_is_verified_as_before(store):
    spent, head = store.budget("site").spent, store.verify("site").head
    later = [release.to_dict() for release in store.releases("site", first=40)]
    assert store.forget("site", before=40) == 40
    assert [release.to_dict() for release in store.releases("site")] == later
    found = store.verify("site", head=head)
    assert found.ok, found.faults
    assert found.settled == 60
    assert store.budget("site").spent == spent
    assert len(list(store.debits("site"))) == 60
    assert store.forget("site", before=40) == 0


def test_by_hand(store, tmp_path, capsys):
    from hubbub.cli.main import main

    store.close()
    assert main(["ledger", "forget", str(tmp_path / "site.db"), "site", "--before", "10", "--json"]) == 0
    assert '"forgotten": 10' in capsys.readouterr().out


def test_the_stream_goes_on(store):
    store.forget("site", before=60)
    assert list(store.releases("site")) == []
    filled(store, 5, first=60)
    assert [release.tick.index for release in store.releases("site")] == [60, 61, 62, 63, 64]
    assert store.verify("site").ok


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE forgotten SET digest = x'00' WHERE tick = 5",
        "UPDATE forgotten SET measured = 1 - measured WHERE tick = 3",
        "DELETE FROM forgotten WHERE tick = 5",
        "DELETE FROM releases WHERE tick = 50",
        "INSERT INTO forgotten SELECT stream, 50, zeroblob(32), 1 FROM releases WHERE tick = 50; "
        "DELETE FROM releases WHERE tick = 50",
    ],
)
def test_what_was_changed_is_found(store, tmp_path, change):
    store.forget("site", before=40)
    with sqlite3.connect(tmp_path / "site.db") as raw:
        raw.executescript(change)
    raw.close()
    assert not store.verify("site").ok


def test_a_released_number_cannot_come_back_changed(store, tmp_path):
    """Whoever puts another release in the place of one that was let go is found."""
    store.forget("site", before=40)
    with sqlite3.connect(tmp_path / "site.db") as raw:
        columns = "estimates, standard_errors, lower, upper, measurements, noise_variance"
        raw.execute(f"INSERT INTO releases (stream, tick, {columns}) SELECT stream, 5, {columns} FROM releases LIMIT 1")
    raw.close()
    assert not store.verify("site").ok


def test_releases_that_say_what_is_counted_stay(tmp_path):
    from tests.support.found_site import FoundSite, busy

    site = FoundSite(tmp_path).open()
    busy(site, minutes=12)
    for name in ("site.keys",):
        with pytest.raises(InvalidParameter, match="stay"):
            site.store.forget(name, before=5)
    site.close()
    site.store.close()


def test_large_maps_too(tmp_path):
    from hubbub.released import Grid

    place = Grid(100, 100)
    with Store.open(tmp_path / "city.db", marks=tmp_path / "marks") as store:
        with store.curate("city", Lpa(place, Guarantee.pure(Event(), 1))) as curator:
            for tick in range(40):
                curator.release(Counts.of(place, Tick(tick), np.zeros(len(place), int)))
        assert store.forget("city", before=35) == 35
        assert store.verify("city").ok
