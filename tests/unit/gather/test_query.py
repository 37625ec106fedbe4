"""Queries are planned, and told apart."""

from __future__ import annotations

import json

import pytest

from hubbub.errors import InvalidParameter
from hubbub.gather.noise import GaussianShares, LaplaceShares, ServersGaussian, ServersLaplace
from hubbub.gather.prio3 import Count, Histogram, L1BoundSum, MultihotCountVec, Sum, SumVec
from hubbub.gather.query import Query

GOOD = {"clients": 100, "minimum": 20, "epsilon": 1}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"clients": 0}, "clients"),
        ({"minimum": 101}, "at most `clients`"),
        ({"minimum": 0}, "minimum"),
        ({"epsilon": None}, "Give one of"),
        ({"rho": 1}, "Give one of"),
        ({"epsilon": 21}, "practically nothing"),
        ({"protects": "everything"}, "protects"),
        ({"epsilon": None, "rho": 1, "lying": 1}, "planned by"),
        ({"epsilon": None, "share_variance": 1}, "planned by"),
        ({"lying": 19}, "no noise is left"),
    ],
)
def test_plans_that_make_no_sense(given, words):
    with pytest.raises(InvalidParameter, match=words):
        Query.plan("q", Count(), **(GOOD | given))


@pytest.mark.parametrize("name", ["", "x" * 201, "two\nlines", 7])
def test_names(name):
    with pytest.raises(InvalidParameter, match="name"):
        Query.plan(name, Count(), **GOOD)


@pytest.mark.parametrize(
    ("circuit", "noise", "protects"),
    [
        (Histogram(6), ServersLaplace.of(1, 1), "answer"),
        (MultihotCountVec(6, 2), ServersLaplace.of(1, 1), "presence"),
        (SumVec(4, 3), ServersLaplace.of(1, 11), "answer"),
        (Histogram(6), ServersGaussian.of(1, 1), "answer"),
        (Sum(4), LaplaceShares.of(1, 3, minimum=20), "answer"),
        (Sum(4), GaussianShares.of(1, 15, length=1, minimum=20), "answer"),
        (Histogram(6), GaussianShares.of(1, 2, length=5, minimum=20), "answer"),
    ],
)
def test_noise_that_was_made_for_less(circuit, noise, protects):
    """Also a query that came over the wire: a client need not trust whoever planned it."""
    with pytest.raises(InvalidParameter, match="smaller change"):
        Query("q", circuit, 100, 20, noise, protects)


def test_noise_planned_for_other_sums():
    with pytest.raises(InvalidParameter, match="at least 30 reports, the query for 20"):
        Query("q", Count(), 100, 20, LaplaceShares.of(1, 1, minimum=30))


@pytest.mark.parametrize(
    ("circuit", "answer", "presence"),
    [
        (Count(), 1, 1),
        (Sum(9), 9, 9),
        (SumVec(4, 3), 12, 12),
        (Histogram(6), 2, 1),
        (Histogram(1), 1, 1),
        (MultihotCountVec(6, 2), 4, 2),
        (MultihotCountVec(6, 5), 6, 5),
        (L1BoundSum(6, 5), 10, 5),
        (L1BoundSum(1, 5), 5, 5),
    ],
)
def test_sensitivity_by_what_is_protected(circuit, answer, presence):
    for protects, change in (("answer", answer), ("presence", presence)):
        query = Query.plan("q", circuit, protects=protects, **GOOD)
        assert isinstance(query.noise, ServersLaplace)
        assert query.noise.sensitivity == change
        assert ("not hidden" in query.promise) == (protects == "answer")


def test_every_other_query_has_another_digest():
    seen = set()
    for circuit in (
        Count(),
        Sum(1),
        Sum(2),
        SumVec(1, 1),
        Histogram(6),
        Histogram(6, 3),
        MultihotCountVec(6, 2),
        L1BoundSum(6, 2),
    ):
        others = [{}, {"clients": 101}, {"minimum": 21}, {"epsilon": 2}, {"protects": "presence"}, {"lying": 1},
                  {"verify_key": bytes(32)}]  # fmt: skip
        for other in others:
            for name in ("q", "r"):
                seen.add(Query.plan(name, circuit, **(GOOD | other)).digest)
    assert len(seen) == 8 * 7 * 2


def test_the_same_query_has_the_same_digest_everywhere():
    query = Query.plan("colours", Histogram(8), clients=5000, minimum=1250, epsilon=1)
    assert query.digest.hex() == "2c7e08cd23251b0740f6575a75bba638de5771482848f35125bc4b4536380e53"
    assert query.largest_sum > 5000


@pytest.mark.parametrize(
    "noise",
    [{"epsilon": "1/3"}, {"rho": "0.1"}, {"epsilon": 1, "lying": 3}, {"share_variance": "3/2", "lying": 3}],
)
@pytest.mark.parametrize(
    "circuit",
    [Count(), Sum(9), SumVec(2, 3, 2), Histogram(6), MultihotCountVec(6, 2), L1BoundSum(6, 2)],
    ids=lambda c: c.name,
)
def test_there_and_back(circuit, noise):
    query = Query.plan("q", circuit, clients=100, minimum=20, protects="presence", **noise)
    again = Query.from_dict(json.loads(json.dumps(query.to_dict())))
    assert again.digest == query.digest
    assert again.promise == query.promise
