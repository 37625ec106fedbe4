"""Index caching and query substitution, on examples worked by hand."""

import math

import numpy as np
import pytest

from hubbub.lab.index_cache import LONGEST, POSTING, cached, hit_probability
from hubbub.lab.substitution import (
    average_precision,
    compared,
    map_as_printed,
    ndcg,
    phrase_pairs,
    precision,
    recall,
    suggestions,
)

A, B, C, D = (1, 10), (1, 11), (2, 20), (2, 21)


def test_lists_are_held_by_count_per_document():
    counts, documents = np.array([100, 60, 10, 0]), np.array([50, 20, 1, 1])  # 2, 3 and 10 a document
    assert cached(counts, documents, memory=21 * POSTING).tolist() == [False, True, True, False]
    assert cached(counts, documents, memory=51 * POSTING).tolist() == [False, True, True, False]  # 50 do not fit
    assert cached(counts, documents, memory=71 * POSTING).tolist() == [True, True, True, False]
    assert cached(counts, documents, memory=0).tolist() == [False] * 4


def test_of_a_long_list_a_part_is_held():
    counts, documents = np.array([5]), np.array([10 * LONGEST])
    assert cached(counts, documents, memory=LONGEST * POSTING).tolist() == [True]


def test_hits_are_counted_by_what_is_typed_not_by_what_was_published():
    assert hit_probability(np.array([True, False, True]), np.array([6, 3, 1])) == pytest.approx(0.7)


def test_phrases_that_leave_and_come():
    first = np.array([[1, 2, -1], [1, 2, 3], [1, -1, -1], [4, -1, -1]])
    second = np.array([[1, 5, -1], [6, 2, 7], [5, -1, -1], [4, 8, -1]])
    # {1,2} to {1,5}: 2 left, 5 came. {1,2,3} to {6,2,7}: 1 and 3 left, 6 and 7 came. {4} to {4,8}: nothing left.
    found = phrase_pairs(first, second, np.array([10, 3, 4, 99]))
    assert found == {1: [(5, 4), (6, 3), (7, 3)], 2: [(5, 10)], 3: [(6, 3), (7, 3)]}
    assert suggestions([1, 2], found, 2) == [(2, 5), (1, 5)]
    assert suggestions([9], found, 2) == []
    assert phrase_pairs(first[:0], second[:0], np.array([], dtype=np.int64)) == {}


def test_precision_and_recall():
    assert precision([A, B], [B, C, D]) == pytest.approx(1 / 3)
    assert recall([A, B], [B, C, D]) == pytest.approx(1 / 2)


def test_map_as_printed_rewards_whoever_finds_nothing():
    assert map_as_printed([A, B], [A, B]) == 2  # 1/1 + 2/2
    assert map_as_printed([A, B], [B, A]) == pytest.approx(1 / 2 + 2)
    assert map_as_printed([A, B], [A]) == 3  # B is missing, its rank is zero: 1/1 + 2/1
    assert map_as_printed([A, B], []) == 3


def test_average_precision():
    assert average_precision([A, B], [A, B]) == 1
    assert average_precision([A, B], [C, A]) == pytest.approx(1 / 4)  # (1/2)/2
    assert average_precision([A, B], [C, D]) == 0


def test_ndcg():
    ideal = 3 + 1 / math.log2(3)  # grades 2 and 1: gains 3 and 1, at places 1 and 2
    assert ndcg([A, B], [A, B]) == 1
    assert ndcg([A, B], [B, A]) == pytest.approx((1 + 3 / math.log2(3)) / ideal)
    assert ndcg([A, B], [C, A]) == pytest.approx((3 / math.log2(3)) / ideal)
    assert ndcg([A, B], [C]) == 0


def test_whom_they_are_averaged_over():
    told = compared([[A], [B], [], [C, D]], [[A], [], [A], [D]])
    # Answered: the first and the last. Coverage asks for the first, the second and the last.
    assert told["precision"] == 1
    assert told["recall"] == pytest.approx((1 + 1 / 2) / 2)
    assert told["coverage"] == pytest.approx((1 + 0 + 1 / 2) / 3)
    nobody = compared([[A]], [[]])
    assert math.isnan(nobody["precision"])
    assert nobody["coverage"] == 0
    assert compared([], [])["coverage"] == 0
