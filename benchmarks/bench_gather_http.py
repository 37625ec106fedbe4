"""Whole rounds over HTTP: client, leader and helper as programs of the command line, 4,096 counters a report.

    GATHER_CLIENTS=5000 python -m benchmarks gather_http

Processor time is that of each program; seconds are those of the clock, from the first client's start to the result, and
depend on what else the machine does. Memory is the most that a server ever held. A round with a tenth of the clients is
the peer: what a server holds must not grow with them.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.support.gather_processes import Programs, ServerProcess

CLIENTS = int(os.environ.get("GATHER_CLIENTS", "500"))
SENDERS = int(os.environ.get("GATHER_SENDERS", "3"))
COUNTERS = 4096
TICK = os.sysconf("SC_CLK_TCK")


def main() -> list[dict[str, Any]]:
    rows = []
    for scheme in ("prio3", "homomorphic"):
        small = one_round(scheme, max(20, CLIENTS // 10))
        rows += table(scheme, CLIENTS, one_round(scheme, CLIENTS), small)
    return rows


def one_round(scheme: str, clients: int) -> dict[str, float]:
    """Seconds of the clock and of each processor, and memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        asked = ["--ask", f"histogram:{COUNTERS}", "--clients", str(clients), "--minimum", str(clients // 4)]
        programs = Programs(Path(folder), *asked, "--epsilon", "1", "--scheme", scheme, "--lasts", "3600")
        with programs:
            programs.helper.ready()
            programs.leader.ready()
            idle = {who: processor(server) for who, server in servers(programs).items()}
            begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
            send(programs, Path(folder), clients)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            told = programs.result()
            taken = time.monotonic() - begin
            assert told["reports"] == clients, told
            found = {who: processor(server) - idle[who] for who, server in servers(programs).items()}
            memory = {f"{who} MiB": peak(server) for who, server in servers(programs).items()}
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": taken, "client": spent, **found, **memory}


def servers(programs: Programs) -> dict[str, ServerProcess]:
    return {"leader": programs.leader, "helper": programs.helper}


def send(programs: Programs, folder: Path, clients: int) -> None:
    """Some processes, each for many clients, one after the other."""
    running = []
    for sender in range(SENDERS):
        answers = folder / f"answers-{sender}"
        answers.write_text("".join(f"{at % COUNTERS}\n" for at in range(sender, clients, SENDERS)))
        words = ["--plan", programs.plan, "--leader", programs.leader.address, "--file", answers, "--patience", "600"]
        running.append(subprocess.Popen([sys.executable, "-m", "hubbub", "gather", "client", *map(str, words)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))  # fmt: skip
    for one in running:
        assert one.wait() == 0


def processor(server: ServerProcess) -> float:
    """Seconds of processor time that a process and its threads have had."""
    words = Path(f"/proc/{server.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICK


def peak(server: ServerProcess) -> float:
    """The most memory that a process ever held, in MiB."""
    lines = Path(f"/proc/{server.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def table(scheme: str, clients: int, found: dict[str, float], small: dict[str, float]) -> list[dict[str, Any]]:
    whole = f"{scheme}: {clients:,} clients x {COUNTERS:,} counters"
    rows: list[dict[str, Any]] = [
        {"what": whole, "value": found["seconds"], "unit": "s by the clock", "goal": "<= 180 for 5,000"}
    ]
    rows += [
        {"what": f"{scheme}: {who}, processor", "value": 1000 * found[who] / clients, "unit": "ms/report"}
        for who in ("client", "leader", "helper")
    ]
    rows += [
        {"what": f"{scheme}: {who}, most memory", "value": found[f"{who} MiB"], "unit": "MiB",
         "peer": f"{small[f'{who} MiB']:.0f} MiB for a tenth of the clients",
         "ratio": found[f"{who} MiB"] / small[f"{who} MiB"], "goal": "about 1"}
        for who in ("leader", "helper")
    ]  # fmt: skip
    return rows


if __name__ == "__main__":
    for row in main():
        print(row)
