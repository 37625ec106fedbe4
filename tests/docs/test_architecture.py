"""The plan of the house names rooms and files that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLAN = (ROOT / "docs/architecture.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PLAN, re.M | re.S))


STILL_THERE = {"ranges/stream.py", "released/keys.py"}
"""Named among what moved, because something left them."""


def named(text):
    return set(re.findall(r"`([a-z_]+/[a-z_/]*(?:\.py)?)`", text))


def there(name):
    return any((ROOT / base / name).exists() for base in ("src/hubbub", "."))


@pytest.mark.parametrize("section", sorted(set(SECTIONS) - {"What moved where"}))
def test_what_the_plan_names_is_there(section):
    assert all(there(name) for name in named(SECTIONS[section]))


def test_every_room_stands_in_the_plan():
    rooms = {path.parent.name for path in (ROOT / "src/hubbub").glob("*/__init__.py")}
    assert rooms == {name.strip("/") for name in re.findall(r"^\| `([a-z]+)/` \|", SECTIONS["Rooms"], re.M)}


def test_what_moved_stands_where_it_is_said_to_be():
    for old, new in re.findall(r"^\| (`.*?) \| (.*?) \|$", SECTIONS["What moved where"], re.M):
        assert not [name for name in named(old) - STILL_THERE if name.endswith(".py") and there(name)], old
        assert all(there(name) for name in named(new)), new


def test_no_walk_steps_back_into_a_room_that_it_has_left():
    """Data that is released never goes back to where counts are."""
    for walk in re.split(r"^\*\*", SECTIONS["Three walks"], flags=re.M)[1:]:
        rows = re.findall(r"^\| (?!step|---)(.*?) \| (.*?) \|", walk, re.M)
        confidential = [bool(re.search(r"`(collect|confidential)/", where)) for _, where in rows]
        assert confidential == sorted(confidential, reverse=True), rows
