"""The first lines of the guide run."""

from __future__ import annotations

import re
from pathlib import Path

GUIDE = Path(__file__).parents[3] / "docs" / "gather.md"


def test_the_first_round_of_the_guide_runs():
    (block,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.S)
    said: list[str] = []
    exec(compile(block, GUIDE.name, "exec"), {"print": lambda *words: said.append(" ".join(map(str, words)))})
    assert said[0].startswith("What one client answers changes the probability of any result by at most a factor e^1.")
    assert len(said) == 5
