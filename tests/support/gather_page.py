"""A page in a real browser with the gather client's modules, and the real servers that its reports are for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hubbub.gather.client as module
from hubbub.gather import Helper, Leader, Prio3Scheme, Query, SealKey
from hubbub.gather.messages import Announcement, CheckAnswer, CheckRequest

FOLDER = Path(module.__file__).parent
KEYS = SealKey.make(), SealKey.make()
VERIFY = bytes(range(32))

TOOLS = """
const { Client, ClientRefusal } = await import("/client.mjs");
const { Prio3, Xof } = await import("/prio3.mjs");
const bytes = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const hex = (bytes) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
const refused = async (act) => {
  try {
    return { done: await act() };
  } catch (error) {
    return { refused: error instanceof ClientRefusal, words: `${error.name}: ${error.message}` };
  }
};
"""


class World:
    """A page whose every request is written down."""

    def __init__(self, chromium, address="http://localhost/"):
        self.heard: list[tuple[str, str]] = []
        self.context = chromium.new_context()
        self.page = self.context.new_page()
        self.page.route("**/*", self._answer)
        self.page.goto(address)
        self.heard.clear()

    def _answer(self, route):
        request = route.request
        self.heard.append((request.method, request.url))
        if "//127.0.0.1:" in request.url:  # servers of ours
            route.continue_()
            return
        if request.url.endswith(".mjs"):
            body = (FOLDER / request.url.rpartition("/")[2]).read_text()
            route.fulfill(body=body, content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html><title>x</title>", content_type="text/html")

    def run(self, program: str, given: Any) -> Any:
        return self.page.evaluate("async (given) => {" + TOOLS + program + "}", given)


def announced(circuit, scheme="prio3", servers=KEYS, **plan: Any) -> bytes:
    sure = {"epsilon": 500 * circuit.change, "allow_weak": True}  # noise is 0, but for a chance of e^-500
    given = {"clients": 10, "minimum": 2, "verify_key": VERIFY} | (plan or sure)
    query = Query.plan(given.pop("name", "colours"), circuit, **given)
    return Announcement(query, scheme, tuple(key.public for key in servers)).encode()


class Servers:
    """Both, for an announcement."""

    def __init__(self, announcement: bytes) -> None:
        self.query = Announcement.decode(announcement).query
        self.leader, self.helper = (
            server(Prio3Scheme(self.query, VERIFY), key) for server, key in zip((Leader, Helper), KEYS, strict=True)
        )

    def check(self) -> None:
        request = self.leader.ask()
        assert request is not None
        answer = self.helper.check(CheckRequest.decode(request.encode()))
        self.helper.settle(self.leader.conclude(CheckAnswer.decode(answer.encode())))

    def sums(self) -> list[int]:
        return self.leader.publish(self.helper.open(self.leader.close())).sums
