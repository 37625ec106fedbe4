"""What a reader sees is never less than what may happen: epsilon, the factor and the guess are rounded up."""

import re
from decimal import Context, Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from hubbub.privacy import Event, Guarantee, Session, User, Window
from hubbub.privacy.rounding import at_least, at_most, excess, factor, per_cent

EPSILONS = st.one_of(
    st.fractions(min_value=Fraction(1, 10**6), max_value=20),
    st.floats(min_value=1e-9, max_value=20).map(Fraction),
    st.decimals(min_value="0.0001", max_value=20, places=4).map(Fraction),
)
UNITS = st.sampled_from([Event(), Window(12), Session(20), User(2, 365)])
FINE = Context(prec=80, Emax=10**6, Emin=-(10**6))


def power(epsilon: Fraction) -> Decimal:
    """An oracle of its own: eighty digits, a hair below the truth."""
    exponent = FINE.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))
    return FINE.multiply(
        FINE.exp(FINE.subtract(exponent, Decimal("1e-75"))), Decimal("0.999999999999999999999999999999")
    )


def number(text: str) -> Fraction:
    return Fraction(text.replace(",", ""))


@given(EPSILONS)
def test_no_number_is_rounded_to_the_wrong_side(epsilon):
    assert number(at_most(epsilon)) >= epsilon >= number(at_least(epsilon))
    assert number(at_most(epsilon)) <= epsilon * Fraction("1.001")
    assert number(factor(epsilon)) >= Fraction(power(epsilon))
    assert number(factor(epsilon)) <= Fraction(power(epsilon)) * Fraction("1.01")
    assert number(excess(epsilon)) >= 100 * (Fraction(power(epsilon)) - 1)


@given(st.fractions(min_value=0, max_value=1))
def test_no_probability_is_rounded_down(probability):
    shown = per_cent(probability)
    assert shown is None or 100 * probability <= number(shown.removesuffix(" %")) < 100
    assert shown is not None or probability > Fraction("0.99999")


@given(UNITS, EPSILONS)
def test_a_pure_sentence_bounds_what_it_speaks_of(unit, epsilon):
    promise = Guarantee.pure(unit, epsilon).promise
    shown, most = re.search(r"factor e\^(\S+) = ([\d,.e-]+),", promise.sentence).groups()
    assert number(shown) >= epsilon
    assert number(most) >= Fraction(power(epsilon))
    if promise.sure is not None:
        sure = number(re.search(r"at most (\S+) % sure", promise.belief)[1]) / 100
        assert sure / (1 - sure) >= Fraction(power(epsilon)), "the odds of somebody who began at 50:50"
    several = re.search(r"the factor is e\^(?:k|\((\S+) k\))", promise.sentence)
    assert number(several[1] or "1") >= epsilon


@given(UNITS, EPSILONS, st.sampled_from(["1e-12", "1e-9", "1e-5"]))
def test_an_approximate_sentence_bounds_what_it_speaks_of(unit, epsilon, delta):
    promise = Guarantee(unit, epsilon=epsilon, delta=Fraction(delta)).promise
    shown, most, added = re.search(
        r"e\^(\S+) = (\S+) times what it is otherwise, plus (\S+),", promise.sentence
    ).groups()
    assert number(shown) >= epsilon
    assert number(most) >= Fraction(power(epsilon))
    assert number(added) >= Fraction(delta)


@given(UNITS, st.fractions(min_value=Fraction(1, 10**6), max_value=5))
def test_a_sentence_about_rho_bounds_what_it_speaks_of(unit, rho):
    guarantee = Guarantee.zcdp(unit, rho, allow_weak=True)
    said, follows = re.search(r"rho = (\S+) \(zero.*at most e\^(\S+) ", guarantee.sentence).groups()
    assert number(said) >= rho
    assert number(follows) >= guarantee.to_approximate("1e-9").epsilon
