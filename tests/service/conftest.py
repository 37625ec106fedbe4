"""A real NATS server with JetStream, started by the tests that need one."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import nats
import pytest


class Server:
    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder, self.process = folder, None
        self.url = f"nats://127.0.0.1:{self.port}"

    def start(self):
        binary = server_binary()
        self.process = subprocess.Popen(
            [binary, "-js", "-a", "127.0.0.1", "-p", str(self.port), "-sd", str(self.folder)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("the NATS server did not start")

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def publish(self, *messages):
        async def send():
            client = await nats.connect(self.url)
            jetstream = client.jetstream()
            await jetstream.add_stream(name="visits", subjects=["visits.>"])
            for body, name in messages:
                headers = {"Nats-Msg-Id": name} if name else None
                await jetstream.publish("visits.site", body, headers=headers)
            await client.close()

        asyncio.run(send())


def server_binary():
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        (pytest.fail if os.environ.get("HUBBUB_REQUIRE_ALL") == "1" else pytest.skip)("no nats-server is installed")
    return found


@pytest.fixture
def nats_server(tmp_path):
    server = Server(tmp_path / "nats")
    server.start()
    yield server
    server.stop()
