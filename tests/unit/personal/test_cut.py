"""Cuts: what they promise, checked by somebody who counts; what is refused; and why a person keeps one cut."""

import json
from fractions import Fraction

import pytest

from hubbub.errors import InvalidInput, InvalidParameter, TooFine, UnknownKey
from hubbub.personal import Categories, Combined, Cut, Decimals, Observer, Prior, Sensitive
from hubbub.personal.observer import sent_by

TOWN = Categories.of_grid(8, 8)
CLINIC = Sensitive("3,2")
ONLY_HERE = Prior(TOWN, {"3,2": 1}, unseen=0)


def test_under_every_node_that_covers_a_sensitive_context_there_are_enough():
    cut = Cut.plan(TOWN, ["3,2", "7,7"], leaves=10)
    for leaf in TOWN.leaves():
        node = cut.node_of(leaf.first)
        touched = any(node.covers(TOWN.named(name).first) for name in ("3,2", "7,7"))
        assert node.leaves >= (10 if touched else 1)
    assert cut.generalise("0,7").leaves == 1  # far from both, nothing is lost


def test_the_theorem_is_met_and_tight():
    """1/16 - 1/64 at a cut of 16 contexts, by counting."""
    cut = Cut.plan(TOWN, [CLINIC], leaves=16)
    assert Observer(TOWN).largest_rise(CLINIC, cut) == Fraction(1, 16) - Fraction(1, 64)
    assert cut.belief(CLINIC, cut.generalise("3,2")) == (Fraction(1, 64), Fraction(1, 16))
    assert "at most 6.3 afterwards, 4.7 more than before" in cut.words


def test_leaves_count_and_not_nodes():
    """Erratum to Theorem 2: two "descendants" in a row are one context."""
    row = Categories({"all": None, "street": "all", "clinic": "street", "park": "all"})
    street = row.named("street")
    assert len(row.children(street)) + len(row.children(row.named("all"))) >= 2
    cut = Cut.plan(row, ["clinic"], leaves=2)
    assert cut.generalise("clinic").name == "all"


def test_several_sensitive_contexts_in_one_node_need_more_of_others():
    """Erratum to Theorem 2: a node that holds nothing but clinics tells that it is a clinic, however many there are."""
    clinics = Sensitive("0,0", "1,0", "0,1", "1,1")
    each = Cut.plan(TOWN, ["0,0", "1,0", "0,1", "1,1"], leaves=4)
    assert Observer(TOWN).belief(clinics, sent_by([each], "0,0")) == 1
    together = Cut.plan(TOWN, [clinics], leaves=4)
    assert Observer(TOWN).belief(clinics, sent_by([together], "0,0")) == Fraction(1, 4)


def test_many_contexts_do_not_hide_an_attribute():
    """Erratum for several attributes: a clinic with twenty queries under it is still a clinic."""
    queries = Categories({"any": None, **{f"query {i}": "any" for i in range(20)}})
    both = Combined({"place": TOWN, "query": queries}, order=("place",) * 3 + ("query",))
    leaf = both.path({"place": "3,2", "query": "query 7"})[-1]
    one = Cut.plan(both, [leaf.name], leaves=10)
    place = Sensitive({"place": "3,2"})
    sent = sent_by([one], {"place": "3,2", "query": "query 7"})
    assert Observer(both).belief(Sensitive(leaf.name), sent) <= Fraction(1, 10)
    assert Observer(both).belief(place, sent) == 1
    kept = Cut.plan(both, [place], leaves=16)
    assert Observer(both).largest_rise(place, kept) == Fraction(1, 16) - Fraction(1, 64)


def test_a_server_that_knows_how_often_contexts_occur_learns_more():
    """Erratum to Theorem 2: its prior is uniform, but 4.2.3 lets the server know frequencies. With these it may
    be sure; a cut for the rise under that prior holds."""
    uniform = Cut.plan(TOWN, [CLINIC], leaves=16)
    spread = Prior(TOWN, {"3,2": 1000, "4,4": 20_000, "7,0": 20_000})
    assert Observer(TOWN, spread).largest_rise(CLINIC, uniform) > Fraction(9, 10)
    held = Cut.plan(TOWN, [CLINIC], rise="0.1", prior=spread)
    assert Observer(TOWN, spread).largest_rise(CLINIC, held) <= Fraction(1, 10)
    assert "holds the given prior" in held.words


