"""SIGKILL at random moments while senders push and a reader settles: each acknowledged batch is handed over once."""

import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.support.spools import opened, paths

KILLS = 30
SERVER = Path(__file__).parent / "spool_server.py"


def life(folder, generation, place, lines):
    """What one process said until it was killed, after so many lines. A line that is not whole was not said."""
    command = [sys.executable, str(SERVER), str(folder), str(generation), json.dumps(place)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    said = []
    try:
        while len(said) < lines:
            line = process.stdout.readline()
            assert line, process.stderr.read().decode()[-3000:]
            said.append(line)
    finally:
        process.kill()
        rest, _ = process.communicate()
    return [line.decode().split() for line in (b"".join(said) + rest).split(b"\n")[:-1]]


def test_every_acknowledged_batch_is_handed_over_once(tmp_path):
    chance = random.Random(20260101)
    took, handed, place = [], Counter(), {}
    for generation in range(KILLS):
        said = life(tmp_path / "spool", generation, place, lines=chance.randint(1, 60))
        assert said[0] == ["open", str(bool(place))], "after a kill the past is there, and that can be proved"
        for word, *rest in said[1:]:
            if word == "took":
                took.append(rest[0])
            else:
                place = json.loads(rest[0])
                handed.update(rest[1:])
    with opened(tmp_path / "spool") as spool:
        assert spool.open(place)
        handed.update(paths(spool))
    print(f"\n{KILLS} kills with SIGKILL: {len(took)} acknowledged, {len(handed)} handed over")
    assert len(took) > KILLS
    assert set(took) <= set(handed)
    assert set(handed.values()) == {1}
    # At most one batch of each sender was on its way when a process died.
    assert len(handed) - len(took) <= KILLS * 6
