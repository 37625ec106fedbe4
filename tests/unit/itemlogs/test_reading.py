"""Logs as they come: every file, every kind of rubbish; a typed error or the right answer."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hubbub as hb
from hubbub.itemlogs import read_items, reading


def pairs(log):
    """What was read, by the items' names and the sizes of users' sets: users have no names any more."""
    labels = log.labels.reveal()
    sets = {}
    for user, item in zip(log.users.reveal(), log.items.reveal(), strict=True):
        sets.setdefault(int(user), set()).add(labels[int(item)])
    return sorted(sorted(one) for one in sets.values())


ROWS = [("ann", "flu"), ("bob", "flu"), ("ann", "flu"), ("ann", "gout"), ("cy", "gout")]
EXPECTED = [["flu"], ["flu", "gout"], ["gout"]]
TABLE = pl.DataFrame(ROWS, schema=["user", "item"], orient="row")


def written(folder, kind):
    path = folder / f"log{kind}"
    if kind == ".csv":
        TABLE.write_csv(path)
    elif kind == ".parquet":
        TABLE.write_parquet(path)
    else:
        TABLE.write_ndjson(path)
    return path


@pytest.mark.parametrize("kind", [".csv", ".jsonl", ".ndjson", ".parquet"])
def test_every_kind_of_file(tmp_path, kind):
    path = written(tmp_path, kind)
    assert pairs(read_items(path)) == pairs(read_items(str(path))) == EXPECTED


@pytest.mark.parametrize(
    "table", [TABLE, TABLE.lazy(), TABLE.to_dict(as_series=False), pd.DataFrame(ROWS, columns=["user", "item"])]
)
def test_every_kind_of_table(table):
    assert pairs(read_items(table)) == EXPECTED


def test_missing_cells_of_pandas_are_missing():
    table = pd.DataFrame({"user": ["ann", None, "bob"], "item": ["flu", "flu", float("nan")]})
    assert pairs(read_items(table)) == [["flu"]]
    with pytest.raises(hb.InvalidInput, match="no column 'who'"):
        read_items(table, user="who")


def test_the_order_of_rows_does_not_matter():
    assert pairs(read_items(TABLE.reverse())) == EXPECTED


def test_rows_without_a_user_or_an_item_are_left_out():
    log = {"user": ["ann", None, "", "bob", "cy"], "item": ["flu", "flu", "flu", None, "   "]}
    assert pairs(read_items(log)) == [["flu"]]


def test_numbers_are_names_too():
    assert pairs(read_items({"user": [7, 8, 7], "item": [1.5, 2.0, 1.5]})) == [["1.5"], ["2.0"]]


def test_long_items_are_left_out(tmp_path):
    megabyte = "x" * 1_000_000
    path = tmp_path / "log.csv"
    path.write_text(f"user,item\nann,{megabyte}\nann,{'y' * 200}\nbob,{'y' * 201}\n")
    assert pairs(read_items(path)) == [["y" * 200]]
    assert pairs(read_items(path, max_length=3)) == []
    with pytest.raises(hb.InvalidParameter, match="max_length"):
        read_items(path, max_length=0)


@pytest.mark.parametrize(
    "bad", ["a\x00b", "a\x1b[31mred", "a\tb", "line\nbreak", "a\u202eb", "a\x9bb", "broken \ufffd"]
)
def test_control_characters_are_left_out(bad):
    assert pairs(read_items({"user": ["ann", "ann"], "item": [bad, "flu"]})) == [["flu"]]


def test_markup_is_text():
    nasty = "<script>alert(1)</script>"
    assert pairs(read_items({"user": ["ann"], "item": [nasty]})) == [[nasty]]


def test_bytes_that_are_no_text_are_left_out_and_no_two_users_become_one(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"user,item\nann,caf\xe9\nann,caf\xc3\xa9\n\xff,flu\n\xfe,flu\nbob,flu\n")
    assert pairs(read_items(path)) == [["café"], ["flu"]]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("log.txt", b"user,item\n", "none of .csv"),
        ("log.csv", b"", "is empty"),
        ("log.csv", b"who,item\nann,secret words\n", "no column 'user'"),
        ("log.csv", b"user,item\nann,secret words,more\n", "cannot be read"),
        ("log.parquet", b"no parquet at all", "cannot be read"),
        ("log.jsonl", b'{"user": "ann", "item": "secret words"}\n{"user": "bo\n', "cannot be read"),
    ],
)
def test_files_that_cannot_be_read_are_refused_without_a_word_of_them(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(hb.InvalidInput, match=words) as refused:
        read_items(path)
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_other_refusals(tmp_path):
    with pytest.raises(hb.InvalidInput, match="no file"):
        read_items(tmp_path / "gone.csv")
    with pytest.raises(hb.InvalidInput, match="got int"):
        read_items(7)
    with pytest.raises(hb.InvalidInput, match="differ in length"):
        read_items({"user": ["ann", "bob"], "item": ["a", "b", "c"]})
    with pytest.raises(hb.InvalidInput, match="same column"):
        read_items(TABLE, item="user")
    with pytest.raises(hb.InvalidInput, match="no plain values"):
        read_items({"user": ["ann"], "item": [["a", "b"]]})


def test_kinds_that_change_from_line_to_line(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(
        "\n".join(json.dumps(row) for row in [{"user": 1, "item": "a"}, {"user": "1", "item": 7}, {"item": "q"}])
    )
    assert pairs(read_items(path)) == [["7", "a"]]


def test_a_log_read_in_many_parts_is_the_same(monkeypatch, tmp_path):
    rng = np.random.default_rng(3)
    table = pl.DataFrame({"user": rng.integers(0, 40, 5000), "item": rng.integers(0, 60, 5000)})
    path = tmp_path / "log.parquet"
    table.write_parquet(path, row_group_size=100)
    whole = pairs(read_items(path))
    told = []
    monkeypatch.setattr(reading, "ROWS", 100)
    monkeypatch.setattr(reading, "GATHERED", 50)
    assert pairs(read_items(path, progress=told.append)) == whole
    assert len(told) > 5
    assert told[-1].endswith("5,000 rows so far")
    few = pairs(read_items(path, held=7))
    assert {len(one) for one in few} == {7}


def test_numbers_that_become_text_far_down(tmp_path):
    path = tmp_path / "log.jsonl"
    rows = [{"user": i, "item": 7} for i in range(3000)] + [{"user": "x", "item": "seven"}]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    assert len(pairs(read_items(path))) == 3001


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_files_out_of_spreadsheets(tmp_path, mark):
    path = tmp_path / "log.csv"
    path.write_text(f"\ufeffuser{mark}item\nann{mark}flu\n", encoding="utf-8")
    assert pairs(read_items(path)) == [["flu"]]


@pytest.mark.parametrize("odd", [0.5, float("nan"), "x", None, True, 10**30])
@pytest.mark.parametrize("where", [0, 4])
@pytest.mark.parametrize("column", ["user", "item"])
def test_how_a_cell_reads_does_not_hang_on_the_cells_beside_it(odd, where, column):
    """One user's fraction among whole numbers renamed everybody's items, and could make two users one."""
    log = {"user": [2**53 + i for i in range(4)], "item": [1, 2, 1, 2]}
    others = [["1"], ["1"], ["2"], ["2"]]
    assert pairs(read_items(log)) == others
    for name, cells in log.items():
        cells.insert(where, odd if name == column else "ann" if name == "user" else "flu")
    found = pairs(read_items(log))
    for one in others:
        found.remove(one)
    missing = odd is None or odd != odd
    assert found == ([] if missing else [["flu"]] if column == "user" else [[str(odd)]])


def test_broken_names_in_json_are_left_out_and_no_two_users_become_one(tmp_path):
    """A lone half of a surrogate pair is no text, and every such half reads alike."""
    lines = [f'{{"user": "a{i // 2}\\ud80{i % 2}", "item": "x"}}' for i in range(10)]
    (tmp_path / "log.jsonl").write_text("\n".join([*lines, '{"user": "bob", "item": "x"}']), encoding="utf-8")
    assert pairs(read_items(tmp_path / "log.jsonl")) == [["x"]]


@pytest.mark.parametrize("column", ["user", "item"])
@pytest.mark.parametrize("kind", [pl.Time, pl.Duration, pl.Datetime("us", "UTC")])
def test_times_are_refused_because_different_ones_may_read_alike(column, kind):
    table = pl.DataFrame({"user": [1, 2], "item": [1, 2]}).with_columns(pl.col(column).cast(kind))
    with pytest.raises(hb.InvalidInput, match="holds times"):
        read_items(table)
