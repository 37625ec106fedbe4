"""Events from a NATS JetStream stream."""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections import OrderedDict
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from hubbub.collect.batch import Batch
from hubbub.collect.clock import Clock, SteadyClock
from hubbub.collect.source import Source
from hubbub.collect.sources.json_lines import JsonLines
from hubbub.errors import InvalidInput, MissingExtra

T = TypeVar("T")
_MESSAGES = 1000
_IDS = 100_000


class NatsSource(Source):
    """Reads messages of NDJSON events in the order of the stream. The stream keeps them (retention by limits).

    A position is a sequence number, so that after a restart any stretch can be read again. A sequence number that was
    seen is ignored, and so is a `Nats-Msg-Id` (the last 100,000 are remembered). When the server goes away `poll` gives
    empty batches that claim nothing, so that no tick closes; when it is back, reading goes on behind the last message.
    """

    def __init__(
        self,
        stream: str,
        *,
        servers: Sequence[str] = ("nats://127.0.0.1:4222",),
        subject: str | None = None,
        zone: str = "UTC",
        clock: Clock | None = None,
        connect_timeout: float = 5.0,
    ) -> None:
        try:
            self._nats = importlib.import_module("nats")
            self._api = importlib.import_module("nats.js.api")
        except ImportError:
            raise MissingExtra.of("nats-py", "nats") from None
        self._stream, self._servers, self._subject = stream, list(servers), subject
        self._lines, self._clock, self._patience = JsonLines(zone=zone), clock or SteadyClock(), connect_timeout
        self._last = 0
        self._ids: OrderedDict[str, None] = OrderedDict()
        self._client: Any = None
        self._subscription: Any = None
        self._begun = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hubbub-nats", daemon=True)
        self._thread.start()

    def open(self, positions: Mapping[str, str]) -> bool:
        self._last = int(positions.get("nats", "0"))
        self._begun = False
        first = self._wait(self._first())
        if not positions:
            self._last = max(first - 1, 0)
            return True
        return self._last + 1 >= first

    def poll(self, timeout: float = 1.0) -> Batch | None:
        if not self._begun:
            self._begun = True
            return Batch.of([], positions=self._positions())
        reached = self._clock()
        try:
            messages, complete = self._wait(self._fetch(timeout))
        except Exception:  # whatever a lost connection raises, the answer is to try again
            self._subscription = None
            return Batch.of([], positions=self._positions())
        fresh = [message for message in messages if self._is_new(message)]
        events, malformed = self._lines.parse(b"\n".join(message.data for message in fresh))
        return Batch.of(
            events, positions=self._positions(), complete=reached if complete else None, malformed=malformed
        )

    def close(self) -> None:
        if self._loop.is_closed():
            return
        if self._client is not None:
            self._wait(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _positions(self) -> dict[str, str]:
        return {"nats": str(self._last)}

    def _is_new(self, message: Any) -> bool:
        number = message.metadata.sequence.stream
        if number <= self._last:
            return False
        self._last = number
        name = (message.headers or {}).get("Nats-Msg-Id")
        if name is None:
            return True
        known = name in self._ids
        self._ids[name] = None
        if len(self._ids) > _IDS:
            self._ids.popitem(last=False)
        return not known

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _connect(self) -> Any:
        if self._client is None:
            try:
                self._client = await asyncio.wait_for(
                    self._nats.connect(
                        self._servers,
                        max_reconnect_attempts=-1,
                        reconnect_time_wait=0.2,
                        connect_timeout=self._patience,
                        error_cb=_quiet,
                        allow_reconnect=True,
                    ),
                    self._patience,
                )
            except Exception as error:
                raise InvalidInput(
                    f"No NATS server answers at {', '.join(self._servers)} ({type(error).__name__}).",
                    "Check the addresses, and that the server runs with JetStream.",
                ) from None
        return self._client.jetstream(timeout=self._patience)

    async def _first(self) -> int:
        jetstream = await self._connect()
        try:
            info = await jetstream.stream_info(self._stream)
        except Exception as error:
            raise InvalidInput(
                f"The JetStream stream {self._stream!r} cannot be read ({type(error).__name__}).",
                "Make it first, with retention by limits.",
            ) from None
        return int(info.state.first_seq)

    async def _fetch(self, timeout: float) -> tuple[list[Any], bool]:
        jetstream = await self._connect()
        if self._subscription is None:
            config = self._api.ConsumerConfig(
                deliver_policy=self._api.DeliverPolicy.BY_START_SEQUENCE,
                opt_start_seq=self._last + 1,
                ack_policy=self._api.AckPolicy.NONE,
            )
            self._subscription = await jetstream.pull_subscribe(
                self._subject or ">", stream=self._stream, config=config
            )
        try:
            messages = await self._subscription.fetch(_MESSAGES, timeout=timeout)
        except (TimeoutError, self._nats.errors.TimeoutError):
            messages = []
        if messages:
            return messages, messages[-1].metadata.num_pending == 0
        info = await self._subscription.consumer_info()
        return [], info.num_pending == 0


async def _quiet(error: Exception) -> None:
    """A lost connection is shown by ticks that wait, not by a trace on the screen."""
    del error
