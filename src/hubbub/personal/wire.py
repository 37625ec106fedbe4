"""Requests and answers, as they are sent."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.personal.choice import Choice
from hubbub.personal.client import LETTERS, NOTHING, VERSION
from hubbub.personal.columns import Columns

MOST_BYTES = 10_000
"""An answer is never longer."""
_LONGEST_REQUEST = 4096


def read_request(request: bytes) -> tuple[str, int]:
    try:
        if len(request) > _LONGEST_REQUEST:
            raise ValueError
        facts = json.loads(request, object_pairs_hook=_once)
        if set(facts) != {"node", "k"}:  # anything else might be what the person keeps to themselves
            raise ValueError
        name, k = facts["node"], facts["k"]
        if not isinstance(name, str) or isinstance(k, bool) or not isinstance(k, int):
            raise ValueError
    except (ValueError, TypeError, RecursionError):
        raise InvalidInput(
            "A request is a JSON object with `node` and `k`, and nothing else.", 'Send {"node": "town", "k": 10}.'
        ) from None
    return name, k


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of two fields of one name only the last would be looked at, and the first would have been sent all the same."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def written(tree: str, name: str, choice: Choice, columns: Columns) -> bytes:
    """The answer; where it would be too long, contexts that are rarely met are shown nothing."""
    letters = [NOTHING if place < 0 else LETTERS[place] for place in choice.best.tolist()]
    shares = columns.chances / columns.chances.sum()
    kept = len(columns.chances)
    order = np.argsort(-shares, kind="stable")
    while True:
        known = set(order[:kept].tolist())
        lengths: list[int] = []
        best: list[str] = []
        for length, column in columns.runs:
            letter = letters[column] if column in known else NOTHING
            if best and best[-1] == letter:
                lengths[-1] += length
            else:
                lengths.append(length)
                best.append(letter)
        facts = {
            "version": VERSION,
            "hierarchy": tree,  # runs go by the numbers of contexts, which another hierarchy gives to other contexts
            "node": name,
            "results": list(choice.results),
            "lengths": lengths,
            "best": "".join(best),
            "value": choice.value,
            "bound": choice.bound,
            "left_out": float(shares[order[kept:]].sum()),
        }
        text = json.dumps(facts, ensure_ascii=False, separators=(",", ":")).encode()
        if len(text) <= MOST_BYTES:
            return text
        if not kept:
            raise InvalidParameter(
                f"The names of {len(choice.results)} results alone are longer than {MOST_BYTES:,} bytes.",
                "Give results short names, and keep what they stand for elsewhere.",
            )
        kept //= 2
