"""Events from a Kafka topic."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from hubbub.collect.batch import Batch
from hubbub.collect.source import Source
from hubbub.collect.sources.documents import Unfold, as_it_is
from hubbub.collect.sources.json_lines import JsonLines
from hubbub.collect.sources.kafka_topic import BrokersAway, KafkaTopic, silent
from hubbub.errors import InvalidInput, SourceUnavailable

_MESSAGES = 10_000
_BYTES = 16 * 2**20
_WAIT = 0.1


class KafkaSource(Source):
    """Reads messages of NDJSON events from all partitions of `topic`.

    Events of one session must be in one partition (produce with the session as the key): order holds only inside it.
    A position is the next offset of each partition, with the topic's id: a topic that was deleted and made anew has
    another. (Brokers before 2.8 give no id; then the cluster's stands for it, and a new topic shows only if it is
    shorter.) A new partition is read from its beginning.

    A partition was read to an offset when the brokers say that nothing more lies before it: compaction and
    transactions leave numbers out. With transactions a topic ends, for us, where the first open one begins. What
    retention deleted before it was read is told (`Batch.lost`). `settings` go to librdkafka as they are.
    """

    waits_for_us = True
    shared = True

    def __init__(
        self,
        topic: str,
        servers: str = "127.0.0.1:9092",
        *,
        settings: Mapping[str, Any] | None = None,
        lines: JsonLines | None = None,
        unfold: Unfold = as_it_is,
        patience: float = 5.0,
        deadline: float = 2.0,
    ) -> None:
        facts: dict[str, Any] = {"bootstrap.servers": servers, "group.id": "hubbub", "enable.auto.commit": False}
        facts |= {"auto.offset.reset": "error", "enable.partition.eof": True, "logger": silent()}
        facts |= {"reconnect.backoff.max.ms": 1000, "queued.max.messages.kbytes": 16_384, "fetch.wait.max.ms": 100}
        facts |= dict(settings or {})
        self._topic, self._patience, self._deadline = topic, patience, deadline
        self._lines, self._unfold = lines or JsonLines(), unfold
        self._broker = KafkaTopic(topic, facts, deadline=deadline)
        self._kafka = self._broker.kafka
        self._consumer = self._kafka.Consumer(facts | {"error_cb": self._note})
        self._id: str | None = None
        self._next: dict[int, int] = {}
        self._fetched: dict[int, int] = {}
        self._ended: dict[int, int] = {}
        self._held: dict[int, deque[tuple[int, bytes]]] = {}
        self._paused: set[int] = set()
        self._astray: set[int] = set()
        self._highest: dict[int, int] = {}
        self._lost = self._replaced = self._closed = False
        self._trouble = ""

    @property
    def identity(self) -> str:
        """No address: two machines may reach the same brokers by different names."""
        return f"kafka:{self._topic}:{self._look()[0] if self._id is None else self._id}"

    @property
    def trouble(self) -> str:
        return self._trouble

    def open(self, positions: Mapping[str, str]) -> bool:
        self._id, edges = self._look()
        wanted = self._offsets(positions)
        proved = bool(wanted) and positions.get("id") == self._id and wanted.keys() <= edges.keys()
        for number, (low, high) in edges.items():
            place = wanted.get(number, 0 if wanted else low)
            proved &= low <= place <= high
            self._next[number] = min(max(place, low), high)
        self._next = {number: self._next[number] for number in edges}
        self._fetched, self._highest = dict(self._next), {}
        self._held = {number: deque() for number in edges}
        self._lost, self._replaced, self._trouble = False, False, ""
        self._assign()
        return proved and not self._broker.is_compacted()

    def frontier(self) -> Mapping[str, str] | None:
        try:
            numbers = self._highest.keys() | self._next.keys()
            edges = self._broker.edges(numbers)
            name, partitions = self._broker.describe()  # afterwards: so they are the ends of this very topic
            edges |= self._broker.edges(set(partitions) - numbers)
        except BrokersAway as error:
            self._trouble = str(error)
            return None
        if name != self._id or not numbers <= set(partitions):
            self._replaced, self._trouble = True, "The Kafka topic is not the one that was read."
            return None
        highs = {number: high for number, (_, high) in edges.items()}
        if any(highs[number] < high for number, high in self._highest.items()):
            self._trouble = "The Kafka brokers are choosing a leader."  # a new one may not know yet how far it is
            return None
        self._highest, self._trouble = highs, ""
        return self._positions(highs)

    def poll(self, until: Mapping[str, str]) -> Batch | None:
        ends = self._offsets(until)
        try:
            self._prepare(ends)
        except BrokersAway as error:
            self._trouble = str(error)
        bodies = self._take(ends, _BYTES)
        if not self._is_reached(ends) and not bodies:
            self._bring_in(_WAIT)
            bodies = self._take(ends, _BYTES)
        reached = self._is_reached(ends)
        self._pause_or_resume(reached)
        events, malformed = self._lines.parse(b"\n".join(map(self._unfold, bodies)))
        lost, self._lost = self._lost, False
        place = self._positions(self._next)
        return Batch.of(
            events, layout=self._lines.layout, positions=place, malformed=malformed, reached=reached, lost=lost
        )

    def settle(self, positions: Mapping[str, str]) -> None:
        """Shown to Kafka for its own reports of lag; where to read on is the store's business."""
        places = [self._place(number, offset) for number, offset in self._offsets(positions).items()]
        if places and not self._closed:
            try:
                self._consumer.commit(offsets=places, asynchronous=True)
            except self._kafka.KafkaException:
                return  # brokers that are away need no report

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        # Closing waits for commits that nobody answers while the brokers are away; we do not.
        last = threading.Thread(target=self._hang_up, name="hubbub-kafka-close", daemon=True)
        last.start()
        last.join(self._deadline)

    # ── inside ───────────────────────────────────────────────────────────────────────────────────────────────────

    def _hang_up(self) -> None:
        self._broker.close()
        self._consumer.close()

    def _look(self) -> tuple[str, dict[int, tuple[int, int]]]:
        end = time.monotonic() + self._patience
        while True:
            try:
                name, partitions = self._broker.find(self._patience)
                return name, self._broker.edges(partitions)
            except BrokersAway as error:
                if time.monotonic() < end:  # brokers that have just started may still choose their leaders
                    time.sleep(_WAIT)
                    continue
                raise SourceUnavailable(
                    f"The Kafka topic {self._topic!r} cannot be read. {error}", "Check the addresses and the name."
                ) from None

    def _positions(self, offsets: Mapping[int, int]) -> dict[str, str]:
        places = {f"{self._topic}/{number}": str(offset) for number, offset in sorted(offsets.items())}
        return places | {"id": self._id or ""}

    def _offsets(self, positions: Mapping[str, str]) -> dict[int, int]:
        start = f"{self._topic}/"
        found = {name.removeprefix(start): offset for name, offset in positions.items() if name.startswith(start)}
        return {int(number): int(offset) for number, offset in found.items() if number.isdigit() and offset.isdigit()}

    def _place(self, number: int, offset: int) -> Any:
        return self._kafka.TopicPartition(self._topic, number, offset)

    def _assign(self) -> None:
        """Fetch from where we are. What was fetched and not handed over stays held."""
        self._ended, self._paused = {}, set()
        self._consumer.assign([self._place(number, offset) for number, offset in self._fetched.items()])

    def _prepare(self, ends: Mapping[int, int]) -> None:
        """New partitions, and those that were read at an offset which the brokers do not have."""
        fresh = ends.keys() - self._next.keys()
        for number in fresh:
            self._next[number] = self._fetched[number] = 0
            self._held[number] = deque()
        for number, (low, high) in self._broker.edges(self._astray).items() if self._astray else ():
            self._replaced |= self._fetched[number] > high
            self._lost |= self._fetched[number] < low
            self._fetched[number] = max(self._fetched[number], low)
        if self._replaced:
            raise InvalidInput(
                f"The Kafka topic {self._topic!r} is not the one that was read: it was made anew or set back.",
                "Start again: then nobody is counted whose past cannot be known.",
            )
        if fresh or self._astray:
            self._astray.clear()
            self._assign()

    def _bring_in(self, wait: float) -> None:
        """Messages as they come, also such as lie behind the end: they are held until they are asked for."""
        messages = self._consumer.consume(_MESSAGES, 0)
        if not messages:  # a fetch is under way: wait for its first, and take what came with it
            messages = self._consumer.consume(1, wait)
            messages += self._consumer.consume(_MESSAGES, 0) if messages else []
        for message in messages:
            number, error = message.partition(), message.error()
            if error is not None:
                self._failed(number, message.offset(), error.code())
            elif message.offset() >= self._fetched[number]:  # an offset that was seen is ignored
                self._held[number].append((message.offset(), message.value() or b""))
                self._fetched[number] = message.offset() + 1
                self._trouble = ""

    def _failed(self, number: int, offset: int, code: int) -> None:
        errors = self._kafka.KafkaError
        if code == errors._PARTITION_EOF:
            self._ended[number] = max(self._ended.get(number, 0), offset)
        elif code in (errors._AUTO_OFFSET_RESET, errors.OFFSET_OUT_OF_RANGE):
            self._astray.add(number)
        elif code == errors._LOG_TRUNCATION:
            self._replaced = True
        elif code in (errors.UNKNOWN_TOPIC_OR_PART, errors._UNKNOWN_TOPIC, errors._UNKNOWN_PARTITION):
            self._trouble = "The Kafka topic is not there."

    def _take(self, ends: Mapping[int, int], most: int) -> list[bytes]:
        bodies = []
        for number, end in ends.items():
            held = self._held.get(number, deque())
            while held and held[0][0] < end and most > 0:
                offset, body = held.popleft()
                self._next[number] = offset + 1
                bodies.append(body)
                most -= len(body)
            if self._next.get(number, end) < end and self._is_read(number, end):
                self._next[number] = end
                self._fetched[number] = max(self._fetched[number], end)
        return bodies

    def _is_read(self, number: int, end: int) -> bool:
        """Whether nothing more can come in front of `end`: the next lies behind it, or the brokers said so."""
        held = self._held[number]
        return held[0][0] >= end if held else self._ended.get(number, 0) >= end

    def _is_reached(self, ends: Mapping[int, int]) -> bool:
        return all(self._next.get(number, 0) >= end for number, end in ends.items())

    def _pause_or_resume(self, reached: bool) -> None:
        """A partition that is far ahead of the cut must not fill the memory while another one is still behind."""
        full = {number for number, held in self._held.items() if not reached and _is_much(held)}
        empty = {number for number in self._paused if not self._held[number]}
        if fresh := full - self._paused:
            self._consumer.pause([self._place(number, 0) for number in fresh])
        if empty:
            self._consumer.resume([self._place(number, 0) for number in empty])
        self._paused = (self._paused | full) - empty

    def _note(self, error: Any) -> None:
        if error.code() == self._kafka.KafkaError._ALL_BROKERS_DOWN:
            self._trouble = "The Kafka brokers do not answer."


def _is_much(held: deque[tuple[int, bytes]]) -> bool:
    return len(held) >= _MESSAGES or sum(len(body) for _, body in held) >= _BYTES
