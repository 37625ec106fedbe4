"""A real monitor in a process of its own, that can be killed at any moment."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

from tests.support.patience import PATIENCE, until


class MonitorProcess:
    """`python -m hubbub monitor SETTINGS`. `said` is every line that it wrote, to both of its outputs."""

    def __init__(self, settings: Path, state: Path, *words: str) -> None:
        small = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hubbub", "monitor", str(settings), *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | small | {"HUBBUB_STATE": str(state)},
        )  # fmt: skip
        self.said: list[str] = []
        self.errors: list[str] = []
        self.address: str | None = None
        self._readers = [
            threading.Thread(target=self._read, args=(self.process.stdout, []), daemon=True),
            threading.Thread(target=self._read, args=(self.process.stderr, self.errors), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, pipe: IO[str], also: list[str]) -> None:
        for line in pipe:
            self.said.append(line.rstrip("\n"))
            also.append(line.rstrip("\n"))
            if line.startswith("The dashboard: http://"):
                self.address = line.removeprefix("The dashboard: ").strip()

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def ready(self) -> str:
        """Its address, once it serves."""
        until(lambda: self.address or not self.running, "the monitor serves")
        assert self.address, "\n".join(self.said)
        return self.address

    def says(self, words: str) -> str:
        """The first line that holds these words."""

        def found() -> str | None:
            return next((line for line in list(self.said) if words in line), None)

        until(lambda: found() or not self.running, f"it says {words!r}")
        line = found()
        assert line, "\n".join(self.said)
        return line

    def kill(self) -> None:
        self.process.kill()
        self._end()

    def stop(self) -> int:
        """By SIGTERM; its exit code."""
        self.process.terminate()
        return self._end()

    def ends(self) -> int:
        """Wait until it ends by itself; its exit code."""
        return self._end()

    def _end(self) -> int:
        code = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def __enter__(self) -> MonitorProcess:
        return self

    def __exit__(self, *_: object) -> None:
        if self.running:
            self.kill()
        else:
            self._end()
