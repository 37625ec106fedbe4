"""Every cell of the store with something in it that Hubbub never writes: typed errors or right answers, no crash."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hubbub.cli.main import main
from hubbub.confidential import Counts, Cut
from hubbub.errors import HubbubError, LedgerBroken
from hubbub.privacy import Grant, Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Keys, Tick
from hubbub.store import Store, schema

KEYS = Keys(["front", "news", "sports"])
GRANT = Grant("visitors", Guarantee.pure(Session(max_ticks=4), 1), "visitors of example.org")
TEXTS: dict[str, Any] = {"a word": "x", "nothing": "", "bytes": b"\xff\x00", "{": "{", "power": "1e999999999"}
NUMBERS: dict[str, Any] = {"a word": "x", "bytes": b"\xff\x00", "a fraction": 1.5, "huge": 2**62, "negative": -7}
CELLS = [(table, column) for table in schema.metadata.sorted_tables for column in table.c]

NOT_COVERED = {
    *(("debits", name) for name in ("owner",)),
    *(("streams", name) for name in ("created",)),
    *(("grants", name) for name in ("created",)),
    *((table.name, column.name) for table, column in CELLS if table.name in ("tokens", "queries", "cuts", "answers")),
    *((table.name, column.name) for table, column in CELLS if table.name in ("earlier", "hubbub_schema")),
}
"""What no hash covers (docs/store.md); of these, too, nothing may end in a crash."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two streams of one grant and one of its own; a row in every table."""
    path = tmp_path_factory.mktemp("sound") / "site.db"
    with Store.open(path) as store:
        for name, part in (("site", GRANT.part("1/2")), ("twin", GRANT.part("1/4"))):
            with store.curate(name, Lpa(KEYS, part.guarantee), part=part) as curator:
                for tick in range(3):
                    counts = Counts.of(KEYS, Tick(tick), [812, 240, 97])
                    curator.release(counts) if tick != 1 else curator.predict(Tick(tick))
                if name == "site":
                    curator.change_domain(["front", "news"], released=("site", 2))
                    curator.release(Counts.of(Keys(["front", "news"]), Tick(3), [812, 240]))
        with store.curate("alone", Lpa(KEYS, GRANT.guarantee)) as curator:
            curator.release(Counts.of(KEYS, Tick(0), [1, 2, 3]))
        store.forget("twin", before=1)
        store.tokens.add("reader")
        store.record_query("site", 3)
        store.keep_cut("site", Cut(0, datetime(2026, 1, 1, tzinfo=UTC), {"log": 5}, "log"))
        store.remember_answer("site", b"k" * 32, b"b" * 32, 0)
        with store.database.write() as connection:
            connection.execute(schema.earlier.insert().values(stream=3, counted=0))
    return path


@pytest.fixture
def change(sound: Path, tmp_path: Path) -> Callable[[str, str, Any], Path | None]:
    """A copy of the store with one cell changed, in the first row; None where the table itself refuses the value."""

    def changed(table: str, column: str, value: Any) -> Path | None:
        path = tmp_path / "site.db"
        for end in ("", "-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        shutil.copy(sound, path)
        with closing(sqlite3.connect(path)) as connection, connection:
            try:
                connection.execute(
                    f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT min(rowid) FROM {table})", (value,)
                )
            except sqlite3.Error:
                return None
        return path

    return changed


def answers(path: Path) -> None:
    """All that a server or a monitor reads of a store; whatever it refuses is one of ours."""
    with suppress(HubbubError), Store.open(path, read_only=True, marks=path.parent) as store:
        for ask in (
            lambda: list(store.releases("site")), lambda: store.latest("site", 2), lambda: store.state("site"),
            lambda: store.budget("site"), lambda: store.doubts("site"), lambda: store.domain("site"),
            lambda: store.recent_queries("site"), lambda: store.cuts("site"), lambda: store.answer("site", b"k" * 32),
            lambda: store.tokens.list(), lambda: store.decisions("site"), lambda: store.grants(),
            lambda: store.streams(), lambda: store.ledger("site").checked_position(), lambda: store.total("visitors"),
        ):  # fmt: skip
            with suppress(HubbubError):
                ask()


