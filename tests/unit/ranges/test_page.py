"""The page about ranges: its first lines run, and its table is what the strategies give."""

import re
from pathlib import Path

import numpy as np
import pytest

from hubbub.privacy import Event, Guarantee
from hubbub.ranges import QueryHistory, Toeplitz
from hubbub.ranges.calibration import Calibration
from hubbub.ranges.chooser import make_chooser

PAGE = (Path(__file__).parents[3] / "docs" / "ranges.md").read_text()
METHODS = ("rtp", "rtp-mm", "hq-rtp", "hq-rtp-mm", "auto")


def test_the_first_lines_run():
    block = next(b for b in re.findall(r"(?:^ {4}.*\n|^\n)+", PAGE, re.MULTILINE) if "import" in b)
    said = []
    exec(re.sub("^ {4}", "", block, flags=re.MULTILINE), {"print": lambda *words: said.append(str(*words))})
    assert re.match(r"news, ticks 500 to 1499: 2[34]\d,\d+ ± 330", said[0])


@pytest.mark.parametrize("row", re.findall(r"^\| ([\d,]+) \| (.*) \|$", PAGE, re.MULTILINE), ids=lambda row: row[0])
def test_the_table_is_true(row):
    length = int(row[0].replace(",", ""))
    *written, chose = [cell.strip() for cell in row[1].split("|")]
    calibration = Calibration(Guarantee.pure(Event(), 1))
    history = QueryHistory(32_768)
    history.record(length)
    for method, cell in zip(METHODS, written, strict=True):
        strategy = make_chooser(method, 32_768, calibration).choose(history)
        error = calibration.error(strategy, strategy.mean_uses(np.array([length]))[0])
        assert float(cell.replace(",", "")) == pytest.approx(error, rel=0.02)
    assert strategy.title.startswith(chose)


REACHES = (
    r"^\| ([\d,]+) ticks \| ([\d,]+) ticks \| ([\d.]+) \| ([\d,]+) ticks, reach ([\d,]+) \| ([\d.]+) \| ([\d.]+) \|$"
)


@pytest.mark.parametrize("row", re.findall(REACHES, PAGE, re.MULTILINE), ids=lambda row: row[0])
def test_the_table_of_reaches_is_true(row):
    length, plain, before, size, reach, after, part = (float(cell.replace(",", "")) for cell in row)
    calibration = Calibration(Guarantee.zcdp(Event(), "1/2"))
    history = QueryHistory(32_768)
    history.record(int(length))

    def error(strategy):
        return calibration.error(strategy, strategy.mean_uses(np.array([int(length)]))[0])

    best = min((Toeplitz(2**i) for i in range(6, 16)), key=error)
    chosen = make_chooser("auto", 32_768, calibration).choose(history)
    assert (best.size, chosen.size, chosen.reach) == (plain, size, reach)
    assert [error(best), error(chosen)] == pytest.approx([before, after], abs=0.051)
    assert error(chosen) / error(best) == pytest.approx(part, abs=0.0051)


def test_what_the_live_monitor_gains_and_costs_is_as_written():
    from benchmarks.bench_live_ranges import errors

    written = re.findall(r"^\| ([\d,]+) ticks? \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE)
    measured = errors()
    assert len(written) == len(measured)
    for (length, ours, _, ratio), row in zip(written, measured, strict=True):
        assert f"of {length} ticks" in row["what"]
        assert float(ours) == pytest.approx(row["value"], rel=0.03)
        assert float(ratio) == pytest.approx(row["ratio"], abs=0.02)
