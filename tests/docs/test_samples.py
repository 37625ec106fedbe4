"""The first programs: each is short, runs by itself, and stands in the quickstart as it is."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "samples"
PROGRAMS = {
    "site": ["sports", "Each browsing session's presence"],
    "weekly_cases": ["2025-12-29", "must have been enforced"],
    "ranges": ["visits, ticks 20 to 79: "],
    "detection": ["flu, tick 6", "more than usual"],
    "items": ["weather", "With or without any one user", "secret that many typed"],
    "anonymity": [
        "with Ann, hidden below ten: {'ann has gout': 10}",
        "without Ann, hidden below ten: {}",
        "with Ann, by Hubbub: []",
    ],
    "differencing": ["Ann, hidden below ten: ['gout']", "gout yesterday, by Hubbub: ", "gout today, by Hubbub: "],
    "plan": ["only zeros", "Epsilon for an error of 0.1"],
}
"""What each of them says, among other things."""
PAGES = {
    "clicks": ["in all 3 rounds together", "round 2: north", "round 3: park, port", "too few: south", "of town;"],
    "chosen_by_clicks": [
        "What one client answers in all 2 rounds together",
        "ice cream, park: of north",
        '{"node": "town", "k": 2}, park: ice cream',
        '{"node": "town", "k": 2}, zoo: umbrella',
    ],
}
"""Longer ones, up to a page, and the guide that names each."""
GUIDES = {"clicks": "gather.md", "chosen_by_clicks": "personal.md"}


def program(name):
    return (FOLDER / f"{name}.py").read_text()


def test_these_are_all():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(PROGRAMS) | set(PAGES)


@pytest.mark.parametrize("name", PROGRAMS)
def test_under_ten_lines_of_code(name):
    _, *lines = ast.parse(program(name)).body  # the first is what it says of itself
    assert len({number for line in lines for number in range(line.lineno, (line.end_lineno or 0) + 1)}) < 10


@pytest.mark.parametrize("name", PAGES)
def test_a_page_and_a_guide_that_names_it(name):
    assert program(name).count("\n") <= 50
    assert f"(samples/{name}.py)" in (ROOT / "docs" / GUIDES[name]).read_text()


@pytest.mark.parametrize("name", [*PROGRAMS, *PAGES])
def test_it_runs(tmp_path, name):
    for path in FOLDER.iterdir():
        shutil.copy(path, tmp_path)
    # -P: a program called ranges.py must not be found by those who look for a module of that name.
    done = subprocess.run([sys.executable, "-P", f"{name}.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for words in (PROGRAMS | PAGES)[name]:
        assert words in done.stdout
    if name == "weekly_cases":
        assert (tmp_path / "released.csv").read_text().startswith("tick,start,key,value")


def test_the_quickstart_shows_them_as_they_are():
    page = (ROOT / "docs" / "quickstart.md").read_text()
    blocks = re.findall(r"(?:^ {4}.*\n|^\n)+", page, re.MULTILINE)
    shown = [re.sub("^ {4}", "", block, flags=re.MULTILINE).strip() for block in blocks]
    for name in PROGRAMS:
        code = program(name).partition('"""\n\n')[2].strip()
        assert code in shown, f"docs/quickstart.md does not show docs/samples/{name}.py as it is"
        assert f"(samples/{name}.py)" in page
