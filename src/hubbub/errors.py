"""Everything that Hubbub refuses, as one tree.

    HubbubError
    ├── WrongUse                 what was given cannot be right; nothing was spent          (exit code 2)
    │   ├── InvalidParameter         a bound, an epsilon, a setting
    │   ├── InvalidCounts            NaN, negative, fractional, too large
    │   ├── UnknownKey               a key that is not in the stream's domain, or one that is missing
    │   ├── TickOutOfOrder           a tick twice, or one that lies before the last
    │   ├── InvalidModel             a process model that does not fit the stream
    │   └── InvalidInput             a file, a line or a message that cannot be read
    ├── PrivacyRefusal           doing it would break the promise; nothing was spent        (exit code 1)
    │   ├── BudgetExceeded           the charge would exceed what the guarantee allows
    │   ├── HorizonReached           the stream's horizon is over; it needs a new grant
    │   ├── GuaranteeChanged         the same stream name with another promise
    │   ├── GrantExhausted           a grant has less left than a stream asks for
    │   ├── UnreleasedDecision       what is counted would follow from something that was not released
    │   ├── TooFine                  a request would tell more of a context than its cut allows
    │   ├── UnsoundConversion        a weaker guarantee cannot be turned into a stronger one
    │   ├── InsecureRandomness       seeded bytes where only the operating system's will do
    │   └── ConfidentialLeak         a confidential value was about to be printed, pickled or serialised
    ├── StoreError               the store said no                                          (exit code 1)
    │   ├── UnknownStream            no stream of that name
    │   ├── UnknownGrant             no grant of that name
    │   ├── TickTaken                another curator holds or has released this tick
    │   ├── LedgerBroken             a debit was changed or is missing
    │   ├── StoreSetBack             an older copy: what was debited since is not in it
    │   ├── StoreUnavailable         disk full, read-only, locked, gone
    │   │   ├── EventsNotKept            the spool's disk refuses: nothing of the batch was taken
    │   │   └── EventsInDoubt            it refuses, and whether the batch was taken is not known
    │   ├── SpoolDamaged             events that were acknowledged are missing or changed on disk
    │   └── SchemaMismatch           written by another version of Hubbub
    │       └── OlderLayout              by an earlier one: opened for writing it is brought to this one
    ├── GatherRefusal            servers that add without seeing said no; nothing was added  (exit code 1)
    │   ├── ReportRejected           its proof fails, or its shares do not belong together
    │   ├── ReportReplayed           a report, or another one of the same client, was taken before
    │   ├── QueryMismatch            made for another query, other parameters or another key
    │   ├── QueryClosed              the query takes no more reports, or its sum was opened before
    │   ├── TicketRefused            no ticket of this query, or one that was spent
    │   └── TooFewReports            a sum of fewer than were planned is never opened
    ├── GatherUnavailable        a server that adds without seeing does not answer          (exit code 1)
    ├── SourceUnavailable        brokers do not answer                                      (exit code 1)
    ├── ClockTooFarAhead         by the clock, more ticks are due than could be right       (exit code 1)
    ├── Overloaded               more arrives than can be kept; nothing was taken           (exit code 1)
    ├── NoiseOverflow            a noise value or sum that 64 bits cannot hold             (exit code 1)
    └── MissingExtra             an optional dependency is not installed                    (exit code 1)

A message says what is wrong, what was given and why it matters; `hint` says what to do. Neither ever holds a
confidential value.
"""

from __future__ import annotations

import re

__all__ = [
    "BudgetExceeded",
    "ClockTooFarAhead",
    "ConfidentialLeak",
    "EventsInDoubt",
    "EventsNotKept",
    "GatherRefusal",
    "GatherUnavailable",
    "GrantExhausted",
    "GuaranteeChanged",
    "HorizonReached",
    "HubbubError",
    "InsecureRandomness",
    "InvalidCounts",
    "InvalidInput",
    "InvalidModel",
    "InvalidParameter",
    "LedgerBroken",
    "MissingExtra",
    "NoiseOverflow",
    "OlderLayout",
    "Overloaded",
    "PrivacyRefusal",
    "QueryClosed",
    "QueryMismatch",
    "ReportRejected",
    "ReportReplayed",
    "SchemaMismatch",
    "SourceUnavailable",
    "SpoolDamaged",
    "StoreError",
    "StoreSetBack",
    "StoreUnavailable",
    "TickOutOfOrder",
    "TickTaken",
    "TicketRefused",
    "TooFewReports",
    "TooFine",
    "UnknownGrant",
    "UnknownKey",
    "UnknownStream",
    "UnreleasedDecision",
    "UnsoundConversion",
    "WrongUse",
]


