"""Files of events and logs: whole, packed, broken, growing, rotated."""

from __future__ import annotations

import gzip
import os
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from tests.support.collected import collected

from hubbub.collect import Batch, Collector, Filters, Replay
from hubbub.collect.sources import AccessLog, CsvLines, JsonLines, LineFile, ParquetFile, event_file
from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.privacy.unit import Event


def line(who, second=0):
    return b'%s - - [01/Mar/2026:00:00:%02d +0000] "GET /%s HTTP/1.1" 200 1 "-" "M"\n' % (who, second, who)


def people(source):
    out = []
    for batch in source:
        out += batch.events["person"].to_list()
    return out


def test_a_log_is_read_plain_and_packed_from_any_position(tmp_path):
    data = b"".join(line(b"h%d" % i) for i in range(5))
    (tmp_path / "a.log").write_bytes(data + b"torn")
    (tmp_path / "b.log").write_bytes(gzip.compress(data))
    for name in ("a.log", "b.log"):
        with LineFile(tmp_path / name, AccessLog()) as source:
            assert not source.open({})  # nothing is proved by nothing
            assert source.frontier() is None
            batch = source.poll()
            assert batch.events["person"].to_list() == ["h0", "h1", "h2", "h3", "h4"]
            behind = batch.positions["file"].split(":", 1)
            assert int(behind[0]) == len(data)
            place = {"file": f"{3 * len(line(b'h0'))}:{behind[1]}"}
            assert source.open(place)
            assert people(source) == ["h3", "h4"]
        with LineFile(tmp_path / name, AccessLog()) as again:
            assert again.identity == source.identity
            assert again.open(place)
            assert people(again) == ["h3", "h4"]
        os.utime(tmp_path / name, (1, 1))
        with LineFile(tmp_path / name, AccessLog()) as another:
            assert not another.open(place)  # changed since: read from its beginning, and say so
            assert people(another) == ["h0", "h1", "h2", "h3", "h4"]


