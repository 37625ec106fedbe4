"""What is computed once a map is found again, and never wrong because of a file."""

import numpy as np
import pytest

from hubbub.spatial import made_up
from hubbub.spatial.kept_maps import kept
from hubbub.spatial.road_units import through_traffic


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path))
    return tmp_path / "maps"


def made(calls, numbers=(1.5, 2.5)):
    def make():
        calls.append(None)
        return np.array(numbers)

    return make


def test_what_was_computed_is_found_again(folder):
    calls = []
    for _ in range(3):
        assert kept("some", 2, made(calls)).tolist() == [1.5, 2.5]
    assert len(calls) == 1
    assert kept("other", 2, made(calls, (3, 4))).tolist() == [3, 4]
    assert [path.name for path in sorted(folder.iterdir())] == ["other.sums", "some.sums"]


@pytest.mark.parametrize(
    "harm", [lambda b: b[:-3], lambda b: b[:-1] + b"\x00", lambda _: b"", lambda b: b + b"12345678"]
)
def test_a_damaged_file_is_as_if_it_were_not_there(folder, harm):
    calls = []
    kept("some", 2, made(calls))
    path = folder / "some.sums"
    path.write_bytes(harm(path.read_bytes()))
    assert kept("some", 2, made(calls)).tolist() == [1.5, 2.5]
    assert len(calls) == 2
    kept("some", 2, made(calls))
    assert len(calls) == 2, "the file was mended"


def test_a_file_of_another_length_is_not_taken(folder):
    kept("some", 2, made([]))
    assert kept("some", 3, made([], (7, 8, 9))).tolist() == [7, 8, 9]


def test_a_folder_that_cannot_be_written_costs_time_only(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HUBBUB_STATE", str(tmp_path / "file"))
    calls = []
    for _ in range(2):
        assert kept("some", 2, made(calls)).tolist() == [1.5, 2.5]
    assert len(calls) == 2


def test_a_user_without_a_home_is_served_too(monkeypatch):
    for name in ("HUBBUB_STATE", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pathlib.Path.home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    assert kept("some", 2, made([])).tolist() == [1.5, 2.5]


@pytest.mark.usefixtures("folder")
def test_traffic_to_expect_is_the_same_from_a_file():
    city = made_up(60, seed=3)
    first = through_traffic(city)
    through_traffic.cache_clear()
    again = through_traffic(made_up(60, seed=3))
    assert again is not first
    assert (again == first).all()
