"""One document of positions, read once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hubbub.collect.batch import Batch
from hubbub.collect.machine import machine_name
from hubbub.collect.source import Source
from hubbub.collect.sources.documents import Unfold, whole_document
from hubbub.collect.sources.json_lines import JsonLines
from hubbub.collect.sources.line_file import open_plain, unchanged


class DocumentFile(Source):
    """Reads `path`, plain or gzip, as a whole: a feed of GTFS-realtime, an answer in the shape of MDS."""

    def __init__(self, path: str | Path, lines: JsonLines, unfold: Unfold) -> None:
        self._path, self._lines = Path(path), lines
        with open_plain(self._path) as file:
            self._found = whole_document(file.read(), unfold)
        self._facts, self._over = unchanged(self._path), False

    @property
    def identity(self) -> str:
        return f"file:{machine_name()}:{self._path.absolute()}"

    def open(self, positions: Mapping[str, str]) -> bool:
        read, _, facts = positions.get("document", "").partition(":")
        proved = facts == self._facts and read in ("0", "1")
        self._over = proved and read == "1"
        return proved

    def frontier(self) -> None:
        """A file that is read once is over when `poll` says so: there is nothing to cut before."""
        return

    def poll(self, until: Mapping[str, str] | None = None) -> Batch | None:
        del until
        if self._over:
            return None
        self._over = True
        events, malformed = self._lines.parse(self._found)
        place = {"document": f"1:{self._facts}"}
        return Batch.of(events, layout=self._lines.layout, positions=place, malformed=malformed, reached=True)