class HubbubError(Exception):
    """The root of the tree. `code` is stable and meant for programs, `message` and `hint` for people.

    `message` and `hint` are the owner's: they may name files and servers. What strangers are told is the server's
    matter (`server/public.py`).
    """

    exit_code = 1
    public = ""
    """Fixed words for strangers, where the message may tell where something is kept; empty where it tells nothing."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".strip())
        self.message = message
        self.hint = hint

    @property
    def code(self) -> str:
        """The class name in snake_case: `BudgetExceeded` is `budget_exceeded`."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()


class WrongUse(HubbubError, ValueError):
    exit_code = 2


class InvalidParameter(WrongUse): ...


class InvalidCounts(WrongUse): ...


class UnknownKey(WrongUse): ...


class TickOutOfOrder(WrongUse): ...


class InvalidModel(WrongUse): ...


class InvalidInput(WrongUse): ...


class PrivacyRefusal(HubbubError): ...


class BudgetExceeded(PrivacyRefusal): ...


class HorizonReached(PrivacyRefusal): ...


class GuaranteeChanged(PrivacyRefusal): ...


class GrantExhausted(PrivacyRefusal): ...


class UnreleasedDecision(PrivacyRefusal): ...


class TooFine(PrivacyRefusal): ...


class UnsoundConversion(PrivacyRefusal): ...


class InsecureRandomness(PrivacyRefusal): ...


class ConfidentialLeak(PrivacyRefusal, TypeError): ...


class StoreError(HubbubError): ...


class UnknownStream(StoreError): ...


class UnknownGrant(StoreError): ...


class TickTaken(StoreError): ...


class LedgerBroken(StoreError):
    public = "The ledger of what was spent is not as it was written. Nothing is published until its owner has seen it."


class StoreSetBack(StoreError):
    public = "What was spent can no longer be told for sure. Nothing is published until the owner has seen to it."


class StoreUnavailable(StoreError):
    public = "The store cannot be used at the moment. Nothing was published; try again later."


class EventsNotKept(StoreUnavailable):
    public = "Events cannot be kept at present; nothing of this batch was taken."


class EventsInDoubt(StoreUnavailable):
    public = "Events cannot be kept at present; whether this batch was taken is not known."


class SpoolDamaged(StoreError):
    public = "Events that were acknowledged cannot be read. Nothing is published until the owner has seen to it."


class SchemaMismatch(StoreError):
    public = "The store was written by another version of Hubbub."


class OlderLayout(SchemaMismatch): ...


class GatherRefusal(HubbubError): ...


class ReportRejected(GatherRefusal):
    public = "The report is not what it should be; nothing was added."


class ReportReplayed(GatherRefusal):
    public = "This report was taken before; it counts once."


class QueryMismatch(GatherRefusal):
    public = "This is about another query, or one with other parameters or keys."


class QueryClosed(GatherRefusal):
    public = "The query takes no answers now."


class TicketRefused(GatherRefusal):
    public = "This needs a ticket of this query that was not spent."


class TooFewReports(GatherRefusal):
    public = "Fewer answered than were planned: nothing is opened."


class GatherUnavailable(HubbubError):
    public = "The other server does not answer; what was taken waits for it."


class SourceUnavailable(HubbubError):
    public = "The source of events does not answer. Nothing is published until it does."


class ClockTooFarAhead(HubbubError): ...


class Overloaded(HubbubError):
    """Nothing was taken: the same request may be sent again after `retry_after` seconds."""

    def __init__(self, message: str, hint: str = "", *, retry_after: float = 1.0) -> None:
        super().__init__(message, hint)
        self.retry_after = retry_after


class NoiseOverflow(HubbubError, OverflowError): ...


class MissingExtra(HubbubError, ImportError):
    """`MissingExtra.of("psycopg", "postgres")` tells the one command that helps."""

    @classmethod
    def of(cls, package: str, extra: str) -> MissingExtra:
        return cls(f"This needs the package `{package}`, which is not installed.", f"pip install 'hubbub[{extra}]'")
