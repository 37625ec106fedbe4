"""The Map page: bytes of a tick's change, and what a million cells take of the browser's processor.

python -m benchmarks map

The city and its traffic are made up. Bytes are those of the answer as it is sent. The browser's times are the page's
own marks: from the packed answer to cells (read), and from cells to the canvas (paint), the median of several ticks;
they are of Chromium without a graphics card, and left out where there is no Chromium.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from hubbub.confidential import Counts
from hubbub.lab.moving import Traffic
from hubbub.methods import make_mechanism
from hubbub.privacy import Guarantee, User
from hubbub.released import Domain, Tick
from hubbub.server import ServerSettings, Serving, create_app
from hubbub.server.frames import Frame
from hubbub.spatial import RoadCells, RoadGrid, made_up
from hubbub.store import Store

SIDE, JUNCTIONS, TICKS, MOST = 1024, 2_500, 12, 300_000
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def positions(city: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    walking = iter(Traffic(city).positions(seed=1))
    return [tuple(map(np.array, next(walking))) for _ in range(TICKS)]  # type: ignore[misc]


def released(name: str, keys: Domain, walked: list[Any], store: Store) -> list[int]:
    """Release the ticks; how many bytes each change took, from the second tick on."""
    start = datetime.now(UTC) - timedelta(minutes=TICKS)
    sizes, before = [], None
    with store.curate(name, make_mechanism(name, keys, Guarantee.pure(User(horizon=100), 1))) as curator:
        for tick, (x, y) in enumerate(walked):
            cells = keys.cells(x, y)  # type: ignore[attr-defined]
            counts = np.bincount(cells[cells >= 0], minlength=len(keys))
            at = Tick(tick, start + timedelta(minutes=tick), timedelta(minutes=1))
            frame = Frame.of(curator.release(Counts.of(keys, at, counts)))
            if before is not None:
                sizes.append(len(frame.encode(before)))
            before = frame
    assert before is not None
    return [*sizes, len(before.encode())]


def drawn(address: str) -> dict[str, float] | None:
    """Milliseconds of the page's own marks, while every tick is looked at."""
    path = os.environ.get("HUBBUB_CHROMIUM") or shutil.which("chromium")
    if path is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(120_000)
        page.goto(address)
        page.wait_for_selector("body[data-ready]")
        page.evaluate("performance.clearMeasures()")
        page.focus("#map")
        for tick in range(TICKS - 2, -1, -1):
            page.keyboard.press(",")
            page.wait_for_selector(f'body[data-shown="{tick}"]')
        marks = page.evaluate("performance.getEntriesByType('measure').map(m => [m.name, m.duration])")
        browser.close()
    return {name: statistics.median(took for one, took in marks if one == name) for name in ("map:read", "map:paint")}


def main() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    city = made_up(JUNCTIONS)
    grid = RoadGrid.over(city, SIDE, SIDE)
    roads, walked = RoadCells(grid), positions(city)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HUBBUB_STATE"] = str(Path(folder) / "state")
        for name, keys in (("temporal", grid), ("lpa", grid), ("quadtree", grid), ("roads", roads)):
            with Store.open(Path(folder) / f"{name}.db") as store:
                *changes, whole = released(name, keys, walked, store)
                largest, plain = max(changes), 40 * len(keys)
                rows.append({"what": f"{name}, {len(keys):,} cells: a tick's change, the largest", "value": largest,
                             "unit": "bytes", "peer": "five columns of 8 bytes", "ratio": largest / plain,
                             "goal": f"<= {MOST:,}"})  # fmt: skip
                rows.append({"what": f"{name}: a whole tick", "value": whole, "unit": "bytes"})
                if name in ("temporal", "roads"):
                    rows += page_of(name, store)
    return rows


def page_of(name: str, store: Store) -> list[dict[str, Any]]:
    app = create_app(store, settings=ServerSettings(public=True, port=0))
    with Serving(app) as serving:
        stream = app.state.desk.feed.stream(name)
        app.state.desk.maps.frame(stream, TICKS - 2, None)  # as it was made when that tick was new
        began = time.process_time()
        app.state.desk.maps.frame(stream, TICKS - 1, TICKS - 2)
        made = time.process_time() - began
        rows: list[dict[str, Any]] = [{"what": f"{name}: the server makes a change", "value": made, "unit": "s"}]
        took = drawn(serving.address)
        if took is not None:
            what = f"{name}: the browser reads and paints a tick"
            rows.append({"what": what, "value": sum(took.values()), "unit": "ms", "goal": "<= 100"})
            rows.append({"what": f"{name}: of that, paints", "value": took["map:paint"], "unit": "ms"})
    return rows
