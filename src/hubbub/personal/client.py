"""The person's half: says a generalised context, and picks the best result for the true one.

Copy this file to a device; it needs Python's standard library alone. `docs/personal.md` describes what is sent.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import re
import secrets  # for names of drafts, not for privacy
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import floor, prod
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

VERSION = 2
"""Of plans and of answers."""
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
"""Which result is the best, by its place among those that were sent."""
NOTHING = "-"
_GRAIN = 1e-6
_NUMBER = re.compile(r" *[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)? *\Z")
_SECONDS = 10.0
_MOST = 65536
_STATUS = {
    404: "The server knows no such node: client and server have different hierarchies.",
    409: "The server refuses requests that leave so few contexts open: plan a coarser cut.",
    422: "The server does not send so many results: ask for a smaller k.",
}
"""What a refusal means. It depends on the node and on k alone, as all of a request does."""

Send = Callable[[str, bytes], bytes]
Step = tuple[str, int, int]
"""A node: its name, its first context, how many it has."""


class ClientRefusal(ValueError):
    """Nothing was sent, or what came back was not used. The words never repeat a context."""


@dataclass(frozen=True)
class Shown:
    """What a client shows, and what it told to get it. `result` is None where nothing is worth showing."""

    result: str | None
    sent: str


class Client:
    """Keeps the true context. `plan` is what `Cut.save` wrote; `pin` a file that remembers which plan a person uses.

    A person keeps one plan: two of them may tell together what neither tells alone. With `pin`, another plan than the
    first is refused.
    """

    def __init__(self, plan: bytes, *, pin: str | Path | None = None, send: Send | None = None) -> None:
        try:
            file = json.loads(plan)
            text = file["plan"]
            if file["format"] != "hubbub-personal-plan":
                raise ValueError
            if file["version"] != VERSION:
                raise ClientRefusal(
                    f"The plan is not of version {VERSION}, which this client reads; make it anew. Nothing was sent."
                )
            if hashlib.sha256(text.encode()).hexdigest() != file["digest"]:
                raise ValueError
            facts = json.loads(text)
            self._tree = tree_of(facts["hierarchy"])
            if not isinstance(facts["stops"], list) or not all(isinstance(stop, str) for stop in facts["stops"]):
                raise ValueError("stops")
            self._stops, self._finest = frozenset(facts["stops"]), facts["finest"]
            self._digest_of_tree = facts["tree"]
            if not isinstance(self._digest_of_tree, str):
                raise ValueError
        except ClientRefusal:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
            raise ClientRefusal("The plan is not whole, or was changed; nothing was sent.") from None
        self.digest: str = file["digest"]
        self._send = _post if send is None else send
        if pin is not None:
            _pinned(Path(pin), self.digest)

    def generalise(self, context: Any) -> str:
        """What is told of a context: the name of the node that stands for it."""
        return self._chosen(self._tree.path(context))[0]

    def request(self, context: Any, k: int) -> bytes:
        """The body of a request: the same for all contexts below a node."""
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= len(LETTERS):
            raise ClientRefusal(f"k is a whole number from 1 to {len(LETTERS)}.")
        return json.dumps({"node": self.generalise(context), "k": k}, ensure_ascii=False).encode()

    def pick(self, context: Any, answer: bytes, k: int = len(LETTERS)) -> str | None:
        """The best of the results that were sent, for the true context; None where none is worth showing.

        The whole answer is judged before the context is looked up in it. So an answer is refused for all contexts
        below a node or for none, and whoever sees that it was refused learns nothing about the context.
        """
        path = self._tree.path(context)
        name, first, leaves = self._chosen(path)
        results, lengths, best = _judged(answer, self._digest_of_tree, name, leaves, k)
        at, run = path[-1][1] - first, 0
        while at >= lengths[run]:
            at -= lengths[run]
            run += 1
        return None if best[run] == NOTHING else results[LETTERS.index(best[run])]

    def ask(self, context: Any, address: str, k: int = 10) -> Shown:
        """Ask a server, and pick. Nothing else is sent: no cookie, no name, no context."""
        body = self.request(context, k)
        try:
            answer = self._send(address, body)
        except ClientRefusal:
            raise
        except (OSError, http.client.HTTPException, ValueError):
            raise ClientRefusal("The server does not answer, or not as one does.") from None
        return Shown(self.pick(context, answer, k), self.generalise(context))

    def _chosen(self, path: Sequence[Step]) -> Step:
        for depth, step in enumerate(path):
            if step[0] in self._stops or depth == self._finest:
                return step
        return path[-1]


def _judged(answer: bytes, tree: str, name: str, leaves: int, k: int) -> tuple[list[str], list[int], str]:
    """Results, lengths of runs, and the letter of each: all of them sound, whatever the context is. `client.mjs` does
    the same, step by step."""
    try:
        facts = json.loads(answer.decode(), parse_constant=_no_number)
        if not isinstance(facts, dict):
            raise ValueError
        if facts.get("version") != VERSION:
            raise ClientRefusal(f"The answer is not of version {VERSION}, which this client reads.")
        if facts.get("hierarchy") != tree:
            raise ClientRefusal("Client and server have different hierarchies; the answer was not used.")
        results, lengths, best = facts["results"], facts["lengths"], facts["best"]
        if facts["node"] != name or not isinstance(best, str):
            raise ValueError
        if not isinstance(results, list) or len(results) > k or not all(isinstance(one, str) for one in results):
            raise ValueError
        if len(set(results)) != len(results) or "" in results:
            raise ValueError
        "".join(results).encode()  # half a character could be shown in no place
        if not isinstance(lengths, list) or len(lengths) != len(best):
            raise ValueError
        if not set(best) <= {NOTHING, *LETTERS[: len(results)]}:
            raise ValueError
        left = leaves
        for length in lengths:
            # JSON does not tell 12 from 12.0
            if isinstance(length, bool) or not isinstance(length, int | float) or not 1 <= length <= left or length % 1:
                raise ValueError
            left -= int(length)
        if left:
            raise ValueError
        return results, [int(length) for length in lengths], best
    except ClientRefusal:
        raise
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ClientRefusal("The answer does not fit what was asked.") from None


def _no_number(text: str) -> None:
    raise ValueError(text)


# ── one exchange ─────────────────────────────────────────────────────────────────────────────────────────────────


def _post(address: str, body: bytes) -> bytes:
    """One request, and nothing else: no redirect is followed, no proxy asked, no second try. `_SECONDS` are for all of
    it, however slowly bytes drip in."""
    where = urlsplit(address)
    kind = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}.get(where.scheme)
    if kind is None or not where.hostname:
        raise ClientRefusal("The address of a server begins with http:// or https://; nothing was sent.")
    connection = kind(where.hostname, where.port, timeout=_SECONDS)
    found: list[tuple[int, bytes] | Exception] = []

    def exchange() -> None:
        try:
            path = (where.path or "/") + (f"?{where.query}" if where.query else "")
            connection.request("POST", path, body, {"Content-Type": "application/json", "User-Agent": "hubbub"})
            with connection.getresponse() as answer:
                found.append((answer.status, answer.read(_MOST + 1)))
        except Exception as error:
            found.append(error)
        finally:
            connection.close()

    worker = threading.Thread(target=exchange, daemon=True)  # a socket's own limit is for each read, not for all
    worker.start()
    worker.join(_SECONDS)
    if worker.is_alive():  # what it finds from here on is what hanging up left of the answer
        if (held := connection.sock) is not None:
            with suppress(OSError):
                held.shutdown(socket.SHUT_RDWR)
        raise TimeoutError
    if isinstance(found[0], Exception):
        raise found[0]
    status, text = found[0]
    if status != 200:
        raise ClientRefusal(_STATUS.get(status, f"The server refused, with status {status}."))
    if len(text) > _MOST:
        raise ClientRefusal("The answer does not fit what was asked.")
    return text


# ── the pin ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _pinned(path: Path, digest: str) -> None:
    """Remember a plan, or refuse another one. The pin appears whole or not at all: written beside its place, and linked
    to it, which fails where there is one."""
    try:
        if not os.path.lexists(path):
            draft = path.with_name(f".{path.name[:100]}-{secrets.token_hex(8)}")
            try:
                with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                    file.write(digest)
                    file.flush()
                    os.fsync(file.fileno())
                with suppress(FileExistsError):  # another process was faster: what it wrote is what counts
                    os.link(draft, path)
            finally:
                with suppress(OSError):
                    draft.unlink()
        known = path.read_bytes()
        _synced(path.parent)  # also where another process made it: it may be about to lose its power
    except OSError:
        raise ClientRefusal("Which plan a person uses cannot be kept, or not be read; nothing was sent.") from None
    if len(known) != 64 or not set(known) <= set(b"0123456789abcdef"):
        raise ClientRefusal(
            "The pin is not whole, so which plan this person uses is not known; nothing was sent. Delete it only if "
            "this plan is the one that was used."
        )
    if known != digest.encode():
        raise ClientRefusal(
            "This person uses another plan. Two plans may tell together what neither tells alone; who changes it "
            "all the same deletes the pin."
        )


def _synced(folder: Path) -> None:
    if os.name == "posix":  # elsewhere folders cannot be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# ── hierarchies, from the root down to a context ─────────────────────────────────────────────────────────────────


class _Categories:
    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._names, self._parents = facts["names"], facts["parents"]
        "".join(self._names).encode()  # half a character cannot be sent
        inner = set(self._parents)
        self._sizes = [int(i not in inner) for i in range(len(self._names))]
        self._firsts = [0] * len(self._names)
        number = 0
        for i, size in enumerate(self._sizes):  # nodes stand before all that is below them
            self._firsts[i] = number
            number += size
        self._contexts = {self._names[i]: i for i, size in enumerate(self._sizes) if size}
        for i in range(len(self._names) - 1, 0, -1):
            self._sizes[self._parents[i]] += self._sizes[i]

    def path(self, context: Any) -> list[Step]:
        at = self._contexts.get(context, -1) if isinstance(context, str) else -1
        if at < 0:
            raise _unknown()
        found = []
        while at >= 0:
            found.append((self._names[at], self._firsts[at], self._sizes[at]))
            at = self._parents[at]
        return found[::-1]


class _Decimals:
    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._south, self._west, self._digits = facts["south"], facts["west"], facts["digits"]
        self._high, self._wide = facts["north"] - self._south, facts["east"] - self._west

    def path(self, context: Any) -> list[Step]:
        latitude, longitude = _position(context)
        unit = 10**self._digits
        north, east = self._south + self._high, self._west + self._wide
        if not (self._south <= latitude <= north and self._west <= longitude <= east):
            raise _unknown()
        up = min(floor(latitude * unit + _GRAIN), north * unit - 1)  # the last cells hold the border
        across = min(floor(longitude * unit + _GRAIN), east * unit - 1)
        south, west = up - self._south * unit, across - self._west * unit
        first = south // unit * self._wide + west // unit
        found = [("*", 0, self._high * self._wide * 100**self._digits)]
        for level in range(self._digits + 1):
            size = 10 ** (self._digits - level)
            if level:
                first = first * 100 + south // size % 10 * 10 + west // size % 10
            name = f"{_text(up // size, level)},{_text(across // size, level)}"
            found.append((name, first * size * size, size * size))
        return found


def _position(context: Any) -> tuple[float, float]:
    """Two numbers, or texts of numbers: nothing else, since a device that does not know its place may say null."""
    given = context.split(",") if isinstance(context, str) else context
    if not isinstance(given, list | tuple) or len(given) != 2:
        raise _unknown()
    for one in given:
        if isinstance(one, bool) or not (isinstance(one, int | float) or (isinstance(one, str) and _NUMBER.match(one))):
            raise _unknown()
    try:
        return float(given[0]), float(given[1])
    except OverflowError:
        raise _unknown() from None


class _Combined:
    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._parts = {name: tree_of(part) for name, part in facts["attributes"]}
        places = {name: place for place, name in enumerate(self._parts)}
        self._order = [places[name] for name in facts["order"]]

    def path(self, context: Any) -> list[Step]:
        if not isinstance(context, Mapping) or set(context) != set(self._parts):
            raise _unknown()
        ways = [part.path(context[name]) for name, part in self._parts.items()]
        at, first = [0] * len(ways), 0
        found = [self._joined(ways, at, first)]
        rest = [place for place, way in enumerate(ways) for _ in way]
        for place in [*self._order, *rest]:
            if at[place] + 1 < len(ways[place]):
                before, after = ways[place][at[place]], ways[place][at[place] + 1]
                others = prod(way[i][2] for way, i in zip(ways, at, strict=True)) // before[2]
                first += (after[1] - before[1]) * others
                at[place] += 1
                found.append(self._joined(ways, at, first))
        return found

    @staticmethod
    def _joined(ways: Sequence[Sequence[Step]], at: Sequence[int], first: int) -> Step:
        steps = [way[i] for way, i in zip(ways, at, strict=True)]
        name = json.dumps([step[0] for step in steps], ensure_ascii=False, separators=(",", ":"))
        return name, first, prod(step[2] for step in steps)


_KINDS: dict[str, Any] = {"categories": _Categories, "decimals": _Decimals, "combined": _Combined}


def tree_of(facts: Mapping[str, Any]) -> Any:
    return _KINDS[facts["kind"]](facts)


def _text(number: int, level: int) -> str:
    whole, rest = divmod(abs(number), 10**level)
    return ("-" if number < 0 else "") + (f"{whole}.{rest:0{level}d}" if level else str(whole))


def _unknown() -> ClientRefusal:
    return ClientRefusal("A context is not among the plan's; nothing was sent.")
