"""A real NATS server with JetStream, started by the tests that need one."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
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
            self.process.kill()  # no chance to write anything more
            self.process.wait()
            self.process = None

    def hang(self):
        """It keeps its connections and answers nothing, from here on: until the signal has arrived it would answer."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)

    def wake(self):
        self.process.send_signal(signal.SIGCONT)

    def publish(self, *messages, subject="visits.site", **limits):
        async def send(jetstream):
            await jetstream.add_stream(name="visits", subjects=["visits.>"], **limits)
            for body, name in messages:
                headers = {"Nats-Msg-Id": name} if name else None
                await jetstream.publish(subject, body, headers=headers)

        self.ask(send)

    def ask(self, work):
        """Run `await work(jetstream)` with a connection of its own. JetStream may need a moment after a start."""

        async def run():
            client = await nats.connect(self.url, allow_reconnect=False, connect_timeout=10)
            try:
                jetstream = client.jetstream(timeout=10)
                await ready(jetstream)
                await work(jetstream)
            finally:
                await client.close()

        asyncio.run(run())


async def ready(jetstream):
    end = time.monotonic() + 30
    while True:
        try:
            await jetstream.account_info()
            return
        except (nats.js.errors.Error, nats.errors.TimeoutError, nats.errors.NoRespondersError):
            assert time.monotonic() < end, "JetStream did not start"
            await asyncio.sleep(0.05)


def server_binary():
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    if found is None:
        (pytest.fail if os.environ.get("HUBBUB_REQUIRE_ALL") == "1" else pytest.skip)("no nats-server is installed")
    return found
