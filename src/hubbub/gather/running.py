"""Driving a server's rounds in the background of its program."""

from __future__ import annotations

import threading
from collections.abc import Callable

from hubbub.errors import HubbubError
from hubbub.gather.helper_desk import HelperDesk
from hubbub.gather.issuer_desk import IssuerDesk
from hubbub.gather.leader_desk import LeaderDesk

IDLE_SECONDS, LONGEST_PAUSE = 0.2, 5.0


class Driver:
    """A thread that takes rounds on, for as long as the block lasts. What goes wrong is said, and tried again."""

    def __init__(
        self,
        desk: LeaderDesk | HelperDesk | IssuerDesk,
        say: Callable[[str], None],
        on_over: Callable[[], None] = lambda: None,
    ) -> None:
        self._desk, self._say, self._on_over = desk, say, on_over
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hubbub-gather", daemon=True)

    def _run(self) -> None:
        pause, said = IDLE_SECONDS, ""
        while not self._stop.is_set():
            try:
                more = self._desk.look()
                trouble = self._desk.trouble
            except HubbubError as error:
                more, trouble = False, f"{error.message} {error.hint}".strip()
            if trouble and trouble != said:
                self._say(trouble)
            said = trouble
            if self._desk.is_over:
                self._on_over()
            pause = min(2 * pause, LONGEST_PAUSE) if trouble else IDLE_SECONDS
            if not more:
                self._stop.wait(pause)

    def __enter__(self) -> Driver:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=30)
        self._desk.stop()
