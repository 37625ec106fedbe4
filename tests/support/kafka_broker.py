"""A real Apache Kafka of one broker with its log on disk, from an unpacked distribution (one that uses ZooKeeper)."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

import confluent_kafka

OLD = {"api.version.request": False, "broker.version.fallback": "0.9.0.1"}
"""What librdkafka must be told for brokers before 0.10."""

_QUICK_CLEANER = "log.cleaner.backoff.ms=100\nlog.cleaner.dedupe.buffer.size=4194304\n"


class KafkaBroker:
    def __init__(self, home: Path, folder: Path) -> None:
        jars = [jar for jar in (home / "libs").glob("*.jar") if not jar.stem.endswith(("doc", "sources", "test"))]
        self._classes, self._folder = os.pathsep.join(map(str, jars)), folder
        self._keeper_port, self._port = _free_port(), _free_port()
        self.address = f"127.0.0.1:{self._port}"
        folder.mkdir(parents=True, exist_ok=True)
        keeper, broker = folder / "keeper.properties", folder / "broker.properties"
        keeper.write_text(
            f"dataDir={folder / 'keeper'}\nclientPort={self._keeper_port}\nclientPortAddress=127.0.0.1\n"
            "maxClientCnxns=0\ntickTime=500\n"
        )
        broker.write_text(
            f"broker.id=0\nlisteners=PLAINTEXT://{self.address}\nlog.dirs={folder / 'log'}\n"
            f"zookeeper.connect=127.0.0.1:{self._keeper_port}\nzookeeper.session.timeout.ms=1000\n{_QUICK_CLEANER}"
        )
        self._keeper = self._java("org.apache.zookeeper.server.quorum.QuorumPeerMain", str(keeper))
        _until_open(self._keeper_port, self._keeper)
        self._broker: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        # The place of a killed broker stays taken in ZooKeeper until its session is over; a broker then gives up.
        end = time.monotonic() + 120
        while True:
            self._broker = self._java("kafka.Kafka", str(self._folder / "broker.properties"))
            if _until_open(self._port, self._broker):
                return
            assert time.monotonic() < end, "Kafka did not start"

    def kill(self) -> None:
        """No chance to write anything more, nor to say goodbye."""
        if self._broker is not None:
            self._broker.kill()
            self._broker.wait()
            self._broker = None

    def create(self, topic: str, partitions: int = 1, **config: str) -> None:
        options = [part for name, value in config.items() for part in ("--config", f"{name.replace('_', '.')}={value}")]
        made = self._java(
            "kafka.admin.TopicCommand", "--zookeeper", f"127.0.0.1:{self._keeper_port}", "--create", "--topic", topic,
            "--partitions", str(partitions), "--replication-factor", "1", *options,
        )  # fmt: skip
        assert made.wait(120) == 0

    def producer(self) -> confluent_kafka.Producer:
        facts = {"bootstrap.servers": self.address, "log_level": 0, "acks": "all", "max.in.flight": 1, "linger.ms": 0}
        return confluent_kafka.Producer(facts | OLD | {"reconnect.backoff.max.ms": 500})

    def close(self) -> None:
        self.kill()
        self._keeper.kill()
        self._keeper.wait()

    def _java(self, *command: str) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        return subprocess.Popen(["java", "-Xmx256m", "-cp", self._classes, *command], stdout=quiet, stderr=quiet)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _until_open(port: int, process: subprocess.Popen[bytes]) -> bool:
    """False if the process ended instead."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return True
        if process.poll() is not None:
            return False
        time.sleep(0.1)
    raise AssertionError("nothing listens")
