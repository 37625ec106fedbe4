"""The recipe in docs/store.md for moving to PostgreSQL, run as it stands there."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np

from hubbub.confidential import Counts
from hubbub.privacy import Guarantee, Session
from hubbub.release import Lpa
from hubbub.released import Keys, Tick
from hubbub.store import Store

PAGE = Path(__file__).parents[3] / "docs" / "store.md"
KEYS = Keys(["front", "news"])


def test_the_recipe_moves_everything(tmp_path: Path, postgres_url: str) -> None:
    def lpa() -> Lpa:
        return Lpa(KEYS, Guarantee.pure(Session(max_ticks=4), 1))

    def release(store: Store, tick: int) -> None:
        with store.curate("site", lpa()) as curator:
            curator.release(Counts.of(KEYS, Tick(tick), np.array([3, 4])))

    path = tmp_path / "site.db"
    with Store.open(path) as store:
        for tick in range(3):
            release(store, tick)
        store.record_query("site", 5)
        secret = store.tokens.add("reader")
        head = store.verify("site").head
    text = PAGE.read_text()
    recipe = textwrap.dedent(text[text.index("<<'END'\n") + len("<<'END'\n") : text.index("    END\n")])
    recipe = recipe.replace("postgresql://user@host/hubbub", postgres_url).replace('"site.db"', repr(str(path)))
    done = subprocess.run([sys.executable, "-c", recipe], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with Store.open(postgres_url) as store:
        assert store.verify("site", head=head).anchor_tick == 2
        release(store, 3)
        store.record_query("site", 6)
        store.create_stream("other", KEYS, lpa().guarantee, "lpa")
        assert store.recent_queries("site") == [5, 6]
        assert store.tokens.lookup(secret) is not None
        assert store.tokens.add("ingest")
        assert store.verify("site", head=head).ok
