"""The sentences of a promise: golden for every unit, strength and kind, and never stronger than the promise itself."""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from scipy.stats import norm
from tests.support.words import FORBIDDEN, MILD

from hubbub.privacy import Event, Guarantee, Session, Unit, User, Window
from hubbub.privacy.promise import NOTHING, Promise, strength

GOLDEN = Path(__file__).parent / "promises.txt"
UNITS: list[Unit] = [
    Event(),
    Window(12),
    Session(max_ticks=20),
    Session(max_ticks=20, timeout=timedelta(minutes=30), max_items=3),
    User(horizon=365),
    User(max_ticks=2, horizon=365),
]
EPSILONS = ("0.1", "1", "5", "20")
RHOS = ("0.005", "0.1", "1", "20")
DELTAS = ("1e-5", "2e-5", "1e-3", "0.002", "0.5", "0.999999")
PARTS = ("sentence", "lead", "blur", "belief", "odds", "several", "which")

GUARANTEES = [
    *(Guarantee.pure(unit, epsilon) for unit in UNITS for epsilon in EPSILONS),
    *(Guarantee.approximate(unit, epsilon, "1e-9") for unit in UNITS for epsilon in EPSILONS),
    *(Guarantee.approximate(unit, 1, delta, allow_weak=True) for unit in UNITS for delta in DELTAS),
    *(Guarantee.zcdp(unit, rho, allow_weak=True) for unit in UNITS for rho in RHOS),
    *(Guarantee.zcdp(unit, rho, delta="1e-6", allow_weak=True) for unit in UNITS for rho in RHOS),
    *(Guarantee.zcdp(unit, "0.005", delta=delta, allow_weak=True) for unit in UNITS for delta in DELTAS),
]


def told(guarantee: Guarantee) -> str:
    return " ".join(getattr(guarantee.promise, part) for part in PARTS)


def written() -> str:
    """All sentences, as they stand in the golden file."""
    blocks = []
    for guarantee in GUARANTEES:
        amount = f"rho={guarantee.rho}" if guarantee.rho is not None else f"epsilon={guarantee.epsilon}"
        if guarantee.delta not in (0, Fraction(1, 10**9)):
            amount += f", delta={guarantee.delta}"
        lines = [f"## {guarantee.kind}, {amount}, {guarantee.unit!r}"]
        lines += [f"{part}: {getattr(guarantee.promise, part)}" for part in PARTS]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def test_every_sentence_is_the_one_that_was_read_and_agreed() -> None:
    """To write it anew: python -m tests.unit.privacy.test_promise. Read every line of the difference."""
    assert written() == GOLDEN.read_text()


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: f"{g.kind}-{g.budget}-{g.unit.noun}")
def test_no_sentence_says_more_than_is_promised(guarantee: Guarantee) -> None:
    said = told(guarantee).lower()
    for phrase in FORBIDDEN:
        assert phrase not in said
    if guarantee.promise.strength not in ("very strong", "strong"):
        for phrase in MILD:
            assert phrase not in said, f"{phrase!r} at {guarantee.promise.sure}"


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda g: f"{g.kind}-{g.budget}-{g.unit.noun}")
def test_every_sentence_ends_and_names_its_unit(guarantee: Guarantee) -> None:
    promise = guarantee.promise
    for part in PARTS:
        assert getattr(promise, part).endswith(".")
    assert promise.unit.one in promise.lead or promise.unit.thing in promise.lead
    assert promise.unit.question in promise.belief
    horizon = promise.unit.horizon
    span = "for as long as the stream runs" if horizon is None else f"over all {horizon} ticks"
    assert span in promise.sentence
    assert promise.unit.bound in promise.sentence
    assert "Several add up" in promise.sentence


@pytest.mark.parametrize(
    ("epsilon", "words"),
    [
        ("0.1", ["e^0.1 = 1.106", "10.6 % larger", "52.5 %", "hardly changes", "strong", "e^(0.1 k)"]),
        ("1", ["e^1 = 2.72", "2.72 times", "73.2 %", "fair", "e^k"]),
        ("5", ["e^5 = 149", "149 times", "99.4 %", "very weak", "nearly sure", "e^(5 k)"]),
        ("20", ["e^20 = 486,000,000", "practically nothing", "practically sure", "e^(20 k)"]),
    ],
)
@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_the_words_fit_the_number(unit: Unit, epsilon: str, words: list[str]) -> None:
    said = told(Guarantee.pure(unit, epsilon))
    for word in words:
        assert word in said
    assert ("protect" in Guarantee.pure(unit, epsilon).promise.lead) == (epsilon != "20")


@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_what_several_cost_is_told_of_the_right_several(unit: Unit) -> None:
    said = Guarantee.pure(unit, "0.1").promise
    several = {
        Event: ("k events of one person", "Ten events of one person"),
        Window: ("within 12 k ticks in a row", "within 120 ticks in a row"),
        Session: ("k sessions of one person", "Ten visits of one person"),
        User: ("k people together", "Ten people"),
    }[type(unit)]
    assert several[0] in said.sentence
    assert several[1] in said.several
    assert "73.2 %" in said.several, "ten times 0.1"
    assert "55.0 %" in said.which, "one is taken away and another put in: twice 0.1"


