"""The questions that a reader asks a NATS JetStream stream, each with a deadline."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import threading
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypeVar

from hubbub.errors import MissingExtra

T = TypeVar("T")
_IDLE = 60 * 10**9  # nanoseconds: a consumer that nobody asks for so long is removed by the server
_NO_STREAM, _NO_MESSAGE = 10059, 10037


class Away(Exception):
    """The server does not answer, or not yet: to be tried again. Its text is public words."""


class Refused(Exception):
    """The server answered, and said no. Its text is the server's."""

    def __init__(self, words: str, code: int) -> None:
        super().__init__(words)
        self.code = code

    @property
    def no_stream(self) -> bool:
        return self.code == _NO_STREAM


class Record(NamedTuple):
    sequence: int
    stamp: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Edges:
    """Where a stream begins and ends, and which stream it is."""

    created: str
    first: int
    last: int
    stamp: str
    """When the message `last` was stored: with its number, the proof that it is still the same."""
    removed: Sequence[int]
    """Messages that were taken out of the middle."""
    retention: str
    subject_limit: int


class JetStream:
    """One connection, kept up by a thread of its own, so that any thread may ask and no question outlasts its deadline.

    `nats-py` connects and reconnects; what is asked is JetStream's own protocol, in which alone all that a proof
    needs can be asked: when a stream was made, when a message was stored, which ones were taken out.
    """

    def __init__(
        self, stream: str, servers: Sequence[str], subject: str | None, *, patience: float = 5.0, deadline: float = 2.0
    ) -> None:
        try:
            self._nats = importlib.import_module("nats")
        except ImportError:
            raise MissingExtra.of("nats-py", "nats") from None
        self._stream, self._servers, self._subject = stream, list(servers), subject
        self._patience, self._deadline = patience, deadline
        self._client: Any = None
        self._consumer: str | None = None
        self._delivered = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="hubbub-nats", daemon=True)
        self._thread.start()

    @property
    def reading(self) -> bool:
        """Whether there is a consumer to pull from; a lost connection takes it along."""
        return self._consumer is not None

    def edges(self, *, removed: bool = False) -> Edges:
        """`removed` also lists the messages that were taken out of the middle."""
        facts = self._run(self._ask("STREAM.INFO", {"deleted_details": True} if removed else None))
        state, config = facts["state"], facts["config"]
        return Edges(
            facts["created"],
            int(state["first_seq"]),
            int(state["last_seq"]),
            _stamp(state["last_ts"]),
            state.get("deleted") or (),
            config["retention"],
            int(config.get("max_msgs_per_subject", -1)),
        )

    def stamp(self, sequence: int) -> str | None:
        """When this message was stored; None if it is not there."""
        found = self._message({"seq": sequence})
        return None if found is None else _stamp(found["time"])

    def next_from(self, sequence: int) -> int | None:
        """The first message of ours at `sequence` or behind, as the stream's leader knows it."""
        found = self._message({"seq": sequence, "next_by_subj": self._subject or ">"})
        return None if found is None else int(found["seq"])

    def begin(self, sequence: int) -> None:
        """Read from `sequence` on."""
        config = {
            "deliver_policy": "by_start_sequence",
            "opt_start_seq": sequence,
            "ack_policy": "none",
            "inactive_threshold": _IDLE,
            "mem_storage": True,
            "num_replicas": 1,
        } | ({"filter_subject": self._subject} if self._subject else {})
        made = self._run(self._ask("CONSUMER.CREATE", {"stream_name": self._stream, "config": config}))
        self._delivered, self._consumer = 0, made["name"]

    def pull(self, count: int, most_bytes: int) -> list[Record]:
        """The next messages that are there, in order and without a hole; none if there are no more now."""
        found = self._run(self._pull({"batch": count, "no_wait": True, "max_bytes": most_bytes}))
        if found is None:  # a single message that is larger than that
            found = self._run(self._pull({"batch": 1, "no_wait": True}))
        return found or []

    def forget(self) -> None:
        """Pull no more from this consumer: it may have delivered what never came."""
        self._consumer = None

    def close(self) -> None:
        """Within a few deadlines, whatever the server does."""
        if self._loop.is_closed():
            return
        with contextlib.suppress(Away):
            self._run(self._hang_up())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(self._deadline)
        if not self._thread.is_alive():
            self._loop.close()

    # ── inside the loop ──────────────────────────────────────────────────────────────────────────────────────────

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        limit = self._patience + 2 * self._deadline
        bounded = asyncio.wait_for(work, limit)
        try:
            waiting = asyncio.run_coroutine_threadsafe(bounded, self._loop)
        except RuntimeError:  # the loop was closed
            bounded.close()
            work.close()
            raise Away("The connection to NATS is closed.") from None
        try:
            return waiting.result(limit + self._deadline)
        except (Away, Refused):
            raise
        except Exception:  # whatever a lost connection raises, the answer is to try again
            waiting.cancel()
            raise Away("The NATS server does not answer.") from None

    async def _connected(self) -> Any:
        if self._client is None:
            self._client = await asyncio.wait_for(
                self._nats.connect(
                    self._servers,
                    max_reconnect_attempts=-1,
                    reconnect_time_wait=0.2,
                    connect_timeout=self._patience,
                    ping_interval=10,
                    error_cb=_quiet,
                    disconnected_cb=self._lost,
                    reconnected_cb=self._lost,
                ),
                self._patience,
            )
        if not self._client.is_connected:
            raise Away("The NATS server does not answer.")
        return self._client

    async def _lost(self) -> None:
        self._consumer = None

    async def _ask(self, what: str, body: dict[str, Any] | None) -> dict[str, Any]:
        client = await self._connected()
        payload = b"" if body is None else json.dumps(body).encode()
        answer = await client.request(f"$JS.API.{what}.{self._stream}", payload, timeout=self._deadline)
        facts: dict[str, Any] = json.loads(answer.data)
        if error := facts.get("error"):
            if error.get("code") == 503:
                raise Away("The NATS server is not ready.")
            raise Refused(error.get("description", "refused"), error.get("err_code", 0))
        return facts

    def _message(self, which: dict[str, Any]) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = self._run(self._ask("STREAM.MSG.GET", which))["message"]
        except Refused as error:
            if error.code == _NO_MESSAGE:
                return None
            raise
        return found

    async def _pull(self, wish: dict[str, Any]) -> list[Record] | None:
        client = await self._connected()
        consumer = self._consumer
        if consumer is None:
            raise Away("The connection to NATS was lost.")
        got: list[Record] = []
        numbers: list[int] = []
        done: asyncio.Future[str] = self._loop.create_future()

        async def take(message: Any) -> None:
            if done.done():
                return
            if not message.reply:
                done.set_result((message.headers or {}).get("Description", "?"))
                return
            # $JS.ACK.(domain.account.)stream.consumer.times.sequence.number.nanoseconds.pending(.token)
            parts = message.reply.split(".")
            parts = parts if len(parts) == 9 else parts[2:]
            got.append(Record(int(parts[5]), str(int(parts[7]) // 1000), message.data))
            numbers.append(int(parts[6]))
            if len(got) == wish["batch"] or parts[8] == "0":
                done.set_result("")

        inbox = await client.subscribe(client.new_inbox(), cb=take)
        try:
            await client.publish(
                f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{consumer}", json.dumps(wish).encode(), reply=inbox.subject
            )
            end = await asyncio.wait_for(done, self._deadline)
        except TimeoutError:
            end = "no end came"
        finally:
            await inbox.unsubscribe()
        return self._sound(got, numbers, end)

    def _sound(self, got: list[Record], numbers: list[int], end: str) -> list[Record] | None:
        """What came without a hole. The consumer numbers what it delivers; what was lost on the way shows."""
        expected = list(range(self._delivered + 1, self._delivered + 1 + len(numbers)))
        self._delivered += len(numbers)
        if numbers != expected:
            self._consumer = None
            got = got[: next(i for i, (a, b) in enumerate(zip(numbers, expected, strict=True)) if a != b)]
        elif not got and end.startswith("Message Size"):
            return None
        elif end not in ("", "No Messages", "Request Timeout", "Batch Completed") and "MaxBytes" not in end:
            self._consumer = None  # deleted, idle for too long, or a server that hangs
            if not got:
                raise Away("The NATS server does not answer.")
        return got

    async def _hang_up(self) -> None:
        try:
            if self._client is not None:
                await asyncio.wait_for(self._client.close(), self._deadline)
        finally:
            mine = asyncio.current_task()
            others = [task for task in asyncio.all_tasks() if task is not mine]
            for task in others:
                task.cancel()
            await asyncio.wait(others, timeout=self._deadline) if others else None


def _stamp(text: str) -> str:
    """Microseconds, as the numbers in a delivered message give them."""
    moment = datetime.fromisoformat(text)
    return str(int(moment.timestamp()) * 1_000_000 + moment.microsecond)


async def _quiet(error: Exception) -> None:
    """A lost connection is shown by `trouble`, not by a trace on the screen."""
    del error
