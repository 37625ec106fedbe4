"""What the methods publish, refuse and say."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import hubbub as hb
from hubbub.itemlogs import Adaptive, Claim, ItemLog, KQueryAnonymity, Weighted, Zealous
from hubbub.itemlogs.intervals import given_published
from hubbub.itemlogs.publishing import method_for
from hubbub.noise import simulation
from hubbub.privacy.zcdp import epsilon_of_rho

METHODS = {"zealous": Zealous, "weighted": Weighted, "adaptive": Adaptive}


def shared(users, *items):
    return [(f"u{i}", item) for i in range(users) for item in items]


LOG = [*shared(600, "weather", "news"), *shared(3, "flu"), ("ann", "ann's secret")]


@pytest.mark.parametrize("name", METHODS)
def test_the_frequent_are_published_and_the_rare_are_not(name):
    published = METHODS[name](1, "1e-6", 3).publish(ItemLog.of(LOG))
    assert set(published) == {"weather", "news"}
    assert abs(published["news"] - 600) < 6 * published["news"].standard_error
    assert published["news"].lower <= 600 <= published["news"].upper
    assert "flu" not in published
    with pytest.raises(hb.UnknownKey, match="no such item"):
        published["flu"]


@pytest.mark.parametrize("name", METHODS)
def test_an_empty_log_gives_an_empty_list(name):
    published = METHODS[name](1, "1e-6", 3).publish(ItemLog.of([]))
    assert (len(published), list(published)) == (0, [])


def test_no_item_below_tau_is_ever_published():
    """Without the second threshold, and with much noise, the first alone must hold back what lies below tau."""
    below = [(f"u{i}", f"below {item}") for item in range(400) for i in range(4)]
    at = [(f"u{i}", f"at {item}") for item in range(400) for i in range(5)]
    log = ItemLog.of(below + at)
    method, loose = (Zealous(20, "0.4", 1000, keep=keep, allow_weak=True) for keep in (5, 4))
    for one in (method, loose):
        one.thresholds = replace(one.thresholds, publish=-10)
    published = method.publish(log)
    assert len(published) > 100
    assert all(item.startswith("at ") for item in published)
    assert any(item.startswith("below ") for item in loose.publish(log)), "the control must fail"


def test_more_users_than_promised_are_refused():
    method = Zealous(1, "1e-6", 2, users=10)
    with pytest.raises(hb.InvalidParameter, match="more users than") as refused:
        method.publish(ItemLog.of(shared(11, "a")))
    assert "11" not in str(refused.value)
    assert method.claim.definition == "probabilistic"
    assert "whatever the lots were" in method.claim.sentence  # of lists alone it does not hold
    assert "lots" in method.claim.to_dict()["given"]


def test_a_log_must_be_read_first():
    with pytest.raises(hb.InvalidParameter, match="ItemLog; got list"):
        Weighted(1, "1e-6", 2).publish([("ann", "flu")])


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"epsilon": 0}, "above 0"),
        ({"epsilon": -1}, "above 0"),
        ({"epsilon": 50}, "promises practically nothing"),
        ({"epsilon": float("nan")}, "finite"),
        ({"delta": 0}, "between 0 and 1"),
        ({"delta": 1}, "between 0 and 1"),
        ({"delta": "0.1"}, "practically nothing"),
        ({"max_items": 0}, "whole number"),
        ({"max_items": 10_001}, "at most 10,000"),
        ({"max_items": True}, "whole number"),
    ],
)
@pytest.mark.parametrize("name", METHODS)
def test_numbers_out_of_range_are_refused(name, numbers, words):
    given = {"epsilon": 1, "delta": "1e-6", "max_items": 5, **numbers}
    with pytest.raises(hb.InvalidParameter, match=words):
        METHODS[name](**given)


def test_other_refusals():
    with pytest.raises(hb.InvalidParameter, match="count_share"):
        Weighted(1, "1e-6", 5, count_share=1)
    with pytest.raises(hb.InvalidParameter, match="larger than we can draw"):
        Adaptive("1e-6", "1e-6", 5)
    with pytest.raises(hb.InvalidParameter, match="users"):
        Zealous(1, "1e-6", 5, users=0)
    with pytest.raises(hb.InvalidParameter, match="keep"):
        Zealous(1, "1e-6", 5, keep=0)
    with pytest.raises(hb.InvalidParameter, match="`k`"):
        KQueryAnonymity(0)
    with pytest.raises(hb.InvalidParameter, match="no method 'best'"):
        method_for("best", 1, "1e-6", 5)
    with pytest.raises(hb.InvalidParameter, match="does not give"):
        method_for("adaptive", 1, "1e-6", 5, users=100)
    with pytest.raises(hb.InvalidParameter, match="no share of their own"):
        method_for("zealous", 1, "1e-6", 5, count_share="1/2")


@pytest.mark.parametrize("name", ["weighted", "adaptive"])
def test_the_budget_is_divided_exactly(name):
    method = METHODS[name](1, "1e-6", 10)
    division, claim = method.division, method.claim
    assert sum(division.rhos) + division.counts == claim.rho
    assert sum(division.deltas) == claim.rho_delta == Fraction(1, 2 * 10**6)
    assert epsilon_of_rho(claim.rho, claim.delta - claim.rho_delta) <= claim.epsilon
    for noise, rho in zip(method._noises, division.rhos, strict=True):
        assert Fraction(2**40) / (2 * noise.variance_parameter) == rho
    assert Fraction(10) / (2 * method._count_noise.variance_parameter) == division.counts


def test_without_a_share_there_are_no_counts():
    published = Adaptive(1, "1e-6", 3, count_share=0).publish(ItemLog.of(LOG))
    assert list(published) == ["news", "weather"]
    assert not published.has_counts
    assert published["news"].state == "withheld"
    assert "no counts" in " ".join(published.card)


def test_zealous_tells_a_ledger_what_slips():
    claim = Zealous(1, "1e-6", 10).claim
    assert claim.rho == Fraction(1, 2)
    assert claim.delta / 2 < claim.rho_delta <= claim.delta
    strict = Zealous(1, "1e-6", 10, users=10**6).claim
    assert strict.rho_delta < strict.delta / 1000
    assert Claim.from_dict(strict.to_dict()) == strict
    assert "at most 1,000,000 users" in strict.sentence
    assert claim.guarantee.delta == claim.delta


def test_one_item_a_user_is_zealous():
    assert isinstance(method_for("adaptive", 1, "1e-6", 1), Zealous)
    assert isinstance(method_for("adaptive", 1, "1e-6", 2), Adaptive)
    assert isinstance(method_for("adaptive", 1, "1e-6", 1, count_share="1/4"), Adaptive)


def test_the_order_of_the_log_does_not_show():
    with simulation(5) as source:
        forward = Zealous(1, "1e-6", 2, source=source).publish(ItemLog.of(shared(900, "a", "b")))
    assert list(forward.counts) == sorted(forward.counts, reverse=True)


def test_adaptive_moves_weight_to_what_needs_it():
    """Everyone has three items that all have, and one of 9 that 40 share: the first round frees the others' weight."""
    log = ItemLog.of([*shared(360, "a", "b", "c"), *[(f"u{i}", f"rare {i % 9}") for i in range(360)]])
    plain, moved = Weighted(1, "1e-6", 4), Adaptive(1, "1e-6", 4)
    assert len(moved.publish(log)) > len(plain.publish(log)) == 3


