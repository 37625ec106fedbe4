"""From client processes to the number on the page: a query a tick, through a filter, on a dashboard, over a restart."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

from tests.support.gather_processes import Programs, ServerProcess, free_port
from tests.support.patience import until

SETTINGS = """
[stream]
name = "colours"

[gather]
plan = "{plan}"
keys = "{keys}"
rounds = "{rounds}"
helper = "{helper}"
port = {port}

[privacy]
protect = "user"
horizon = 100
epsilon = 19.0

[grant]
name = "panel"
population = "the panel"
share = "16/19"

[method]
name = "ukf"

[store]
url = "{store}"

[publish]
title = "A panel"
public = true
port = {page}
caption = "answers"
noun = "colours"
"""


class Live(ServerProcess):
    """`python -m hubbub gather live FILE`."""

    def __init__(self, settings: Path, port: int, state: Path) -> None:
        super().__init__("live", [settings], HUBBUB_STATE=str(state))
        self.port, self.address = port, f"http://127.0.0.1:{port}"
        self._words = self._words[:-2]  # its port is in the file


def test_from_clients_to_the_page(tmp_path):
    asked = ["--ask", "histogram:3", "--labels", "red,green,blue", "--clients", "8", "--minimum", "2"]
    # Rounds close as soon as they have all their answers: nothing here waits for a clock but the second round's begin.
    programs = Programs(tmp_path, *asked, "--epsilon", "8", "--lasts", "30", "--rounds", "2", "--grace", "600")
    port, page = free_port(), free_port()
    settings = tmp_path / "live.toml"
    settings.write_text(
        SETTINGS.format(
            plan=programs.plan,
            keys=tmp_path / "q" / "leader.keys",
            rounds=tmp_path / "leader",
            helper=programs.helper.address,
            port=port,
            page=page,
            store=tmp_path / "site.db",
        )
    )
    live = Live(settings, port, tmp_path / "state")
    programs.helper.start()
    try:
        live.start().ready()
        opens = datetime.fromisoformat(programs.told["opens"])
        told = []
        for tick in range(2):
            until(lambda tick=tick: (datetime.now(UTC) - opens).total_seconds() >= 30 * tick, "the round begins")
            send(programs, live, tick)
            told.append(programs.result(tick, server=live))
            if tick == 0:  # killed between two rounds, and started again
                live.kill()
                live.start().ready()
        for tick, one in enumerate(told):
            assert (one["state"], one["reports"]) == ("opened", 8), one
            assert all(abs(a - b) < 60 for a, b in zip(one["sums"], [5, 2, 1], strict=True)), tick
        base = f"http://127.0.0.1:{page}"
        until(lambda: {one["tick"] for one in releases(base)} == {"0", "1"}, "both rounds are published")
        published = releases(base)
        for tick, opened in enumerate(told):
            measured = [int(one["measurement"]) for one in published if one["tick"] == str(tick)]
            assert measured == opened["sums"]
        assert "the panel" in text(base, "/v1/streams/colours/budget")
        total = sum(float(one["value"]) for one in published if one["tick"] == "1")
        shown = re.search(r'id="total">(.*?)</p>', text(base, "/"), re.DOTALL)
        assert shown
        assert re.search(rf"\b{round(total)}\b", shown[1]), (shown[1], total)
        assert "Both see who answers" in text(base, "/guarantee")
    finally:
        live.kill()
        programs.helper.kill()


def send(programs: Programs, live: Live, tick: int) -> None:
    """Eight clients, each a process of its own."""
    words = ["--leader", live.address, "--helper", programs.helper.address, "--patience", "120"]
    answers = ["red"] * 5 + ["green"] * 2 + ["blue"]
    clients = [
        subprocess.Popen(
            [sys.executable, "-m", "hubbub", "gather", "client", *words, answer], env=os.environ,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        for answer in answers
    ]  # fmt: skip
    for client in clients:
        _, errors = client.communicate(timeout=180)
        assert client.returncode == 0, (tick, errors)


def text(base: str, path: str) -> str:
    request = urllib.request.Request(base + path, headers={"accept": "text/html"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(answer.read().decode())


def releases(base: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text(base, "/v1/streams/colours/releases?format=csv").splitlines()))
