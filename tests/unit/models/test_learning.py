"""What is learned from a log must not depend on where the log was cut."""

import numpy as np
import pytest

from hubbub.errors import InvalidModel
from hubbub.models import NavigationModel, Sessions
from hubbub.released import Keys

KEYS = Keys(["front", "news", "video"])
RATES = np.array([40.0, 15.0, 5.0])
MOVES = np.array([[0.30, 0.10, 0.01], [0.20, 0.50, 0.01], [0.10, 0.05, 0.96]])
TRUTH = NavigationModel.of(KEYS, MOVES, RATES)
BEFORE = 200
BOUND = 20


def walks(count, rng, longest=200, newcomers_leave=0.0):
    """Sessions that move by MOVES; some leave after their first tick whatever the page."""
    gone = len(KEYS)
    chances = np.zeros((gone + 1, gone + 1))
    chances[:gone, :gone], chances[:, gone] = MOVES.T, 1.0 - np.append(MOVES.sum(0), 0.0)
    steps = np.cumsum(chances, axis=1)
    here = rng.choice(gone, count, p=RATES / RATES.sum())
    rows = [here]
    for age in range(longest - 1):
        here = np.minimum((rng.random(count)[:, None] > steps[here]).sum(1), gone)
        if age == 0:
            here = np.where(rng.random(count) < newcomers_leave, gone, here)
        rows.append(here)
    visits = np.array(rows).T
    bounds = np.concatenate([[0], np.cumsum((visits < gone).sum(1))])
    return visits[visits < gone].astype(np.int32), bounds


def site(ticks, seed, *, crowd=0, **how):
    """All sessions of a site that ran long before tick 0; with a crowd, one where nobody was before."""
    rng = np.random.default_rng(seed)
    begin = 1 if crowd else -BEFORE
    starts = np.repeat(np.arange(begin, ticks), rng.poisson(RATES.sum(), ticks - begin))
    starts = np.concatenate([np.zeros(crowd, dtype=np.int64), starts])
    return Sessions(KEYS, *walks(len(starts), rng, **how), starts)


def window(sessions, ticks, *, only_begun=False):
    """What a log of these ticks holds: visits before and after are missing, or all sessions that began before."""
    who = np.repeat(np.arange(len(sessions)), sessions.lengths)
    tick = np.arange(len(who)) - np.repeat(sessions.bounds[:-1] - sessions.starts, sessions.lengths)
    inside = (tick >= 0) & (tick < ticks) & ((sessions.starts >= 0)[who] | (not only_begun))
    lengths = np.bincount(who[inside], minlength=len(sessions))
    bounds = np.concatenate([[0], np.cumsum(lengths[lengths > 0])])
    return Sessions(KEYS, sessions.visits[inside], bounds, np.maximum(sessions.starts, 0)[lengths > 0])


def counts(sessions, ticks, bound):
    kept = sessions.truncated(bound)
    tick = np.arange(len(kept.visits)) - np.repeat(kept.bounds[:-1] - kept.starts, kept.lengths)
    flat = tick[tick < ticks] * len(KEYS) + kept.visits[tick < ticks]
    return np.bincount(flat, minlength=ticks * len(KEYS)).reshape(ticks, len(KEYS))


def foretold(model, ticks):
    """What the model expects at each tick, before anything is measured."""
    now, rows = model.initial, []
    for tick in range(ticks):
        rows.append(now)
        extra = model.opening[tick] if tick < len(model.opening) else 0.0
        now = model.matrix @ now + model.arrivals + extra
    return np.array(rows)


@pytest.mark.parametrize("only_begun", [False, True])
def test_a_stream_begins_in_balance_whatever_the_log_holds_of_its_first_tick(only_begun):
    """The first tick of a log may hold all who were there, or only those who had just come."""
    model = NavigationModel.fit(window(site(400, 1), 400, only_begun=only_begun))
    np.testing.assert_allclose(model.arrivals, RATES, rtol=0.06)
    np.testing.assert_allclose(model.initial, TRUTH.initial, rtol=0.06)
    assert TRUTH.initial[2] > 20 * RATES[2], "the control: those who just came are far fewer"


