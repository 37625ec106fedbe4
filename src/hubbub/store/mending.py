"""After a store was set back: what it forgot is charged, so that the stream can go on."""

from __future__ import annotations

from hubbub.errors import BudgetExceeded, HorizonReached, InvalidParameter, StoreSetBack
from hubbub.released import Tick
from hubbub.store.ledger import Ledger, Position
from hubbub.store.mark import Mark
from hubbub.store.mark_file import MarkFile
from hubbub.store.owner import MENDED

MOST_TICKS = 1_000_000
"""A longer gap is a wrong number rather than a backup."""

_ANOTHER = "Start a stream under another name; what both publish about the same people adds up."


def mend(ledger: Ledger, file: MarkFile, upto: int | None) -> int:
    """Debit every tick after the store's last one up to the mark, for nobody who could draw: the next curator finds
    them without an outcome, predicts them, and leaves them charged. Only then the mark is set to the new end.

    Each is charged the most that any tick of the stream ever was, here or according to the mark; slips too.
    """
    mark = _read(file)
    if mark is None and upto is None:
        raise InvalidParameter(
            f"No mark tells how far the stream {ledger.stream.name!r} was.",
            "Say the last tick that was published: `hubbub ledger mend STORE STREAM --upto TICK`.",
        )
    position = ledger.position()
    held = mark is not None and ledger.holds(mark)
    if mark is not None and not held and mark.tick <= position.last_tick:
        booked = ledger.debit(mark.tick)
        if booked is None or booked.purpose != MENDED:  # else an earlier try came this far
            raise StoreSetBack(
                f"The store went another way: its line for tick {mark.tick} is not the one that was marked. Ticks were "
                "drawn in both, and no booking can undo that.",
                _ANOTHER,
            )
    ticks = _missing(ledger, position, mark, upto)
    if ticks:
        _book(ledger, position, ticks, mark)
    last = ledger.debit(max(ledger.position().last_tick, 0))
    if last is not None and not (held and not ticks):
        file.replace(_largest(ledger, Mark.of(last), mark))
    return len(ticks)


def _read(file: MarkFile) -> Mark | None:
    try:
        return file.read()
    except StoreSetBack:  # damaged
        return None


def _missing(ledger: Ledger, position: Position, mark: Mark | None, upto: int | None) -> list[Tick]:
    clock = mark
    last = ledger.debit(position.last_tick) if position.last_tick >= 0 else None
    if clock is None or clock.length is None:
        clock = Mark.begin(ledger.stream.genesis) if last is None else Mark.of(last)
    until = max(-1 if mark is None else mark.tick, -1 if upto is None else upto)
    if until - position.last_tick > MOST_TICKS:
        raise InvalidParameter(
            f"From tick {position.last_tick} to {until} are more than {MOST_TICKS:,} ticks.",
            f"Check the number. {_ANOTHER}",
        )
    return [clock.tick_at(index) for index in range(position.last_tick + 1, until + 1)]


def _book(ledger: Ledger, position: Position, ticks: list[Tick], mark: Mark | None) -> None:
    account = position.checkpoint.open_account(ledger.stream)
    cost = ledger.largest(account, *([] if mark is None else [mark.most]))
    try:
        ledger.reserve(position, account, [(tick, cost) for tick in ticks], MENDED, MENDED, checked=False)
    except (BudgetExceeded, HorizonReached) as error:
        raise type(error)(f"Booking {len(ticks):,} ticks as lost does not fit: {error.message}", _ANOTHER) from None


def _largest(ledger: Ledger, by: Mark, earlier: Mark | None) -> Mark:
    return by.after(earlier, ledger.position().checkpoint.open_account(ledger.stream))
