"""Brokers that speak Kafka's protocol over real sockets, and can be told to go down, to hang and to come back.

They are those of librdkafka, the library beneath `confluent-kafka`; they take commands on its C side only.
What they do not show: a broker's own log on a disk, compaction, transactions, elections.
"""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

import confluent_kafka

_PRODUCER = 0


class KafkaCluster:
    def __init__(self, brokers: int = 1, topic: str = "visits", partitions: int = 4) -> None:
        self._library = _library()
        text = ctypes.create_string_buffer(512)
        config = self._library.rd_kafka_conf_new()
        self._library.rd_kafka_conf_set(config, b"log_level", b"0", text, 512)
        self._handle = self._library.rd_kafka_new(_PRODUCER, config, text, 512)
        assert self._handle, text.value
        self._cluster = self._library.rd_kafka_mock_cluster_new(self._handle, brokers)
        self.address = self._library.rd_kafka_mock_cluster_bootstraps(self._cluster).decode()
        self._do("set_controller_id", 1)
        self.topic, self._brokers = topic, range(1, brokers + 1)
        self.create(partitions)
        self._producer = confluent_kafka.Producer(
            # One request at a time, so that a repetition cannot change the order.
            {"bootstrap.servers": self.address, "log_level": 0, "linger.ms": 0, "max.in.flight": 1}
        )

    def create(self, partitions: int) -> None:
        self._do("topic_create", self.topic.encode(), partitions, 1)

    def delete(self) -> None:
        self._do("topic_delete", self.topic.encode())

    def down(self) -> None:
        """Cuts all connections, and takes no new ones."""
        for broker in self._brokers:
            self._do("broker_set_down", broker)

    def up(self) -> None:
        for broker in self._brokers:
            self._do("broker_set_up", broker)

    def slow(self, milliseconds: int) -> None:
        """Answers only after so long."""
        for broker in self._brokers:
            self._do("broker_set_rtt", broker, milliseconds)

    def expire(self, partition: int, before: int) -> None:
        """As retention does: what lies before this offset is gone."""
        self._do("partition_delete_records", self.topic.encode(), partition, ctypes.c_int64(before))

    def send(self, bodies: list[bytes], partition: int = 0) -> None:
        """Returns when the brokers have them."""
        failures: list[object] = []
        for body in bodies:
            self._producer.produce(
                self.topic,
                body,
                partition=partition,
                on_delivery=lambda error, _: failures.append(error) if error else None,
            )
        assert self._producer.flush(60) == 0
        assert not failures, failures

    def close(self) -> None:
        self._producer.flush(1)
        del self._producer
        self._library.rd_kafka_mock_cluster_destroy(self._cluster)
        self._library.rd_kafka_destroy(self._handle)

    def _do(self, what: str, *arguments: object) -> None:
        error = getattr(self._library, f"rd_kafka_mock_{what}")(self._cluster, *arguments)
        assert error == 0, json.dumps([what, error])


def _library() -> ctypes.CDLL:
    """The very library that `confluent_kafka` has loaded."""
    folder = Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs"
    library = ctypes.CDLL(str(next(folder.glob("librdkafka*"))))
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    for name, result, arguments in (
        ("conf_new", pointer, []),
        ("conf_set", number, [pointer, text, text, text, ctypes.c_size_t]),
        ("new", pointer, [number, pointer, text, ctypes.c_size_t]),
        ("destroy", None, [pointer]),
        ("mock_cluster_new", pointer, [pointer, number]),
        ("mock_cluster_destroy", None, [pointer]),
        ("mock_cluster_bootstraps", text, [pointer]),
        ("mock_set_controller_id", number, [pointer, ctypes.c_int32]),
        ("mock_topic_create", number, [pointer, text, number, number]),
        ("mock_topic_delete", number, [pointer, text]),
        ("mock_broker_set_down", number, [pointer, ctypes.c_int32]),
        ("mock_broker_set_up", number, [pointer, ctypes.c_int32]),
        ("mock_broker_set_rtt", number, [pointer, ctypes.c_int32, number]),
        ("mock_partition_delete_records", number, [pointer, text, ctypes.c_int32, ctypes.c_int64]),
    ):
        function = getattr(library, f"rd_kafka_{name}")
        function.restype, function.argtypes = result, arguments
    return library
