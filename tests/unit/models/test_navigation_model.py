import numpy as np
import pytest

from hubbub.errors import InvalidInput, InvalidModel, UnknownKey
from hubbub.models import NavigationModel, Sessions
from hubbub.models.navigation import EARLIER, FORMAT
from hubbub.released import Keys

KEYS = Keys(["front", "news", "sport"])


def sessions(starts=None):
    packed = Sessions.of(
        KEYS, [["front", "news", "news"], ["front"], ["sport", "front"], ["news", "sport"], ["front", "front"]]
    )
    return Sessions(packed.keys, packed.visits, packed.bounds, None if starts is None else np.array(starts))


def test_the_chain_is_counted_with_leaving():
    model = NavigationModel.fit(sessions(), ticks=5)
    # front is visited 5 times: followed by news once, by front once, left three times.
    np.testing.assert_allclose(model.matrix.toarray()[:, 0], [0.2, 0.2, 0.0])
    np.testing.assert_allclose(model.arrivals, [0.6, 0.2, 0.2])
    np.testing.assert_allclose(model.matrix @ model.initial + model.arrivals, model.initial)


def test_starts_tell_the_first_tick_from_later_arrivals():
    model = NavigationModel.fit(sessions([3, 3, 4, 5, 7]), scale=10, start="crowd")
    np.testing.assert_allclose(model.initial, [20, 0, 0])
    np.testing.assert_allclose(model.arrivals, [2.5, 2.5, 2.5])
    assert model.opening.shape == (3, 3)
    np.testing.assert_allclose(
        NavigationModel.fit(sessions([3, 3, 4, 5, 7]), start="crowd").scaled(10).arrivals, model.arrivals
    )


def test_save_and_load(tmp_path):
    model = NavigationModel.fit(sessions([0, 0, 1, 2, 2]), start="crowd")
    model.save(tmp_path / "site.model")
    again = NavigationModel.load(tmp_path / "site.model")
    assert again.keys == model.keys
    np.testing.assert_array_equal(again.matrix.toarray(), model.matrix.toarray())
    for name in ("arrivals", "initial", "errors", "initial_errors", "opening"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))


