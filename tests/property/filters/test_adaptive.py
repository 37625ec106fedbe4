"""Whatever is measured, the adaptive filter stays finite, ordered and non-negative."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.filters import Links, adaptive
from hubbub.filters.habits import Habits
from hubbub.filters.noises import GaussianNoise, LaplaceNoise

SIZE = 3
LINKS = Links.of(np.array([[0.5, 0.1, 0.0], [0.3, 0.6, 0.0], [0.0, 0.1, 0.9]]))
ARRIVALS = np.array([200.0, 40.0, 0.0])
values = st.one_of(st.integers(-(2**45), 2**52), st.integers(-500, 3000), st.sampled_from([0, 1, -1, 2**52]))


@settings(max_examples=120, deadline=None)
@given(
    rows=st.lists(st.one_of(st.none(), st.lists(values, min_size=SIZE, max_size=SIZE)), min_size=1, max_size=12),
    scale=st.sampled_from([1e-3, 0.1, 2.0, 20.0, 2000.0, 1e6]),
    kind=st.sampled_from([LaplaceNoise, GaussianNoise]),
    watched=st.sampled_from([0, 2048]),
    is_adaptive=st.booleans(),
)
def test_any_measurements(rows, scale, kind, watched, is_adaptive):
    habits = Habits(watched=watched, adaptive=is_adaptive)
    noise = LaplaceNoise(scale) if kind is LaplaceNoise else GaussianNoise(2 * scale**2)
    start = np.array([500.0, 480.0, 0.0])
    state = adaptive.begin(start, start, np.ones(SIZE), 0.01, habits)
    for row in rows:
        state = adaptive.predict(state, LINKS, ARRIVALS, scale, habits)
        if row is None:
            continue
        state, belief = adaptive.correct(state, np.array(row, dtype=np.float64), noise, habits)
        for part in (belief.values, belief.errors, belief.lower, belief.upper):
            assert np.isfinite(part).all()
            assert (part >= 0).all()
        assert (belief.lower <= belief.upper).all()
        assert np.isfinite(state.level).all()
        assert (state.variance > 0).all()
        if len(state.where):
            np.testing.assert_allclose(state.weights.sum(0), 1.0)


@settings(max_examples=60, deadline=None)
@given(mean=st.floats(-1e6, 1e6), variance=st.floats(1e-6, 1e9), away=st.floats(-1e6, 1e6), scale=st.floats(0.01, 1e5))
def test_a_laplace_measurement_pulls_towards_itself_and_never_adds_doubt(mean, variance, away, scale):
    one = np.array([mean]), np.array([variance]), np.array([mean + away])
    seen = LaplaceNoise(scale).observe(*one)
    moved = variance * float(seen.pull[0])
    assert abs(moved) <= abs(away) * (1 + 1e-6) + 1e-6 * scale
    assert moved * away >= 0
    assert 0 <= float(seen.grip[0]) * variance <= 1 + 1e-9
    low, middle, high = LaplaceNoise(scale).quantiles(*one, [0.025, 0.5, 0.975])
    assert low[0] <= middle[0] <= high[0]
