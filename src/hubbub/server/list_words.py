"""What is said of a stream whose ticks are lists, where the sentences of streams of counts would be wrong."""

from __future__ import annotations

from hubbub.privacy import Guarantee
from hubbub.privacy.promise import Promise
from hubbub.store import Stream


def bound(stream: Stream) -> str:
    """For how much one person counts: the mechanism's own bound, which is another than that of counts."""
    most, lists = int(stream.mechanism["max_items"]), stream.guarantee.unit.horizon
    items = "one item" if most == 1 else f"{most:,} different items"
    alone = stream.guarantee.unit.max_ticks == 1  # of a unit without a horizon: it counts in the tick where it begins
    period = "the one list of the period in which it begins" if alone else "a list"
    rounds = ", in each of its two rounds" if stream.mechanism.get("method") == "adaptive" else ""
    which = period if lists is None else "the only list" if lists == 1 else f"each of the {lists:,} lists"
    one = stream.guarantee.unit.one
    who = f"{one[:1].upper()}{one[1:]}"
    return f"{who} counts for at most {items} in {which}{rounds}, once for each, however many the log holds."


def span(stream: Stream) -> str:
    """Over what the promise holds."""
    lists = stream.guarantee.unit.horizon
    if lists is None:
        return "for as long as there are lists"
    return "for the only list" if lists == 1 else f"over all {lists:,} lists together"


def sentence(guarantee: Guarantee, stream: Stream, *, alone: bool) -> str:
    """The guarantee's own paragraph with the bound that holds for lists.

    `alone`: the stream draws the whole grant. If not, the bound of the unit holds for the others, and is said too.
    """
    promise = guarantee.promise
    said = promise.sentence
    if alone:
        return said.replace(promise.unit.bound, bound(stream)).replace(promise.span, span(stream))
    return said.replace(promise.unit.bound, f"{promise.unit.bound} In lists it is another bound: {bound(stream)}")


def said(promise: Promise, stream: Stream, *, alone: bool) -> dict[str, str]:
    """What the pages say in place of the promise's own words. Ticks of a shared grant are ticks."""
    lead, renewal = promise.lead, promise.unit.renewal
    return {
        "lead": in_lists(lead.replace("These numbers", "These lists"), stream) if alone else lead,
        "renewal": in_lists(renewal, stream) if alone else renewal,
        "bound": bound(stream),
        "span": span(stream),
    }


def in_lists(text: str, stream: Stream) -> str:
    """A short text in which ticks are lists.

    Only for what `hubbub.privacy` says of the unit's horizon: nobody thinks of a list as a tick.
    """
    lists = stream.guarantee.unit.horizon
    if lists is None:
        return text
    if lists == 1:
        return text.replace(", over all 1 ticks", "").replace("It must last for all 1 ticks; then the stream ends.", "")
    many = f"all {lists:,} "
    return text.replace(f"{many}ticks", f"{many}lists")