def test_with_one_cut_asking_again_tells_nothing_new():
    cut = Cut.plan(TOWN, [CLINIC], leaves=16)
    observer = Observer(TOWN)
    assert observer.belief(CLINIC, sent_by([cut] * 5, "3,2")) == observer.belief(CLINIC, sent_by([cut], "3,2"))


def test_changing_cuts_narrow_the_context():
    """Rows today, columns tomorrow: each keeps its promise of 8, both together tell the cell."""
    names = [leaf.name for leaf in TOWN.leaves()]
    rows = Categories.over(names, lambda name: "row " + name.split(",")[1])
    columns = Categories.over(names, lambda name: "column " + name.split(",")[0])
    by_row, by_column = Cut.plan(rows, ["3,2"], leaves=8), Cut.plan(columns, ["3,2"], leaves=8)
    for cut in (by_row, by_column):
        assert Observer(cut.hierarchy).largest_rise(CLINIC, cut) == Fraction(1, 8) - Fraction(1, 64)
    left = {leaf.name for leaf in Observer(rows).left(*sent_by([by_row], "3,2"))}
    left &= {leaf.name for leaf in Observer(columns).left(*sent_by([by_column], "3,2"))}
    assert left == {"3,2"}


def test_changing_what_is_sensitive_narrows_too():
    """In one tree the finer of two nodes tells: a context that becomes sensitive later was already told."""
    before, after = Cut.plan(TOWN, ["7,7"], leaves=16), Cut.plan(TOWN, ["3,2"], leaves=16)
    assert Observer(TOWN).belief(CLINIC, sent_by([before, after], "3,2")) == 1
    finer = Cut.plan(TOWN, [CLINIC], leaves=4)  # two cuts of one tree that both protect it: the weaker promise holds
    assert Observer(TOWN).belief(CLINIC, sent_by([finer, after], "3,2")) == Fraction(1, 4)


def test_coarser_only_where_it_is_sensitive_would_give_it_away():
    """A control: who generalises the clinic alone, and not its neighbours, is seen."""
    sent = {leaf.name: "0,0 x4" if leaf.name == "3,2" else leaf.name for leaf in TOWN.leaves()}
    assert [name for name, told in sent.items() if told == "0,0 x4"] == ["3,2"]


def test_ten_to_the_tenth_contexts_are_no_work():
    world = Decimals(-90, -180, 90, 180, digits=5)
    cut = Cut.plan(world, ["61.22913,-149.91205"], leaves=5000, finest=5)
    assert cut.generalise((61.22913, -149.912044)).name == "61.229,-149.913"
    assert cut.generalise((48.1, 11.5)).name == "48.1000,11.5000"
    assert len(cut.stops) == 1


def test_a_request_that_is_too_fine_is_refused():
    cut = Cut.plan(TOWN, [CLINIC], leaves=10)
    for name in ("3,2", "2,2 x2", "0,0"):
        with pytest.raises(TooFine, match="more than the cut allows"):
            cut.check(name)
    assert cut.check("0,0 x4").leaves == 16
    assert cut.check("7,7").leaves == 1
    assert cut.check("0,0 x8") == TOWN.root


def test_a_plan_is_written_for_its_person_alone(tmp_path):
    cut = Cut.plan(TOWN, [CLINIC], leaves=10, finest=2)
    path = tmp_path / "plan.json"
    cut.save(path)
    assert path.stat().st_mode & 0o077 == 0
    again = Cut.load(path)
    assert [again.node_of(k) for k in range(64)] == [cut.node_of(k) for k in range(64)]
    assert "nothing is promised" in again.words
    assert json.loads(path.read_text())["digest"] == cut.to_dict()["digest"]
    path.write_text("{}")
    with pytest.raises(InvalidInput, match="not a whole plan"):
        Cut.load(path)
    with pytest.raises(InvalidInput, match="cannot be read"):
        Cut.load(tmp_path / "none.json")