@pytest.mark.parametrize(("table", "column"), CELLS, ids=lambda one: one.name)
def test_no_cell_ends_in_a_crash(
    change: Callable[[str, str, Any], Path | None], capsys: pytest.CaptureFixture[str], table: Any, column: Any
) -> None:
    tried = 0
    for said, value in (NUMBERS if column.type.python_type in (int, float) else TEXTS).items():
        path = change(table.name, column.name, value)
        if path is None:
            continue
        tried += 1
        shows = [["show", path, "site", "--json"]] if table.name in ("debits", "states", "streams") else []
        for words in (["verify", path], ["export", path, "site", "--json"], *shows):
            code = main(["ledger", *map(str, words)])
            shown = capsys.readouterr()
            assert code in (0, 1), (said, words, shown)
            if words[0] == "verify" and (table.name, column.name) not in NOT_COVERED:
                assert code == 1, (said, words, shown)
        answers(path)
    assert tried


FOUND = [
    ("debits", "tick", "x", "`tick` in `debits` (stream 'site'"),
    ("debits", "epsilon", "1/0", "tick 0"),
    ("debits", "epsilon", "nan", "tick 0"),
    ("debits", "start", "x", "`start` in `debits` (stream 'site', tick 0)"),
    ("streams", "created", "x", "`created` in `streams` (stream 'site')"),
    ("streams", "share", "1/0", "`share` in `streams` (stream 'site')"),
    ("streams", "share", "abc", "`share` in `streams` (stream 'site')"),
    ("streams", "options", "{", "stream 'site'"),
    ("streams", "options", "[]", "stream 'site'"),
    ("grants", "guarantee", "[]", "grant 'visitors'"),
]


@pytest.mark.parametrize(("table", "column", "value", "words"), FOUND, ids=lambda one: str(one)[:12])
def test_verify_names_what_was_changed_and_goes_on_with_the_others(
    change: Callable[[str, str, Any], Path | None],
    capsys: pytest.CaptureFixture[str],
    table: str,
    column: str,
    value: str,
    words: str,
) -> None:
    """As it was: a Python traceback, and nothing was said of the other streams."""
    path = change(table, column, value)
    assert main(["ledger", "verify", str(path)]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert words in out
    assert "site: BROKEN at" in out
    assert "alone: 1 lines are as they were written" in out
    assert main(["ledger", "verify", str(path), "site"]) == 1
    assert "site: BROKEN at" in capsys.readouterr().out


def test_another_layout_than_any_is_no_layout(change: Callable[[str, str, Any], Path | None]) -> None:
    """Layout -1, opened for writing, would have run the last step once more."""
    for value in ("x", -1, 0, 1.5):
        path = change("hubbub_schema", "version", value)
        assert path is not None
        for read_only in (True, False):
            with pytest.raises(LedgerBroken, match="`version` in `hubbub_schema`"):
                Store.open(path, read_only=read_only)


def test_show_says_that_a_ledger_was_changed(
    change: Callable[[str, str, Any], Path | None], capsys: pytest.CaptureFixture[str]
) -> None:
    """As it was: the changed amount in the table, no word about it, and 0."""
    path = change("debits", "epsilon", "1/100")
    for words in ([], ["site"]):
        assert main(["ledger", "show", str(path), *words]) == 1
        said = capsys.readouterr().out
        assert "site: BROKEN at tick 0: the debit was changed after it was written" in said
        assert "`hubbub ledger verify` checks all" in said
    assert main(["ledger", "show", str(path), "site", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["faults"]
    assert main(["ledger", "show", str(path), "alone"]) == 0
