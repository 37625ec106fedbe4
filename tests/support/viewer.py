"""Somebody who looks at a monitor's pages all the time and remembers what they said."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable
from datetime import datetime
from itertools import cycle
from urllib.parse import urlsplit

PAGES = (
    "/", "/top", "/ranges", "/guarantee", "/about", "/curator", "/healthz", "/metrics", "/openapi.json", "/v1/streams",
    "/v1/streams/site/budget", "/v1/streams/site/top", "/v1/streams/site/alerts", "/key?name=/a", "/no/such/page",
)  # fmt: skip


class Viewer:
    """Keeps the first answer for each tick; `changed` has the ticks for which there was ever another."""

    def __init__(self, address: Callable[[], str | None], secret: str) -> None:
        self._address, self._secret = address, secret
        self.seen: dict[int, str] = {}
        self.changed: set[int] = set()
        self.leaks: set[str] = set()
        self._newest: int | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def newest(self) -> int | None:
        """The second at which the newest tick began that was seen published."""
        return self._newest

    def _look(self) -> None:
        pages = cycle(PAGES)
        while not self._stop.wait(0.2):
            self._get(next(pages))
            text = self._get(f"/v1/streams/site/releases?limit=1000&first={max([0, *self.seen]) // 10 * 10}")
            if text is not None and text.startswith('{"stream"'):
                self.remember(json.loads(text)["releases"])

    def remember(self, releases: list[dict]) -> None:
        for release in releases:
            index, told = release["tick"], json.dumps(release, sort_keys=True)
            if self.seen.setdefault(index, told) != told:
                self.changed.add(index)
            begins = int(datetime.fromisoformat(release["start"]).timestamp())
            self._newest = begins if self._newest is None else max(begins, self._newest)

    def _get(self, page: str) -> str | None:
        address = self._address()
        if address is None:
            return None
        where = urlsplit(address)
        connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
        try:
            connection.request("GET", page)
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
        except (OSError, http.client.HTTPException):
            time.sleep(0.02)
            return None
        finally:
            connection.close()
        if self._secret in text or self._secret in str(answer.headers):
            self.leaks.add(page)
        return text if answer.status == 200 else None
