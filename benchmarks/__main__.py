"""`python -m benchmarks [NAME …] [--json]`: run every `bench_*.py` (or those named) and print one table a benchmark."""

from __future__ import annotations

import importlib
import json
import pkgutil
import platform
import sys
from typing import Any

import benchmarks

COLUMNS = ("what", "value", "unit", "peer", "ratio", "goal", "limit")


def cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return "" if value is None else str(value)


def show(name: str, rows: list[dict[str, Any]]) -> None:
    table = [COLUMNS, *(tuple(cell(row.get(column)) for column in COLUMNS) for row in rows)]
    widths = [max(len(line[i]) for line in table) for i in range(len(COLUMNS))]
    print(f"\n{name}")
    for line in table:
        print("  " + "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip())


def run(names: list[str], as_json: bool) -> None:
    found = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name.startswith("bench_")]
    wanted = [name for name in found if not names or name.removeprefix("bench_") in names]
    if not as_json:
        print(
            f"Python {platform.python_version()}, {platform.machine()}; every ratio is against its peer in the same run"
        )
    results = {}
    for name in wanted:
        print(f"running {name} …", file=sys.stderr)
        results[name] = importlib.import_module(f"benchmarks.{name}").main()
        if not as_json:
            show(name, results[name])
    if as_json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    run([a for a in sys.argv[1:] if not a.startswith("-")], as_json="--json" in sys.argv)
