import gzip

import numpy as np
import polars as pl
import pytest

from hubbub.errors import InvalidInput
from hubbub.lab.data import find, folder
from hubbub.lab.metrics import average_relative_error, coverage, divergence, top_precision
from hubbub.lab.msnbc import read_msnbc
from hubbub.lab.shapes import SHAPES, Crowd
from hubbub.lab.tuning import POWERS, tune_mkf, tune_ukf
from hubbub.lab.www14 import Www14
from hubbub.models import NavigationModel, Sessions
from hubbub.models.reading import read_sessions
from hubbub.released import Keys

SMALL = b"% comment\n\nfront news\n\n% Sequences:\n\n1 1\n2\n1 2 2\n"


@pytest.mark.parametrize("squeeze", [bytes, gzip.compress])
def test_msnbc_format(tmp_path, squeeze):
    (tmp_path / "x.seq").write_bytes(squeeze(SMALL))
    sessions = read_msnbc(tmp_path / "x.seq")
    assert list(sessions.keys) == ["front", "news"]
    assert sessions.lengths.tolist() == [2, 1, 3]
    assert sessions.visits.tolist() == [0, 0, 1, 0, 1, 1]


@pytest.mark.parametrize(
    ("content", "match"),
    [(b"% nothing\n", "no sessions"), (b"front\nx y\n", "not a number"), (b"front\n1 2\n", "no name")],
)
def test_msnbc_format_refused(tmp_path, content, match):
    (tmp_path / "x.seq").write_bytes(content)
    with pytest.raises(InvalidInput, match=match):
        read_msnbc(tmp_path / "x.seq")


def test_data_are_found_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("HUBBUB_DATA", str(tmp_path))
    assert folder() == tmp_path
    with pytest.raises(InvalidInput, match="HUBBUB_DATA"):
        find("msnbc/x")
    (tmp_path / "x").write_text("")
    assert find("x") == tmp_path / "x"


def test_sessions_from_tables(tmp_path):
    rows = {"session": ["a", "b", "a", "c"], "key": ["front", "news", "news", "front"], "tick": [0, 0, 1, 4]}
    frame = pl.DataFrame(rows)
    frame.write_csv(tmp_path / "x.csv")
    frame.write_parquet(tmp_path / "x.parquet")
    frame.write_ndjson(tmp_path / "x.jsonl")
    for name in ("x.csv", "x.parquet", "x.jsonl"):
        sessions = read_sessions(tmp_path / name)
        assert list(sessions.keys) == ["front", "news"]
        assert sessions.lengths.tolist() == [2, 1, 1]
        assert sessions.visits.tolist() == [0, 1, 1, 0]
        assert sessions.starts.tolist() == [0, 0, 4]
    frame.drop("tick").write_csv(tmp_path / "y.csv")
    assert read_sessions(tmp_path / "y.csv", Keys(["news", "front"])).starts is None
    with pytest.raises(InvalidInput, match="visits 'news'"):
        read_sessions(tmp_path / "y.csv", Keys(["front"]))


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("x.txt", "", "none of"),
        ("x.csv", "a,b\n1,2\n", "no column `key`"),
        ("x.csv", "session,key\n1,\n", "without a session or a key"),
        ("x.csv", "session,key,tick\n1,front,now\n", "not a whole number"),
        ("x.parquet", "nonsense", "cannot be read"),
    ],
)
def test_sessions_refused(tmp_path, name, content, match):
    (tmp_path / name).write_text(content)
    with pytest.raises(InvalidInput, match=match):
        read_sessions(tmp_path / name)


def test_a_session_file_that_is_not_there(tmp_path):
    with pytest.raises(InvalidInput, match="no file"):
        read_sessions(tmp_path / "x.csv")


def test_the_simulation_counts_each_session_where_it_is():
    keys = Keys(["front", "news"])
    packed = Sessions.of(keys, [["front", "news"], ["news"], ["front", "front", "front"]])
    sessions = Sessions(keys, packed.visits, packed.bounds, np.array([0, 1, 2]))
    counts = Www14(ticks=4).counts(sessions)
    assert counts.tolist() == [[1, 0], [0, 2], [1, 0], [1, 0]]  # the last visit lies beyond the end


def test_the_simulation_has_the_papers_shape():
    pool = Sessions.of(Keys(["front", "news"]), [["front", "news"], ["news"]] * 10)
    setting = Www14(ticks=10, first=1000, arrivals=100.0)
    sessions = setting.simulate(pool, np.random.default_rng(1))
    assert (sessions.starts == 0).sum() == 1000
    assert 80 < (sessions.starts == 5).sum() < 130
    part = setting.part(sessions, 0.1, np.random.default_rng(2))
    assert len(part) == round(0.1 * len(sessions))


def test_metrics():
    truth = np.array([[10, 0, 5]])
    assert average_relative_error(truth, truth) == 0
    assert top_precision(truth, truth, top=2) == 1
    assert divergence(np.array([[-5.0, 3.0, 5.0]]), truth) > 0
    assert coverage(truth - 1, truth, truth) == 1
    assert coverage(truth + 1, truth + 2, truth) == 0


def test_tuning_finds_what_moves():
    """A still key wants little process noise, one that jumps about wants much."""
    rng = np.random.default_rng(5)
    counts = np.column_stack([np.full(60, 500), 500 + rng.integers(-400, 400, 60)])
    chosen = tune_ukf(counts, 20.0, rng, runs=10)
    assert chosen[0] <= 1
    assert chosen[1] >= 1e4
    model = NavigationModel.of(Keys(["a", "b"]), np.eye(2), [0, 0], [0, 0])
    genes = tune_mkf(counts, model, 20.0, rng, runs=5, population=20, generations=8)
    assert genes[0] < genes[1]
    assert set(genes) <= set(POWERS)


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_have_a_factor_for_every_tick_and_page(shape):
    factors = SHAPES[shape](100, 4, 2)
    assert factors.shape == (100, 4)
    assert (factors >= 0).all()


def test_a_calm_crowd_stays_in_balance():
    model = NavigationModel.of(Keys(["a", "b"]), [[0.5, 0.1], [0.3, 0.6]], [200.0, 40.0])
    counts = Crowd(model).counts(SHAPES["calm"], 0, 200, np.random.default_rng(1))
    np.testing.assert_allclose(counts.mean(0), model.balance(), rtol=0.05)
