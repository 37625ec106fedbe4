"""Brokers as worlds for whole-way scripts: `tests.support.worlds` tells what a world is."""

from __future__ import annotations

import asyncio
import json
import threading
from itertools import count
from pathlib import Path

import nats
from tests.support.kafka_cluster import KafkaCluster
from tests.support.nats_server import Server, ready
from tests.support.scripts import Line, Step
from tests.support.worlds import World

from hubbub.collect import Source
from hubbub.collect.sources import KafkaSource, NatsSource


def body_of(line: Line) -> bytes:
    facts = {"time": line.moment.isoformat(), "session": line.person, "path": line.path}
    return b"{broken" if line.noise else json.dumps(facts).encode()


class BrokerWorld(World):
    """Events go to a broker whether anybody reads or not."""

    source: Source | None = None

    def die(self) -> None:
        if self.source is not None:
            self.source.close()

    def remove(self) -> None:
        self.die()


class NatsHouse:
    """One real server and one connection to it, for many streams."""

    def __init__(self, folder: Path) -> None:
        self.server = Server(folder)
        self.server.start()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.client = self.do(nats.connect(self.server.url))
        self.jetstream = self.client.jetstream(timeout=30)
        self.do(ready(self.jetstream))
        self._numbers = count()

    def do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    def world(self) -> NatsWorld:
        return NatsWorld(self, f"w{next(self._numbers)}")

    def close(self) -> None:
        self.do(self.client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self.server.stop()


class NatsWorld(BrokerWorld):
    """What is sent again under the same name is stored once: the server sees to that."""

    def __init__(self, house: NatsHouse, name: str) -> None:
        self.house, self.name = house, name
        self._make()

    def _make(self) -> None:
        self.house.do(self.house.jetstream.add_stream(name=self.name, subjects=[f"{self.name}.>"], storage="memory"))

    def write(self, step: Step) -> None:
        async def send() -> None:
            for line in step.lines:
                headers = {"Nats-Msg-Id": f"{step.how} {line!r}"}
                await self.house.jetstream.publish(f"{self.name}.x", body_of(line), headers=headers)

        self.house.do(send())

    def lose(self) -> None:
        self.house.do(self.house.jetstream.delete_stream(self.name))
        self._make()

    def open(self) -> Source:
        self.source = NatsSource(self.name, servers=[self.house.server.url])
        return self.source

    def remove(self) -> None:
        super().remove()
        self.house.do(self.house.jetstream.delete_stream(self.name))


class KafkaWorld(BrokerWorld):
    """What is sent again is stored again; people keep to their partitions."""

    stores_again = True

    def __init__(self) -> None:
        self.cluster = KafkaCluster(partitions=2)

    def write(self, step: Step) -> None:
        for partition in (0, 1):
            bodies = [body_of(line) for line in step.lines if int(line.person[1:]) % 2 == partition]
            if bodies:
                self.cluster.send(bodies, partition)

    def lose(self) -> None:
        self.cluster.close()
        self.cluster = KafkaCluster(partitions=2)

    def open(self) -> Source:
        self.source = KafkaSource(self.cluster.topic, self.cluster.address)
        return self.source

    def remove(self) -> None:
        super().remove()
        self.cluster.close()
