import random
import string

import polars as pl
import pytest

from hubbub.collect import KeyDomain
from hubbub.released.patterns import patterns_of


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["/article/1", "/article/22", "/article/12345"], "/article/*"),
        (["/item-1.html", "/item-2.html", "/item-33.html"], "/item-*.html"),
        (["/a/2026-01-31/x", "/a/2026-02-01/x", "/a/2025-12-24/x"], "/a/*/x"),
        (["/u/0f8fad5b-d9cb-469f-a165-70867728950e", "/u/7c9e6679-7425-40de-944b-e07fc1f90ae7",
          "/u/16fd2706-8baf-433b-82eb-8c7fada847da"], "/u/*"),
        (["/img/3f2a9c1b7d", "/img/00ffee11aa", "/img/1234567890abcdef"], "/img/*"),
        (["/2026/01/31", "/2026/02/01", "/2025/12/24"], "/*"),
        (["/news/a", "/news/b", "/news/c"], "/news/*"),
    ],
)  # fmt: skip
def test_what_is_offered(names, wanted):
    (one,) = patterns_of([*names, "/", "/about"])
    assert one.pattern == wanted
    assert one.names == tuple(names)


@pytest.mark.parametrize("names", [[], ["/"], ["/a/1", "/a/2"], ["weather", "news", "flu"], ["/a*1", "/a*2", "/a*3"]])
def test_what_is_not(names):
    assert patterns_of(names) == []


def test_names_that_a_number_explains_are_no_folder():
    found = patterns_of(["/a/1", "/a/2", "/a/3", "/a/x", "/a/y"])
    assert [one.pattern for one in found] == ["/a/*"]
    assert found[0].names == ("/a/1", "/a/2", "/a/3")


@pytest.mark.parametrize("seed", range(200))
def test_a_pattern_takes_every_name_that_it_stands_for(seed):
    """As the keys of a stream would read it; and each name is offered once."""
    dice = random.Random(seed)
    letters = string.ascii_lowercase[:3] + string.digits + "-._%+ ()[]"

    def part():
        return "".join(dice.choice(letters) for _ in range(dice.randint(0, 4)))

    names = ["/" + "/".join(part() for _ in range(dice.randint(1, 3))) for _ in range(40)]
    found = patterns_of(names)
    assert len({name for one in found for name in one.names}) == sum(len(one.names) for one in found)
    for one in found:
        domain = KeyDomain({"it": one.pattern})
        assert domain.codes_of_places(pl.Series(list(one.names))).tolist() == [0] * len(one.names), one