def test_a_delta_is_added_and_not_a_chance_to_fail() -> None:
    sentence = Guarantee.approximate(Session(max_ticks=20), 1, "1e-9").sentence
    assert (
        "the probability of any set of outputs is at most e^1 = 2.72 times what it is otherwise, plus 1e-9" in sentence
    )
    assert "what is added more than k times as much" in sentence
    assert "That is an average" in Guarantee.approximate(Event(), 1, "1e-9").promise.belief


@pytest.mark.parametrize(
    ("delta", "word"),
    [("1e-5", ""), ("1.1e-5", "weak"), ("1e-3", "weak"), ("1.1e-3", "very weak"), ("0.5", "very weak")],
)
@pytest.mark.parametrize("epsilon", ["0.001", "1"])
@pytest.mark.parametrize("unit", UNITS, ids=repr)
def test_a_large_delta_is_called_weak_at_every_epsilon(unit: Unit, epsilon: str, delta: str, word: str) -> None:
    promise = Guarantee.approximate(unit, epsilon, delta, allow_weak=True).promise
    assert ("This delta is" in promise.sentence) == bool(word)
    if word:
        assert f"This delta is {word}: outputs with a probability of up to" in promise.sentence
        assert f"tell everything about {unit.one}." in promise.sentence
        assert promise.strength == word
        assert f"is {word}." in promise.lead
        assert "but weakly" in promise.blur
    else:
        assert "weak" not in promise.sentence


def test_a_delta_of_nearly_one_promises_nothing() -> None:
    promise = Guarantee.approximate(Event(), 1, "0.999999", allow_weak=True).promise
    assert promise.strength == NOTHING
    assert "practically nothing" in promise.sentence


def test_why_a_delta_is_no_chance_to_fail() -> None:
    """The control: our own Gaussian noise for (0.1, 1e-9) exceeds the loss 0.1 with 57 times that chance."""
    rho = float(Guarantee.approximate(Event(), "0.1", "1e-9").budget)
    apart = (2 * rho) ** 0.5  # the sensitivity in standard deviations; the loss is normal with mean rho
    assert 56 < norm.sf((0.1 - rho) / apart) / 1e-9 < 58


def test_rho_and_what_follows_from_it_are_both_told() -> None:
    sentence = Guarantee.zcdp(User(max_ticks=2, horizon=365), "0.1").sentence
    assert "rho = 0.1 (zero-concentrated" in sentence
    follows = re.search(r"at most e\^([\d.]+) = ([\d.]+) times what it is otherwise, plus 1e-9", sentence)
    assert follows
    implied = Guarantee.zcdp(Event(), "0.1").to_approximate("1e-9").epsilon
    assert implied is not None
    assert 0 <= Fraction(follows[1]) - implied < Fraction(1, 500)
    assert "rho = 0.1 k^2" in sentence


@pytest.mark.parametrize("rho", [0.005, 0.1, 0.5, 1, 5, 20])
def test_nobody_guesses_better_than_told_against_gaussian_noise(rho: float) -> None:
    """The best guess against the Gaussian mechanism of exactly this rho is right Phi(sqrt(rho/2)) of the time."""
    best = norm.cdf((rho / 2) ** 0.5)
    most = float(Promise(Event(), rho=Fraction(rho)).guess)
    assert best <= most
    assert most - best < 0.12, "the bound is of use"


def test_a_guess_against_a_pair_that_uses_up_epsilon_and_delta() -> None:
    """Delta tells the truth outright, the rest is randomised response: no (epsilon, delta) allows a better guess."""
    epsilon, delta = Fraction(1), Fraction(1, 100)
    e = 2.718281828459045
    best = float(delta) + (1 - float(delta)) * e / (1 + e)
    assert best == pytest.approx(float(Promise(Event(), epsilon=epsilon, delta=delta).guess), rel=1e-12)


def test_several_together() -> None:
    approximate = Promise(Event(), epsilon=Fraction(1), delta=Fraction(1, 10**9))
    assert approximate.of(2).epsilon == 2
    assert float(approximate.of(2).delta) == pytest.approx(3.718281828e-9)
    assert approximate.of(50).delta == 1
    assert Promise(Event(), rho=Fraction(1, 10)).of(3).rho == Fraction(9, 10)
    assert Promise(Event(), epsilon=Fraction(200), delta=Fraction(1, 10**9)).of(10).delta == 1


def test_a_promise_of_nothing_is_told_without_a_number() -> None:
    for guarantee in (Guarantee.pure(Event(), 10**6, allow_weak=True), Guarantee.zcdp(Event(), 10**6, allow_weak=True)):
        promise = guarantee.promise
        assert promise.guess == 1
        assert promise.sure is None
        assert promise.strength == NOTHING
        assert "practically nothing" in promise.odds
    assert "e^800," in Guarantee.pure(Event(), 800, allow_weak=True).sentence
    assert "e^800 times" in Guarantee.pure(Event(), 800, allow_weak=True).promise.odds


def test_a_float_is_as_strong_as_the_decimal_it_was_written_as() -> None:
    assert strength(0.1) == strength(Fraction(1, 10)) == "strong"


if __name__ == "__main__":
    GOLDEN.write_text(written())
