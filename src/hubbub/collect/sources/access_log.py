"""The common and combined log formats of web servers."""

from __future__ import annotations

import polars as pl

from hubbub.collect.layout import PATHS, TIME
from hubbub.collect.sources.lines import pieces, separate

_STAMP = "[%d/%b/%Y:%H:%M:%S %z] "
_WIDTH = len("[01/Aug/1995:00:00:01 -0400] ")
_SHORTEST = len('h [01/Aug/1995:00:00:01 -0400] "G /" 200')
_PIECE = 2 * 2**20
_PARTS = (
    7  # three pairs of quotation marks cut a line into seven parts: (head) request (status) referrer () agent (rest)
)
_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_ESCAPED = rf'^([^"]*)(?:{_QUOTED}([^"]*)(?:{_QUOTED}([^"]*)(?:{_QUOTED}(.*))?)?)?(.*)$'
_TEXTS = ("person", "path", "agent", "method")
_NONE = pl.DataFrame([pl.Series("time", [], TIME), *(pl.Series(name, [], pl.String) for name in _TEXTS)]).with_columns(
    pl.Series("status", [], pl.Int32)
)


class AccessLog:
    """`host ident user [time zone] "method path protocol" status bytes "referrer" "agent"`, the last two optional.

    What a line becomes depends on that line alone. All lines take the same way, each by itself: cut at the quotation
    marks, then each part is looked at. Only for the cut there are two tools, and the line alone says which: one that
    holds an escaped quotation mark (`\\"`) is cut by a regular expression (of a kind that needs time in proportion to
    the line, never more), any other by a plain split, which gives the same. A line that breaks off inside quotation
    marks is malformed. Times become UTC by their own offset.

    >>> line = b'10.0.0.1 - - [01/Aug/1995:00:00:01 -0400] "GET /a?b HTTP/1.0" 200 12 "-" "Mozilla"'
    >>> events, malformed = AccessLog().parse(line + b"\\n" + b"noise")
    >>> events.row(0)[1:], malformed
    (('10.0.0.1', '/a?b', 'Mozilla', 'GET', 200), 1)
    """

    layout = PATHS

    def parse(self, lines: bytes) -> tuple[pl.DataFrame, int]:
        tables, malformed = [], 0
        for piece in pieces(lines, _PIECE):  # small enough for the processor's caches: twice as fast
            table, wrong = self._parse(piece)
            tables.append(table)
            malformed += wrong
        return pl.concat(tables) if tables else _NONE, malformed

    def _parse(self, lines: memoryview) -> tuple[pl.DataFrame, int]:
        every = separate(lines)
        texts = every.filter(every.str.len_bytes() >= _SHORTEST)  # cheap: noise is mostly short
        if not len(texts):
            return _NONE, len(every)
        fields = _cut(texts)
        requests = _requests(fields["request"].unique())
        beginnings = _beginnings(fields["status"].str.head(5).unique())
        before = pl.col("head").str.head(-_WIDTH)
        cut = fields.select(
            pl.col("head").str.tail(_WIDTH).str.to_datetime(_STAMP, strict=False, time_unit="us").alias("time"),
            before.str.splitn(" ", 2).struct.field("field_0").alias("person"),
            pl.col("request").replace_strict(requests["request"], pl.int_range(len(requests), eager=True)).alias("n"),
            pl.when(pl.col("gap") == " ").then("agent").alias("agent"),
            pl.col("status").str.head(5).replace_strict(beginnings["text"], beginnings["status"]).alias("status"),
            (~pl.col("torn") & before.str.ends_with(" ")).alias("whole"),
        )
        path, method = requests["path"].gather(cut["n"]), requests["method"].gather(cut["n"])
        table = cut.select(
            pl.col("time").cast(TIME), "person", path.alias("path"), "agent", method.alias("method"), "status"
        )
        good = cut["whole"] & table["time"].is_not_null() & path.is_not_null() & table["status"].is_not_null()
        good &= table["person"].str.len_bytes() > 0
        if not good.all():
            table = table.filter(good)
        return table, len(every) - table.height


def _cut(texts: pl.Series) -> pl.DataFrame:
    """The parts of each line; `torn` where it breaks off inside quotation marks. Missing parts are empty or null."""
    parts = texts.str.splitn('"', _PARTS).struct.unnest()
    parts.columns = [f"f{i}" for i in range(_PARTS)]
    # An odd number of marks. Behind the seventh part nothing matters.
    odd = pl.any_horizontal(pl.col(f"f{i}").is_not_null() & pl.col(f"f{i + 1}").is_null() for i in (1, 3, 5))
    parts = parts.with_columns(odd.alias("torn"))
    escaped = texts.str.contains('\\"', literal=True)
    if escaped.any():
        # Lines go back to their places: order decides which page of a tick is the last.
        places = pl.concat([(~escaped).arg_true(), escaped.arg_true()]).arg_sort()
        parts = pl.concat([parts.filter(~escaped), _cut_escaped(texts.filter(escaped))])[places]
    return parts.select(
        pl.col("f0").alias("head"),
        pl.col("f1").fill_null("").alias("request"),
        pl.col("f2").fill_null("").alias("status"),
        pl.col("f4").alias("gap"),
        pl.col("f5").alias("agent"),
        pl.col("torn"),
    )


def _cut_escaped(texts: pl.Series) -> pl.DataFrame:
    groups = texts.str.extract_groups(_ESCAPED).struct.unnest()
    groups.columns = [*(f"f{i}" for i in range(_PARTS)), "left"]
    return groups.with_columns((pl.col("left") != "").fill_null(True).alias("torn")).drop("left")


def _beginnings(texts: pl.Series) -> pl.DataFrame:
    """The status in ` 200 ` or ` 200`, the beginning of what follows the request; none in anything else."""
    status = texts.str.extract(r"^ ([1-9][0-9]{2})(?:\s|$)").cast(pl.Int32)
    return pl.DataFrame({"text": texts, "status": status})


def _requests(different: pl.Series) -> pl.DataFrame:
    """Method and path of each different request line; the path may hold spaces, the protocol may be missing."""
    parts = different.str.splitn(" ", 2).struct.unnest()
    path = parts["field_1"].str.replace(r" HTTP/[0-9.]+$", "")
    method = parts["field_0"]
    sound = path.is_not_null() & (path.str.len_bytes() > 0) & method.str.contains("^[A-Z]{1,16}$")
    frame = pl.DataFrame({"request": different, "method": method, "path": path, "sound": sound.fill_null(False)})
    return frame.with_columns(pl.when("sound").then(pl.col("path", "method")))
