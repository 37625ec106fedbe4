"""The options of a mechanism as part of a stream's definition: what was chosen on the first day stands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hubbub.errors import GuaranteeChanged
from hubbub.mechanism import OnlineMechanism, options_of
from hubbub.store.stream import FINDS_KEYS, MECHANISM, Stream


def with_options(facts: Mapping[str, Any], mechanism: OnlineMechanism[Any], stream: Stream | None) -> dict[str, Any]:
    """`facts` of a definition together with the mechanism's options, as the existing `stream` recorded them.

    An option that was not recorded, because the stream is older than that, may go on with its default alone; what it
    was nobody knows, so another value is refused here. What was recorded is compared with the rest of the definition.
    """
    chosen = dict(mechanism.options)
    if mechanism.traits.finds_keys:
        facts = {**facts, FINDS_KEYS: True}
    if stream is None:
        return {**facts, MECHANISM: chosen}
    kept = stream.mechanism
    missing = [name for name in chosen if name not in kept]
    if missing:
        _expect_defaults(mechanism, stream, missing)
    if MECHANISM not in stream.options:
        return dict(facts)
    return {**facts, MECHANISM: {name: value for name, value in chosen.items() if name in kept}}


def _expect_defaults(mechanism: OnlineMechanism[Any], stream: Stream, names: list[str]) -> None:
    kind, declared = type(mechanism), options_of(type(mechanism))
    # What must be given has no default to go by: the stored state knows it. A model's file is named by its hash in what
    # the owner vouches for, which is compared too.
    told = [name for name, one in declared.items() if one.is_required]
    if "model" in declared and "sha256" in stream.attested.get("model", ""):
        told.append("model")
    usual = kind(mechanism.keys, mechanism.guarantee, **{name: mechanism.chosen(name) for name in told}).options
    changed = [name for name in names if name not in told and mechanism.options[name] != usual[name]]
    if changed:
        said = "; ".join(
            f"`{name}` was not recorded when the stream was made, so it can go on with the default alone, "
            f"{json.dumps(usual[name])}; now it is {json.dumps(mechanism.options[name])}"
            for name in changed
        )
        raise GuaranteeChanged(
            f"The stream {stream.name!r} exists with other options: {said}.",
            "A promise once made stands: go on with the same options, or start a stream under another name. "
            "What both publish about the same people adds up.",
        )
