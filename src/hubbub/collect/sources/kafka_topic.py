"""The questions that a reader asks about a Kafka topic, each with a deadline."""

from __future__ import annotations

import importlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from hubbub.errors import MissingExtra

_NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"  # what brokers say that give topics no id


class BrokersAway(Exception):
    """They do not answer, or not yet: to be tried again. Its text is public words."""


class KafkaTopic:
    """Asks through clients of its own: a question never waits behind the messages that are being fetched."""

    def __init__(self, topic: str, facts: Mapping[str, Any], *, deadline: float = 2.0) -> None:
        try:
            self.kafka = importlib.import_module("confluent_kafka")
            admin = importlib.import_module("confluent_kafka.admin")
        except ImportError:
            raise MissingExtra.of("confluent-kafka", "kafka") from None
        self._topic, self._deadline = topic, deadline
        self._asker = self.kafka.Consumer(dict(facts))
        self._admin, self._resource = admin.AdminClient(dict(facts)), admin.ConfigResource
        self._has_ids = True
        self._lock = threading.Lock()
        self._closed = False

    def describe(self) -> tuple[str, list[int]]:
        """The topic's id (where brokers give none, the cluster's, or nothing), and its partitions."""
        if not self._has_ids:
            return self._list()
        wish = self.kafka.TopicCollection([self._topic])
        facts = self._result(
            lambda: self._admin.describe_topics(wish, request_timeout=self._deadline)[self._topic].result(
                2 * self._deadline
            )
        )
        if facts is None or str(facts.topic_id) == _NO_ID:
            self._has_ids = False
            return self._list()
        return str(facts.topic_id), sorted(partition.id for partition in facts.partitions)

    def find(self, patience: float) -> tuple[str, list[int]]:
        """The first look, for which connections must be made."""
        known = self._result(lambda: self._asker.list_topics(self._topic, timeout=patience))
        if known is None or known.topics[self._topic].error is not None:
            raise BrokersAway("The Kafka topic is not there.")
        # Brokers that name no controller are too old to describe a topic; the question would go to nobody.
        self._has_ids = known.controller_id >= 0
        return self.describe()

    def edges(self, partitions: Iterable[int]) -> dict[int, tuple[int, int]]:
        """The first offset of each partition, and the first that nobody has written (or committed)."""
        found, end = {}, time.monotonic() + self._deadline
        for number in partitions:
            place = self.kafka.TopicPartition(self._topic, number)
            left = max(end - time.monotonic(), 0.01)
            ask = partial(self._asker.get_watermark_offsets, place, timeout=left, cached=False)
            found[number] = self._result(ask)
            if found[number] is None:
                raise BrokersAway("The Kafka brokers do not answer.")
        return found

    def is_compacted(self) -> bool:
        """Whether the brokers say that they thin the topic out. If they do not say, no."""
        resource = self._resource("topic", self._topic)
        try:
            facts = self._result(
                lambda: next(
                    iter(self._admin.describe_configs([resource], request_timeout=self._deadline).values())
                ).result(2 * self._deadline)
            )
        except BrokersAway:
            return False
        return facts is not None and "compact" in facts["cleanup.policy"].value

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._asker.close()

    def _list(self) -> tuple[str, list[int]]:
        known = self._result(lambda: self._asker.list_topics(self._topic, timeout=self._deadline))
        if known is None or not known.topics[self._topic].partitions:
            raise BrokersAway("The Kafka topic is not there.")
        return known.cluster_id or "", sorted(known.topics[self._topic].partitions)

    def _result(self, ask: Callable[[], Any]) -> Any:
        """The answer; None if the brokers know no such question."""
        errors = self.kafka.KafkaError
        with self._lock:  # nobody closes a client that another thread asks through
            if self._closed:
                raise BrokersAway("The connection to Kafka is closed.")
            try:
                return ask()
            except self.kafka.KafkaException as error:
                code = error.args[0].code()
            except TimeoutError:
                code = errors._TIMED_OUT
        if code in (errors._UNSUPPORTED_FEATURE, errors.UNSUPPORTED_VERSION):
            return None
        if code in (errors.UNKNOWN_TOPIC_OR_PART, errors._UNKNOWN_TOPIC):
            raise BrokersAway("The Kafka topic is not there.")
        if code in (errors.TOPIC_AUTHORIZATION_FAILED, errors.CLUSTER_AUTHORIZATION_FAILED):
            raise BrokersAway("The Kafka brokers refuse to be read.")
        raise BrokersAway("The Kafka brokers do not answer.")


def silent() -> logging.Logger:
    """Lost brokers show in `trouble`; librdkafka would write to standard error."""
    logger = logging.getLogger("hubbub.kafka")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger
