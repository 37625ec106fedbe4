"""A range stream under the store's curator: debits, a restart in mid-segment, answers from what the store holds."""

import pytest

from hubbub.confidential import Counts
from hubbub.privacy import Guarantee, Session
from hubbub.ranges import RangeStream, RangeWindow
from hubbub.released import Keys, Tick
from hubbub.store import Store

KEYS = Keys(["front", "news"])
GUARANTEE = Guarantee.pure(Session(max_ticks=20), 1)


def stream():
    return RangeStream(KEYS, GUARANTEE, window=64, method="two-level")


def counts(tick):
    return Counts.of(KEYS, Tick(tick), [tick, 100])


def test_a_curated_range_stream_survives_a_restart(tmp_path):
    with Store.open(tmp_path / "site.db") as store:
        first = stream()
        with store.curate("site", first) as curator:
            released = [curator.release(counts(tick)) for tick in range(30)]
        answer = first.total(10, 29, "news")
        second = stream()
        with store.curate("site", second) as curator:
            assert second.next_tick == 30
            second.recall(store.releases("site"))
            assert second.total(10, 29, "news") == answer
            released += [curator.release(counts(tick)) for tick in range(30, 40)]
        across = second.total(20, 39, "news")
        assert across.value == sum(int(release.measurements[1]) for release in released[20:40])
        assert across.standard_error**2 == pytest.approx(second.variance(20, 29) + second.variance(30, 39))
        alone = RangeWindow.of(KEYS, 64, second.snapshot(), store.releases("site"))
        assert alone.total(20, 39, "news") == across
        assert store.budget("site").spent == second.spent == 1


def test_queries_are_remembered_in_the_store(tmp_path):
    with Store.open(tmp_path / "site.db") as store:
        made = stream()
        with store.curate("site", made) as curator:
            for tick in range(30):
                curator.release(counts(tick))
            for first in (0, 10, 20):
                made.total(first, 29, "news")
                store.record_query("site", 30 - first)
        again = stream()
        again.history.restore(store.recent_queries("site"))
        assert again.history.lengths == made.history.lengths == [30, 20, 10]