@pytest.mark.parametrize("content", [b"", b"not a model", b"PK\x03\x04 broken"])
def test_a_file_that_is_no_model(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(InvalidModel, match="not a model") as refused:
        NavigationModel.load(tmp_path / "x")
    assert "hubbub fit" in refused.value.hint


def test_a_model_of_another_format(tmp_path):
    model = NavigationModel.fit(sessions(), ticks=5)
    model.save(tmp_path / "x")
    with np.load(tmp_path / "x") as stored:
        parts = dict(stored)
    parts["format"] = np.frombuffer(FORMAT.replace("2", "9").encode(), dtype=np.uint8)
    with (tmp_path / "y").open("wb") as file:
        np.savez(file, **parts)
    with pytest.raises(InvalidModel, match="has the format 'hubbub-navigation-9'"):
        NavigationModel.load(tmp_path / "y")
    with pytest.raises(InvalidModel, match="no model file"):
        NavigationModel.load(tmp_path / "z")


def written_before(model, path):
    model.save(path)
    with np.load(path) as stored:
        parts = dict(stored)
    parts["format"] = np.frombuffer(EARLIER.encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, **parts)


def test_a_model_of_an_earlier_version_is_refused_if_it_was_fitted_from_a_window(tmp_path):
    written_before(NavigationModel.fit(sessions([3, 3, 4, 5, 7]), start="crowd"), tmp_path / "x")
    with pytest.raises(InvalidModel, match="earlier version, which took the sessions of the file's first tick") as told:
        NavigationModel.load(tmp_path / "x")
    assert "--start crowd" in told.value.hint


def test_a_model_of_an_earlier_version_is_read_if_nothing_was_wrong_with_it(tmp_path):
    """A stream records the hash of its model: one that began with it goes on."""
    model = NavigationModel.fit(sessions(), ticks=5)
    written_before(model, tmp_path / "x")
    assert NavigationModel.load(tmp_path / "x").digest == model.digest


def test_a_model_fitted_for_other_keys():
    model = NavigationModel.fit(sessions(), ticks=5)
    with pytest.raises(InvalidModel, match="knows nothing of 'blog'") as refused:
        model.expect(Keys(["front", "blog"]))
    assert "hubbub fit" in refused.value.hint
    with pytest.raises(InvalidModel, match="another order"):
        model.expect(Keys(["news", "front", "sport"]))
    assert model.expect(KEYS) is model


def test_some_keys_of_a_model():
    model = NavigationModel.fit(sessions(), ticks=5)
    part = model.selected(Keys(["sport", "front"]))
    assert part.matrix.shape == (2, 2)
    assert part.arrivals[1] == model.arrivals[0]  # nobody comes to front from news
    assert part.arrivals[0] > model.arrivals[2]  # news sends people to sport, who now arrive from outside
    with pytest.raises(UnknownKey):
        model.selected(Keys(["blog"]))


def test_a_matrix_whose_columns_exceed_one():
    with pytest.raises(InvalidModel, match=r"column of 'news' sums to 1\.2") as refused:
        NavigationModel.of(KEYS, [[0.1, 0.6, 0], [0, 0.6, 0], [0, 0, 0]], [1, 1, 1])
    assert "transposed" in refused.value.hint


@pytest.mark.parametrize(
    ("matrix", "arrivals", "match"),
    [
        (np.zeros((2, 2)), [1, 1, 1], "must be 3 x 3"),
        (np.diag([-0.1, 0, 0]), [1, 1, 1], "no probability"),
        (np.diag([np.nan, 0, 0]), [1, 1, 1], "no probability"),
        (np.zeros((3, 3)), [1, -1, 1], "`arrivals`"),
        (np.zeros((3, 3)), [1, 1], "`arrivals`"),
    ],
)
def test_what_cannot_be_a_model(matrix, arrivals, match):
    with pytest.raises(InvalidModel, match=match):
        NavigationModel.of(KEYS, matrix, arrivals, [0, 0, 0])


def test_an_opening_of_the_wrong_shape():
    good = NavigationModel.of(KEYS, np.zeros((3, 3)), [1, 1, 1])
    with pytest.raises(InvalidModel, match="opening"):
        NavigationModel(KEYS, good.matrix, good.arrivals, good.initial, good.errors, good.errors, np.zeros((1, 2)))


def test_training_data_that_are_too_few():
    one = Sessions.of(KEYS, [["front", "news"]])
    with pytest.raises(InvalidModel, match="from 1 session") as refused:
        NavigationModel.fit(one, ticks=1)
    assert "no model" in refused.value.hint
    with pytest.raises(InvalidModel, match="from 0 sessions"):
        NavigationModel.fit(Sessions.of(KEYS, []), ticks=1)
    with pytest.raises(InvalidModel, match="when they begin"):
        NavigationModel.fit(sessions())
    with pytest.raises(InvalidModel, match="scale"):
        NavigationModel.fit(sessions(), ticks=5, scale=0)


def test_sessions_that_make_no_sense():
    visits = np.array([0, 1], dtype=np.int32)
    with pytest.raises(InvalidInput, match="bounds"):
        Sessions(KEYS, visits, np.array([0, 1]))
    with pytest.raises(InvalidInput, match="without a visit"):
        Sessions(KEYS, visits, np.array([0, 0, 2]))
    with pytest.raises(InvalidInput, match="not in the list"):
        Sessions(KEYS, visits + 9, np.array([0, 2]))
    with pytest.raises(InvalidInput, match="one tick a session"):
        Sessions(KEYS, visits, np.array([0, 2]), np.array([1, 2]))


def test_cutting_and_choosing_sessions():
    packed = sessions([0, 1, 2, 3, 4])
    assert packed.truncated(2).lengths.tolist() == [2, 1, 2, 2, 2]
    chosen = packed.chosen(np.array([3, 3, 0]))
    assert chosen.visits.tolist() == [1, 2, 1, 2, 0, 1, 1]
    assert chosen.starts.tolist() == [3, 3, 0]
