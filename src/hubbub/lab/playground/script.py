"""The Python that repeats a run of the Playground."""

from __future__ import annotations

from hubbub.lab.playground.asked import RunAsked, options_asked
from hubbub.lab.playground.chosen import Chosen
from hubbub.privacy import Event, Session, Unit, Window

_SCRIPT = '''"""Releases one series of counts with a privacy guarantee. Made by Hubbub's Playground.

    python {file} {argument}--out released.csv

The noise is the system's, so each run gives other numbers. Each run is one more release: what several of them
publish about the same people adds up.{seeded}
"""

import argparse
from contextlib import nullcontext
from pathlib import Path

import hubbub as hb
{imports}
from hubbub.noise import simulation
from hubbub.methods import make_mechanism

parser = argparse.ArgumentParser()
{arguments}parser.add_argument("--out", type=Path, default=Path("released.csv"), help=".csv, .json or .parquet")
parser.add_argument("--seed", type=int, help="repeat a simulation; such numbers must not be published")
given = parser.parse_args()

{reading}
guarantee = hb.Guarantee.parse({unit}, {budget})
with nullcontext() if given.seed is None else simulation(given.seed) as source:
    releaser = make_mechanism({method!r}, series.keys, guarantee, source=source{options})
    releases = list(series.released_by(releaser))
write_released(given.out, releases)
print(guarantee)
'''

_SEEDED = """

With --seed {seed} it repeats the numbers of the Playground exactly. So can anyone else: those must not be published."""

_TABLE_IMPORTS = """from hubbub.files import check_output
from hubbub.series import read_series
from hubbub.lab.playground.chosen import column_of
from hubbub.lab.playground.names import named
from hubbub.series import write_released"""

_SAMPLE_IMPORTS = """from hubbub.lab.playground.chosen import sample_series
from hubbub.series import write_released"""

_TABLE = """check_output(given.out, [given.counts])
table = read_series(named(given.counts.read_bytes()), given.counts.name, gaps={gaps!r})
series = column_of(table, {key!r})"""


def script_of(asked: RunAsked, chosen: Chosen) -> str:
    """A program that makes the same release: with the system's noise, or with `--seed` the same numbers."""
    mine = asked.table is not None
    return _SCRIPT.format(
        file=f"release-{asked.method}.py",
        argument="counts.csv " if mine else "",
        seeded="" if asked.seed is None else _SEEDED.format(seed=asked.seed),
        imports=_TABLE_IMPORTS if mine else _SAMPLE_IMPORTS,
        arguments='parser.add_argument("counts", type=Path, help="CSV, one row per tick")\n' if mine else "",
        reading=_TABLE.format(gaps=asked.gaps, key=chosen.key) if mine else f"series = sample_series({asked.sample!r})",
        unit=_unit(asked.protected(len(chosen.series))),
        budget=", ".join(f"{name}={amount!r}" for name, amount in asked.amounts.items() if amount is not None),
        method=asked.method,
        options="".join(f", {name}={value!r}" for name, value in options_asked(asked.method, asked.options).items()),
    )


def _unit(unit: Unit) -> str:
    if isinstance(unit, Event):
        return "hb.Event()"
    if isinstance(unit, Window):
        return f"hb.Window({unit.ticks})"
    if isinstance(unit, Session):
        return f"hb.Session(max_ticks={unit.max_ticks})"
    return "hb.User(horizon=len(series))"