REFUSED = [
    (lambda: Cut.plan(TOWN, ["3,2"]), InvalidParameter, "needs `leaves`"),
    (lambda: Cut.plan(TOWN, ["3,2"], leaves=0), InvalidParameter, "from 1 on"),
    (lambda: Cut.plan(TOWN, ["3,2"], leaves=65), InvalidParameter, "No cut has 65"),
    (lambda: Cut.plan(TOWN, ["0,0 x4"], leaves=5), InvalidParameter, "No cut has 5"),
    (lambda: Cut.plan(TOWN, ["3,2"], leaves=2, finest=-1), InvalidParameter, "depth"),
    (lambda: Cut.plan(TOWN, ["3,2"], rise=2), InvalidParameter, "between 0 and 1"),
    (lambda: Cut.plan(TOWN, ["3,2"], rise="0.1", prior=Prior(Categories({"a": None}))), InvalidParameter, "another"),
    (lambda: Cut.plan(TOWN, ["9,9"], leaves=2), UnknownKey, "not a node"),
    (lambda: Cut.plan(TOWN, [{"place": "3,2"}], leaves=2), InvalidParameter, "one attribute"),
    (lambda: Cut.plan(Combined({"place": TOWN}), [{"query": "x"}], leaves=2), InvalidParameter, "does not have"),
    (lambda: Cut.plan(TOWN, [Sensitive("3,2", "0,0 x4")], leaves=2), InvalidParameter, "in common"),
    (lambda: Sensitive(), InvalidParameter, "one or more"),
    (lambda: Prior(TOWN, {"3,2": -1}), InvalidParameter, "at least 0"),
    (lambda: Prior(TOWN, {"9,9": 1}), UnknownKey, "node"),
    (lambda: Prior(TOWN, {"0,0 x4": 1}), UnknownKey, "context"),
    (lambda: Prior(TOWN, [({"place": "3,2"}, 1)]), UnknownKey, "context"),
    (lambda: Prior(TOWN, [("3,2",)]), InvalidParameter, "pairs"),
    (lambda: Prior(TOWN, "3,2"), InvalidParameter, "pairs"),
    (lambda: Prior(TOWN, 5), InvalidParameter, "pairs"),
    (lambda: Prior(TOWN, unseen=0), InvalidParameter, "All weights are 0"),
    (lambda: Cut(TOWN, prior=ONLY_HERE).belief(CLINIC, TOWN.named("7,7")), InvalidParameter, "nobody can be there"),
    (lambda: Observer(Decimals(0, 0, 1, 1)), InvalidParameter, "too many"),
    (lambda: Observer(TOWN).belief(CLINIC, [(Cut(TOWN), "3,2"), (Cut(TOWN), "3,3")]), InvalidInput, "Nobody"),
]  # fmt: skip


@pytest.mark.parametrize(("ask", "kind", "words"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_is_refused(ask, kind, words):
    with pytest.raises(kind, match=words):
        ask()


def test_a_prior_of_several_attributes_is_named_as_contexts_are():
    """Contexts are mappings there, which are no keys: pairs, and names of contexts, do."""
    place, query = Categories.of_grid(2, 2), Categories({"food": None, "tea": "food", "pie": "food"})
    both = Combined({"place": place, "query": query}, ("place", "query"))
    pairs = [({"place": "0,1", "query": "tea"}, 5), ({"place": "0,1", "query": "tea"}, "2.5")]
    named = {'["0,1","tea"]': "7.5"}
    leaf = both.path(pairs[0][0])[-1]
    for weights in (pairs, iter(pairs), named, {leaf.first: 7.5}, list(named.items())):
        prior = Prior(both, weights)
        assert (prior.mass(leaf), prior.total) == (Fraction(17, 2), Fraction(31, 2))
    cut = Cut.plan(both, [{"place": "0,1"}], rise="0.2", prior=Prior(both, pairs))
    assert Observer(both, Prior(both, pairs)).largest_rise(Sensitive({"place": "0,1"}), cut) <= Fraction(1, 5)


def test_a_cut_that_cannot_be_met_says_what_could():
    with pytest.raises(InvalidParameter) as refused:
        Cut.plan(TOWN, [Sensitive("0,0 x4")], leaves=5)
    assert "leaves=4" in refused.value.hint
    with pytest.raises(InvalidParameter, match=r"more than 2\^53 contexts"):  # and not its four hundred digits
        Cut.plan(TOWN, [Sensitive("0,0 x4")], leaves=10**400)


def test_where_nobody_was_expected_is_not_told_by_itself():
    """Who goes to the clinic for the first time is sent as a larger area, whatever the prior says of the clinic."""
    prior = Prior(TOWN, {"0,0": 40, "7,7": 25, "5,1": 10}, unseen=0)
    cut = Cut.plan(TOWN, ["3,2"], rise="0.1", prior=prior)
    node = cut.generalise("3,2")
    assert node.leaves > 1
    assert prior.mass(node) > 0
    assert cut.belief(CLINIC, node)[1] <= Fraction(1, 10)


@pytest.mark.parametrize("number", [999, -1])
def test_a_weight_for_no_context_is_refused(number):
    with pytest.raises(InvalidParameter, match="numbered from 0"):
        Prior(TOWN, {number: 5})
