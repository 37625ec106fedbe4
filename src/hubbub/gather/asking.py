"""How a question and an answer are written on a command line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hubbub.errors import InvalidInput, InvalidParameter
from hubbub.gather.prio3 import Circuit, Count, Histogram, MultihotCountVec, Sum, SumVec

QUESTIONS = "count, sum:MOST, sum_vec:LENGTH:MOST, histogram:BUCKETS or multihot:LENGTH:MOST"


def question(text: str) -> Circuit[Any, Any]:
    """The circuit of a question.

    >>> question("histogram:8").output_length, question("sum:300").name
    (8, 'sum')
    """
    kinds: dict[str, tuple[int, Callable[..., Circuit[Any, Any]]]] = {
        "count": (0, Count),
        "sum": (1, lambda most: Sum(max_measurement=most)),
        "sum_vec": (2, lambda length, most: SumVec(length=length, max_measurement=most)),
        "histogram": (1, lambda length: Histogram(length=length)),
        "multihot": (2, lambda length, most: MultihotCountVec(length=length, max_weight=most)),
    }
    name, *numbers = text.split(":")
    if name not in kinds or len(numbers) != kinds[name][0] or not all(one.isdecimal() for one in numbers):
        raise InvalidParameter(f"{text!r} is no question.", f"Ask {QUESTIONS}.")
    return kinds[name][1](*map(int, numbers))


def answer(circuit: Circuit[Any, Any], labels: Sequence[str], text: str) -> Any:
    """What somebody answers: a number, a label, or several with commas between them.

    >>> answer(Histogram(2), ["red", "blue"], "blue")
    1
    """
    words = text.split(",") if text else []
    try:
        if circuit.name in ("count", "sum"):
            return int(text)
        if circuit.name == "sum_vec":
            return [int(word) for word in words]
        places = [labels.index(word) for word in words]
    except ValueError:
        raise InvalidInput(
            "This is no answer to the question.", "Give a number, or labels that the plan names."
        ) from None
    if circuit.name == "histogram":
        if len(places) != 1:
            raise InvalidInput("This question has one answer.", "Give one label.")
        return places[0]
    return [at in places for at in range(len(labels))]
