"""`hubbub monitor --check` compares the settings with the store as a start would, and leaves no trace of it."""

from __future__ import annotations

import copy
import json
import sqlite3
from contextlib import closing

import pytest
import sqlalchemy as sa

from hubbub.cli.main import main
from hubbub.confidential import Counts
from hubbub.errors import GrantExhausted, GuaranteeChanged, LedgerBroken, StoreSetBack, StoreUnavailable
from hubbub.monitor.assembly import check, open_pipeline
from hubbub.monitor.settings import MonitorSettings
from hubbub.released import Tick
from hubbub.state import state_folder
from hubbub.store import Store

FILE = """
[stream]
name = "site"
tick = "10s"
[source]
kind = "counts"
[keys]
names = ["front", "news"]
[privacy]
epsilon = 1.0
max_ticks = 5
[store]
url = "FOLDER/site.db"
"""


@pytest.fixture
def facts(tmp_path):
    return {
        "stream": {"name": "site", "tick": "10s"},
        "source": {"kind": "counts"},
        "keys": {"names": ["front", "news"]},
        "privacy": {"epsilon": 1.0, "max_ticks": 5, "timeout": "5min"},
        "store": {"url": str(tmp_path / "site.db")},
    }


def changed(facts, table, **settings):
    other = copy.deepcopy(facts)
    other.setdefault(table, {}).update(settings)
    return MonitorSettings.model_validate({name: {k: v for k, v in t.items() if v != ""} for name, t in other.items()})


def begin(settings):
    with Store.open(settings.store.url) as store:
        open_pipeline(settings, store, on_release=lambda _: None, say=lambda _: None)[0].close()


def seen(folder):
    """Every file with its bytes and the time it was changed."""
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.iterdir() if path.is_file()}


def test_the_same_settings_are_in_order_and_nothing_is_touched(facts, tmp_path):
    begin(changed(facts, "stream"))
    before = seen(tmp_path)
    assert check(changed(facts, "stream")) == []
    assert seen(tmp_path) == before


@pytest.mark.parametrize(
    ("table", "settings", "told"),
    [
        ("stream", {"tick": "20s"}, "`tick` was 10 s when the stream was made, now 20 s"),
        ("privacy", {"epsilon": 2.0}, "another guarantee: `epsilon` was 1 when the stream was made, now 2"),
        ("privacy", {"delta": 1e-9}, "another guarantee: `delta` was 0"),
        ("privacy", {"epsilon": "", "rho": 0.5}, "another guarantee: `epsilon` was 1 .* now null; `rho` was null"),
        ("privacy", {"max_ticks": 6}, "`max_ticks` was 5"),
        ("keys", {"names": ["front", "sports"]}, "other keys"),
        ("method", {"name": "lpa"}, "another method"),
        ("ranges", {"window": 100}, "another guarantee"),
        ("grant", {"name": "visitors"}, "another grant"),
    ],
    ids=lambda given: next(iter(given)) if isinstance(given, dict) else "",
)
def test_what_a_start_would_refuse_is_refused(facts, tmp_path, table, settings, told):
    begin(changed(facts, "method", name="navigation"))
    asked = changed(changed_facts(facts, table), table, **settings)
    before = seen(tmp_path)
    with pytest.raises(GuaranteeChanged, match=told) as checked:
        check(asked)
    assert seen(tmp_path) == before
    with pytest.raises(GuaranteeChanged) as started:
        begin(asked)
    assert str(checked.value) == str(started.value)


def changed_facts(facts, table):
    """The method that the stream was made with, unless another is the change."""
    return facts if table == "method" else {**facts, "method": {"name": "navigation"}}


def test_while_a_monitor_runs(facts):
    settings = changed(facts, "stream")
    with Store.open(settings.store.url) as store:
        desk, _ = open_pipeline(settings, store, on_release=lambda _: None, say=lambda _: None)
        assert check(settings) == [], "its newest changes stand beside the file"
        with pytest.raises(GuaranteeChanged, match="`tick`"):
            check(changed(facts, "stream", tick="20s"))
        desk.close()


@pytest.fixture
def own_marks(tmp_path_factory, monkeypatch):
    """Marks that no other test writes meanwhile."""
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path_factory.mktemp("state")))


def test_a_store_that_was_set_back_is_refused_as_at_a_start(facts, tmp_path, own_marks):
    settings = changed(facts, "stream")
    path, copy_of_it = tmp_path / "site.db", tmp_path / "backup.db"
    begin(settings)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy_of_it)) as target:
        source.backup(target)
    with Store.open(settings.store.url) as store:
        desk, _ = open_pipeline(settings, store, on_release=lambda _: None, say=lambda _: None)
        curator = desk._curator
        curator.release(Counts.of(curator.keys, Tick(0), {"front": 3, "news": 4, "other": 0}))
        desk.close()
    assert check(settings) == []
    for end in ("", "-wal", "-shm"):
        (tmp_path / f"site.db{end}").unlink(missing_ok=True)
    copy_of_it.rename(path)
    before, marks = seen(tmp_path), seen(state_folder())
    with pytest.raises(StoreSetBack, match="was set back") as checked:
        check(settings)
    assert seen(tmp_path) == before
    assert seen(state_folder()) == marks
    with pytest.raises(StoreSetBack) as started:
        begin(settings)
    assert str(checked.value) == str(started.value)


