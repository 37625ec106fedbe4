"""The plan of the house, kept by tests: who may open a confidential value, who may draw, how rooms are laid out."""

import ast
from pathlib import Path

import pytest

import hubbub

HOUSE = Path(hubbub.__file__).parent
FILES = sorted(HOUSE.rglob("*.py"))

MAY_REVEAL = {"release", "ranges", "spatial", "itemlogs", "lab"}
"""The rooms that add noise, and the lab, which compares with the truth. Nobody else opens a confidential value."""

MAY_DRAW = {"noise", "lab"}
"""The rooms that may use randomness of any kind; elsewhere it needs the comment `not for privacy` on its line."""

DEVICE = HOUSE / "contexts" / "device.py"
"""Is copied to devices and depends on nothing, so it tosses its own coins, from the system's cryptographic source."""


def room(path: Path) -> str:
    parts = path.relative_to(HOUSE).parts
    return parts[0] if len(parts) > 1 else path.stem


def uses_of(attribute: str) -> set[str]:
    found = set()
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and node.attr == attribute:
                found.add(room(path))
            # A way around by name would be as good as the method itself.
            if isinstance(node, ast.Constant) and node.value in (attribute, "_Confidential__value"):
                found.add(room(path))
    return found


def test_only_the_listed_rooms_open_confidential_values():
    assert uses_of("reveal") <= MAY_REVEAL
    assert "release" in uses_of("reveal"), "the walk found nothing: it would not find a leak either"


def test_only_noise_draws_for_privacy():
    suspects = ("np.random", "default_rng", "import random", "import secrets", "os.urandom")
    for path in FILES:
        if room(path) in MAY_DRAW or path == DEVICE:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if any(word in line for word in suspects):
                assert "not for privacy" in line, f"{path.relative_to(HOUSE)}:{number} draws randomness"


# The front door itself loads late; `test_first_lines.py` holds its names.
INITS = [path for path in FILES if path.name == "__init__.py" and path.parent != HOUSE]


@pytest.mark.parametrize("path", INITS, ids=lambda p: room(p))
def test_init_files_only_list_what_is_public(path):
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), "a room's __init__ says in a line what lives in it"
    for node in tree.body[1:]:
        name = node.targets[0].id if isinstance(node, ast.Assign) else getattr(getattr(node, "target", None), "id", "")
        assert isinstance(node, (ast.Import, ast.ImportFrom)) or name in {"__all__", "__version__"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(HOUSE)))
def test_files_are_short_and_say_what_they_are(path):
    source = path.read_text()
    assert ast.get_docstring(ast.parse(source)), "a file begins with a line that says what it is"
    assert source.count("\n") <= 450, "is there a second noun inside?"
