"""The five kinds of Prio3 that the draft names (section 7.4) and one of another draft, each with its number."""

from __future__ import annotations

from collections.abc import Sequence

from hubbub.gather.prio3.count import Count
from hubbub.gather.prio3.histogram import Histogram
from hubbub.gather.prio3.l1_bound_sum import L1BoundSum
from hubbub.gather.prio3.multihot import MultihotCountVec
from hubbub.gather.prio3.prio3 import Prio3
from hubbub.gather.prio3.sum import Sum
from hubbub.gather.prio3.sum_vec import SumVec


class Prio3Count(Prio3[int, int]):
    """How many have it: each client sends 0 or 1."""

    def __init__(self, shares: int = 2) -> None:
        super().__init__(Count(), shares, 1)


class Prio3Sum(Prio3[int, int]):
    """The sum of numbers from 0 to `max_measurement`."""

    def __init__(self, shares: int = 2, *, max_measurement: int) -> None:
        super().__init__(Sum(max_measurement), shares, 2)


class Prio3SumVec(Prio3[Sequence[int], list[int]]):
    """The sums of `length` numbers, each from 0 to `max_measurement`."""

    def __init__(self, shares: int = 2, *, length: int, max_measurement: int, chunk_length: int | None = None) -> None:
        super().__init__(SumVec(length, max_measurement, chunk_length), shares, 3)


class Prio3Histogram(Prio3[int, list[int]]):
    """How many in each of `length` buckets: each client is in one."""

    def __init__(self, shares: int = 2, *, length: int, chunk_length: int | None = None) -> None:
        super().__init__(Histogram(length, chunk_length), shares, 4)


class Prio3MultihotCountVec(Prio3[Sequence[bool], list[int]]):
    """How many in each of `length` buckets: each client is in up to `max_weight` of them."""

    def __init__(self, shares: int = 2, *, length: int, max_weight: int, chunk_length: int | None = None) -> None:
        super().__init__(MultihotCountVec(length, max_weight, chunk_length), shares, 5)


class Prio3L1BoundSum(Prio3[Sequence[int], list[int]]):
    """The sums of `length` numbers, of which each client's add up to `max_value` at most (l1-bound-sum)."""

    def __init__(self, shares: int = 2, *, length: int, max_value: int, chunk_length: int | None = None) -> None:
        super().__init__(L1BoundSum(length, max_value, chunk_length), shares, 7)
