"""What tests of collecting share."""

from __future__ import annotations

import pytest

from hubbub.collect.sources.log import chain, stillness


@pytest.fixture
def log(tmp_path, monkeypatch):
    """An empty log; a follower of it waits for nothing."""
    monkeypatch.setattr(stillness, "PATIENCE", 0.0)
    monkeypatch.setattr(chain, "_LINGER", 0.0)
    path = tmp_path / "access.log"
    path.write_bytes(b"")
    return path
