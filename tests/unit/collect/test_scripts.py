"""What the neighbours of the whole way are made from."""

from collections import Counter

import numpy as np
from tests.support.scripts import ALWAYS, draw

from hubbub.privacy import Event


def test_two_lines_that_are_alike_are_two_events_and_a_post_sent_again_is_the_same():
    """Seed 1055 draws a line twice in one write: taken for one event, leaving it out changed a count by two."""
    seen_alike = False
    for seed in [1055, *range(100)]:
        script = draw(np.random.default_rng(seed), ("create",), 8, Event())
        written = [step for step in script.steps if step.what == "write"]
        for step in written:
            parts = Counter(line.part for line in step.lines if line.part != ALWAYS)
            assert set(parts.values()) <= {1}
            seen_alike |= len({(line.time, line.person, line.path, line.noise) for line in step.lines}) < len(
                step.lines
            )
        kept = {step.how: step.lines for step in written}
        assert all(step.lines == kept[step.how] for step in script.steps if step.what == "retry")
    assert seen_alike
