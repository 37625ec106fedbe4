"""Style sheet, scripts and the chart library, served from memory."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from importlib import resources

from hubbub.server.errors import NotFound

PLOTLY = "plotly.min.js"


@dataclass(frozen=True, slots=True)
class Asset:
    """One file, as it is and packed, with a name for exactly this content."""

    body: bytes
    packed: bytes
    media_type: str
    etag: str

    @classmethod
    def of(cls, name: str, body: bytes) -> Asset:
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        return cls(body, gzip.compress(body, 6), kind, f'"{hashlib.sha256(body).hexdigest()[:20]}"')


class Assets:
    """All files of the pages. The chart library comes out of the installed `plotly` package, packed when first used."""

    def __init__(self) -> None:
        folder = resources.files("hubbub.server") / "assets"
        self._files = {item.name: Asset.of(item.name, item.read_bytes()) for item in folder.iterdir() if item.is_file()}

    def get(self, name: str) -> Asset:
        if name == PLOTLY and name not in self._files:
            self._files[name] = Asset.of(name, (resources.files("plotly") / "package_data" / PLOTLY).read_bytes())
        if name not in self._files:
            raise NotFound("There is no such file.", "")
        return self._files[name]

    @property
    def version(self) -> str:
        """Changes with any of the files: part of their addresses, so that browsers may keep them for long."""
        seal = hashlib.sha256()
        for name in sorted(self._files):
            seal.update(self._files[name].etag.encode())
        return seal.hexdigest()[:12]