def test_fake_users_undo_k_anonymity_and_not_ours():
    secret = "ann's address"
    others = [*shared(500, "weather"), *[(f"fake {i}", secret) for i in range(9)]]
    with_ann, without = [*others, ("ann", secret)], others
    baseline = KQueryAnonymity(10)
    assert secret in baseline.publish(with_ann)
    assert secret not in baseline.publish(without)
    method = Adaptive(1, "1e-6", 3)
    assert secret not in method.publish(ItemLog.of(with_ann))
    assert secret not in method.publish(ItemLog.of(without))


def test_intervals_hold_for_what_was_published():
    """40,000 items of 30 users at a threshold of 39: given that they pass, 95 of 100 intervals hold 30, and more so."""
    method = Zealous(1, "0.01", 10, allow_weak=True)
    thresholds = method.thresholds
    count = thresholds.publish - 10
    noisy = count + method._noise.sample(40_000)
    passed = noisy[noisy > thresholds.publish]
    lower, upper = given_published(passed, thresholds)
    covered = np.mean((lower <= count) & (count <= upper))
    slack = 5 * np.sqrt(0.05 * 0.95 / len(passed))
    assert covered > 0.95 - slack
    naive = np.mean(np.abs(passed - count) <= method._noise.quantile("0.975"))
    assert naive < 0.95 - slack, "the control: without the condition the interval does not cover"


def test_what_they_say_of_themselves():
    assert repr(Adaptive(1, "1e-6", 3)) == ("<Adaptive: epsilon = 1, delta = 1e-6 for each user, at most 3 items each>")
    assert repr(ItemLog.of(LOG)) == "<an item log, confidential>"
    assert "ann" not in repr(vars(ItemLog.of(LOG)))


@pytest.mark.parametrize("spends", [*METHODS.values(), hb.publish_items], ids=lambda one: one.__name__)
def test_whatever_spends_states_its_guarantee(spends):
    for word in ("Guarantee", "Protects:", "Enforced", "Formula:", "Not covered:", "Reference:", "Proof: docs/proofs/"):
        assert word in spends.__doc__


@pytest.mark.parametrize(("users", "items"), [([0, 0], [1, 1]), ([1, 0], [0, 0]), ([0, 0], [1, 0]), ([0], [2])])
def test_a_log_whose_bounds_could_not_be_enforced_is_refused(users, items):
    codes = (np.array(one, dtype=np.uint32) for one in (users, items))
    with pytest.raises(hb.InvalidInput, match="different, sorted"):
        ItemLog.from_codes(*codes, ["a", "b"])
