"""What a machine knows of a round outside of the round's file: a copy of the file that is put back forgets it."""

from __future__ import annotations

from pathlib import Path

from hubbub.errors import StoreSetBack
from hubbub.gather.faults import fault_point
from hubbub.gather.server_keys import mark
from hubbub.state import kept, kept_once, state_folder


class RoundMark:
    """Of one server and one query, in this machine's state folder: that it was begun, and the one thing that was told.

    Both stand for good, whole or not at all, and of several processes the first wins: so whatever becomes of the
    round's file, no second message with fresh noise follows the first. `key` is any secret of the server that lasts; it
    tells rounds of different plans apart, and nobody finds a round by its mark.
    """

    def __init__(self, key: bytes, query: bytes, server: int, folder: Path | None = None) -> None:
        self._folder = (folder or state_folder()) / "rounds"
        self._name = mark(key, b"round mark 1", bytes([server]), query)[:32]

    def begin(self) -> None:
        """Before the round's file is made."""
        kept_once(f"{self._name}.begun", b"", self._folder)

    @property
    def begun(self) -> bool:
        return kept(f"{self._name}.begun", self._folder) is not None

    @property
    def told(self) -> bytes | None:
        """The hash of the noisy message that was told, or is about to be; None if there is none."""
        return kept(f"{self._name}.told", self._folder)

    def tell(self, told: bytes) -> None:
        """Durably, before the message with this hash leaves the server; refused if another one may have left it."""
        fault_point("mark:begin")
        if kept_once(f"{self._name}.told", told, self._folder) != told:
            raise set_back()
        fault_point("mark:committed")


def set_back() -> StoreSetBack:
    return StoreSetBack(
        "This round's file is an older copy: this machine has given noisy sums of the round away before, and fresh "
        "noise on the same answers would be a second release. Nothing is opened; the round is given up.",
        "Never put back files of rounds, and leave them out of backups. What was opened before still stands.",
    )


def without_a_mark() -> StoreSetBack:
    return StoreSetBack(
        "This round was not begun on this machine, or not with this state folder (HUBBUB_STATE): nothing shows that "
        "it was not opened already. Nothing was changed.",
        "Go on where it was begun, or bring `rounds` of the state folder along. If neither can be, delete the file: "
        "its answers are lost then.",
    )
