"""A real logrotate over a server that never pauses, in every scheme it knows."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import subprocess
import threading
import time

import pytest
from tests.conftest import require_or_skip
from tests.support.log_world import Texts

from hubbub.collect.sources import FollowedFile

ROTATIONS = 5
ROTATIONS_BY_DATE = 2  # each needs a second of its own
MOST = 200_000
SCHEMES = {
    "create": "create",
    "nocreate": "nocreate",
    "compress": "create\ncompress",
    "compress at once": "create\ncompress",
    "delaycompress": "create\ncompress\ndelaycompress",
    "bzip2": "create\ncompress\ncompresscmd /bin/bzip2\ncompressext .bz2\nuncompresscmd /bin/bunzip2",
    "xz": "create\ncompress\ndelaycompress\ncompresscmd /usr/bin/xz\ncompressext .xz\nuncompresscmd /usr/bin/unxz",
    "dateext": "create\ndateext\ndateformat -%Y%m%d-%s",
    "dateext compress": "create\ndateext\ndateformat .%s\ncompress",
    "extension": "create\nextension .log\ncompress\ndelaycompress",
    "start": "create\nstart 0",
    "olddir": "create\nolddir old\ncompress\ndelaycompress",
    "copytruncate": "copytruncate",
    "copytruncate compress": "copytruncate\ncompress",
    "copy": "copy",
}


class Server(threading.Thread):
    """Writes line after line, and opens its log again when it is told to."""

    def __init__(self, folder):
        super().__init__()
        self.path, self.told, self.stop = folder / "access.log", folder / "told", threading.Event()
        self.written = 0
        self.file = self.path.open("ab", buffering=0)

    def run(self):
        while not self.stop.is_set() and self.written < MOST:
            self.file.write(b"line %08d of the log of a server that never pauses\n" % self.written)
            self.written += 1
            if self.written % 50 == 0:
                if self.told.exists():
                    self.file.close()
                    self.file = self.path.open("ab", buffering=0)
                    self.told.unlink()
                time.sleep(0.001)  # about 50,000 lines/s, so that a slow machine is not overrun
        self.file.close()


class Reader:
    def __init__(self, path, old, positions):
        self.source = FollowedFile(path, Texts(), folders=[old])
        self.proved = self.source.open(positions)
        self.came, self.lost = [], False

    def read(self, until):
        reached = False
        while not reached:
            batch = self.source.poll(until)
            self.came += batch.events["person"].to_list()
            self.lost, reached = self.lost | batch.lost, batch.reached

    def frontier(self):
        end = time.monotonic() + 60
        while (frontier := self.source.frontier()) is None:
            assert time.monotonic() < end, self.source.trouble
        return frontier


def kept_in(folder):
    """The whole lines of each file by itself: the end of one that was cut inside a line belongs to no other's start."""
    unpack = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
    files = [*folder.glob("access*"), *folder.glob("old/access*")]
    texts = [unpack.get(path.suffix, bytes)(path.read_bytes()).decode() for path in files]
    return {line for text in texts for line in text.split("\n")}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_line_once_through_a_real_logrotate(tmp_path, scheme):
    logrotate = shutil.which("logrotate") or shutil.which("logrotate", path="/usr/sbin")
    if logrotate is None:
        require_or_skip("logrotate is not installed")
    for tool in ("bzip2", "xz"):
        if scheme == tool and shutil.which(tool) is None:
            require_or_skip(f"{tool} is not installed")
    os.chmod(tmp_path, 0o755)
    (tmp_path / "old").mkdir()
    (tmp_path / "access.log").touch()
    config, told = tmp_path / "logrotate.conf", tmp_path / "told"
    # Whoever packs a file at once must wait until the server has let go of it: what it still writes is packed by
    # nobody, and cannot be found again after a restart.
    waits = "compress" in SCHEMES[scheme] and "delaycompress" not in SCHEMES[scheme] and scheme != "compress at once"
    script = f"touch {told}" + (f"\nwhile [ -e {told} ]; do sleep 0.01; done" if waits else "")
    config.write_text(f"{tmp_path}/access.log {{\nrotate 100\n{SCHEMES[scheme]}\npostrotate\n{script}\nendscript\n}}\n")
    config.chmod(0o644)
    server = Server(tmp_path)
    reader = Reader(server.path, tmp_path / "old", {})
    reader.frontier()  # it sees the log empty
    server.start()
    try:
        while server.written < 100:  # a copy of very few bytes is told from a cut by nobody
            time.sleep(0.001)
        for _ in range(ROTATIONS_BY_DATE if "dateext" in scheme else ROTATIONS):
            reader.read(reader.frontier())
            subprocess.run(
                [logrotate, "-f", "-s", str(tmp_path / "state"), str(config)], check=True, capture_output=True
            )
            end = time.monotonic() + 60
            while told.exists() and server.is_alive():  # a rotation is over when the server has heard of it
                assert time.monotonic() < end
                reader.source.frontier()
            if "dateext" in scheme:
                time.sleep(1.01 - time.time() % 1)  # its names have seconds
        reader.read(reader.frontier())
        resume = reader.frontier()
        reader.read(resume)
    finally:
        server.stop.set()
        server.join()
    reader.read(reader.frontier())
    came = [text for text in reader.came if text.startswith("line ") and text.endswith("pauses")]
    wanted = [f"line {i:08d} of the log of a server that never pauses" for i in range(server.written)]
    missing = server.written - len(came)
    print(f"{scheme}: {server.written} lines, {missing} lost, told: {reader.lost}")
    assert len(set(came)) == len(came)
    if scheme.startswith("copytruncate"):
        assert reader.lost
        assert set(came) >= kept_in(tmp_path) & set(wanted)  # all that anybody can still have
    else:
        assert sorted(came) == wanted
        assert not reader.lost
        again = Reader(server.path, tmp_path / "old", resume)
        assert again.proved == (kept_in(tmp_path) >= set(wanted))
        assert again.proved or scheme == "compress at once"
        if again.proved:
            again.read(again.frontier())
            before = len(came) - len(again.came)
            assert sorted(again.came) == wanted[before:]
        again.source.close()
    reader.source.close()
