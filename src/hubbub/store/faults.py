"""Named places between the durable writes, so that a test can stop the process at each of them."""

from __future__ import annotations

from collections.abc import Callable

FAULT_POINTS = (
    "debit:begin",  # nothing is written yet
    "debit:written",  # the debit is in the transaction, not committed
    "debit:committed",  # the debit is durable, nothing is drawn
    "mark:begin",  # the same; the mark outside the store is the old one
    "mark:written",  # the mark is written, not yet flushed to the disk
    "draw:done",  # noise is drawn, nothing about it is written
    "settle:debit",  # the settlement is in the transaction
    "settle:release",  # the release too
    "settle:state",  # and the estimator's state: all but the commit
    "settle:committed",  # everything is durable, nothing is published
    "publish",  # the release is about to be handed to the caller
    "lost:predicted",  # after a crash: the lost tick is predicted in memory
    "lost:written",  # its outcome is in the transaction, not committed
    "lost:committed",  # its outcome is durable
)
"""Every name that `fault_point` is called with, in the order in which a tick meets them."""

CREATION_POINTS = (
    "grant:begin",  # nothing is written yet
    "grant:written",  # the grant is in the transaction, not committed
    "stream:written",  # its streams too, with their marks outside the store: all but the commit
    "stream:committed",  # grant and streams are durable
)
"""The same for the making of streams, which happens once."""

DOMAIN_POINTS = (
    "domain:begin",  # nothing is written yet
    "domain:written",  # the decision and the new state are in the transaction, not committed
    "domain:committed",  # both are durable
)
"""The same for a change of what is counted."""

_hook: Callable[[str], None] | None = None


def fault_point(name: str) -> None:
    """Nothing at all, unless a test has installed something to do here."""
    if _hook is not None:
        _hook(name)


def install(hook: Callable[[str], None] | None) -> None:
    """Call `hook` with the name of each fault point that is passed; None takes it away again. For tests only."""
    global _hook
    _hook = hook
