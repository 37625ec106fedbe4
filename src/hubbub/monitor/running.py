"""A monitor that runs: the pipeline in one thread, the server in another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import TracebackType

from fastapi import FastAPI

from hubbub.errors import HubbubError, UnknownStream
from hubbub.monitor.assembly import open_pipeline
from hubbub.monitor.counts_desk import CountsDesk
from hubbub.monitor.settings import MonitorSettings
from hubbub.released import Release
from hubbub.server import Fact, Serving, create_app
from hubbub.store import Store


class Running:
    """Opens everything in the right order, and closes it in the other one.

    Entering raises whatever is wrong with store, source or port before the first tick. Leaving finishes the tick in
    hand. What stops the pipeline by itself (a ledger that is broken, a full memory) is raised on leaving.
    """

    def __init__(self, settings: MonitorSettings, *, serve: bool, say: Callable[[str], None]) -> None:
        self._settings, self._serve, self._say = settings, serve, say
        self._app: FastAPI | None = None
        self._serving: Serving | None = None
        self._error: HubbubError | None = None
        self.last_tick: int | None = None

    def __enter__(self) -> Running:
        self._store = Store.open(self._settings.store.url)
        try:
            self._pipeline, events = open_pipeline(
                self._settings, self._store, on_release=self._released, say=self._say
            )
            if self._serve:
                counts = self._pipeline if isinstance(self._pipeline, CountsDesk) else None
                publish = self._settings.publish.model_copy(update={"stream": self._settings.stream.name})
                self._app = create_app(self._store, settings=publish, events=events, counts=counts, status=self)
                self._serving = Serving(self._app).start()
        except BaseException:
            self._store.close()
            raise
        self._thread = threading.Thread(target=self._run, name="pipeline")
        self._thread.start()
        return self

    @property
    def address(self) -> str | None:
        return None if self._serving is None else self._serving.address

    @property
    def finished(self) -> bool:
        """The source is over, or the pipeline had to stop. A server goes on serving what there is."""
        return not self._thread.is_alive() and (self._serving is None or self._error is not None)

    def status(self, stream: str) -> Mapping[str, Fact]:
        """What the curator's page shows."""
        if stream != self._settings.stream.name:
            raise UnknownStream(f"This monitor does not run the stream {stream!r}.")
        return self._pipeline.status()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._pipeline.stop.set()
        self._thread.join()
        if self._serving is not None:
            self._serving.stop()
        self._store.close()
        if self._error is not None and error is None:
            raise self._error

    def _run(self) -> None:
        try:
            self._pipeline.run()
        except HubbubError as error:
            self._error = error

    def _released(self, release: Release) -> None:
        self.last_tick = release.tick.index
        if self._app is not None:
            self._app.state.desk.feed.wake()
