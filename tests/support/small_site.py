"""Settings of a small monitor for tests with real processes."""

from __future__ import annotations

from pathlib import Path

TEXT = """
[stream]
name = "site"
tick = "{tick}"
[source]
{source}
[keys]
{keys}
other = false
[privacy]
{privacy}
epsilon = 1000.0
allow_weak = true
[collect]
lateness = "{lateness}"
{collect}
[method]
name = "lpa"
[store]
url = "{url}"
[publish]
port = 0
public = true
poll_seconds = 0.2
"""


def write_settings(path: Path, url: str, source: str, **changes: str) -> Path:
    """A file for `hubbub monitor`. A weak epsilon makes noise vanish: measurements are counts."""
    usual = {
        "tick": "1s", "lateness": "1s", "keys": 'names = ["/a", "/b"]', "privacy": 'protect = "event"', "collect": "",
    }  # fmt: skip
    path.write_text(TEXT.format(url=url, source=source, **usual | changes))
    return path


def log_source(path: Path) -> str:
    return f'kind = "log"\npath = "{path}"'
