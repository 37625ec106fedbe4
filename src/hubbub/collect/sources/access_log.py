"""The common and combined log formats of web servers."""

from __future__ import annotations

import re

import polars as pl

from hubbub.collect.batch import TIME

_STAMP = "[%d/%b/%Y:%H:%M:%S %z] "
_WIDTH = len("[01/Aug/1995:00:00:01 -0400] ")
_MARKS = b'""""""'
_FIELDS = [0, 1, 2, 4, 5]  # all between quotation marks but the referrer and what follows the last
_SLOW = re.compile(
    r'([^ "]+) [^"]*\[([^\]"]{26})\] "((?:[^"\\]|\\.)*)" (\d{3})(?: \S*)?'
    r'(?: "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)")?(?:\s|$)'
)


class AccessLog:
    """`host ident user [time zone] "method path protocol" status bytes "referrer" "agent"`, the last two optional.

    Nearly all lines are cut at their quotation marks by a reader for tables, which is told of no quotes: a line break
    always ends a line, so no broken line can swallow the next. What does not look right is tried again, one line at a
    time, with escaped quotes (`\\"`) allowed; what fails then is malformed. Times become UTC by their own offset.

    >>> line = b'10.0.0.1 - - [01/Aug/1995:00:00:01 -0400] "GET /a?b HTTP/1.0" 200 12 "-" "Mozilla"'
    >>> events, malformed = AccessLog().parse(line + b"\\n" + b"noise")
    >>> events.row(0)[1:], malformed
    (('10.0.0.1', '/a?b', 'Mozilla', 'GET', 200), 1)
    """

    def parse(self, lines: bytes) -> tuple[pl.DataFrame, int]:
        if not lines:
            return self._one_by_one([])
        if not lines.endswith(b"\n"):
            lines += b"\n"
        fields = _cut(lines)
        requests = _requests(fields["f1"].unique())
        head, request, rest, gap, agent = (pl.col(f"f{i}") for i in (0, 1, 2, 4, 5))
        beginnings = _beginnings(fields["f2"].str.head(5).unique())
        cut = fields.select(  # in one go: Polars works on the columns at the same time
            head.str.tail(_WIDTH).str.to_datetime(_STAMP, strict=False, time_unit="us").alias("time"),
            head.str.splitn(" ", 2).struct.field("field_0").alias("person"),
            request.replace_strict(requests["request"], pl.int_range(len(requests), eager=True)).alias("number"),
            agent.alias("agent"),
            rest.str.head(5).replace_strict(beginnings["text"], beginnings["status"]).alias("status"),
            (gap.is_null() | ((gap == " ") & ~agent.str.ends_with("\\"))).alias("right"),
        )
        number = cut["number"]
        path, method = requests["path"].gather(number), requests["method"].gather(number)
        good = cut["right"].fill_null(False) & cut["time"].is_not_null() & path.is_not_null()
        good &= cut["status"].is_not_null()
        good &= cut["person"].str.len_bytes() > 0
        table = cut.select("time", "person", path.alias("path"), "agent", method.alias("method"), "status")
        if good.all():
            return table.with_columns(pl.col("time").cast(TIME)), 0
        every = lines.split(b"\n")[:-1]
        if fields.height != len(every):  # a sign that the reader takes for a line break, or a line it left out
            again, malformed = self._one_by_one(every)
            return again.drop_nulls("time"), malformed
        again, malformed = self._one_by_one([every[i] for i in (~good).arg_true()])
        # Repaired lines go back to their places: order decides which page of a tick is the last.
        places = pl.concat([good.arg_true(), (~good).arg_true().filter(again["time"].is_not_null())])
        kept = pl.concat([table.filter(good).with_columns(pl.col("time").cast(TIME)), again.drop_nulls("time")])
        return kept[places.arg_sort()], malformed

    def _one_by_one(self, lines: list[bytes]) -> tuple[pl.DataFrame, int]:
        """One row a line, empty where it is malformed."""
        found = [_SLOW.match(line.decode("utf-8", "replace")) for line in lines]
        requests = _requests(pl.Series([match[3] if match else "" for match in found], dtype=pl.String))
        stamps = pl.Series([f"[{match[2]}] " if match else None for match in found], dtype=pl.String)
        table = pl.DataFrame(
            {
                "time": stamps.str.to_datetime(_STAMP, strict=False, time_unit="us").cast(TIME),
                "person": pl.Series([match[1] if match else None for match in found], dtype=pl.String),
                "path": requests["path"],
                "agent": pl.Series([match[5] if match else None for match in found], dtype=pl.String),
                "method": requests["method"],
                "status": pl.Series([int(match[4]) if match else None for match in found], dtype=pl.Int32),
            }
        )
        wrong = table["time"].is_null() | table["path"].is_null()
        return table.with_columns(time=pl.when(~wrong).then(pl.col("time"))), int(wrong.sum())


def _cut(lines: bytes) -> pl.DataFrame:
    # The first line decides how many columns there are; where it is odd, put one with all seven before it.
    odd = lines[: lines.find(b"\n")].count(b'"') != len(_MARKS)
    fields = pl.read_csv(
        _MARKS + b"\n" + lines if odd else lines,
        separator='"',
        quote_char=None,
        has_header=False,
        columns=_FIELDS,
        infer_schema=False,
        truncate_ragged_lines=True,
        encoding="utf8-lossy",
    )
    fields.columns = [f"f{i}" for i in _FIELDS]
    return fields.slice(1) if odd else fields


def _beginnings(texts: pl.Series) -> pl.DataFrame:
    """The status in ` 200 ` or ` 200`, the beginning of what follows the request; none in anything else."""
    status = texts.str.extract("^ ([1-9][0-9]{2}) ?$").cast(pl.Int32)
    return pl.DataFrame({"text": texts, "status": status})


def _requests(different: pl.Series) -> pl.DataFrame:
    """Method and path of each different request line; the path may hold spaces, the protocol may be missing."""
    parts = different.str.splitn(" ", 2).struct.unnest()
    path = parts["field_1"].str.replace(r" HTTP/[0-9.]+$", "")
    method = parts["field_0"]
    # A backslash at the end means that the quotation mark behind it did not end the request.
    sound = (
        path.is_not_null()
        & ~different.str.ends_with("\\")
        & (path.str.len_bytes() > 0)
        & method.str.contains("^[A-Z]{1,16}$")
    )
    frame = pl.DataFrame({"request": different, "method": method, "path": path, "sound": sound.fill_null(False)})
    return frame.with_columns(pl.when("sound").then(pl.col("path", "method")))
