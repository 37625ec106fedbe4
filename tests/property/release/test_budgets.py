"""Whatever the counts, the budget and the bounds: no method charges more than it promised."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.confidential import Counts
from hubbub.privacy import Guarantee, User, Window
from hubbub.release import Adaptive, Ba, Bd, Fast, Sample
from hubbub.release.look_budget import LookBudget
from hubbub.released import Keys, Tick

KEYS = Keys(["a"])
EPSILONS = st.fractions(min_value=Fraction(1, 50), max_value=3, max_denominator=50)
LEVELS = st.lists(st.sampled_from([0, 1, 30, 900, 10**6]), min_size=12, max_size=12)


@settings(max_examples=25, deadline=None)
@given(epsilon=EPSILONS, levels=LEVELS, most=st.integers(1, 12), method=st.sampled_from([Adaptive, Fast, Sample]))
def test_a_person_is_charged_at_most_epsilon(epsilon, levels, most, method):
    releaser = method(KEYS, Guarantee.pure(User(max_ticks=most, horizon=12), epsilon))
    costs = [releaser.release(Counts.of(KEYS, Tick(t), [x])).cost.epsilon for t, x in enumerate(levels)]
    assert sum(sorted(costs)[-most:]) <= epsilon


@settings(max_examples=25, deadline=None)
@given(epsilon=EPSILONS, levels=LEVELS, width=st.integers(1, 6), method=st.sampled_from([Ba, Bd, Sample]))
def test_a_window_is_charged_at_most_epsilon(epsilon, levels, width, method):
    releaser = method(KEYS, Guarantee.pure(Window(width), epsilon))
    costs = [releaser.release(Counts.of(KEYS, Tick(t), [x])).cost.epsilon for t, x in enumerate(levels)]
    assert max(sum(costs[t : t + width]) for t in range(12)) <= epsilon


@settings(max_examples=200, deadline=None)
@given(epsilon=EPSILONS, most=st.integers(1, 50), looks=st.lists(st.integers(1, 60), max_size=60))
def test_a_budget_of_looks_stays_within_the_budget(epsilon, most, looks):
    budget, costs = LookBudget(Guarantee.pure(User(max_ticks=most, horizon=60), epsilon)), []
    for number in looks:
        cost = budget.piece(number)
        budget.spend(cost)
        costs.append(cost)
        assert sum(sorted(costs)[-most:]) <= epsilon