def test_sessions_that_the_end_cuts_do_not_count_as_leaving():
    """People stay on `video` for 30 ticks, and the log has 80."""
    log = window(site(80, 2), 80)
    model = NavigationModel.fit(log)
    cut = NavigationModel.fit(Sessions(KEYS, log.visits, log.bounds), ticks=80)
    true = TRUTH.matrix[2, 2]
    assert model.matrix[2, 2] == pytest.approx(true, abs=0.004)
    assert cut.matrix[2, 2] < true - 0.008, "the control: whoever does not know that the log ends learns another stay"


def test_the_chain_is_that_of_the_balance_though_the_log_begins_with_a_crowd():
    """Ages differ: two in five leave after a tick, the others stay. A log with a crowd has too many young ones."""
    model = NavigationModel.fit(site(60, 3, crowd=4_000, newcomers_leave=0.4), max_ticks=BOUND, start="crowd")
    usual = counts(window(site(200, 4, newcomers_leave=0.4), 200), 200, BOUND)[BOUND:].mean(0)
    np.testing.assert_allclose(model.balance(), usual, rtol=0.08)


def test_a_crowd_is_followed_at_every_age_up_to_the_bound():
    model = NavigationModel.fit(site(40, 5, crowd=20_000, newcomers_leave=0.4), max_ticks=BOUND, start="crowd")
    assert len(model.opening) == BOUND
    other = counts(site(40, 6, crowd=20_000, newcomers_leave=0.4), 40, BOUND)
    np.testing.assert_allclose(foretold(model, 40), other, rtol=0.08, atol=40)
    assert other[BOUND - 1, 2] > 2 * other[BOUND, 2], "the control: the bound ends the crowd's stay all at once"


def test_a_balanced_stream_is_cut_once_its_bound_has_passed():
    """The stream counts nobody before it begins: whoever is there counts for `max_ticks` ticks, however long before
    that they came. Then the count falls to what the bound leaves of it."""
    model = NavigationModel.fit(window(site(400, 8), 400), max_ticks=BOUND)
    expected = foretold(model, BOUND + 30)
    np.testing.assert_allclose(expected[:BOUND], np.tile(TRUTH.initial, (BOUND, 1)), rtol=0.08)
    np.testing.assert_allclose(expected[BOUND:], np.tile(model.balance(), (30, 1)), rtol=1e-6)
    truth = counts(window(site(60, 9), 60), 60, BOUND)
    np.testing.assert_allclose(expected[BOUND], truth[BOUND:].mean(0), rtol=0.08)
    assert expected[BOUND, 2] < 0.75 * expected[0, 2]


def test_without_a_bound_a_balanced_stream_has_no_opening():
    assert NavigationModel.fit(window(site(50, 10), 50)).opening.shape == (0, 3)


def test_a_page_of_which_nobody_saw_what_followed():
    """Its only visits lie in the last tick: nobody is known to stay or to go on."""
    starts = np.array([0, 1, 1, 2])
    sessions = Sessions.of(KEYS, [["front"], ["front"], ["news"], ["video"]])
    model = NavigationModel.fit(Sessions(KEYS, sessions.visits, sessions.bounds, starts))
    assert model.matrix.toarray()[:, 2].tolist() == [0, 0, 0]
    assert np.isfinite(model.initial_errors).all()


def test_what_a_log_cannot_tell_is_refused():
    sessions = Sessions.of(KEYS, [["front"], ["news"], ["front", "front"]])
    at = lambda *starts: Sessions(KEYS, sessions.visits, sessions.bounds, np.array(starts))  # noqa: E731
    with pytest.raises(InvalidModel, match="balanced or crowd; got 'cold'"):
        NavigationModel.fit(sessions, ticks=3, start="cold")
    with pytest.raises(InvalidModel, match="how many the crowd"):
        NavigationModel.fit(sessions, ticks=3, start="crowd")
    with pytest.raises(InvalidModel, match="All sessions begin at the first tick"):
        NavigationModel.fit(at(4, 4, 4))
    with pytest.raises(InvalidModel, match="begin over 5 ticks, and `ticks` says 4"):
        NavigationModel.fit(at(0, 4, 2), ticks=4)
    assert NavigationModel.fit(at(4, 4, 4), start="crowd").initial.tolist() == [2, 1, 0]
