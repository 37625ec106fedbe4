"""Senders of events that send again what was not acknowledged."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import urlsplit

from tests.support.truth import Truth

SOON = 5.0
"""A repetition within so many seconds is known as one; much later it would be late for every tick."""


class EventSender:
    """Some threads, each with a batch at a time: under one idempotency key until it is acknowledged, and at times once
    more afterwards. `address` tells where the monitor is at present, or that it is nowhere."""

    def __init__(
        self,
        address: Callable[[], str | None],
        token: str,
        truth: Truth,
        secret: str,
        dice: random.Random,
        released: Callable[[], int | None] = lambda: None,
        threads: int = 3,
    ) -> None:
        self._address, self._token, self._truth, self._secret = address, token, truth, secret
        self._released = released
        self._stop = threading.Event()
        self._abandoned = False
        self._lock = threading.Lock()
        self.repeated = 0
        self.acknowledged = 0
        self.error: BaseException | None = None
        self._threads = [threading.Thread(target=self._watched, args=(dice.random(),)) for _ in range(threads)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Each sends its last batch until it is acknowledged."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        if self.error is not None:
            raise self.error

    def abandon(self) -> None:
        """Give up: there is no monitor any more."""
        self._abandoned = True
        self._stop.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()

    def _watched(self, seed: float) -> None:
        try:
            self._send(random.Random(seed))
        except BaseException as error:
            self.error = error
            self._stop.set()

    def _send(self, dice: random.Random) -> None:
        while not self._stop.is_set():
            if self._address() is None:
                time.sleep(0.02)
                continue
            body, counted, late = self._batch(dice)
            key = str(uuid.UUID(int=dice.getrandbits(128)))
            tries = 0
            while (answer := self._post(body, key)) is None:
                if self._abandoned:
                    return
                tries += 1
                time.sleep(0.02)
            done = time.time()
            self._truth.note(counted, done)
            self._truth.note_late(late)
            assert tries or not answer["duplicate"]
            with self._lock:
                self.repeated += answer["duplicate"]
                self.acknowledged += 1
            if dice.random() < 0.1:  # the answer was lost on its way, for all that the sender knows
                again = self._post(body, key)
                if again is not None and time.time() - done < SOON:
                    assert again["duplicate"]
                    assert again["accepted"] == answer["accepted"]
            time.sleep(dice.uniform(0, 0.03))

    def _batch(self, dice: random.Random) -> tuple[bytes, list[tuple[int, str]], int]:
        lines, counted, late = [], list[tuple[int, str]](), 0
        for _ in range(dice.randint(1, 8)):
            now, key, chance = int(time.time() * 1000) / 1000, dice.choice(["/a", "/a", "/b"]), dice.random()
            released = self._released()
            if chance < 0.05:
                lines.append(f"not json {self._secret}")
                continue
            if chance < 0.1:
                key = f"/{self._secret}"
            elif chance < 0.15 and released is not None:
                now = released - dice.randint(0, 20) + 0.5
                late += 1
            else:
                now += 0 if released is None else dice.choice([0] * 9 + [3])
                counted.append((int(now), key))
            moment = datetime.fromtimestamp(now, UTC).isoformat()
            lines.append(json.dumps({"time": moment, "session": f"{self._secret}{dice.randrange(50)}", "path": key}))
        return "\n".join(lines).encode(), counted, late

    def _post(self, body: bytes, key: str) -> dict | None:
        """The answer, or None if there was none or the monitor could not take it."""
        address = self._address()
        if address is None:
            return None
        where = urlsplit(address)
        headers = {
            "Authorization": f"Bearer {self._token}", "Content-Type": "application/x-ndjson", "Idempotency-Key": key,
        }  # fmt: skip
        connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
        try:
            connection.request("POST", "/v1/streams/site/events", body, headers)
            answer = connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()
        assert self._secret not in text
        if answer.status in (429, 503):
            return None
        assert answer.status == 202, (answer.status, text)
        return json.loads(text)
