"""The common and combined log formats of web servers."""

from __future__ import annotations

import re

import polars as pl

from hubbub.collect.batch import TIME

_STAMP = "%d/%b/%Y:%H:%M:%S %z"
_WIDTH = len("01/Aug/1995:00:00:01 -0400] ")
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
        if fields.height != lines.count(b"\n"):  # a sign that the reader counts as a line break, or none
            return self._one_by_one(lines.split(b"\n")[:-1])
        requests = _requests(fields["f1"].unique())
        head, request, rest, gap, agent = (pl.col(f"f{i}") for i in (0, 1, 2, 4, 5))
        status = rest.str.slice(1, 3).cast(pl.Int32, strict=False)
        cut = fields.select(  # in one go: Polars works on the columns at the same time
            head.str.slice(-_WIDTH, _WIDTH - 2).str.to_datetime(_STAMP, strict=False, time_unit="us").alias("time"),
            head.str.splitn(" ", 2).struct.field("field_0").alias("person"),
            request.replace_strict(requests["request"], pl.int_range(len(requests), eager=True)).alias("number"),
            agent.alias("agent"),
            status.alias("status"),
            (
                head.str.ends_with("] ")
                & (head.str.slice(-_WIDTH - 1, 1) == "[")
                & rest.str.starts_with(" ")
                & status.is_between(100, 999)
                & ((rest.str.len_bytes() == 4) | (rest.str.slice(4, 1) == " "))
                & ~request.str.ends_with("\\")
                & (gap.is_null() | ((gap == " ") & ~agent.str.ends_with("\\")))
            ).alias("right"),
        )
        number = cut["number"]
        path, method = requests["path"].gather(number), requests["method"].gather(number)
        good = cut["right"].fill_null(False) & cut["time"].is_not_null() & path.is_not_null()
        good &= cut["person"].str.len_bytes() > 0
        table = cut.select("time", "person", path.alias("path"), "agent", method.alias("method"), "status")
        if good.all():
            return table.with_columns(pl.col("time").cast(TIME)), 0
        every = lines.split(b"\n")
        again, malformed = self._one_by_one([every[i] for i in (~good).arg_true()])
        # Repaired lines go back to their places: order decides which page of a tick is the last.
        places = pl.concat([good.arg_true(), (~good).arg_true().filter(again["time"].is_not_null())])
        kept = pl.concat([table.filter(good).with_columns(pl.col("time").cast(TIME)), again.drop_nulls("time")])
        return kept[places.arg_sort()], malformed

    def _one_by_one(self, lines: list[bytes]) -> tuple[pl.DataFrame, int]:
        """One row a line, empty where it is malformed."""
        found = [_SLOW.match(line.decode("utf-8", "replace")) for line in lines]
        requests = _requests(pl.Series([match[3] if match else "" for match in found], dtype=pl.String))
        stamps = pl.Series([match[2] if match else None for match in found], dtype=pl.String)
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
    # The first line decides how many columns there are: give one with all seven, and drop it.
    return pl.read_csv(
        b'""""""\n' + lines,
        separator='"',
        quote_char=None,
        has_header=False,
        new_columns=[f"f{i}" for i in range(7)],
        infer_schema=False,
        truncate_ragged_lines=True,
        encoding="utf8-lossy",
    ).slice(1)


def _requests(different: pl.Series) -> pl.DataFrame:
    """Method and path of each different request line; the path may hold spaces, the protocol may be missing."""
    parts = different.str.splitn(" ", 2).struct.unnest()
    path = parts["field_1"].str.replace(r" HTTP/[0-9.]+$", "")
    method = parts["field_0"]
    sound = path.is_not_null() & (path.str.len_bytes() > 0) & method.str.contains("^[A-Z]{1,16}$")
    frame = pl.DataFrame({"request": different, "method": method, "path": path, "sound": sound.fill_null(False)})
    return frame.with_columns(pl.when("sound").then(pl.col("path", "method")))
