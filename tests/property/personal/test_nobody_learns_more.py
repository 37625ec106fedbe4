"""For any tree, any sensitive contexts and any prior: the promise holds, by counting, and no finer cut keeps it."""

from fractions import Fraction

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hubbub.errors import InvalidParameter
from hubbub.personal import Categories, Combined, Cut, Observer, Prior, Sensitive


@st.composite
def trees(draw, most=14):
    size = draw(st.integers(2, most))
    parents = {"0": None}
    for number in range(1, size):
        parents[str(number)] = str(draw(st.integers(0, number - 1)))
    return Categories(parents)


@st.composite
def worlds(draw):
    if draw(st.booleans()):
        tree = draw(trees())
    else:
        parts = {"a": draw(trees(6)), "b": draw(trees(6))}
        tree = Combined(parts, draw(st.lists(st.sampled_from("ab"), max_size=4)))
    contexts = list(tree.leaves())
    chosen = draw(st.lists(st.sampled_from(contexts), min_size=1, max_size=3, unique=True))
    if draw(st.booleans()) or isinstance(tree, Combined):
        things = [Sensitive(leaf.name) for leaf in chosen]
    else:
        things = [Sensitive(*(leaf.name for leaf in chosen))]
    if isinstance(tree, Combined) and draw(st.booleans()):
        part = tree.attributes["a"]
        things.append(Sensitive({"a": draw(st.sampled_from(list(part.leaves()))).name}))
    weights = draw(st.dictionaries(st.integers(0, tree.contexts - 1), st.integers(0, 9), max_size=6))
    prior = Prior(tree, weights, unseen=draw(st.integers(0, 2)) if any(weights.values()) else 1)
    return tree, things, prior


@settings(max_examples=150, deadline=None)
@given(worlds(), st.integers(1, 6))
def test_no_belief_is_surer_than_one_in_so_many(world, leaves):
    tree, things, _ = world
    try:
        cut = Cut.plan(tree, things, leaves=leaves)
    except InvalidParameter:
        assert any(thing.within(tree).inside(tree.root) * leaves > tree.contexts for thing in things)
        return
    observer = Observer(tree)
    for thing, bound in zip(things, cut.bounds, strict=True):
        before = Fraction(thing.within(tree).inside(tree.root), tree.contexts)
        assert observer.largest_rise(thing, cut) <= Fraction(1, leaves) - before
        assert bound == Fraction(1, leaves)
    _finest(tree, cut, lambda node: all(t.within(tree).inside(node) * leaves <= node.leaves for t in things))


@settings(max_examples=150, deadline=None)
@given(worlds(), st.fractions(0, 1, max_denominator=20))
def test_no_belief_rises_by_more(world, rise):
    tree, things, prior = world
    cut = Cut.plan(tree, things, rise=rise, prior=prior)
    observer = Observer(tree, prior)
    for thing in things:
        assert observer.largest_rise(thing, cut) <= rise
    limits = [prior.of_sensitive(thing.within(tree)) + rise for thing in things]
    _finest(
        tree, cut,
        lambda node: all(
            prior.mass_within(thing.within(tree), node) <= limit * prior.mass(node)
            and (prior.mass(node) > 0 or limit >= 1 or not thing.within(tree).inside(node))
            for thing, limit in zip(things, limits, strict=True)
        ),
    )  # fmt: skip


def _finest(tree, cut, safe):
    """Every stop has a child that would not be safe; all that is sent is safe."""
    for name in cut.stops:
        assert not all(safe(child) for child in tree.children(tree.named(name)))
    assert all(safe(cut.node_of(leaf.first)) for leaf in tree.leaves())


@settings(max_examples=100, deadline=None)
@given(worlds(), st.integers(2, 5))
def test_the_control_fails(world, leaves):
    """The same observer, told the contexts themselves, is sure: it can see."""
    tree, things, _ = world
    assume(things[0].within(tree).inside(tree.root) < tree.contexts)
    before = Fraction(things[0].within(tree).inside(tree.root), tree.contexts)
    assert Observer(tree).largest_rise(things[0], Cut(tree)) == 1 - before > Fraction(1, leaves) - before
