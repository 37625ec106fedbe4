"""Running the application: in the foreground, or beside a monitor in a thread."""

from __future__ import annotations

import logging
import socket
import threading
from asyncio import Transport
from types import FrameType, TracebackType
from typing import Any, cast

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from hubbub.errors import HubbubError, InvalidParameter
from hubbub.server.live import ABORT
from hubbub.server.loopback import require_loopback
from hubbub.server.settings import ServerSettings

log = logging.getLogger("hubbub.server")

SEND_BUFFER = 128 * 2**10
"""Bytes the kernel keeps for a viewer who does not read; its own default grows to megabytes for each."""

GONE_MILLISECONDS = 30_000
"""A connection whose other end takes nothing for this long is closed by the kernel."""


class ServerStopped(HubbubError): ...


class Connection(H11Protocol):
    """A connection that costs little where the other end never reads."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        held = transport.get_extra_info("socket")
        if held is not None and held.family != getattr(socket, "AF_UNIX", None):
            held.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            if hasattr(socket, "TCP_USER_TIMEOUT"):
                held.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, GONE_MILLISECONDS)
        super().connection_made(transport)
        app = self.app

        async def with_abort(scope: Any, receive: Any, send: Any) -> None:
            await app({**scope, ABORT: transport.abort}, receive, send)

        self.app = with_abort


class _Server(uvicorn.Server):
    """Lets the viewers go as soon as it is told to stop: a live connection never ends by itself."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.let_go()
        super().handle_exit(sig, frame)

    def let_go(self) -> None:
        cast(FastAPI, self.config.app).state.let_go()


class Serving:
    """An application on a port.

    `run()` serves until SIGINT or SIGTERM. As a context manager it serves from a thread of its own: entering returns
    when the port answers, leaving when the last viewer was let go. No access log is written: it would hold the
    addresses of readers, and the times at which data came in.
    """

    def __init__(self, app: FastAPI, host: str | None = None, port: int | None = None) -> None:
        settings = cast(ServerSettings, app.state.settings)
        self._host = settings.host if host is None else host
        if getattr(app.state, "lab", None) is not None and not app.state.lab_anywhere:
            require_loopback(self._host)
        self._socket = _listen(self._host, settings.port if port is None else port)
        config: dict[str, Any] = {
            "http": Connection,
            "ws": "none",
            "access_log": False,
            "log_level": "warning",
            "server_header": False,
            "timeout_graceful_shutdown": 5,
            "timeout_keep_alive": 30,
            "h11_max_incomplete_event_size": 32 * 2**10,
        }
        self._server = _Server(uvicorn.Config(app, **config))
        self._thread = threading.Thread(target=self._serve, name="hubbub-server", daemon=True)

    @property
    def address(self) -> str:
        """Where a browser on this machine finds it."""
        host, port = self._socket.getsockname()[:2]
        if host in ("0.0.0.0", "::"):
            host = "127.0.0.1"
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

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

    def stop(self) -> None:
        self._server.let_go()
        self._server.should_exit = True
        self._thread.join(timeout=15)

    def __enter__(self) -> Serving:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()


def _not_started() -> ServerStopped:
    return ServerStopped("The server did not start.", "Check that the store can be opened and read.")


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket, taken before anything else starts, so that a taken port is refused in plain words."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio switches off the delay of small packets; without, small answers wait for 40 ms.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(2048)
    except (OSError, OverflowError) as error:
        made.close()
        why = getattr(error, "strerror", None) or "no such port"
        raise InvalidParameter(
            f"Cannot listen on {host} port {port}: {why}.", "Choose another with --port, or stop who holds it."
        ) from None
    return made
