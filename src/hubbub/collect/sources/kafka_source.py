"""Events from a Kafka topic."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from hubbub.collect.batch import Batch
from hubbub.collect.clock import Clock, SteadyClock
from hubbub.collect.source import Source
from hubbub.collect.sources.json_lines import JsonLines
from hubbub.errors import InvalidInput, MissingExtra

_MESSAGES = 10_000


class KafkaSource(Source):
    """Reads messages of NDJSON events from all partitions of `topic`.

    Events of one session must be in one partition (produce with the session as the key): order holds only inside it.
    A position is the next offset of each partition; an offset that was seen is ignored. While the brokers do not answer
    `poll` gives empty batches that claim nothing, so that no tick closes. `settings` go to librdkafka as they are.
    """

    def __init__(
        self,
        topic: str,
        servers: str = "127.0.0.1:9092",
        *,
        settings: Mapping[str, Any] | None = None,
        zone: str = "UTC",
        clock: Clock | None = None,
        patience: float = 5.0,
    ) -> None:
        try:
            self._kafka = importlib.import_module("confluent_kafka")
        except ImportError:
            raise MissingExtra.of("confluent-kafka", "kafka") from None
        self._topic, self._patience = topic, patience
        self._lines, self._clock = JsonLines(zone=zone), clock or SteadyClock()
        self._next: dict[int, int] = {}
        self._begun = self._closed = False
        facts = {"bootstrap.servers": servers, "group.id": "hubbub", "enable.auto.commit": False}
        facts |= {"fetch.wait.max.ms": 100}  # a fetch that waits would hold up the question where the end is
        facts |= {"auto.offset.reset": "error", "logger": _silent()} | dict(settings or {})
        self._consumer = self._kafka.Consumer(facts)

    def open(self, positions: Mapping[str, str]) -> bool:
        self._begun = False
        try:
            known = self._consumer.list_topics(self._topic, timeout=self._patience).topics[self._topic]
            lows = {number: self._edges(number)[0] for number in known.partitions}
        except self._kafka.KafkaException as error:
            raise InvalidInput(
                f"The Kafka topic {self._topic!r} cannot be read ({error.args[0].name()}).",
                "Check the addresses and the name.",
            ) from None
        if not lows:
            raise InvalidInput(f"There is no Kafka topic {self._topic!r}.", "Make it first.")
        wanted = {number: int(positions.get(f"{self._topic}/{number}", low)) for number, low in lows.items()}
        self._next = {number: max(offset, lows[number]) for number, offset in wanted.items()}
        self._consumer.assign([self._place(number, offset) for number, offset in self._next.items()])
        return self._next == wanted

    def poll(self, timeout: float = 1.0) -> Batch | None:
        if not self._begun:
            self._begun = True
            return Batch.of([], positions=self._positions())
        reached = self._clock()
        bodies = []
        for message in self._consumer.consume(_MESSAGES, timeout):
            number = message.partition()
            if message.error() is None and message.offset() >= self._next[number]:
                self._next[number] = message.offset() + 1
                bodies.append(message.value() or b"")
        events, malformed = self._lines.parse(b"\n".join(bodies))
        complete = None if bodies or not self._at_end() else reached
        return Batch.of(events, positions=self._positions(), complete=complete, malformed=malformed)

    def settle(self, positions: Mapping[str, str]) -> None:
        """Shown to Kafka for its own reports of lag; where to read on is the store's business."""
        places = [self._place(number, int(positions[f"{self._topic}/{number}"])) for number in self._next
                  if f"{self._topic}/{number}" in positions]  # fmt: skip
        if places:
            self._consumer.commit(offsets=places, asynchronous=True)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._consumer.close()

    def _positions(self) -> dict[str, str]:
        return {f"{self._topic}/{number}": str(offset) for number, offset in self._next.items()}

    def _place(self, number: int, offset: int) -> Any:
        return self._kafka.TopicPartition(self._topic, number, offset)

    def _edges(self, number: int) -> tuple[int, int]:
        low, high = self._consumer.get_watermark_offsets(self._place(number, 0), timeout=self._patience, cached=False)
        return low, high

    def _at_end(self) -> bool:
        """Asked of the brokers themselves: nothing fetched does not mean that nothing is there."""
        try:
            return all(self._edges(number)[1] <= offset for number, offset in self._next.items())
        except self._kafka.KafkaException:
            return False


def _silent() -> Any:
    """Lost brokers show in ticks that wait; librdkafka would write to standard error."""
    import logging

    logger = logging.getLogger("hubbub.kafka")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger
