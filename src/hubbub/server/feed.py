"""Watches the store for new releases and hands them to the channels."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import takewhile

from hubbub.errors import HubbubError, UnknownStream
from hubbub.masking import masked
from hubbub.privacy import Guarantee
from hubbub.released import Domain, Release, same_whole
from hubbub.server.channel import MOST_CELLS, Channel, encode
from hubbub.server.clock import Clock, end_of
from hubbub.server.faults import place_of
from hubbub.server.picture import COMPARE
from hubbub.server.settings import ServerSettings
from hubbub.server.sparing import Sparing
from hubbub.store import Store, Stream
from hubbub.store.stream import ranges_name

log = logging.getLogger("hubbub.server")

BATCH = 200
"""Releases taken from the store at a time: a replay faster than real time must not fill memory."""

RESUME = 200
"""How many missed events a returning viewer is sent at most; older ones are in `releases`."""

_DISCOVER_SECONDS = 30.0


class Feed:
    """One task that asks the store for what is new, every `poll_seconds` or as soon as someone calls `wake`.

    If the store is away the last picture stays and the feed asks again. The store is read in a worker thread, so a slow
    disk does not hold up the viewers.
    """

    def __init__(self, store: Store, settings: ServerSettings, clock: Clock, sparing: Sparing) -> None:
        self.is_open = True
        self.viewers = 0
        self.trouble: str | None = None
        self._store, self._sparing = store, sparing
        self._settings = settings
        self._clock = clock
        self._channels: dict[str, Channel] = {}
        self._streams: dict[str, Stream] = {}
        self._ranges: dict[str, Stream] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._discovered = 0.0
        self._drawing = asyncio.Semaphore(2)  # many who return late wait for each other, not everyone for them

    # ── life ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._look()
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        self.close()
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def wake(self) -> None:
        """There is something new. May be called from any thread, before the start and after the end too."""
        self._call(self._woken.set)

    def end(self) -> None:
        """Let all viewers go; from any thread."""
        self._call(self.close)

    def close(self) -> None:
        self.is_open = False
        for channel in self._channels.values():
            channel.close()

    # ── what there is ────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def streams(self) -> list[Stream]:
        """The known streams, the oldest first. Streams of ranges stand behind their live streams and are not listed."""
        return sorted(self._streams.values(), key=lambda stream: stream.id)

    def stream(self, name: str) -> Stream:
        if name not in self._streams:
            raise UnknownStream("There is no stream of that name.", "GET /v1/streams lists them.")
        return self._streams[name]

    def has(self, name: str) -> bool:
        return name in self._streams

    def readable(self, name: str) -> Stream:
        """A stream or one of ranges: what was released can be read of both, anything else belongs to the stream."""
        return self._ranges.get(name) or self.stream(name)

    def channel(self, name: str) -> Channel:
        self.stream(name)
        return self._channels[name]

    def keys(self, name: str) -> Domain:
        """What the latest release of a stream counts by; before the first one, what will be counted."""
        channel = self._channels.get(name)
        return self.readable(name).keys if channel is None else channel.keys

    def ranges_of(self, name: str) -> Stream | None:
        """The stream of ranges beside this one, if it has one."""
        ranges = self._ranges.get(ranges_name(name))
        return ranges if ranges is not None and ranges.ranges_of == name else None

    def guarantee(self, name: str) -> Guarantee:
        """What is promised about all streams of this stream's grant together."""
        return self.stream(name).part.grant.guarantee

    def range_window(self, name: str) -> int | None:
        """How many ticks back the stream of ranges reaches."""
        beside = self.ranges_of(name)
        return None if beside is None else int(beside.options["window"])

    async def missed(self, name: str, after: int) -> tuple[int, bytes]:
        """Events after tick `after` that are no longer in memory, from the store; with the last tick in them."""
        last = self._channels[name].last_tick
        first = max(after + 1, last - self._at_once(name, RESUME) + 1)
        primer = max(0, first - COMPARE)

        def draw() -> bytes:
            pictures, events = self._channels[name].fresh_pictures(), []
            for release in self._store.releases(name, first=primer, last=last):
                if release.tick.index < first:
                    pictures.skim([release])
                else:
                    events.append(encode(pictures.draw(release)))
            return b"".join(events)

        async with self._drawing:
            return last, await asyncio.to_thread(draw)

    # ── in here ──────────────────────────────────────────────────────────────────────────────────────────────────

    def _call(self, function: object) -> None:
        if self._loop is not None and not self._loop.is_closed():
            with suppress(RuntimeError):  # the loop closed in this moment
                self._loop.call_soon_threadsafe(function)  # type: ignore[arg-type]

    async def _run(self) -> None:
        while self.is_open:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), self._settings.poll_seconds)
            self._woken.clear()
            await self._look()

    async def _look(self) -> None:
        try:
            if not self._streams or time.monotonic() - self._discovered > _DISCOVER_SECONDS:
                await self._discover()
            for name, channel in list(self._channels.items()):
                await self._take(name, channel)
            self.trouble = None
        except HubbubError as error:
            if self.trouble is None:
                log.warning("the store does not answer: %s: %s", error.code, masked(error.message))
            self.trouble = error.code
        except Exception as error:  # a feed that stops would freeze every page without a word
            what = f"{type(error).__name__} at {place_of(error)}"
            self._sparing.say(what, what, level=logging.ERROR)
            self.trouble = "internal_error"

    async def _discover(self) -> None:
        streams = await asyncio.to_thread(self._store.streams)
        self._discovered = time.monotonic()
        self._ranges |= {stream.name: stream for stream in streams if stream.ranges_of is not None}
        for stream in streams:
            if stream.name in self._streams or stream.ranges_of is not None:
                continue
            domain = await asyncio.to_thread(self._store.domain, stream)
            channel = Channel(domain, self._settings, lists=stream.finds_keys)
            past = await asyncio.to_thread(self._past, stream, channel.history.maxlen or 2)
            if past:
                channel.fill(past, end_of(past[-1].tick) or self._clock())
            self._channels[stream.name] = channel
            self._streams[stream.name] = stream

    async def _take(self, name: str, channel: Channel) -> None:
        while True:
            first, most = channel.last_tick + 1, self._at_once(name, BATCH)
            new = await asyncio.to_thread(self._read, name, first, most)
            channel.publish(new, self._now())
            if len(new) < most:
                return
            await asyncio.sleep(0)

    def _read(self, name: str, first: int, most: int) -> Sequence[Release]:
        return list(self._store.releases(name, first=first, limit=most))

    def _past(self, stream: Stream, most: int) -> Sequence[Release]:
        """The newest releases of which all keys together mean the same as those of the last one."""
        past = self._store.latest(stream, most)
        alike = takewhile(lambda release: same_whole(release.keys, past[-1].keys), reversed(past))
        return list(alike)[::-1]

    def _at_once(self, name: str, most: int) -> int:
        """How many releases are taken into memory at a time: few of a stream with many keys."""
        return max(1, min(most, MOST_CELLS // len(self.keys(name))))

    def _now(self) -> datetime:
        return self._clock()
