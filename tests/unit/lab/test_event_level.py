"""Events: the paper's PeGaSus by hand, and a row for every method."""

import numpy as np
import pytest

from hubbub.lab import event_level
from hubbub.lab.public_series import PublicSeries
from hubbub.noise import simulation

FLAT = PublicSeries("flat", np.full(300, 40), None)


def test_every_method_gives_a_row():
    calls = []
    rows = event_level.compare_events(FLAT, 2, epsilons=["0.1"], done=lambda: calls.append(1))
    assert [row["method"] for row in rows] == list(event_level.METHODS)
    assert len(calls) == len(rows)
    by = {row["method"]: row for row in rows}
    assert by["zeros"]["relative_error"] == 1.0
    assert by["zeros"]["coverage"] is None
    assert by["uniform"]["relative_error"] == by["sample"]["relative_error"]  # events gain nothing from pauses
    assert by["pegasus"]["relative_error"] < by["uniform"]["relative_error"]


def test_the_papers_grouper_by_hand():
    """With hardly any noise: equal counts join, others do not; the tick that fails is alone, and so is the next."""
    counts = np.array([50, 50, 50, 900, 900, 900, 10])
    with simulation(1) as source:
        values = event_level.as_printed(counts, "1000", source)
    assert values == pytest.approx(counts, abs=0.5)


def test_the_papers_grouper_smooths_what_is_flat():
    with simulation(2) as source:
        values = event_level.as_printed(FLAT.counts, "1", source)
    assert np.abs(values - 40).mean() < 1.25  # the mean size of its noise, scale 1.25
