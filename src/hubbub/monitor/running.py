"""A monitor that runs: the pipeline in one thread, the server in another."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType

from fastapi import FastAPI

from hubbub.errors import HubbubError, StoreUnavailable, UnknownStream
from hubbub.masking import masked
from hubbub.monitor.assembly import open_pipeline
from hubbub.monitor.counts_desk import CountsDesk
from hubbub.monitor.list_facts import AboutLists
from hubbub.monitor.pipeline import SAY_AGAIN
from hubbub.monitor.settings import MonitorSettings
from hubbub.monitor.spool import Spool
from hubbub.released import Release
from hubbub.server import Fact, Pulse, Serving, create_app
from hubbub.server.faults import place_of
from hubbub.store import Store
from hubbub.store.stream import ranges_name

SHORTEST_PATIENCE = 30.0
PATIENT_TICKS = 3
"""A pipeline that has not turned for three ticks, and for half a minute at least, is stuck; so is one whose clock is so
far behind its newest tick."""

LOOK_SECONDS = 0.5
"""How often it is looked whether there is trouble that the terminal should tell."""

STOP_SECONDS = 60.0
"""How long the tick in hand may take when the monitor is told to stop."""


class PipelineStopped(HubbubError): ...


class Running:
    """Opens everything in the right order, and closes it in the other one.

    Entering raises whatever is wrong with store, source or port before the first tick. Leaving finishes the tick in
    hand. Whatever stops the pipeline or the server by itself is kept, makes `finished` true, and is raised on leaving:
    there is no failure after which a monitor goes on and looks well. Of an exception that is not ours only type and
    place are told: its message may hold anything.
    """

    def __init__(
        self,
        settings: MonitorSettings,
        *,
        serve: bool,
        say: Callable[[str], None],
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        self._settings, self._serve, self._stop_seconds = settings, serve, stop_seconds
        self._say: Callable[[str], None] = lambda line: say(masked(line))
        self._patience = max(SHORTEST_PATIENCE, PATIENT_TICKS * settings.stream.tick.total_seconds())
        self._app: FastAPI | None = None
        self._serving: Serving | None = None
        self._error: HubbubError | None = None
        self._released_at: float | None = None
        self._spool: Spool | None = None
        self._over = threading.Event()
        self.last_tick: int | None = None

    def __enter__(self) -> Running:
        self._store = Store.open(self._settings.store.url)
        try:
            if self._store.note:
                self._say(self._store.note)
            self._pipeline, self._spool = open_pipeline(
                self._settings, self._store, on_release=self._released, say=self._say
            )
            self._thread = threading.Thread(target=self._run, name="pipeline", daemon=True)
            try:
                if self._serve:
                    counts = self._pipeline if isinstance(self._pipeline, CountsDesk) else None
                    publish = self._settings.publish.model_copy(update={"stream": self._settings.stream.name})
                    self._app = create_app(
                        self._store, settings=publish, events=self._spool, counts=counts, status=self, pulse=self,
                        items=AboutLists(),
                    )  # fmt: skip
                    self._serving = Serving(self._app, how="Set another `port` in the table [publish]").start()
                self._thread.start()
                threading.Thread(target=self._tell_of_trouble, name="trouble", daemon=True).start()
            except BaseException:
                with suppress(Exception):  # what went wrong first is what is told
                    self._pipeline.close()
                raise
        except BaseException:
            self._store.close()
            raise
        return self

    @property
    def address(self) -> str | None:
        return None if self._serving is None else self._serving.address

    @property
    def finished(self) -> bool:
        """The source is over, or something had to stop. A server goes on serving what there is."""
        if self._serving is not None and not self._serving.is_alive and self._error is None:
            self._fail(PipelineStopped("The server stopped by itself.", "Its log says more."))
        return self._error is not None or (not self._thread.is_alive() and self._serving is None)

    def status(self, stream: str) -> Mapping[str, Fact]:
        """What the curator's page shows."""
        if stream != self._settings.stream.name:
            raise UnknownStream(f"This monitor does not run the stream {stream!r}.")
        return self._pipeline.status()

    def pulse(self) -> Pulse:
        """What anyone may know of how it is."""
        now = time.monotonic()
        beat = now - self._pipeline.beat
        tick = None if self._released_at is None else now - self._released_at
        if self._error is not None:
            state = "stopped"
        elif not self._thread.is_alive():
            state = "over"  # what there is goes on being served
        elif max(beat, self._pipeline.clock_behind.total_seconds()) > self._patience:
            state = "stuck"
        else:
            state = "waiting" if self._pipeline.trouble else "ok"
        pipeline = self._pipeline
        return Pulse(state, beat, tick, pipeline.trouble, not pipeline.waits_for_store, self._source())

    def _source(self) -> str:
        if self._spool is None:
            return "away" if self._pipeline.source_trouble else "ok"
        if not self._spool.takes_events:
            return "no_writes"
        return "ok" if self._spool.can_be_read else "away"

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._pipeline.stop.set()
        self._thread.join(self._stop_seconds)
        if self._thread.is_alive():
            self._fail(
                PipelineStopped(
                    f"The pipeline did not stop within {self._stop_seconds:g} seconds.",
                    "The tick in hand is lost, as after a crash; the next start goes on from there.",
                )
            )
        if self._serving is not None:
            self._serving.stop()
        self._store.close()
        if self._error is not None and error is None:
            raise self._error

    def _run(self) -> None:
        try:
            self._pipeline.run()
        except HubbubError as error:
            self._fail(error)
        except BaseException as error:
            self._fail(
                PipelineStopped(
                    f"The pipeline stopped: {type(error).__name__} at {place_of(error)}.",
                    "Nothing is lost but the tick in hand; start it again. If it comes back, report type and place.",
                )
            )

    def _tell_of_trouble(self) -> None:
        """On the terminal: what is wrong, when it begins and when it is over; the same at most once per minute.

        What the store refuses is left out: the pipeline says that itself, with the reason.
        """
        now, said = "", dict[str, float]()
        while not self._over.wait(LOOK_SECONDS):
            words = "" if self._pipeline.waits_for_store else self._pipeline.trouble
            kind = re.sub(r"[0-9,]+", "", words)  # how many ticks it is behind changes all the time
            if kind == now or time.monotonic() - said.get(kind, -SAY_AGAIN) < SAY_AGAIN:
                continue
            self._say(f"trouble: {words}" if words else "trouble is over")
            now, said[kind] = kind, time.monotonic()

    def _fail(self, error: HubbubError) -> None:
        self._error = self._error or error
        self._say(f"stopping: {error.message}")

    def _released(self, release: Release) -> None:
        self.last_tick = release.tick.index
        self._released_at = time.monotonic()
        if self._app is not None:
            self._app.state.desk.feed.wake()
        self._forget(release.tick.index)

    def _forget(self, tick: int) -> None:
        """Let go of what is older than it is kept; a store that is away is asked again at the next tick."""
        keep, stream = self._settings.store.keep, self._settings.stream
        if keep is None:
            return
        with suppress(StoreUnavailable):
            for name in (stream.name, *([] if self._settings.ranges is None else [ranges_name(stream.name)])):
                self._store.forget(name, tick - max(1, -(-keep // stream.tick)))
