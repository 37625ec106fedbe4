"""Both servers as real programs, in processes of their own that can be killed at any moment."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.patience import until

from hubbub.errors import GatherUnavailable
from hubbub.gather.line import Line


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class ServerProcess:
    """`python -m hubbub gather leader|helper …`, on a port that stays the same over restarts."""

    def __init__(self, role: str, words: Sequence[str | Path], *, scheme: str = "http", **environment: str) -> None:
        self.port = free_port()
        self.address = f"{scheme}://127.0.0.1:{self.port}"
        self._words = [sys.executable, "-m", "hubbub", "gather", role, *map(str, words), "--port", str(self.port)]
        small = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self._environment = os.environ | small | environment
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> ServerProcess:
        self.process = subprocess.Popen(
            self._words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=self._environment
        )
        return self

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def ready(self, authority: Path | None = None) -> ServerProcess:
        line = Line(self.address, authority=authority)

        def answers() -> bool:
            try:
                return bool(line.get("/v1/gather/status"))
            except GatherUnavailable:
                return not self.running

        until(answers, f"{self.address} answers")
        line.close()
        assert self.running, self.end()
        return self

    def kill(self) -> None:
        if self.running:
            assert self.process is not None
            self.process.kill()
            self.end()

    def end(self) -> str:
        """Wait until it ends; what it said."""
        assert self.process is not None
        said = self.process.communicate(timeout=60)[0]
        return said or ""

    def stop(self) -> str:
        if not self.running:
            return ""
        assert self.process is not None
        self.process.terminate()
        return self.end()


class Programs:
    """A plan, and both programs for it."""

    def __init__(
        self, folder: Path, *asked: str, helper_words: Sequence[str | Path] = (),
        leader_words: Sequence[str | Path] = (), scheme: str = "http",
    ) -> None:  # fmt: skip
        self.folder = folder
        self.told = hubbub("plan", "colours", "--out", folder / "q", *asked)
        plan = folder / "q" / "plan.json"
        self.plan = plan
        self.helper = ServerProcess(
            "helper", [plan, "--keys", folder / "q" / "helper.keys", "--rounds", folder / "helper", *helper_words],
            scheme=scheme,
        )  # fmt: skip
        self.leader = ServerProcess(
            "leader",
            [plan, "--keys", folder / "q" / "leader.keys", "--rounds", folder / "leader",
             "--helper", self.helper.address, *leader_words],
            scheme=scheme,
        )  # fmt: skip

    def __enter__(self) -> Programs:
        self.helper.start()
        self.leader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.leader.kill()
        self.helper.kill()

    def result(self, tick: int = 0, authority: Path | None = None, server: ServerProcess | None = None) -> Any:
        """What a round came to, once it is over."""
        line = Line((server or self.leader).address, authority=authority)
        for _ in range(2400):
            try:
                facts = json.loads(line.get(f"/v1/gather/rounds/{tick}"))
            except GatherUnavailable:
                facts = {}
            if facts.get("state") in ("opened", "ended"):
                line.close()
                return facts
            time.sleep(0.05)
        raise AssertionError("no result came")


def hubbub(*words: str | Path) -> Any:
    """One command with `--json`; its document."""
    done = subprocess.run(
        [sys.executable, "-m", "hubbub", "gather", *map(str, words), "--json"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.stdout, done.stderr[-3000:]
    return json.loads(done.stdout)
