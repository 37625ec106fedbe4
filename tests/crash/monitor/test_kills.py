"""kill -9 of a whole monitor, over both kinds of store: `python -m tests.crash.monitor.kills 300` does more of it.

Every event that was acknowledged, or written to the log, counts once in the tick of its time, if that tick is published
as measured; all others say that they are predicted. No tick comes out twice. Planted values are nowhere.
"""

import pytest
from tests.crash.monitor.kills import MEASURED_AT_LEAST, SOURCES, World
from tests.support.reckoning import COLUMNS

KILLS = 4
SEED = 20260101


def check(world):
    found = world.run(KILLS)
    print("\n" + ", ".join(f"{name}: {value}" for name, value in zip(COLUMNS, found.row(), strict=True)))
    assert not found.faults, "\n".join([*found.faults, world.tell_all()])
    assert (found.missing, found.surplus, found.twice) == (0, 0, 0)
    assert found.measured >= MEASURED_AT_LEAST
    assert found.counted > 0


@pytest.mark.parametrize("source", SOURCES)
def test_sqlite(source, tmp_path):
    check(World(tmp_path, str(tmp_path / "site.db"), source, SEED))


# A log that is cut stops many ticks, and takes its time: over one store, since what it proves has to do with no store.
@pytest.mark.parametrize("source", [source for source in SOURCES if source != "cut log"])
def test_postgres(source, tmp_path, postgres_url):
    check(World(tmp_path, postgres_url, source, SEED + 1))
