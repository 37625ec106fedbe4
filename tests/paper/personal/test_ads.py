"""Goetz 2012, chapter 4: the figure of 4.4.3, and a shop's impressions."""

import numpy as np
import pytest

from hubbub.errors import InvalidInput
from hubbub.lab import ads
from hubbub.lab.local_search import LEVELS, hierarchy, searches
from hubbub.lab.open_bandit import bandit_rows
from hubbub.personal import ClickRates, LearnedTable


def test_five_results_are_35_percent_more_precise_than_server_only():
    """4.4.3. On 640 contexts the ratio is 1.9 with a standard error of 0.2: far above what is asked for."""
    tree, log = hierarchy(), searches(2012, 800, 8)
    cut = len(log) * 9 // 10
    rates = ClickRates.fit_picks(tree, [(s.context, s.picked) for s in log[:cut]], min_support=2)
    asked = [(ads.LEVEL, floor, 5) for floor in (0.0, 0.3)]
    found = ads.scores(LearnedTable(rates), tree, log[cut:], (ads.LEVEL, LEVELS[ads.LEVEL]), asked)
    for floor in (0.0, 0.3):
        five, one = (found[key].row()["precision"] for key in ((ads.LEVEL, floor, 5), (ads.SERVER_ONLY, floor, 1)))
        assert five >= 1.35 * one


def test_impressions_of_a_shop():
    try:
        rows = bandit_rows((1, 5))
    except InvalidInput:
        pytest.skip("open_bandit_small is somebody else's data and not in the repository: set HUBBUB_DATA")
    assert rows[0]["expected"] <= rows[1]["expected"]
    assert all(row["lower"] <= row["clicks"] / row["replayed"] <= row["upper"] for row in rows)
    assert np.isfinite(rows[0]["quality"])
