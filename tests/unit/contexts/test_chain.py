"""A day as a chain: learned, kept, and refused when it cannot be one."""

import json
from fractions import Fraction

import numpy as np
import pytest

from hubbub.contexts import ContextChain
from hubbub.errors import InvalidInput, InvalidModel, InvalidParameter, UnknownKey

HALF = Fraction(1, 2)


def test_plain_frequencies_are_the_papers():
    chain = ContextChain.fit(["hww", "hhw", "hwh", "hww"], smoothing=0)
    assert chain.contexts == ("h", "w")
    assert chain.exact_steps.prior[1].tolist() == [Fraction(1, 4), Fraction(3, 4)]
    assert chain.exact_steps.moves[1].tolist() == [[0, 1], [Fraction(1, 3), Fraction(2, 3)]]


def test_smoothing_leaves_no_zero_and_fades_with_days():
    few = ContextChain.fit(["hw"] * 2, contexts=("h", "w", "x"))
    many = ContextChain.fit(["hw"] * 2000, contexts=("h", "w", "x"))
    assert (few.steps.moves > 0).all()
    assert (few.steps.first > 0).all()
    assert few.prior(1)["x"] > 100 * many.prior(1)["x"] > 0


def test_moves_that_were_never_seen_may_stay_impossible():
    chain = ContextChain.fit(["hwh", "hhh"], unseen=0)
    assert chain.steps.moves[0][1].tolist() == [1.0, 0.0]  # w was left for h alone, at any tick
    assert chain.steps.moves[1][0, 1] > 0  # h was left for w at another tick


def test_it_is_kept_exactly(tmp_path):
    chain = ContextChain.fit(["hwh", "hhh", "whw"], smoothing=0.3)
    chain.save(tmp_path / "chain.json")
    again = ContextChain.load(tmp_path / "chain.json")
    assert again.contexts == chain.contexts
    assert (again.exact_steps.moves == chain.exact_steps.moves).all()
    assert (again.exact_steps.first == chain.exact_steps.first).all()


def test_a_day_of_one_tick_is_kept_too(tmp_path):
    ContextChain(("a", "b"), ("1/3", "2/3"), []).save(tmp_path / "chain.json")
    assert ContextChain.load(tmp_path / "chain.json").exact_steps.first.tolist() == [Fraction(1, 3), Fraction(2, 3)]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda d: d.update(version=2), "version 2"),
        (lambda d: d.update(format="other"), "not the file of a chain"),
        (lambda d: d.pop("start"), "not the file of a chain"),
        (lambda d: d.update(moves="x"), "not the file of a chain"),
        (lambda d: d.update(start=[-1, 2]), "at least 0"),
        (lambda d: d.update(start=[1, 2, 3]), "shapes"),
    ],
)
def test_files_that_are_none(tmp_path, change, word):
    path = tmp_path / "chain.json"
    ContextChain.fit(["hw", "wh"]).save(path)
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    with pytest.raises((InvalidInput, InvalidModel), match=word):
        ContextChain.load(path)


def test_a_file_that_is_missing_or_cut(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be read"):
        ContextChain.load(tmp_path / "none.json")
    path = tmp_path / "chain.json"
    ContextChain.fit(["hw", "wh"]).save(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InvalidInput, match="not the file of a chain"):
        ContextChain.load(path)


@pytest.mark.parametrize(
    ("contexts", "start", "moves", "word"),
    [
        (("a", "a"), (1, 0), [], "different words"),
        ((), (), [], "different words"),
        (("a", "b"), (HALF, "1/3"), [], "sums to 0.8"),
        (("a", "b"), (2, -1), [], "below 0"),
        (("a", "b"), (0, 0), [], "starts nowhere"),
        (("a", "b"), (1, 0), [[(1, 0)]], "rows"),
        (("a", "b"), (1, 0), [[(0, 0), (1, 0)]], "leads nowhere"),
        (("a", "b"), (1, 0), [[(0.5, 0.6), (1, 0)]], "sums to 1.1"),
    ],
)
def test_what_is_no_chain(contexts, start, moves, word):
    with pytest.raises(InvalidModel, match=word):
        ContextChain(contexts, start, moves)


def test_a_context_that_cannot_occur_may_have_an_empty_row():
    chain = ContextChain(("a", "b"), (1, 0), [[(1, 0), (0, 0)]])
    assert chain.prior(1) == {"a": 1.0, "b": 0.0}


def test_days_that_teach_nothing():
    with pytest.raises(InvalidInput, match="at least one day"):
        ContextChain.fit([])
    with pytest.raises(InvalidInput, match="same number of ticks"):
        ContextChain.fit(["hw", "h"])
    with pytest.raises(UnknownKey) as refused:
        ContextChain.fit([("h", "clinic")], contexts=("h",))
    assert "clinic" not in str(refused.value)
    with pytest.raises(InvalidParameter, match="smoothing"):
        ContextChain.fit(["hw"], smoothing=-1)


def test_ticks_and_names_are_checked():
    chain = ContextChain.fit(["hw"])
    for tick in (-1, 2, True, "0"):
        with pytest.raises(InvalidParameter, match="ticks 0 to 1"):
            chain.prior(tick)
    with pytest.raises(UnknownKey):
        chain.number("clinic")


def test_weights_must_be_numbers():
    with pytest.raises(InvalidModel, match="at least 0"):
        ContextChain.of_weights(("a",), np.array([np.nan]), np.zeros((0, 1, 1)))


def test_a_chain_beyond_the_proved_margin_is_refused():
    chain = ContextChain.of_weights([str(n) for n in range(500)], np.ones(500), np.zeros((0, 500, 500)))
    chain.steps  # small enough  # noqa: B018
    from hubbub.contexts.steps import Steps

    with pytest.raises(InvalidModel, match="margin"):
        Steps(chain.steps.first, np.broadcast_to(np.zeros((500, 500)), (1000, 500, 500)))


def test_made_up_days_follow_the_chain():
    chain = ContextChain(("a", "b"), (1, 0), [[(0, 1), (1, 0)], [(0, 1), (1, 0)]])
    assert chain.sample(np.random.default_rng(0)) == ("a", "b", "a")


@pytest.mark.parametrize("odd", [None, "", 3, []])
def test_days_with_something_else_than_words(odd):
    with pytest.raises(InvalidInput, match="not a word"):
        ContextChain.fit([["a", odd]])


def test_a_file_that_is_nested_too_deep_is_no_chain(tmp_path):
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(InvalidInput, match="not the file of a chain"):
        ContextChain.load(tmp_path / "deep.json")