def test_a_ledger_that_was_changed_is_refused_as_at_a_start(facts, tmp_path):
    settings = changed(facts, "stream")
    begin(settings)
    with closing(sqlite3.connect(tmp_path / "site.db")) as plain:
        plain.execute("UPDATE states SET settled = 5")
        plain.commit()
    for look in (check, begin):
        with pytest.raises(LedgerBroken, match="'site' is broken"):
            look(settings)


def test_another_stream_draws_of_what_is_left(facts, tmp_path):
    begin(changed(facts, "grant", name="visitors", share="2/3"))
    other = {**facts, "stream": {"name": "other", "tick": "10s"}}
    before = seen(tmp_path)
    assert check(changed(other, "grant", name="visitors", share="1/3")) == []
    with pytest.raises(GrantExhausted, match="has 1/3 of its budget left, and other would draw 1/2"):
        check(changed(other, "grant", name="visitors", share="1/2"))
    weaker = {**other, "privacy": {**facts["privacy"], "epsilon": 2.0}}
    with pytest.raises(GuaranteeChanged, match="'visitors' exists with another promise: `epsilon` was 1"):
        check(changed(weaker, "grant", name="visitors", share="1/3"))
    assert seen(tmp_path) == before


def test_a_store_that_is_not_there_is_told_and_not_made(facts, tmp_path):
    (remark,) = check(changed(facts, "stream"))
    assert "There is no store" in remark
    assert "fixes this promise" in remark
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StoreUnavailable, match=r"folder of .* does not exist"):
        check(changed(facts, "store", url=str(tmp_path / "nowhere" / "site.db")))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["empty", "older"])
def test_a_store_of_an_earlier_version_cannot_be_compared(facts, tmp_path, kind):
    if kind == "empty":
        with closing(sqlite3.connect(tmp_path / "site.db")) as connection:  # made, and not a table in it yet
            connection.execute("PRAGMA journal_mode=WAL")
    else:
        begin(changed(facts, "stream"))
        engine = sa.create_engine(f"sqlite:///{tmp_path / 'site.db'}")
        with engine.begin() as connection:
            connection.execute(sa.text("UPDATE hubbub_schema SET version = version - 1"))
        engine.dispose()
    before = seen(tmp_path)
    (remark,) = check(changed(facts, "stream"))
    assert "cannot be compared" in remark
    assert seen(tmp_path) == before


def test_what_is_no_store_or_does_not_answer_is_refused(facts, tmp_path):
    (tmp_path / "site.db").write_text("this is no database, whatever its name says\n" * 50)
    with pytest.raises(StoreUnavailable):
        check(changed(facts, "stream"))
    (tmp_path / "site.db").write_bytes(b"")
    with pytest.raises(StoreUnavailable, match=r"is empty \(0 bytes\)"):
        check(changed(facts, "stream"))
    assert (tmp_path / "site.db").stat().st_size == 0
    with pytest.raises(StoreUnavailable, match="does not answer"):
        check(changed(facts, "store", url="postgresql://ann@127.0.0.1:1/site"))  # nobody listens there


def test_the_command(tmp_path, capsys):
    path = tmp_path / "site.toml"
    path.write_text(FILE.replace("FOLDER", str(tmp_path)))
    assert main(["monitor", str(path), "--check"]) == 0
    shown = capsys.readouterr()
    assert "There is no store" in shown.err
    assert "is in order" in shown.out
    begin(MonitorSettings.model_validate(_toml(path)))
    assert main(["monitor", str(path), "--check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["stream"]["name"] == "site"
    path.write_text(path.read_text().replace("epsilon = 1.0", "epsilon = 0.5"))
    assert main(["monitor", str(path), "--check"]) == 1
    shown = capsys.readouterr()
    assert "`epsilon` was 1 when the stream was made, now 1/2" in " ".join(shown.err.split())
    assert "in order" not in shown.out
    path.write_text(path.read_text().replace(f"{tmp_path}/site.db", "postgresql://ann:s3cret@127.0.0.1:1/site"))
    assert main(["monitor", str(path), "--check"]) == 1
    shown = capsys.readouterr()
    assert "does not answer" in shown.err
    assert "s3cret" not in shown.out + shown.err


def _toml(path):
    import tomllib

    return tomllib.loads(path.read_text())
