"""The claim of docs/proofs/composition.md, "Slips", held against small worlds in exact numbers.

Two steps with three outcomes each; what the second costs and slips is chosen by the outcome of the first.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

OUTCOMES = range(3)
WEIGHTS = st.lists(st.integers(1, 6), min_size=3, max_size=3)
ANY_WEIGHTS = st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any)  # a bad part may rule outcomes out
SLIPS = st.fractions(min_value=0, max_value=Fraction(1, 3), max_denominator=12)

Law = list[Fraction]
STEP = st.tuples(WEIGHTS, WEIGHTS, ANY_WEIGHTS, ANY_WEIGHTS, SLIPS)
"""Good parts with and without the unit, bad parts of both, and what may slip."""


def law(weights: list[int]) -> Law:
    return [Fraction(weight, sum(weights)) for weight in weights]


def mixed(good: Law, bad: Law, slip: Fraction) -> Law:
    return [(1 - slip) * g + slip * b for g, b in zip(good, bad, strict=True)]


def ratio(one: Law, two: Law) -> Fraction:
    """e^epsilon of the good parts, exactly."""
    return max(max(a / b, b / a) for a, b in zip(one, two, strict=True))


@given(STEP, st.lists(STEP, min_size=3, max_size=3))
def test_two_steps_that_choose_their_amounts_keep_both_sums(first, seconds):
    steps = {(): first} | {(outcome,): second for outcome, second in enumerate(seconds)}
    with_unit, without, good, good_without = {}, {}, {}, {}
    slips, factors = [], []
    for path in product(OUTCOMES, OUTCOMES):
        m = m_without = g = g_without = factor = Fraction(1)
        slipped = Fraction(0)
        for at, outcome in enumerate(path):
            one, two, bad, bad_without, slip = steps[path[:at]]
            here, there = law(one), law(two)
            m *= mixed(here, law(bad), slip)[outcome]
            m_without *= mixed(there, law(bad_without), slip)[outcome]
            g, g_without = g * here[outcome], g_without * there[outcome]
            factor, slipped = factor * ratio(here, there), slipped + slip
        with_unit[path], without[path], good[path], good_without[path] = m, m_without, g, g_without
        factors.append(factor)
        slips.append(slipped)
    delta, factor = max(slips), max(factors)  # what an account bounds: the sums along every path
    assert sum(with_unit.values()) == sum(good.values()) == 1
    for path in with_unit:
        assert with_unit[path] >= (1 - delta) * good[path], "but for delta"
        assert without[path] >= (1 - delta) * good_without[path]
        assert good[path] <= factor * good_without[path], "and otherwise within the factor"
        assert good_without[path] <= factor * good[path]
    for one, two in ((with_unit, without), (without, with_unit)):  # (epsilon, delta) over the worst set of outputs
        assert sum(max(one[path] - factor * two[path], Fraction(0)) for path in one) <= delta


@given(STEP)
def test_the_total_variation_is_what_may_slip_and_the_rest_of_the_good_parts(step):
    one, two, bad, bad_without, slip = step
    here, there = mixed(law(one), law(bad), slip), mixed(law(two), law(bad_without), slip)
    assert apart(here, there) <= slip + (1 - slip) * apart(law(one), law(two))


def apart(one: Law, two: Law) -> Fraction:
    return sum((abs(a - b) for a, b in zip(one, two, strict=True)), Fraction(0)) / 2
