"""The traffic experiment on a small city: what it measures is what it says."""

from dataclasses import replace

import numpy as np
import pytest

from hubbub.lab import traffic, traffic_tables
from hubbub.lab.traffic import LINES, OTHERWISE, Score, Setting, offline, run_line, zeros
from hubbub.privacy import Guarantee, User
from hubbub.release import Dft
from hubbub.released import Keys
from hubbub.spatial import RoadCells, made_up


@pytest.fixture(scope="module")
def setting():
    return Setting.simulate(made_up(150, seed=1), 64, 20.0, (8_000, 400), seed=1)


def test_all_zeros_are_wrong_by_everything(setting):
    row = zeros(setting, seed=1)
    assert row["weighted_error"] == 1
    assert row["sparse_mean"] == 0


def test_the_truth_is_not_wrong_at_all(setting):
    cells = RoadCells(setting.grid)
    score = Score(setting, traffic._queries(setting.grid, 1))
    for index, counted in enumerate(setting.truth):
        table = cells.spread(counted).ravel().astype(np.int64)
        score.tick(index, table.astype(float), table)
    row = score.row(len(setting.truth))
    assert all(row[name] == 0 for name in row if name not in ("covered", "areas_covered", "width"))


def test_windows_are_added_up_as_by_hand(setting):
    table = np.arange(64 * 64).reshape(64, 64)
    corners = np.array([[0, 0], [5, 9], [54, 54]])
    told = traffic._windows(traffic._prefix(table), corners, 10)
    assert told.tolist() == [table[r : r + 10, c : c + 10].sum() for r, c in corners]


@pytest.mark.parametrize("line", LINES)
def test_every_line_runs_and_none_without_noise(setting, line):
    row = run_line(setting, line, "1", seed=1)
    assert row["weighted_error"] > 0
    assert row["window_10"] > 0
    if line == "roads":
        assert row["sparse_mean"] == 0, "nothing can be where there is no road"
        assert 0.8 < row["covered"] <= 1
        assert 0.8 < row["areas_covered"] <= 1


def test_roads_beat_the_others_and_all_zeros(setting):
    ours = run_line(setting, "roads", "1", seed=2)["weighted_error"]
    assert ours < 0.9
    assert all(run_line(setting, line, "1", seed=2)["weighted_error"] > 1.5 * ours for line in ("lpa", "quadtree"))


def test_tables_of_what_was_run(setting, monkeypatch, tmp_path):
    worlds = [replace(setting, world=world) for world in traffic.QUICK_WORLDS]
    monkeypatch.setattr(traffic, "settings", lambda *_: iter([setting, *worlds]))
    steps = []
    result = traffic_tables.traffic_tables(True, 1, steps.append, lambda: steps.append(None))
    assert len(steps) - 1 == steps[0]
    titles = [table.title for table in result.tables]
    assert any("Figure 5.11" in title for title in titles)
    assert titles[-1] == "What was hoped for"
    [otherwise] = [table for table in result.tables if "otherwise" in table.title]
    assert [row[:2] for row in otherwise.rows[:2]] == [["detours", "0.1"], ["detours", "1"]]
    assert len(otherwise.rows) == 2 * len(traffic.QUICK_WORLDS)
    assert all(len(row) == len(table.columns) for table in result.tables for row in table.rows)
    assert {path.suffix for path in result.write(tmp_path, "traffic")} == {".csv", ".html"}


def test_the_fourier_reference_without_noise_is_its_coefficients(setting):
    """Beside so much traffic noise is nothing: what is left is what twenty coefficients cannot hold."""
    much = replace(setting, truth=[10**7 * one for one in setting.truth])
    truth = np.stack(setting.truth).astype(float)
    kept = np.fft.rfft(truth, axis=0)
    kept[20:] = 0
    dropped = np.abs(np.fft.irfft(kept, n=len(truth), axis=0) - truth).sum() / truth.sum()
    assert offline(much, "20", seed=1)["weighted_error"] == pytest.approx(dropped, rel=1e-3)


def test_the_fourier_reference_has_the_noise_of_its_coordinates(setting):
    """39 coordinates of 100 ticks with Laplace noise of scale b: in a tick's value a variance of 39/100 2 b²."""
    row = offline(setting, "1", seed=1)
    scale = 10 * (1 + 39**0.5) / 2
    deviation = (0.39 * 2) ** 0.5 * scale
    assert row["sparse_mean"] == pytest.approx(deviation * (2 / np.pi) ** 0.5, rel=0.02)  # nearly normal


@pytest.mark.parametrize("world", OTHERWISE)
def test_other_worlds_are_other_traffic_on_the_same_map(setting, world):
    other = Setting.simulate(made_up(150, seed=1), 64, 20.0, (8_000, 400), 1, world)
    assert other.world == world
    assert sum(one.sum() for one in other.truth) > 0
    assert any((one != two).any() for one, two in zip(setting.truth, other.truth, strict=True))


def test_what_the_fourier_reference_promises_a_series_does_not_hold_for_who_moves():
    """In another cell at every tick, each of a hundred series changes by a little: together by 9.7 budgets, not one."""
    ticks, promised = 100, Dft(Keys(["cell"]), Guarantee.pure(User(horizon=100), 1)).sensitivity

    def spent(cells):  # somebody who stays for as many ticks in each of these cells
        stay, moved = ticks // cells, 0.0
        for first in range(0, ticks, stay):
            seen = np.fft.rfft((np.arange(ticks) // stay == first // stay).astype(float), norm="ortho")[:20]
            moved += abs(seen[0]) + np.sqrt(2) * (abs(seen[1:].real) + abs(seen[1:].imag)).sum()
        return moved / promised

    assert spent(1) <= 1
    assert spent(100) == pytest.approx(9.7, abs=0.01)
