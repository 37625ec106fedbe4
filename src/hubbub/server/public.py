"""What strangers are told of a refusal: fixed words, chosen by its kind.

The words of an error belong to whoever runs the server: they may name the store's address, a folder, or what a driver
said. Only a `RequestRefused` (this room's own, or a port's that speaks to its sender) keeps the words it has. An error
that brings words for strangers (`public`) is told in those.
"""

from __future__ import annotations

from hubbub.errors import (
    BudgetExceeded,
    EventsInDoubt,
    EventsNotKept,
    GatherRefusal,
    HorizonReached,
    HubbubError,
    LedgerBroken,
    Overloaded,
    PrivacyRefusal,
    StoreError,
    StoreSetBack,
    TickOutOfOrder,
    TickTaken,
    UnknownStream,
    WrongUse,
)
from hubbub.masking import masked
from hubbub.server.sparing import Sparing

_IN_THE_LOG = "Whoever runs this server finds the reason in its log."

WORDS: tuple[tuple[type[HubbubError], str, str], ...] = (
    (UnknownStream, "There is no stream of that name.", "GET /v1/streams lists them."),
    (TickTaken, "This tick is taken: it was released already, or it was lost.", "Its release is among `releases`."),
    (EventsNotKept, EventsNotKept.public, "Send the batch again later, with the same Idempotency-Key."),
    (
        EventsInDoubt,
        EventsInDoubt.public,
        "Send the batch again later, with the same Idempotency-Key: then it counts once, whatever became of it.",
    ),
    (LedgerBroken, "The store is not in order.", _IN_THE_LOG),
    (StoreSetBack, "The store is not in order.", _IN_THE_LOG),
    (StoreError, "The store does not answer. Nothing was published.", f"Try again soon. {_IN_THE_LOG}"),
    (TickOutOfOrder, "This tick does not follow the newest one.", "GET …/releases shows which that is."),
    (HorizonReached, "The stream's horizon is over: no more ticks can be released.", _IN_THE_LOG),
    (BudgetExceeded, "The promise leaves no budget for this tick; nothing was released.", _IN_THE_LOG),
    (GatherRefusal, "What was sent cannot be added; nothing was.", "GET /v1/gather tells what is asked, and when."),
    (PrivacyRefusal, "It would break the promise; nothing was released.", _IN_THE_LOG),
    (
        Overloaded,
        "More arrives than can be kept; nothing was taken.",
        "Send it again later, with the same Idempotency-Key.",
    ),
    (WrongUse, "What was sent cannot be right; nothing was taken.", "GET /openapi.json describes what is."),
    (HubbubError, "Something went wrong inside the server.", _IN_THE_LOG),
)
"""The first kind that fits tells; the root of the tree comes last, so that one always does."""


def fixed_words(error: HubbubError) -> tuple[str, str]:
    """Message and hint for strangers.

    >>> from hubbub.errors import StoreUnavailable
    >>> fixed_words(StoreUnavailable("The store postgresql://ann@db.example/site does not answer."))[0]
    'The store cannot be used at the moment. Nothing was published; try again later.'
    """
    message, hint = next((message, hint) for kind, message, hint in WORDS if isinstance(error, kind))
    return error.public or message, hint


class OwnersLog:
    """The reasons that strangers are not told, masked, each kind once per minute; how often is not told at all, since
    what was refused may have been events."""

    def __init__(self, sparing: Sparing) -> None:
        self._sparing = sparing

    def note(self, error: HubbubError) -> None:
        # What a sender did wrong is the sender's business and may repeat what was sent.
        if not isinstance(error, (WrongUse, Overloaded, UnknownStream, TickTaken)):
            text = f"{error.code}: {masked(f'{error.message} {error.hint}'.strip())}"
            self._sparing.say(error.code, text, counted=False)
