"""No document and no template says more about people than every promise keeps; the numbers in the tables are true."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
from tests.support.words import FORBIDDEN, MILD

import hubbub as hb
from hubbub.privacy import Event
from hubbub.privacy.promise import Promise
from hubbub.privacy.rounding import excess, factor

ROOT = Path(__file__).parents[2]
ROOMS = ("cli", "lab", "monitor", "privacy", "server", "store")
WRITTEN = sorted(
    [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),  # proofs speak of probabilities, not to people
        *ROOT.glob("src/hubbub/server/templates/*"),
        *ROOT.glob("src/hubbub/server/assets/*.js"),
        *(path for room in ROOMS for path in ROOT.glob(f"src/hubbub/{room}/**/*.py") if "audit" not in str(path)),
    ]
)


def name(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", WRITTEN, ids=name)
def test_no_forbidden_word(path):
    text = " ".join(path.read_text().lower().split())
    for phrase in FORBIDDEN:
        assert phrase not in text, f"{name(path)} says {phrase!r}"


@pytest.mark.parametrize("page", ["README.md", "docs/concepts.md", "docs/quickstart.md", "docs/dashboard.md"])
def test_mild_words_are_left_to_pages_that_know_their_epsilon(page):
    text = " ".join((ROOT / page).read_text().split())
    for phrase in MILD:
        assert phrase not in text


@pytest.mark.parametrize("page", ["README.md", "docs/concepts.md"])
def test_the_table_of_strengths_is_true(page):
    rows = re.findall(r"^\| ([\d.]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", (ROOT / page).read_text(), re.MULTILINE)
    assert {"0.1", "1", "5", "20"} <= {row[0] for row in rows}
    for epsilon, changes, sure, word in rows:
        exactly = Fraction(epsilon)
        promise = Promise(Event(), epsilon=exactly)
        shown = changes.removesuffix(" times")
        assert shown == (f"{excess(exactly)} %" if shown.endswith("%") else factor(exactly))
        assert sure in (promise.sure, "practically all", "practically sure")
        assert (promise.sure is None) == sure.startswith("practically")
        assert word == promise.strength


def test_the_quickstart_shows_what_is_printed():
    monitor = hb.Monitor(keys=["front"], unit=hb.Session(max_ticks=20), epsilon=1.0)
    assert " ".join(str(monitor.guarantee).split()) in " ".join((ROOT / "docs" / "quickstart.md").read_text().split())
