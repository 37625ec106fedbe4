"""What a command writes is whole or not there, and never takes the place of what it was made from, or of a store."""

import os
import shutil
from contextlib import suppress

import pytest

import hubbub as hb
from hubbub.cli.main import main
from hubbub.errors import InvalidInput
from hubbub.files import check_output, whole_file, write_file
from hubbub.store import Store

COUNTS = "tick,flu\n0,500\n1,510\n2,490\n"
FILES = {
    "counts.csv": COUNTS,
    "queries.csv": "from,to\n0,1\n",
    "sessions.csv": "session,key\na,front\na,news\nb,front\n",
    "site.model": "a model",
    "log.csv": "user,item\nann,flu\nbob,flu\n",
    "log.card.json": "{}",
}
RELEASE = ("release", "counts.csv", "--epsilon", "1", "--method", "lpa")
RANGES = ("ranges", "counts.csv", "queries.csv", "--epsilon", "1")
FIT = ("fit", "sessions.csv", "--ticks", "5")
EXPORT = ("ledger", "export", "site.db", "site")
ITEMS = ("items", "log.csv", "--epsilon", "1", "--delta", "1e-6")
PLAN = ("plan", "--series", "counts.csv", "--epsilon", "1", "--method", "lpa", "--runs", "1")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    guarantee = hb.Guarantee.pure(hb.User(horizon=2), 1)
    with Store.open("site.db") as store:
        store.create_stream("site", hb.Keys(["flu"]), guarantee, "lpa")
    (tmp_path / "nowhere").mkdir()
    (tmp_path / "site.db-wal").touch()
    os.link("counts.csv", "hard.csv")
    os.symlink("counts.csv", "soft.csv")
    os.symlink("counts.csv", "soft.html")
    os.symlink("site.db", "soft.db")
    shutil.copy("site.db", "other.csv")
    shutil.copy("site.db", "other.html")
    return tmp_path


def everything(folder):
    """All bytes below a folder; what a reader of SQLite leaves beside a store is no loss."""
    files = [path for path in folder.iterdir() if path.is_file() and not path.name.endswith(("-wal", "-shm"))]
    return {path.name: path.read_bytes() for path in files}


@pytest.mark.parametrize(
    "words",
    [
        (*ITEMS, "--out", "log.csv"),
        (*ITEMS, "--out", "other.csv"),
        (*RELEASE, "--out", "counts.csv"),
        (*RELEASE, "--out", "./nowhere/../counts.csv"),
        (*RELEASE, "--out", "hard.csv"),
        (*RELEASE, "--out", "soft.csv"),
        (*RELEASE, "--out", "other.csv"),
        (*RELEASE, "--plot", "soft.html"),
        (*RELEASE, "--plot", "other.html"),
        (*RANGES, "--out", "counts.csv"),
        (*RANGES, "--out", "queries.csv"),
        (*RANGES, "--out", "other.csv"),
        (*FIT, "--out", "sessions.csv"),
        (*FIT, "--out", "site.db"),
        (*FIT, "--out", "soft.db"),
        (*FIT, "--out", "site.db-wal"),
        (*FIT, "--out", "/dev/null"),
        (*FIT, "--out", "."),
        (*EXPORT, "--output", "site.db"),
        (*EXPORT, "--output", "soft.db"),
        (*EXPORT, "--output", "other.csv"),
        (*EXPORT, "--json", "--output", "other.csv"),
        ("ledger", "export", "sqlite:///site.db", "site", "--output", "site.db"),
        (*PLAN, "--plot", "soft.html"),
        (*PLAN, "--plot", "other.html"),
        ("init", "site.db", "--force"),
        ("reproduce", "events", "--quick", "--out", "counts.csv"),
    ],
    ids=" ".join,
)
def test_nothing_that_is_there_is_lost(here, capsys, words):
    before = everything(here)
    assert main(list(words)) == 2
    said = capsys.readouterr()
    assert "error" in said.err + said.out
    assert everything(here) == before


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ((*RELEASE, "--out", "new.csv"), "new.csv"),
        ((*RELEASE, "--plot", "new.html"), "new.html"),
        ((*RANGES, "--out", "old.csv"), "old.csv"),
        ((*FIT, "--out", "site.model"), "site.model"),
        ((*EXPORT, "--output", "old.csv"), "old.csv"),
        ((*PLAN, "--plot", "new.html"), "new.html"),
    ],
    ids=" ".join,
)
def test_what_may_be_written_is_written(here, words, name):
    (here / "old.csv").write_text("of an earlier run")
    before = everything(here)
    assert main(list(words)) == 0
    after = everything(here)
    assert {one for one in after if after[one] != before.get(one)} == {name}, "no draft is left behind"


def test_a_series_is_not_written_over_its_counts(here):
    series = hb.release_series("counts.csv", epsilon=1, method="lpa")
    with pytest.raises(InvalidInput, match="is the file that is read"):
        series.write("hard.csv")
    with pytest.raises(InvalidInput, match="is the file that is read"):
        series.plot("soft.html")
    assert (here / "counts.csv").read_text() == COUNTS
    hb.release_series({"flu": [1, 2]}, epsilon=1).write(here / "counts.csv")  # a file like any other


def test_a_file_that_fails_half_way_leaves_what_was_there(here):
    with suppress(RuntimeError), whole_file(here / "counts.csv") as file:
        file.write(b"half")
        raise RuntimeError
    assert (here / "counts.csv").read_text() == COUNTS
    assert [path.name for path in here.iterdir() if path.name.startswith(".")] == []


def test_a_store_that_came_while_a_file_was_written_stays(here):
    with pytest.raises(InvalidInput, match="is a database"), whole_file(here / "new.csv"):
        shutil.copy(here / "site.db", here / "new.csv")
    assert (here / "new.csv").read_bytes() == (here / "site.db").read_bytes()


def test_a_disk_that_refuses_leaves_what_was_there(here, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InvalidInput, match="cannot be written: No space left on device"):
        write_file(here / "counts.csv", b"new")
    assert (here / "counts.csv").read_text() == COUNTS
    assert [path.name for path in here.iterdir() if path.name.startswith(".")] == []


def test_links_and_permissions_stay_as_they_are(here):
    (here / "target.csv").write_text("old")
    (here / "target.csv").chmod(0o640)
    (here / "link.csv").symlink_to("target.csv")
    write_file(here / "link.csv", b"new")
    assert (here / "link.csv").is_symlink()
    assert (here / "target.csv").read_text() == "new"
    assert (here / "target.csv").stat().st_mode & 0o777 == 0o640
    (here / "dangling.csv").symlink_to("later.csv")
    write_file(here / "dangling.csv", b"new")
    assert (here / "later.csv").read_text() == "new"


def test_a_place_that_cannot_be_looked_at(here):
    with pytest.raises(InvalidInput, match="cannot be written: Not a directory"):
        check_output(here / "counts.csv" / "new.csv")
    with pytest.raises(InvalidInput, match="cannot be written: File name too long"):
        write_file(here / ("x" * 300), b"")
