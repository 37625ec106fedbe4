"""A real Chromium, a real server, a real store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from tests.conftest import require_or_skip
from tests.support.patience import PATIENCE
from tests.support.site import Site

from hubbub.server import ServerSettings, Serving, create_app

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip

TICKS = 120


@pytest.fixture(scope="module")
def chromium():
    """For a module, not the session: while Playwright runs, no other test of the process could use asyncio."""
    path = os.environ.get("HUBBUB_CHROMIUM") or shutil.which("chromium")
    if path is None:
        require_or_skip("there is no Chromium; set HUBBUB_CHROMIUM")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        require_or_skip("Playwright is not installed")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class Truth:
    """The overlay of a simulation."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def overlay(self, stream, first, last):  # noqa: ARG002
        return {key: [100 * (i + 1)] * (last - first + 1) for i, key in enumerate(self._site.keys)}


class Stage:
    """A site, its server, and a way to let time pass."""

    def __init__(self, site: Site, serving: Serving, app) -> None:
        self.site, self.serving, self.app = site, serving, app
        self.address = serving.address

    def tick(self, counts=None):
        release = self.site.tick(counts)
        self.app.state.desk.feed.wake()
        return release


def staged(folder, ticks=TICKS, **settings):
    site = Site(folder, length=timedelta(minutes=1), start=datetime.now(UTC) - timedelta(minutes=ticks)).run(ticks)
    chosen = ServerSettings(title="Daily Example", noun="sections", public=True, port=0, poll_seconds=30, **settings)
    app = create_app(site.store, settings=chosen, truth=Truth(site))
    return Stage(site, Serving(app).start(), app)


@pytest.fixture(scope="module")
def stage(tmp_path_factory) -> Iterator[Stage]:
    made = staged(tmp_path_factory.mktemp("stage"))
    yield made
    made.serving.stop()
    made.site.close()


@pytest.fixture
def own_stage(tmp_path) -> Iterator[Stage]:
    """One of its own, for tests that stop the server."""
    made = staged(tmp_path, 20)
    yield made
    made.serving.stop()
    made.site.close()


@pytest.fixture
def page(chromium):
    """A page that fails its test where the console complains or anything is asked of another host."""
    context = chromium.new_context(viewport={"width": 1180, "height": 900})
    context.set_default_timeout(1000 * PATIENCE)
    made = context.new_page()
    complaints: list[str] = []
    made.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
    made.on("pageerror", lambda error: complaints.append(str(error)))
    made.on("request", lambda asked: complaints.append(asked.url) if "//127.0.0.1" not in asked.url else None)
    made.expected = []
    yield made
    context.close()
    unexpected = [text for text in complaints if not any(part in text for part in made.expected)]
    assert unexpected == []
