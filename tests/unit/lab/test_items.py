"""Logs for the comparison of methods, and its table."""

import gzip

import numpy as np
import pytest

from hubbub.lab import item_data, item_tables
from hubbub.lab.item_data import packed, read_transactions, search_log


def sizes(log):
    return np.bincount(log.users.reveal()).tolist()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_transactions(tmp_path, pack):
    path = tmp_path / "log.dat"
    path.write_bytes(pack(b"6 7 6\n\n7\n"))
    log = read_transactions(path)
    assert sizes(log) == [2, 1]
    assert list(log.labels.reveal()) == ["6", "7"]


def test_a_simulated_search_log_is_the_same_each_time():
    one, other = (search_log.__wrapped__(users=300, words=500) for _ in range(2))
    assert np.array_equal(one.items.reveal(), other.items.reveal())
    assert 8 < np.mean(sizes(one)) < 15  # a mean of 15 words, some twice


def test_adaptive_finds_most(monkeypatch):
    log = search_log.__wrapped__(users=3000, words=2000)
    monkeypatch.setattr(item_tables, "LOGS", {"small": lambda: log})
    found = {one.method: one for one in item_tables.compare(["small"], [5], runs=5)}
    assert found["adaptive"].mean > found["weighted"].mean > found["zealous"].mean
    assert found["zealous"].mean >= found["zealous, probabilistic"].mean
    table = item_tables.as_markdown(found.values())
    assert table.splitlines()[2].startswith("| small | 5 | ")


def test_one_run_has_no_error(monkeypatch):
    log = packed(np.repeat(np.arange(300), 2), np.tile([3, 4], 300))
    monkeypatch.setattr(item_tables, "LOGS", {"small": lambda: log})
    assert {(one.mean, one.error) for one in item_tables.compare(["small"], [1], runs=1)} <= {(2.0, 0.0), (0.0, 0.0)}


def test_the_public_logs():
    assert len(np.unique(item_data.kosarak_log().users.reveal())) == 36_682
    assert len(item_data.kosarak_log().labels.reveal()) == 17_034