def test_a_packed_log_that_breaks_off_gives_what_it_holds(tmp_path):
    noise = os.urandom(3_000_000).hex().encode()  # does not pack away, so that the cut falls inside
    packed = gzip.compress(line(b"a") + noise + b"\n" + line(b"b"))
    (tmp_path / "cut.log").write_bytes(packed[: len(packed) // 2])
    with LineFile(tmp_path / "cut.log", AccessLog()) as source:
        batches = list(source)
    assert sum(batch.malformed for batch in batches) >= 1


def test_ten_megabytes_without_a_line_break_are_skipped(tmp_path):
    path = tmp_path / "long.log"
    path.write_bytes(line(b"a") + b"x" * 10_000_000 + b"\n" + line(b"b") + b"\x00\xff\x9c" * 400 + b"\n" + line(b"c"))
    with LineFile(path, AccessLog()) as source:
        batches = list(source)
    assert [who for batch in batches for who in batch.events["person"]] == ["a", "b", "c"]
    assert sum(batch.oversized for batch in batches) == 1
    assert sum(batch.malformed for batch in batches) == 1


def test_a_position_never_lies_inside_a_line_that_is_too_long(tmp_path):
    """Else its second half would be a line of its own after a restart."""
    path = tmp_path / "long.log"
    path.write_bytes(line(b"a") + b"x" * 17_000_000 + line(b"inside") + line(b"b"))
    with LineFile(path, AccessLog()) as source:
        places = [batch.positions for batch in source]
        for place in places:
            assert source.open(place)
            assert "inside" not in people(source)


def test_files_of_events_tell_the_same_in_each_format(tmp_path):
    frame = pl.DataFrame(
        {"when": ["2026-01-01T01:00:00+01:00", "oops", "1767225601"], "id": ["a", "b", "c,d"], "at": "/"}
    )
    frame.write_csv(tmp_path / "e.csv")
    frame.write_ndjson(tmp_path / "e.jsonl")
    frame.write_parquet(tmp_path / "e.parquet")
    (tmp_path / "e.csv.gz").write_bytes(gzip.compress((tmp_path / "e.csv").read_bytes()))
    for name in ("e.csv", "e.jsonl", "e.parquet", "e.csv.gz"):
        with event_file(tmp_path / name, {"time": "when", "person": "id", "path": "at"}) as source:
            batches = list(source)
        rows = pl.concat([batch.events.select("time", "person") for batch in batches]).rows()
        start = datetime(2026, 1, 1, tzinfo=UTC)
        assert [(time.astimezone(UTC), who) for time, who in rows] == [
            (start, "a"),
            (start + timedelta(seconds=1), "c,d"),
        ]
        assert sum(batch.malformed for batch in batches) == 1, name


def test_a_parquet_file_keeps_its_place_and_its_zone(tmp_path):
    pl.DataFrame({"time": [datetime(2026, 7, 1, 12)], "person": ["a"], "path": ["/"], "status": [200]}).write_parquet(
        tmp_path / "p.parquet"
    )
    with ParquetFile(tmp_path / "p.parquet", zone="Europe/Berlin") as source:
        batch = source.poll()
        assert batch.events["time"][0] == datetime(2026, 7, 1, 10, tzinfo=UTC)
        assert source.open(batch.positions)
        assert source.poll() is None
        assert source.frontier() is None
        assert not source.open({"row": "1:2:3"})
        assert source.poll().events.height == 1
        assert source.identity.endswith("p.parquet")


def test_a_damaged_parquet_file_is_a_clear_error_without_its_values(tmp_path):
    path = tmp_path / "damaged.parquet"
    pl.DataFrame(
        {"time": ["0"] * 50_000, "person": [f"planted-{i}" for i in range(50_000)], "path": "/"}
    ).write_parquet(path)
    data = bytearray(path.read_bytes())
    data[100:-20_000] = b"\x00" * (len(data) - 20_100)
    path.write_bytes(data)
    with ParquetFile(path) as source, pytest.raises(InvalidInput, match="damaged or was changed") as caught:
        source.poll()
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda p: event_file(p / "x.xls"), InvalidParameter, "no known kind"),
        (lambda p: event_file(p / "no.csv"), InvalidInput, "cannot be read"),
        (lambda p: ParquetFile(p / "no.parquet"), InvalidInput, "cannot be read"),
        (lambda _: CsvLines(b"a,b"), InvalidInput, "no column `time`"),
    ],
)
def test_files_that_cannot_be_read_are_clear_errors(tmp_path, make, error, words):
    with pytest.raises(error, match=words):
        make(tmp_path)


def test_a_parquet_file_without_the_column_is_refused(tmp_path):
    pl.DataFrame({"time": ["0"]}).write_parquet(tmp_path / "x.parquet")
    with pytest.raises(InvalidInput, match="no column `person`"):
        ParquetFile(tmp_path / "x.parquet")


def test_a_stray_quote_spoils_its_own_line_only():
    rows, malformed = CsvLines(b"time,person,path").parse(b'0,"a,/\n1,b,/\n2,"c, d",/\n')
    assert rows["person"].to_list() == ["b", "c, d"]
    assert malformed == 1


def test_json_names_can_be_given():
    rows, _ = JsonLines({"person": "who"}).parse(b'{"time": 5, "who": "a", "person": "b", "path": "/"}')
    assert rows["person"].to_list() == ["a"]


def test_a_whole_log_to_counts(tmp_path):
    path = tmp_path / "a.log"
    path.write_bytes(b"".join(line(b"h%d" % (i % 3), i) for i in range(30)))
    start = datetime(2026, 3, 1, tzinfo=UTC)
    engine = Collector(["/h0", "/h1"], Event(), timedelta(seconds=10), Replay(start, start + timedelta(seconds=30)))
    with LineFile(path, AccessLog()) as source:
        counts = list(collected(source, engine))
    assert [c.values.reveal().tolist() for c in counts] == [[4, 3, 3], [3, 4, 3], [3, 3, 4]]
    assert engine.statistics.for_curator()["counted"] == 30
    assert Filters.none().bots == ()
    assert Batch.of([]).events.height == 0
