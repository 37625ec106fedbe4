"""The name of a machine: one, kept for good, its owner's alone, and never half of one."""

from __future__ import annotations

import os
import re
import threading

import pytest

from hubbub.collect.machine import machine_name
from hubbub.errors import StoreUnavailable


def test_a_machine_has_one_name(tmp_path):
    folder = tmp_path / "a" / "state"
    name = machine_name(folder)
    assert re.fullmatch("[0-9a-f]{32}", name)
    assert machine_name(folder) == name
    assert machine_name(tmp_path / "another") != name
    assert [path.name for path in folder.iterdir()] == ["machine"]
    assert (folder / "machine").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


def test_of_many_at_once_the_first_wins(tmp_path):
    names, gate = [], threading.Barrier(8)

    def ask():
        gate.wait()
        names.append(machine_name(tmp_path))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(names) == 8
    assert len(set(names)) == 1


@pytest.mark.parametrize("left", [b"", b"0" * 31, b"\0" * 32, b"\xff" * 32])
def test_what_a_power_cut_left_is_no_name(tmp_path, left):
    """An empty file was taken for a name; two machines could share it, and with it the places in their logs."""
    (tmp_path / "machine").write_bytes(left)
    name = machine_name(tmp_path)
    assert re.fullmatch("[0-9a-f]{32}", name)
    assert machine_name(tmp_path) == name


def test_it_is_on_the_disk_before_it_is_told(tmp_path, monkeypatch):
    done = []

    def noted(call, real):
        return lambda *given, **more: (done.append(call), real(*given, **more))[1]

    for call in ("write", "fsync", "link"):
        monkeypatch.setattr(os, call, noted(call, getattr(os, call)))
    machine_name(tmp_path)
    assert done == ["write", "fsync", "link", "fsync"]


def test_where_it_cannot_be_kept(tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreUnavailable, match="cannot be kept") as caught:
        machine_name(tmp_path / "file" / "state")
    assert "HUBBUB_STATE" in caught.value.hint
