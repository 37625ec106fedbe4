"""Events that were sent to us: in by `push`, many at a time to the disk, out by `poll`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from hubbub.collect import Batch, Source
from hubbub.collect.sources import JsonLines
from hubbub.collect.sources.documents import MEDIA, Unfold, as_it_is
from hubbub.errors import EventsInDoubt, EventsNotKept, HubbubError, InvalidInput, Overloaded, StoreUnavailable
from hubbub.monitor.one_stream import expect_own
from hubbub.monitor.spool.frame import Frame
from hubbub.monitor.spool.group import Group, Waiting
from hubbub.monitor.spool.keys import KnownKeys, digest_of, name_of
from hubbub.monitor.spool.log import Log, NotKept
from hubbub.monitor.spool.parsed import Parsed, ParsedFrames
from hubbub.monitor.spool.place import Place
from hubbub.monitor.spool.reading import Reading
from hubbub.monitor.spool.receipt import Receipt

SEGMENT_BYTES = 16 * 2**20
SEGMENT_SECONDS = 60.0
MOST_KEYS = 1_000_000
MOST_KEY_LENGTH = 200
REPEATABLE = timedelta(minutes=5)
LINGER_SECONDS = 0.003
TRY_SECONDS = 1.0
"""How often it is tried, after the disk refused, whether it takes something again: perhaps nobody sends any more."""

CANNOT_WRITE = "Events cannot be kept: the spool's disk refuses. Senders are asked to send again."
CANNOT_READ = "The spool cannot be read."
CANNOT_DELETE = "Settled events cannot be deleted from the spool."
FULL = "The spool is full. Senders are asked to send again."
GONE = "The spool's files were deleted while the monitor ran. Start it again."

_AGAIN = "Send the batch again later, with the same idempotency key."


class Spool(Source):
    """A folder of append-only files that one process holds: `push` returns when the batch is on disk, `poll` reads.

    Batches that arrive while others are being written wait for each other and share the next flush, so a thousand
    senders do not cost a thousand flushes. Each keeps its own receipt. What was acknowledged survives a crash, and is
    read again from the place where counting had got to; a place proves itself by a digest of all that stands before it.

    `repeatable` is how long a batch that is sent again could still count: a tick, the lateness, and how far ahead of
    the clock an event may be. For so long, and over restarts, a batch with an idempotency key that was seen before is
    acknowledged with the first answer and not kept again. Each sender has keys of its own.

    Files are readable by this user alone, begin anew once per minute while events come, and are deleted when
    all that is in them is settled: they hold raw events.
    """

    def __init__(
        self,
        folder: Path,
        *,
        max_bytes: int = 2**30,
        segment_bytes: int = SEGMENT_BYTES,
        segment_seconds: float = SEGMENT_SECONDS,
        repeatable: timedelta = REPEATABLE,
        most_keys: int = MOST_KEYS,
        stream: str | None = None,
        lines: JsonLines | None = None,
        unfold: Unfold = as_it_is,
    ) -> None:
        self._stream = stream  # whose events these are; None takes whatever comes
        self._max_bytes = max_bytes
        self._lines, self._unfold = lines or JsonLines(), unfold
        self._keys = KnownKeys(repeatable.total_seconds(), most_keys)
        try:
            self._log = Log(folder, self._keys.see, segment_bytes=segment_bytes, segment_seconds=segment_seconds)
        except OSError as error:
            raise StoreUnavailable(
                f"Events cannot be kept in {folder}: {error.strerror}.",
                "Free space, or give a folder that this user can write to (`spool` in the table [source]).",
            ) from None
        self._keys.restore()
        self._changed = threading.Condition()
        self._waiting: list[Waiting] = []
        self._busy = self._closed = self._company = False
        self._troubles = {"write": "", "read": "", "delete": ""}
        self._parsed = ParsedFrames()
        self._at, self._end = self._log.first, self._log.end
        self._told = self._end
        self._tried = 0.0
        self._wanted = 0  # bytes of the batch that was refused for want of room

    @property
    def identity(self) -> str:
        return f"spool:{self._log.spool}"

    @property
    def media(self) -> tuple[str, ...] | None:
        """Of which types a body may be, where it is not lines of JSON."""
        return MEDIA.get(self._unfold)

    @property
    def trouble(self) -> str:
        return GONE if self._log.gone else " ".join(words for words in self._troubles.values() if words)

    @property
    def takes_events(self) -> bool:
        """Whether the last batch could be kept, as far as anybody knows, and the next one probably can."""
        return not (self._log.gone or self._troubles["write"])

    @property
    def can_be_read(self) -> bool:
        return not (self._log.gone or self._troubles["read"])

    # ── in ───────────────────────────────────────────────────────────────────────────────────────────────────────

    def push(self, stream: str, body: bytes, idempotency_key: str | None = None, sender: str = "") -> Receipt:
        """Take a batch of NDJSON events, whole or not at all; on disk when this returns.

        `sender` names who sends, by something that stays the same for them: keys of different senders never meet.
        """
        expect_own(stream, self._stream or stream)
        mine = self._waiting_of(body, idempotency_key, sender)
        self._have_answered([mine], linger=self._company)
        return mine.receipt()

    def push_many(self, stream: str, batches: Sequence[tuple[bytes, str | None, str]]) -> list[Receipt | Exception]:
        """`push` for batches that arrived together (body, key, sender): each gets its receipt, or why it was refused.

        One thread for all of them: a thread for each would cost more than the writing. Whoever calls this has gathered
        them, so nobody else is waited for.
        """
        expect_own(stream, self._stream or stream)
        mine = [self._waiting_or_refused(*batch) for batch in batches]
        self._have_answered([one for one in mine if one.answer is None], linger=False)
        return [one.answer if isinstance(one.answer, Receipt) else one.answer() for one in mine if one.answer]

    def _waiting_or_refused(self, body: bytes, key: str | None, sender: str) -> Waiting:
        """What is wrong with one batch is for its own sender."""
        try:
            return self._waiting_of(body, key, sender)
        except Exception as error:
            return Waiting(b"", answer=_because(error))

    def _have_answered(self, mine: list[Waiting], *, linger: bool) -> None:
        with self._changed:
            self._waiting += mine
            while any(one.answer is None for one in mine):
                if self._busy:
                    self._changed.wait()
                    continue
                with self._alone():
                    self._commit(self._gather(linger))

    def _waiting_of(self, body: bytes, key: str | None, sender: str) -> Waiting:
        mine = Waiting(self._unfold(body))  # what is kept are lines, whatever was sent
        if key is not None:
            if len(key) > MOST_KEY_LENGTH:
                raise InvalidInput("An idempotency key has at most 200 characters.", "Use a UUID.")
            mine.name, secret = name_of(self._log.spool, sender, key)
            mine.digest = digest_of(body, secret)
        if mine.is_large and (mine.name is None or self._keys.find(mine.name) is None):
            mine.parsed = self._lines.parse(mine.body)  # in this thread: nobody else waits for a large batch to be read
        return mine

    def _gather(self, linger: bool) -> Group:
        """Who waits now. Where several send at the same time, a moment more lets those join who were just answered."""
        if linger:
            time.sleep(LINGER_SECONDS)
        with self._changed:
            group = Group.of(self._waiting)
        self._company = len(group.fresh) > 1
        return group

    def _commit(self, group: Group) -> None:
        """All that wait, in one frame: read once, written once, flushed once; then each gets its answer."""
        try:
            self._keep(group)
        except NotKept as error:
            self._troubles["write"] = CANNOT_WRITE
            group.refuse(_not_kept(error))
        except BaseException as error:
            what = type(error).__name__
            group.refuse(lambda: EventsInDoubt(f"Events cannot be kept: {what}.", _AGAIN))
            raise

    def _keep(self, group: Group) -> None:
        if self._closed:
            group.refuse(_stopping)
        self._keys.forget()
        group.answer_repeated(self._keys)
        self._refuse_too_many(group)
        if not group.fresh:
            return
        events, counted = group.read(self._lines)
        if not group.fresh:
            return
        arrived, malformed = time.time_ns() // 1000, sum(bad for _, bad in counted)
        keys = group.keys(counted, arrived)
        frame = Frame.of(arrived, events.height + malformed, keys, [one.body for one in group.fresh])
        start, end = self._log.append(frame)
        now = time.monotonic()
        for key in keys:
            self._keys.add(key, end.segment, now)
        self._parsed.keep(Parsed(start, end, events, malformed, len(frame.body)))
        self._troubles["write"] = ""
        self._end = end
        group.accept(counted)

    def _refuse_too_many(self, group: Group) -> None:
        if not self._keys.has_room(sum(one.name is not None for one in group.fresh)):
            group.refuse(_too_many_keys, lambda one: one.name is not None)
        room = self._max_bytes - self._log.size
        for one in list(group.fresh):
            if one.size > room:
                # A batch that is larger than all of it would wait for ever.
                self._troubles["write"], self._wanted = FULL, min(one.size, self._max_bytes // 2)
                group.refuse(self._full, lambda other, one=one: other is one)  # type: ignore[misc]
            else:
                room -= one.size

    def _full(self) -> Overloaded:
        return Overloaded(f"The spool holds {self._max_bytes:,} bytes of events; there is no room for more.", _AGAIN)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Change the log with the lock let go: others may join the next group meanwhile, and read. Call it locked."""
        while self._busy:
            self._changed.wait()
        self._busy = True
        self._changed.release()
        try:
            yield
        finally:
            self._changed.acquire()
            self._busy = False
            self._changed.notify_all()

    # ── out ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def open(self, positions: Mapping[str, str]) -> bool:
        """Start behind `positions`. If it is proved that all behind them is there, what lies before them is deleted."""
        self._at = self._log.first
        found = self._find(positions)
        if found is None:
            return False
        self._at = found
        self.settle(positions)
        return True

    def _find(self, positions: Mapping[str, str]) -> Place | None:
        try:
            spool, place = Place.read(positions)
            return self._log.locate(place) if spool == self._log.spool else None
        except InvalidInput:
            return None  # none at all, or those of another kind of source: nothing is proved
        except OSError as error:
            raise StoreUnavailable(f"The spool cannot be read: {error.strerror}.", "Look after its disk.") from None

    def frontier(self) -> Mapping[str, str] | None:
        self._log.look()
        return None if self._log.gone else self._end.positions(self._log.spool)

    def poll(self, until: Mapping[str, str]) -> Batch:
        goal = self._goal(until)
        reading = Reading(self._lines, self._log.turned(self._at))
        try:
            while reading.room > 0 and not reading.at.reaches(goal):
                kept = self._parsed.take(reading.at)
                if kept is not None:
                    reading.add(kept)
                else:
                    reading.add_raw(self._log.read(reading.at, self._parsed.next(goal)))
                reading.at = self._log.turned(reading.at)
            self._troubles["read"] = ""
        except OSError:
            self._troubles["read"] = CANNOT_READ
        events = reading.events()
        self._at = at = reading.at
        return Batch.of(
            events,
            layout=self._lines.layout,
            positions=at.positions(self._log.spool),
            reached=at.reaches(goal),
            malformed=reading.malformed,
        )

    def _goal(self, until: Mapping[str, str]) -> Place:
        spool, goal = Place.read(until)
        if spool != self._log.spool:
            raise InvalidInput(
                "This place belongs to another spool.", "Places are used only with the source whose identity they bear."
            )
        if not self._end.reaches(goal):
            raise self._log.damage("it ends before a place that was reached earlier, as an old copy of it would")
        return goal

    def wait(self, seconds: float) -> None:
        """Come back when something arrived since the last time, or after `seconds`."""
        self._try_again()
        with self._changed:
            self._changed.wait_for(lambda: self._end is not self._told or self._closed, seconds)
            self._told = self._end

    def _try_again(self) -> None:
        """Whoever is told that nothing can be taken sends nothing: so find out without a sender when that is over."""
        if not self._troubles["write"] or self._log.gone or time.monotonic() - self._tried < TRY_SECONDS:
            return
        with self._changed, self._alone():
            self._tried = time.monotonic()
            if self._closed or self._max_bytes - self._log.size < self._wanted:
                return
            try:
                _, self._end = self._log.append(Frame.of(time.time_ns() // 1000, 0, [], []))
                self._troubles["write"], self._wanted = "", 0
            except NotKept:
                self._end = self._log.end

    # ── away ─────────────────────────────────────────────────────────────────────────────────────────────────────

    def settle(self, positions: Mapping[str, str]) -> None:
        """Delete the files that lie wholly before `positions`; also the newest, if all of it does."""
        if not positions:
            return
        spool, place = Place.read(positions)
        with self._changed, self._alone():
            if not self._closed and spool == self._log.spool and self._end.reaches(place):
                self._delete(place)

    def _delete(self, settled: Place) -> None:
        try:
            self._log.turn(settled)
            numbers = self._log.settled(settled)
            self._keys.forget()
            carried = self._keys.of(numbers)
            if carried:
                # Keys outlive their events while a repetition could still count.
                _, end = self._log.append(Frame.of(time.time_ns() // 1000, 0, carried, []))
                self._keys.move(carried, end.segment)
            self._log.drop(numbers)
            self._troubles["delete"] = ""
        except (OSError, NotKept):
            self._troubles["delete"] = CANNOT_DELETE
        finally:
            self._end = self._log.end

    def close(self) -> None:
        """Finish what is being written, refuse what waits, and give the folder free."""
        with self._changed, self._alone():
            if not self._closed:
                self._closed = True
                self._log.close()


def _not_kept(why: NotKept) -> Callable[[], HubbubError]:
    """Its own error for each of the group: one that is raised twice would carry two senders' traces."""
    kind = EventsNotKept if why.certain else EventsInDoubt
    became = "nothing of this batch was taken" if why.certain else "whether this batch was taken is not known"
    return lambda: kind(f"Events cannot be kept ({why.reason}); {became}.", _AGAIN)


def _because(error: Exception) -> Callable[[], Exception]:
    return lambda: error


def _stopping() -> Overloaded:
    return Overloaded("The monitor is stopping.", "Send the batch again, with the same idempotency key.")


def _too_many_keys() -> Overloaded:
    return Overloaded("Too many batches with an idempotency key came within a short time.", _AGAIN)
