"""What a database says when it cannot, in words that help."""

from __future__ import annotations

from hubbub.errors import HubbubError, InvalidParameter, LedgerBroken, StoreUnavailable

# The low byte of SQLite's result code (https://www.sqlite.org/rescode.html): what happened, and what to do.
_SQLITE = {
    5: ("is locked by another process", "Let the other process finish; a long one may hold it: try again."),
    6: ("is locked by another process", "Let the other process finish; a long one may hold it: try again."),
    8: ("is read-only", "Make the file and its folder writable for this user, or open another store."),
    10: ("could not be read or written: the disk reports an error", "Check the disk and its free space, then go on."),
    13: ("is full: the disk has no room left", "Free some space, then go on: the stream resumes where it stopped."),
    14: ("cannot be opened", "Check that the folder exists and that this user may write in it."),
    23: ("may not be opened", "Check the rights of the file and its folder."),
}
_NOT_A_DATABASE = 26
_CORRUPT = 11

# The class of PostgreSQL's SQLSTATE (documentation, appendix A).
_POSTGRES = {
    "25006": ("is read-only", "Connect to the primary server, with a user that may write."),
    "53100": ("is full: the server's disk has no room left", "Free some space, then go on."),
    "55P03": ("is locked by another curator", "Let it finish; a long transaction may hold the stream: try again."),
    "28": ("refuses this user", "Check the user and the password in the address."),
    "3D": ("does not exist on this server", "Create the database first (createdb), or check the address."),
    "42501": ("refuses this user", "Grant the user the right to create and write tables."),
}
_GONE = ("does not answer", "Check that the server runs and can be reached; the store is usable again once it is back.")


def unavailable(error: BaseException, where: str) -> HubbubError:
    """`error` (what the driver raised) as an error of ours. `where` names the store without any password."""
    sqlite_code = getattr(error, "sqlite_errorcode", None)
    if sqlite_code is not None:
        code = sqlite_code & 0xFF
        if code == _NOT_A_DATABASE:
            return StoreUnavailable(
                f"The file {where} is not a database.", "Check the path; Hubbub wrote nothing to it."
            )
        if code == _CORRUPT:
            return LedgerBroken(f"The database {where} is damaged.", "Stop, and restore the store from a backup.")
        what, hint = _SQLITE.get(
            code, (f"failed (SQLite's code {sqlite_code})", "See sqlite.org/rescode.html for what it means.")
        )
        return StoreUnavailable(f"The store {where} {what}. Nothing was published.", hint)
    state = getattr(error, "sqlstate", None) or ""
    if not state and type(error).__name__ == "ProgrammingError":  # the driver refused before it asked the database
        return InvalidParameter(
            "A value was handed to the store of a type that no database can look for or keep.",
            "Check what was given: names are texts, ticks whole numbers. The store itself is in order.",
        )
    other = _GONE
    if state and state[:2] not in ("08", "57"):  # it did answer
        other = (f"failed (SQLSTATE {state})", "See appendix A of PostgreSQL's documentation for what it means.")
    what, hint = _POSTGRES.get(state) or _POSTGRES.get(state[:2]) or other
    return StoreUnavailable(f"The store {where} {what}. Nothing was published.", hint)
