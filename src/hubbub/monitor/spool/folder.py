"""The folder of a spool: who may use it, which of its files count, and how files come and go."""

from __future__ import annotations

import json
import secrets  # not for privacy: names that nobody else has
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hubbub.errors import SchemaMismatch, SpoolDamaged, StoreUnavailable
from hubbub.monitor.spool import calls
from hubbub.monitor.spool.descriptor import Descriptor
from hubbub.monitor.spool.frame import Header

SUFFIX = ".segment"
_LOCK, _MANIFEST, _NEW_MANIFEST = "lock", "manifest", "manifest.new"


@dataclass(frozen=True, slots=True)
class Manifest:
    """Which segments count. Older ones are settled, newer ones were begun and never used: both are deleted.

    `whole` is an offset in the newest segment up to which everything was on disk when this was written.
    """

    spool: str
    oldest: int = 1
    newest: int = 0
    whole: int = 0

    def to_bytes(self) -> bytes:
        facts = {"format": 1, "spool": self.spool, "oldest": self.oldest, "newest": self.newest, "whole": self.whole}
        line = json.dumps(facts).encode() + b"\n"
        return line + f"{zlib.crc32(line):08x}\n".encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Manifest | None:
        try:
            line, check, _ = data.split(b"\n")
            facts = json.loads(line)
            if int(check, 16) != zlib.crc32(line + b"\n") or facts["format"] != 1:
                return None
            return cls(facts["spool"], facts["oldest"], facts["newest"], facts["whole"])
        except (ValueError, KeyError, TypeError):
            return None


class Folder:
    """Held by one process for as long as it lives, with a lock that the kernel takes back when the process dies."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._held: list[Descriptor] = []
        try:
            self._enter()
        except BaseException:
            self.close()
            raise

    def _enter(self) -> None:
        fresh = [above for above in (self.path, *self.path.parents) if not calls.exists(str(above))]
        calls.make_folder(str(self.path))
        for made in reversed(fresh):  # a new folder is on disk when the one above it is
            with Descriptor.open(str(made.parent), calls.FOLDER) as above:
                above.sync()
        self._folder = self._hold(Descriptor.open(str(self.path), calls.FOLDER))
        if calls.status(self._folder.number).st_mode & 0o077:
            calls.protect(self._folder.number, 0o700)
        lock = self._hold(Descriptor.open(_LOCK, calls.TOUCH, self._folder))
        try:
            calls.lock(lock.number)
        except BlockingIOError:
            raise StoreUnavailable(
                f"Another process uses the spool in {self.path}; two would count each other's events.",
                "Stop it, or give this monitor another folder (`spool` in the table [source]).",
            ) from None
        self.names = calls.names(self._folder.number)
        if any(name.endswith(".spool") for name in self.names):
            raise SchemaMismatch(
                f"The spool in {self.path} was written by an older version of Hubbub, in another format.",
                "Let that version count what is in it, or move the files away: what they hold is then not counted.",
            )
        self.manifest = self._find_manifest()

    def _find_manifest(self) -> Manifest:
        if _MANIFEST in self.names:
            with Descriptor.open(_MANIFEST, calls.READ, self._folder) as file:
                manifest = Manifest.from_bytes(file.read(10_000, 0))
            if manifest is None:
                raise damaged(self.path, "its list of files cannot be read")
            return manifest
        if any(name.endswith(SUFFIX) for name in self.names):
            raise damaged(self.path, "its list of files is gone")
        fresh = Manifest(secrets.token_hex(16))  # not for privacy: a name
        self.publish(fresh)
        return fresh

    def publish(self, manifest: Manifest) -> None:
        """Put `manifest` in the place of the old one. If this fails either of the two may be the one on disk."""
        with Descriptor.open(_NEW_MANIFEST, calls.CREATE, self._folder) as file:
            file.write(manifest.to_bytes(), 0)
            file.sync()
        calls.rename(_NEW_MANIFEST, _MANIFEST, self._folder.number)
        self._folder.sync()
        self.manifest = manifest

    def sync(self) -> None:
        self._folder.sync()

    @property
    def is_there(self) -> bool:
        """False once somebody deleted the folder."""
        return self._folder.has_a_name

    # ── segments ─────────────────────────────────────────────────────────────────────────────────────────────────

    def create(self, header: Header) -> Descriptor:
        """A new segment, on disk with its name. If that fails nothing of it is left open."""
        name = segment_name(header.segment)
        file = Descriptor.open(name, calls.CREATE, self._folder)
        try:
            file.write(header.to_bytes(), 0)
            file.sync()
            self._folder.sync()
        except BaseException:
            file.close()
            with suppress(OSError):
                self.delete([header.segment])
            raise
        return file

    def open(self, number: int, flags: int = calls.READ) -> Descriptor:
        return Descriptor.open(segment_name(number), flags, self._folder)

    def delete(self, numbers: list[int]) -> None:
        for number in numbers:
            with suppress(FileNotFoundError):
                calls.unlink(segment_name(number), self._folder.number)
        self._folder.sync()

    def segments(self) -> list[int]:
        """The numbers of all files that are there, whether they count or not."""
        stems = [name.removesuffix(SUFFIX) for name in self.names if name.endswith(SUFFIX)]
        return sorted(int(stem) for stem in stems if stem.isdecimal())

    def close(self) -> None:
        while self._held:
            self._held.pop().close()

    def _hold(self, descriptor: Descriptor) -> Descriptor:
        self._held.append(descriptor)
        return descriptor


def segment_name(number: int) -> str:
    return f"{number:012d}{SUFFIX}"


def damaged(path: Path, what: str) -> SpoolDamaged:
    return SpoolDamaged(
        f"The spool in {path} is damaged: {what}. Events that were acknowledged would be left out unseen.",
        "Restore the folder as it was; or move it away, and the monitor begins a new one: sessions that are open "
        "now are then not counted.",
    )
