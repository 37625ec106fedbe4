"""Running the application: in the foreground, or beside a monitor in a thread."""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, cast

import uvicorn
from fastapi import FastAPI

from hubbub.errors import HubbubError, InvalidParameter
from hubbub.server.connection import Connection
from hubbub.server.door import Deadlines, Door, raise_open_files, room, too_few
from hubbub.server.faults import place_of
from hubbub.server.loopback import require_loopback
from hubbub.server.settings import ServerSettings

log = logging.getLogger("hubbub.server")

BACKLOG = 2048
"""Connections that the kernel keeps for us while we are busy: after a restart all viewers come back at once."""

BURST = 16
"""Connections that are taken in one go, before any of them can be turned away: each holds a file until then."""


_NO_MORE_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


class ServerStopped(HubbubError): ...


@dataclass(frozen=True, slots=True)
class Tls:
    """Files of a certificate (with those that lead to it) and of its key, both PEM."""

    certificate: Path
    key: Path


class _Server(uvicorn.Server):
    """Lets the viewers go as soon as it is told to stop: a live connection never ends by itself."""

    def __init__(self, config: uvicorn.Config, door: Door) -> None:
        super().__init__(config)
        self._door = door

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().set_exception_handler(self._explain)
        await super().startup(sockets)
        for one in sockets or []:
            one.listen(BACKLOG)  # how many wait outside is another matter than how many are let in at a time

    async def on_tick(self, counter: int) -> bool:
        self._door.look()
        self._door.sparing.look()
        return await super().on_tick(counter)

    def _explain(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What the event loop could tell nobody: by type and place, since a trace may hold anything."""
        del loop
        error = context.get("exception")
        if isinstance(error, OSError) and error.errno in _NO_MORE_FILES:
            text = "No connection can be taken: too many files are open. Those who wait are taken when one closes."
            self._door.sparing.say("files", text)
        else:
            what = "" if error is None else f": {type(error).__name__} at {place_of(error)}"
            self._door.sparing.say(context["message"] + what, context["message"] + what, level=logging.ERROR)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.let_go()
        super().handle_exit(sig, frame)

    def let_go(self) -> None:
        cast(FastAPI, self.config.app).state.let_go()


class Serving:
    """An application on a port.

    `run()` serves until SIGINT or SIGTERM. As a context manager it serves from a thread of its own: entering returns
    when the port answers, leaving when the last viewer was let go. No access log is written: it would hold the
    addresses of readers, and the times at which data came in. `how` says how the port is chosen, where it is taken;
    with `tls` it is spoken to by https.
    """

    def __init__(
        self,
        app: FastAPI,
        host: str | None = None,
        port: int | None = None,
        *,
        how: str = "Choose another with --port",
        tls: Tls | None = None,
    ) -> None:
        settings = cast(ServerSettings, app.state.settings)
        self._host = settings.host if host is None else host
        if getattr(app.state, "lab", None) is not None and not app.state.lab_anywhere:
            require_loopback(self._host)
        deadlines = Deadlines(
            settings.head_seconds,
            settings.body_seconds,
            settings.send_seconds,
            settings.min_rate,
            settings.pace_seconds,
        )
        raise_open_files(settings)
        self.door = Door(room(settings), deadlines, sparing=app.state.sparing)
        if words := too_few(settings):
            log.warning("%s", words)
        self._scheme, files = "http", {}
        if tls is not None:
            self._scheme = "https"
            files = {"ssl_certfile": _readable(tls.certificate), "ssl_keyfile": _readable(tls.key)}
        self._socket = _listen(self._host, settings.port if port is None else port, how)
        config: dict[str, Any] = {
            "http": partial(Connection, self.door),
            "ws": "none",
            "backlog": min(BURST, self.door.most),
            "access_log": False,
            "log_level": "warning",
            "server_header": False,
            "timeout_graceful_shutdown": 5,
            "timeout_keep_alive": settings.idle_seconds,
        }
        config |= files
        self._server = _Server(uvicorn.Config(app, **config), self.door)
        self._thread = threading.Thread(target=self._serve, name="hubbub-server", daemon=True)

    @property
    def address(self) -> str:
        """Where a browser on this machine finds it."""
        host, port = self._socket.getsockname()[:2]
        if host in ("0.0.0.0", "::"):
            host = "127.0.0.1"
        return f"{self._scheme}://[{host}]:{port}" if ":" in host else f"{self._scheme}://{host}:{port}"

    @property
    def is_alive(self) -> bool:
        """Whether the thread of `start` still serves."""
        return self._thread.is_alive()

    def run(self) -> None:
        """Serve in the foreground until told to stop."""
        self._serve()
        if not self._server.started:
            raise _not_started()

    def _serve(self) -> None:
        try:
            self._server.run(sockets=[self._socket])
        except SystemExit:
            # That is how uvicorn says that the application did not start; whoever waits is told below.
            log.error("the server did not start")
        finally:
            self._socket.close()

    def start(self, patience: float = 30.0) -> Serving:
        self._thread.start()
        waiting = threading.Event()
        for _ in range(int(patience / 0.02)):
            if self._server.started or not self._thread.is_alive():
                break
            waiting.wait(0.02)
        if not self._server.started:
            raise _not_started()
        return self

    def leave(self) -> None:
        """Let `run` end; from any thread."""
        self._server.let_go()
        self._server.should_exit = True

    def stop(self) -> None:
        self.leave()
        self._thread.join(timeout=15)

    def __enter__(self) -> Serving:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def _readable(path: Path) -> str:
    """A file of PEM, refused before anything is served."""
    try:
        with path.open("rb") as file:
            begun = file.read(1 << 20)
    except OSError as error:
        raise InvalidParameter(f"{path} cannot be read: {error.strerror}.", "Give a file in PEM.") from None
    if b"-----BEGIN" not in begun:
        raise InvalidParameter(f"{path} is no certificate or key in PEM.", "It begins with -----BEGIN.")
    return str(path)


def _not_started() -> ServerStopped:
    return ServerStopped("The server did not start.", "Check that the store can be opened and read.")


def _listen(host: str, port: int, how: str) -> socket.socket:
    """A listening socket, taken before anything else starts, so that a taken port is refused in plain words."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio switches off the delay of small packets; without, small answers wait for 40 ms.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        made.close()
        why = getattr(error, "strerror", None) or "no such port"
        raise InvalidParameter(
            f"Cannot listen on {host} port {port}: {why}.", f"{how}, or stop who holds it."
        ) from None
    return made
